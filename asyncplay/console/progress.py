"""Progress on standard error for work with a known end: a bar on a terminal, else a line now and then."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from asyncplay.monitor.countdown import countdown

EVERY = 64
"""Calls between two updates of the bar: a call for each game costs less than a game."""


@contextmanager
def bar(title: str, every: int = EVERY) -> Iterator[Callable[[int, int], None]]:
    """Yield ``update(done, total)``."""
    screen = Console(stderr=True)
    if not screen.is_terminal:
        with countdown(title, lambda line: screen.out(line, highlight=False)) as update:
            yield update
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=screen, transient=True) as progress:
        task = progress.add_task(title, total=None)

        def show(done: int, total: int) -> None:
            if done % every == 0 or done == total:
                progress.update(task, completed=done, total=total)

        yield show
