"""Runs last, which conftest.py sees to: whatever the other tests started has ended."""

import threading
import time

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


def until_empty(left_over) -> list[str]:
    """What is still left after a moment's grace."""
    deadline_s = time.monotonic() + GRACE_S
    while (left := left_over()) and time.monotonic() < deadline_s:
        time.sleep(0.05)
    return left


def test_no_process_is_left_over():
    assert until_empty(left_over_processes) == []


def test_no_thread_is_left_over_that_somebody_would_have_to_wait_for():
    assert until_empty(left_over_threads) == []


def test_no_lane_is_left_over():
    assert until_empty(lambda: [thread.name for thread in threading.enumerate() if thread.name == "lane"]) == []
