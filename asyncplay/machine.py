"""What this machine lets us use: cores and memory, cut by the limits of our control groups."""

import math
import os
from collections.abc import Iterator
from pathlib import Path

import psutil

FILES = {True: ("memory.limit_in_bytes", "memory.usage_in_bytes"), False: ("memory.max", "memory.current")}
"""Limit and use of a control group, by whether it is of version 1."""
CACHE = "inactive_file "  # a line of memory.stat: what counts as used and is given back when somebody needs it


def usable_cores(root: Path = Path("/")) -> int:
    """Cores of this process: what its affinity allows, cut by the quotas of its control groups."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, math.floor(min(allowed, quota_cores(root))))


def quota_cores(root: Path = Path("/")) -> float:
    """The smallest quota above us, in cores; infinite where there is none."""
    groups = control_groups("cpu", root)
    return min((_quota(folder, is_version_1=is_version_1) for folder, is_version_1 in groups), default=math.inf)


def control_groups(controller: str, root: Path = Path("/")) -> Iterator[tuple[Path, bool]]:
    """The folders of our control groups that may limit us, and whether they are of version 1.

    Version 2 has no controllers in its line of /proc/self/cgroup, version 1 names them.
    """
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, group = line.split(":", 2)
        if not controllers or controller in controllers.split(","):
            base = root / "sys/fs/cgroup" / controllers
            inside = base / group.strip("/")
            for folder in (inside, *inside.parents):
                if folder.is_relative_to(base):
                    yield folder, bool(controllers)


def at_hand(root: Path = Path("/")) -> int:
    """Bytes that this process and its children may still take: of the machine, cut by limits of control groups."""
    rooms = [room for group in control_groups("memory", root) if (room := _room(*group)) is not None]
    return min([int(psutil.virtual_memory().available), *rooms])


def _room(folder: Path, is_version_1: bool) -> int | None:
    """A group that is not visible from inside a container limits nothing that we could read."""
    limit, usage = FILES[is_version_1]
    try:
        most, used = (folder / limit).read_text().strip(), int((folder / usage).read_text())
        lines = (folder / "memory.stat").read_text().splitlines()
        cached = sum(int(line.removeprefix(CACHE)) for line in lines if line.startswith(CACHE))
        return None if most == "max" else max(0, int(most) - used + cached)
    except (OSError, ValueError):
        return None


def _quota(folder: Path, *, is_version_1: bool) -> float:
    """A group that is not visible from inside a container limits nothing that we could read."""
    try:
        if is_version_1:
            quota = (folder / "cpu.cfs_quota_us").read_text()
            period = (folder / "cpu.cfs_period_us").read_text()
        else:
            quota, period = (folder / "cpu.max").read_text().split()
        return math.inf if quota == "max" or int(quota) < 0 else int(quota) / int(period)
    except (OSError, ValueError):
        return math.inf
