"""Finished games that the coordinator has not called stored yet."""

from collections.abc import Iterable

from asyncplay.wire.messages import Ack, Game, Job


class Pending:
    """Keeps a game from the moment it is sent until its Ack.

    Limit: the units of jobs under way; as long as games wait here the coordinator counts them and issues no more.
    """

    def __init__(self) -> None:
        self._jobs: dict[int, int] = {}  # by job that wants its games kept: games still to be stored
        self._games: dict[tuple[int, int], Game] = {}  # by job and unit, in the order they were sent

    def __len__(self) -> int:
        return len(self._games)

    def expect(self, job: Job) -> None:
        if job.is_kept:
            self._jobs[job.number] = job.count

    def keep(self, game: Game) -> None:
        if game.job in self._jobs:
            self._games[game.job, game.unit] = game

    def forget(self, ack: Ack) -> None:
        """Games that are not here any more were acknowledged before."""
        for job, unit in zip(ack.jobs.tolist(), ack.units.tolist(), strict=True):
            if self._games.pop((job, unit), None) is not None:
                self._jobs[job] -= 1
                if self._jobs[job] == 0:
                    del self._jobs[job]

    def again(self) -> Iterable[Game]:
        """All of them, to be sent once more to a coordinator that may not have them."""
        return list(self._games.values())
