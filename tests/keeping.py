"""A dispatcher with a recorder, and workers played by the test."""

import asyncio
from collections.abc import Callable
from contextlib import asynccontextmanager

import numpy as np

from asyncplay.data.store import Durability, open_read_only, open_store, read_kept, read_units
from asyncplay.data.writer import CommitPolicy
from asyncplay.engine.dispatch import Dispatcher
from asyncplay.engine.ledger import Books, Ledger
from asyncplay.engine.recorder import GameRecorder, RecorderLimits
from asyncplay.engine.supervise import Member, Phase
from asyncplay.engine.work import Assignment, UnitWork
from asyncplay.methods.selfplay.messages import Game
from asyncplay.rundir.folder import RunFolder
from asyncplay.wire.codec import HEADER, decode
from asyncplay.wire.messages import Ack, Job, Message

NEVER_S = 3600.0
AT_ONCE = RecorderLimits(CommitPolicy(games=1, age_s=0.0, retry_s=0.02))
PATIENT = RecorderLimits(CommitPolicy(games=10**6, age_s=NEVER_S))


def make_game(job: int, unit: int, length: int = 3) -> Game:
    empty = np.empty(0, np.int32)
    returns = np.array([1.0, -1.0])
    return Game(
        job=job,
        unit=unit,
        seed=unit,
        reason="rules",
        returns=returns,
        outcome=returns.astype(np.float32),
        actions=np.ones(length, np.int32),
        decisions=empty,
        seats=empty.astype(np.int8),
        versions=empty,
        features=np.empty((0, 4), np.uint8),
        legal=empty,
        offsets=np.zeros(1, np.int32),
        targets=empty.astype(np.float32),
        values=np.empty((0, 2), np.float32),
        states=np.empty((0, 0), np.int64),
    )


class Mouth:
    """A link that writes down what the worker is told."""

    def __init__(self) -> None:
        self.told: list[Message] = []

    def send(self, frame: bytes) -> None:
        self.told.append(decode(frame[HEADER.size :]))


class Nobody:
    """An evaluator that is never asked."""

    def reset(self) -> None: ...

    def forget(self, worker: int) -> None: ...


class Rig:
    """A dispatcher with a recorder and workers played by the test."""

    def __init__(
        self,
        folder,
        limits: RecorderLimits,
        *,
        is_lockstep: bool = False,
        total: int | None = None,
        durability: Durability = "process",
    ) -> None:
        self.folder, self.counted = folder, []
        self.dispatcher = Dispatcher(Nobody())
        assignment = Assignment("selfplay", b"", seed=0, chunk=4, low_water=4)
        self.work = UnitWork(assignment, Ledger(total), finished=lambda game: self.counted.append(game.unit))
        self.store = open_store(folder, {}, durability)
        self.run_folder = RunFolder(folder, retry_s=0.02)
        parts = (self.run_folder, self.store, limits, self.dispatcher, self.work)
        self.recorder = GameRecorder(*parts, is_lockstep=is_lockstep)
        self.dispatcher.add(self.work, self.recorder)

    @property
    def books(self) -> Books:
        return self.work.ledger.books

    def hire(self, number: int = 0, link: object = None) -> Member:
        member = Member(number, Phase.READY, 0.0)
        member.link = link or Mouth()
        self.dispatcher.ready(member)
        return member

    def finish(self, member: Member, unit: int, job: int | None = None, length: int = 3) -> None:
        if job is None:
            job = next(each.number for each in jobs_of(member) if each.first <= unit < each.first + each.count)
        self.dispatcher.heard(member, make_game(job, unit, length), 0.0)

    def die(self, member: Member) -> None:
        member.phase = Phase.GONE
        self.dispatcher.gone(member, is_blamed=True)

    async def until_counted(self, n_games: int) -> None:
        await until(lambda: len(self.counted) >= n_games)

    def stored(self) -> list[int]:
        reader = open_read_only(self.folder)
        try:
            assert read_kept(reader).games == len(read_units(reader))
            return read_units(reader).tolist()
        finally:
            reader.close()


async def until(is_true: Callable[[], bool]) -> None:
    """The writer has a thread of its own: give it time."""
    async with asyncio.timeout(60):
        while not is_true():  # noqa: ASYNC110
            await asyncio.sleep(0.001)


def jobs_of(member: Member) -> list[Job]:
    return [message for message in member.link.told if isinstance(message, Job)]


def acknowledged(member: Member) -> list[int]:
    return [unit for message in member.link.told if isinstance(message, Ack) for unit in message.units.tolist()]


@asynccontextmanager
async def rig(folder, limits: RecorderLimits = AT_ONCE, **kind):
    made = Rig(folder, limits, **kind)
    async with made.recorder:
        yield made
