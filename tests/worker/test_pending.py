"""A worker keeps its games until it is told that they are stored."""

import numpy as np
import pytest

from asyncplay.methods.selfplay.messages import Game
from asyncplay.wire.codec import HEADER, encode
from asyncplay.wire.messages import PROTOCOL, Ack, Hello, Job, Message
from asyncplay.worker.core import Step, Worker


class OneMove:
    """Finishes every unit at once."""

    def __init__(self, tickets: object) -> None:
        self.games: list[Message] = []

    def take(self, job: Job) -> None:
        self.games += [make_game(job.number, unit) for unit in range(job.first, job.first + job.count)]

    def receive(self, message: Message) -> None:
        raise AssertionError("nobody asked")

    def advance(self, now_s: float) -> Step:
        games, self.games = self.games, []
        return Step(games, None)


def make_game(job: int, unit: int) -> Game:
    ints, two = np.empty(0, np.int32), np.zeros(2)
    rows = (ints, ints.astype(np.int8), ints, np.empty((0, 1), np.uint8), ints, np.zeros(1, np.int32))
    values, states = np.empty((0, 2), np.float32), np.empty((0, 0), np.int64)
    return Game(
        job, unit, 0, "rules", two, two.astype(np.float32), ints, *rows, ints.astype(np.float32), values, states
    )


class Rig:
    def __init__(self) -> None:
        self.worker = Worker(0, 1, {"play": OneMove})
        self.worker.advance(0.0)

    def tell(self, message: Message) -> list[tuple[int, int]]:
        """Say something and return the games it sends in return."""
        self.worker.receive(encode(message)[HEADER.size :])
        sent = [*self.worker.advance(0.0).messages, *self.worker.advance(0.0).messages]
        return [(game.job, game.unit) for game in sent if isinstance(game, Game)]


def job(number: int, first: int, count: int, *, is_kept: bool) -> Job:
    return Job(number, "play", first, count, 0, b"", is_kept)


def ack(*games: tuple[int, int]) -> Ack:
    jobs, units = np.array(games, np.int64).T
    return Ack(jobs.copy(), units.copy())


GREETING = Hello(PROTOCOL, 0, 0)


def test_games_without_an_ack_are_sent_again_when_the_coordinator_greets_again():
    rig = Rig()
    assert rig.tell(GREETING) == []
    assert rig.tell(job(1, 0, 3, is_kept=True)) == [(1, 0), (1, 1), (1, 2)]
    assert rig.tell(ack((1, 1))) == []

    assert rig.tell(GREETING) == [(1, 0), (1, 2)]
    assert rig.tell(GREETING) == [(1, 0), (1, 2)]


def test_nothing_is_kept_after_its_ack_nor_of_a_job_that_wants_nothing_kept():
    rig = Rig()
    rig.tell(job(1, 0, 2, is_kept=True))
    rig.tell(job(2, 0, 2, is_kept=False))
    rig.tell(ack((1, 0), (1, 1), (2, 1), (9, 9)))

    assert rig.tell(GREETING) == []
    assert len(rig.worker._pending) == len(rig.worker._pending._jobs) == 0


def test_games_of_the_same_unit_in_two_jobs_are_told_apart():
    rig = Rig()
    rig.tell(job(1, 5, 1, is_kept=True))
    rig.tell(job(2, 5, 1, is_kept=True))
    rig.tell(ack((1, 5)))
    assert rig.tell(GREETING) == [(2, 5)]


@pytest.mark.parametrize("message", [ack((7, 7))])
def test_an_ack_of_something_unknown_is_no_mistake(message):
    rig = Rig()
    assert rig.tell(message) == []
    assert not rig.worker.is_over
