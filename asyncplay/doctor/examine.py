"""The whole examination: gather each fact, judge it, quick checks first."""

import math
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from asyncplay.config.sections import Config
from asyncplay.doctor import machine
from asyncplay.doctor.finding import Finding, is_broken
from asyncplay.doctor.neighbours import judge_neighbours, watch_neighbours
from asyncplay.machine import quota_cores, usable_cores


def look(config: Config, folder: Path) -> Iterator[Finding]:
    """Everything that needs no event loop; other processes are watched first, before this one is busy itself."""
    import resource  # Windows has none

    cores, usable = os.cpu_count() or 1, usable_cores()
    yield machine.judge_system(sys.platform, sys.version_info[:2])
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else cores
    yield machine.judge_cores(cores, allowed, quota_cores())
    yield judge_neighbours(*watch_neighbours(), usable)
    yield from machine.judge_threads(os.environ, usable)
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    soft, hard = (math.inf if limit < 0 else limit for limit in limits)
    yield machine.judge_open_files(soft, hard, config.pool.workers or usable)
    there = machine.nearest(folder)
    yield machine.judge_disk(there, shutil.disk_usage(there).free, is_writable=os.access(there, os.W_OK))
    is_terminal = sys.stdout.isatty() and sys.stderr.isatty()
    yield machine.judge_terminal(is_terminal, os.environ, shutil.get_terminal_size(), sys.stdout.encoding)
    yield machine.look_at_kernels()


async def examine(config: Config, folder: Path) -> list[Finding]:
    """Check everything; ``folder`` is where runs go. After a broken finding nothing is measured: without kernels no
    worker starts."""
    found = list(look(config, folder))
    if is_broken(found):
        return found
    from asyncplay.doctor import timing
    from asyncplay.doctor.devices import look_at_devices

    there = machine.nearest(folder)
    try:
        found.append(timing.judge_sync(timing.sync_ms(there), there))
    except OSError as error:
        found.append(Finding("disk sync", "broken", f"{there}: {error.strerror}", "give another place: --run DIR"))
    start_s = await timing.first_word_s()
    found.append(timing.judge_spawn(start_s))
    if math.isfinite(start_s):
        found.append(timing.judge_round_trip(await timing.round_trip_us()))
    return found + look_at_devices(config)
