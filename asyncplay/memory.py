"""How much memory is there to be had."""

from pathlib import Path

import psutil

from asyncplay.model.cores import control_groups

FILES = {True: ("memory.limit_in_bytes", "memory.usage_in_bytes"), False: ("memory.max", "memory.current")}
"""Limit and use of a control group, by whether it is of version 1."""
CACHE = "inactive_file "  # a line of memory.stat: what counts as used and is given back when somebody needs it


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
