"""What tests started and did not end; conftest.py looks after the last test of each process that runs some."""

import threading
import time
from collections.abc import Callable

import psutil

GRACE_S = 30.0


def left_over_processes() -> list[str]:
    """All children but the tracker of the spawn method, which lives as long as we do."""
    children = psutil.Process().children(recursive=True)
    commands = [" ".join(describe(child)) for child in children]
    return [command for command in commands if "multiprocessing.resource_tracker" not in command]


def describe(process: psutil.Process) -> list[str]:
    try:
        return [str(process.pid), process.status(), *process.cmdline()]
    except psutil.NoSuchProcess:
        return ["multiprocessing.resource_tracker"]  # gone while we looked, which is all right


def left_over_threads() -> list[str]:
    """Those that would keep the process from ending; this test's own time limit is one too."""
    others = [thread for thread in threading.enumerate() if thread is not threading.main_thread()]
    return [thread.name for thread in others if not thread.daemon and "pytest_timeout" not in thread.name]


def left_over() -> list[str]:
    """Processes, threads that somebody would have to wait for, and lanes."""
    lanes = [thread.name for thread in threading.enumerate() if thread.name == "lane"]
    return [*left_over_processes(), *left_over_threads(), *lanes]


def until_empty(look: Callable[[], list[str]]) -> list[str]:
    """What is still left after a moment's grace."""
    deadline_s = time.monotonic() + GRACE_S
    while (left := look()) and time.monotonic() < deadline_s:
        time.sleep(0.05)
    return left
