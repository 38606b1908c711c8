"""Reports how far a reading of many games has come."""

from collections.abc import Callable, Iterable, Iterator

from asyncplay.data.reader import StoredGame

Progress = Callable[[int, int], None]
"""(done, total)"""


def counted(games: Iterable[StoredGame], total: int, progress: Progress) -> Iterator[StoredGame]:
    """The same games; ``progress`` is called before each one and at the end."""
    for done, game in enumerate(games):
        progress(done, total)
        yield game
    progress(total, total)
