"""The whole examination, quick things first."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from asyncplay.config.sections import Config
from asyncplay.doctor import machine
from asyncplay.doctor.finding import Finding
from asyncplay.doctor.neighbours import look_at_neighbours
from asyncplay.machine import quota_cores, usable_cores


def look(config: Config, folder: Path) -> Iterator[Finding]:
    """All but what needs an event loop; ``folder`` is where runs go. Neighbours come before we are busy ourselves."""
    usable = usable_cores()
    workers = config.pool.workers or usable
    yield machine.judge_system(sys.platform, sys.version_info[:2])
    yield machine.judge_cores(os.cpu_count() or 1, allowed_cores(), quota_cores())
    yield look_at_neighbours(usable)
    yield from machine.judge_threads(os.environ, usable)
    yield machine.look_at_open_files(workers)
    yield machine.look_at_disk(folder)
    yield machine.look_at_terminal()
    yield machine.look_at_kernels()


def allowed_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


async def examine(config: Config, folder: Path) -> list[Finding]:
    """Everything. What would need a broken thing is left out: without kernels no worker starts."""
    found = list(look(config, folder))
    if any(finding.grade == "broken" for finding in found):
        return found
    from asyncplay.doctor.devices import look_at_devices
    from asyncplay.doctor.timing import look_at_sync, look_at_workers

    found.append(look_at_sync(folder))
    found += await look_at_workers()
    return found + look_at_devices(config)
