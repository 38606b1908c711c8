"""How far some work is and how long it will take, in lines: for what takes longer than a person likes to wait."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

FIRST_S, EVERY_S = 2.0, 5.0  # to the first line, and from one to the next

Progress = Callable[[int, int], None]  # (done, total)


def time_left(seconds: float) -> str:
    """In words, no more exact than such a guess is."""
    if seconds < 90:
        return f"about {max(round(seconds), 1)} s left"
    return f"about {round(seconds / 60)} min left"


def told(what: str, done: int, total: int, elapsed_s: float) -> str:
    """ "compiling: 40 %, about 12 s left"; without anything done there is nothing to guess from."""
    if not done or not total:
        return f"{what}: {elapsed_s:.0f} s so far"
    return f"{what}: {done / total:.0%}, {time_left(elapsed_s * (total - done) / done)}"


@contextmanager
def countdown(what: str, say: Callable[[str], None]) -> Iterator[Progress]:
    """Yield ``progress(done, total)``; while the work goes on a line each EVERY_S is said, from a thread.

    What is over within FIRST_S says nothing.
    """
    began_s, is_over = time.perf_counter(), threading.Event()
    share = (0, 0)  # done, total

    def update(done: int, total: int) -> None:
        nonlocal share
        share = done, total

    def tick() -> None:
        wait_s = FIRST_S
        while not is_over.wait(wait_s):
            say(told(what, *share, time.perf_counter() - began_s))
            wait_s = EVERY_S

    ticker = threading.Thread(target=tick, name="countdown", daemon=True)
    ticker.start()
    try:
        yield update
    finally:
        is_over.set()
        ticker.join()
