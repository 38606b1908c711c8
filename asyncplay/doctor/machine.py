"""Judgements of what needs no measurement: cores, thread settings, limits, disk, terminal, the kernel cache."""

import math
import os
from collections.abc import Mapping
from pathlib import Path

from asyncplay.doctor.finding import Figure, Finding

FILES_OF_A_RUN = 64
FILES_OF_A_WORKER = 16
ROOM_TO_START_BYTES, ROOM_TO_BE_EASY_BYTES = 64 << 20, 2 << 30
SMALLEST_COLUMNS, SMALLEST_LINES = 80, 24
TOO_MANY = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
BINDING = ("OMP_PROC_BIND", "GOMP_CPU_AFFINITY", "KMP_AFFINITY")
PREFIXES = ("OMP_", "GOMP_", "KMP_", "MKL_", "NUMBA_")


def judge_cores(present: int, allowed: int, quota: float) -> Finding:
    """``allowed`` by affinity; ``quota`` of the control group, infinite without one."""
    usable = max(1, math.floor(min(allowed, quota)))
    figures = {"present": present, "allowed": allowed, "quota": None if math.isinf(quota) else quota, "usable": usable}
    words = f"{usable} usable of {present}"
    if quota < allowed:
        cure = "raise the CPU quota of the container or service (docker --cpus, CPUQuota=)"
        return Finding("cores", "slow", f"{words}: the control group allows {quota:g}", cure, figures)
    if allowed < present:
        cure = "start it without taskset, or widen the set of cores (taskset -p, cpuset)"
        return Finding("cores", "slow", f"{words}: affinity allows {allowed}", cure, figures)
    return Finding("cores", "fine", words, figures=figures)


def judge_threads(environment: Mapping[str, str], usable: int) -> list[Finding]:
    """A finding for each environment variable that makes thread pools slow; else one that lists them all."""
    found = []
    for name in TOO_MANY:
        value = environment.get(name, "")
        if value.isdigit() and int(value) > usable:  # more threads than cores only take turns
            found.append(Finding("threads", "slow", f"{name}={value}, but {usable} usable cores", f"unset {name}"))
    policy = environment.get("OMP_WAIT_POLICY", "passive")
    if policy.lower() != "passive":
        words = f"OMP_WAIT_POLICY={policy}: waiting threads take cores from the workers"
        found.append(Finding("threads", "slow", words, "unset OMP_WAIT_POLICY"))
    for name in BINDING:
        value = environment.get(name, "")
        if value.lower() not in ("false", "", "disabled", "none"):
            words = f"{name}={value}: threads of all workers on the same cores"
            found.append(Finding("threads", "slow", words, f"unset {name}"))
    if environment.get("NUMBA_DISABLE_JIT", "0") not in ("0", ""):
        words = "NUMBA_DISABLE_JIT is set: no kernel can run"
        found.append(Finding("threads", "broken", words, "unset NUMBA_DISABLE_JIT"))
    names = [name for name in sorted(environment) if name.startswith(PREFIXES) or name.endswith("_NUM_THREADS")]
    figures = {name: environment[name] for name in names}
    listed = ", ".join(f"{name}={value}" for name, value in figures.items()) or "none set"
    return found or [Finding("threads", "fine", listed, figures=figures)]


def judge_open_files(soft: float, hard: float, workers: int) -> Finding:
    """Both limits may be infinite."""
    wanted = FILES_OF_A_RUN + FILES_OF_A_WORKER * workers
    limits = {"soft": soft, "hard": hard}
    figures = {name: None if math.isinf(limit) else int(limit) for name, limit in limits.items()} | {"wanted": wanted}
    allowed = "any number" if math.isinf(soft) else f"{int(soft):,}"
    if soft >= wanted:
        return Finding("open files", "fine", f"{allowed} allowed, {wanted} wanted", figures=figures)
    above = "" if hard >= wanted else " (as root: the hard limit is lower too, see limits.conf)"
    cure = f"ulimit -n {wanted}{above}, or fewer workers"
    return Finding("open files", "broken", f"{allowed} allowed, {workers} workers want {wanted}", cure, figures)


def judge_disk(folder: Path, free_bytes: int, *, is_writable: bool = True) -> Finding:
    """``folder`` exists: the one runs go to, or the ``nearest`` above it."""
    if not is_writable:
        return Finding("disk room", "broken", f"{folder} cannot be written", "give another place: --run DIR")
    figures: dict[str, Figure] = {"folder": str(folder), "free_bytes": free_bytes}
    words = f"{free_bytes / 2**30:,.1f} GiB free at {folder}"
    cure = "make room, or give another place: --run DIR"
    if free_bytes < ROOM_TO_START_BYTES:
        return Finding("disk room", "broken", words, cure, figures)
    if free_bytes < ROOM_TO_BE_EASY_BYTES:
        return Finding("disk room", "slow", f"{words}; a long run pauses when it is full", cure, figures)
    return Finding("disk room", "fine", words, figures=figures)


def judge_terminal(is_terminal: bool, environment: Mapping[str, str], size: os.terminal_size, encoding: str) -> Finding:
    """Without a terminal a run prints plain lines, which is fine."""
    term, columns, lines = environment.get("TERM", ""), size.columns, size.lines
    figures: dict[str, Figure] = {
        "is_terminal": is_terminal,
        "term": term,
        "columns": columns,
        "lines": lines,
        "encoding": encoding,
        "no_color": bool(environment.get("NO_COLOR")),
    }
    if not is_terminal or term == "dumb":
        return Finding("terminal", "fine", "none: a run speaks in plain lines", figures=figures)
    words = f"{term or 'unknown'}, {columns} x {lines}, {encoding}"
    if "utf" not in encoding.lower():
        return Finding("terminal", "slow", words, "a UTF-8 locale shows the plots: export LC_ALL=C.UTF-8", figures)
    if columns < SMALLEST_COLUMNS or lines < SMALLEST_LINES:
        cure = f"{SMALLEST_COLUMNS} x {SMALLEST_LINES} or more shows all panels"
        return Finding("terminal", "slow", words, cure, figures)
    return Finding("terminal", "fine", words, figures=figures)


def judge_system(platform: str, version: tuple[int, int]) -> Finding:
    words = f"{platform}, Python {version[0]}.{version[1]}"
    if platform == "win32":
        return Finding("system", "broken", words, "use Linux, macOS or WSL; --pool.kind inline runs slowly anywhere")
    return Finding("system", "fine", words)


def look_at_kernels() -> Finding:
    """Whether the kernel cache belongs to this user alone and has no damaged file."""
    from asyncplay.games import kernel_cache

    try:
        folder = kernel_cache.usual_folder()
    except kernel_cache.UnsafeFolder as error:
        return Finding("kernels", "slow", f"compiled anew by every run: {error.flaw}", error.cure)
    files = kernel_cache.files(folder)
    damaged = [file for file in files if kernel_cache.is_damaged(file)]
    words = f"kept in {folder}, which is private"
    if damaged:
        words += f"; {len(damaged)} of {len(files)} files are damaged, {damaged[0].name} for one"
        return Finding("kernels", "slow", words, f"rm -r {folder}; or leave it: a run compiles what it needs again")
    return Finding("kernels", "fine", words if files else f"{words}; none there yet, the first run compiles them")


def nearest(folder: Path) -> Path:
    """The folder itself, or the first above it that exists."""
    place = folder.absolute()
    return next(parent for parent in (place, *place.parents) if parent.is_dir())
