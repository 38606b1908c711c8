"""A bar on standard error for work with a known end."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

EVERY = 64
"""Calls between two updates of the bar: a call for each game costs less than a game."""


@contextmanager
def bar(title: str) -> Iterator[Callable[[int, int], None]]:
    """Yield ``update(done, total)``; without a terminal nothing is drawn."""
    screen = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=screen, disable=not screen.is_terminal, transient=True) as progress:
        task = progress.add_task(title, total=None)

        def update(done: int, total: int) -> None:
            if done % EVERY == 0 or done == total:
                progress.update(task, completed=done, total=total)

        yield update
