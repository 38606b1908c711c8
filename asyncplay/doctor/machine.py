"""What can be read without measuring: cores, thread settings, limits, disk, terminal, the cache of kernels."""

import math
import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from asyncplay.doctor.finding import Figure, Finding

FILES_OF_A_RUN = 64
FILES_OF_A_WORKER = 16
ROOM_TO_START_BYTES, ROOM_TO_BE_EASY_BYTES = 64 << 20, 2 << 30
SMALLEST_COLUMNS, SMALLEST_LINES = 80, 24


def judge_cores(present: int, allowed: int, quota: float) -> Finding:
    """``allowed`` by affinity, ``quota`` of the control group, infinite where there is none."""
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
    """Settings of thread pools that somebody left in the environment."""
    found = [
        *_too_many(environment, usable),
        *_spinning(environment),
        *_bound(environment),
        *_interpreted(environment),
    ]
    told = {key: environment[key] for key in sorted(environment) if _is_about_threads(key)}
    listed = ", ".join(f"{key}={value}" for key, value in told.items()) or "none set"
    return found or [Finding("threads", "fine", listed, figures=told)]


def judge_open_files(soft: float, hard: float, workers: int) -> Finding:
    """Both limits may be infinite."""
    wanted = FILES_OF_A_RUN + FILES_OF_A_WORKER * workers
    figures = {"soft": _finite(soft), "hard": _finite(hard), "wanted": wanted}
    if soft >= wanted:
        return Finding("open files", "fine", f"{_count(soft)} allowed, {wanted} wanted", figures=figures)
    above = "" if hard >= wanted else " (as root: the hard limit is lower too, see limits.conf)"
    cure = f"ulimit -n {wanted}{above}, or fewer workers"
    return Finding("open files", "broken", f"{_count(soft)} allowed, {workers} workers want {wanted}", cure, figures)


def judge_disk(folder: Path, free_bytes: int) -> Finding:
    figures: dict[str, Figure] = {"folder": str(folder), "free_bytes": free_bytes}
    words = f"{free_bytes / 2**30:,.1f} GiB free at {folder}"
    cure = "make room, or give another place: --run DIR"
    if free_bytes < ROOM_TO_START_BYTES:
        return Finding("disk room", "broken", words, cure, figures)
    if free_bytes < ROOM_TO_BE_EASY_BYTES:
        return Finding("disk room", "slow", f"{words}; a long run pauses when it is full", cure, figures)
    return Finding("disk room", "fine", words, figures=figures)


def judge_terminal(is_terminal: bool, environment: Mapping[str, str], size: os.terminal_size, encoding: str) -> Finding:
    """No terminal is no fault: a run then speaks in plain lines."""
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


def look_at_disk(folder: Path) -> Finding:
    """Of the folder runs go to, or of the nearest one above it that exists."""
    there = nearest(folder)
    if not os.access(there, os.W_OK):
        return Finding("disk room", "broken", f"{there} cannot be written", "give another place: --run DIR")
    return judge_disk(there, shutil.disk_usage(there).free)


def look_at_open_files(workers: int) -> Finding:
    import resource

    soft, hard = (_plain(limit) for limit in resource.getrlimit(resource.RLIMIT_NOFILE))
    return judge_open_files(soft, hard, workers)


def look_at_terminal() -> Finding:
    is_terminal = sys.stdout.isatty() and sys.stderr.isatty()
    return judge_terminal(is_terminal, os.environ, shutil.get_terminal_size(), sys.stdout.encoding)


def look_at_kernels() -> Finding:
    """Whether the cache of kernels is ours alone, and whole."""
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


def _too_many(environment: Mapping[str, str], usable: int) -> list[Finding]:
    """More threads than cores only take turns."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
    wrong = [name for name in names if environment.get(name, "").isdigit() and int(environment[name]) > usable]
    return [
        Finding("threads", "slow", f"{name}={environment[name]}, but {usable} usable cores", f"unset {name}")
        for name in wrong
    ]


def _spinning(environment: Mapping[str, str]) -> list[Finding]:
    if environment.get("OMP_WAIT_POLICY", "passive").lower() == "passive":
        return []
    words = f"OMP_WAIT_POLICY={environment['OMP_WAIT_POLICY']}: waiting threads take cores from the workers"
    return [Finding("threads", "slow", words, "unset OMP_WAIT_POLICY")]


def _bound(environment: Mapping[str, str]) -> list[Finding]:
    names = ("OMP_PROC_BIND", "GOMP_CPU_AFFINITY", "KMP_AFFINITY")
    wrong = [name for name in names if environment.get(name, "false").lower() not in ("false", "", "disabled", "none")]
    return [
        Finding(
            "threads", "slow", f"{name}={environment[name]}: threads of all workers on the same cores", f"unset {name}"
        )
        for name in wrong
    ]


def _interpreted(environment: Mapping[str, str]) -> list[Finding]:
    if environment.get("NUMBA_DISABLE_JIT", "0") in ("0", ""):
        return []
    return [Finding("threads", "broken", "NUMBA_DISABLE_JIT is set: no kernel can run", "unset NUMBA_DISABLE_JIT")]


def _is_about_threads(key: str) -> bool:
    return key.startswith(("OMP_", "GOMP_", "KMP_", "MKL_", "NUMBA_")) or key.endswith("_NUM_THREADS")


def _plain(limit: int) -> float:
    return math.inf if limit < 0 else limit


def _finite(limit: float) -> int | None:
    return None if math.isinf(limit) else int(limit)


def _count(limit: float) -> str:
    return "any number" if math.isinf(limit) else f"{int(limit):,}"
