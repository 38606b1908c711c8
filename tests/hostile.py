"""A worker that lies: frames of the right type with a wrong value, and frames whose bytes were changed."""

import asyncio
import os
import random
import socket
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from asyncplay.errors import WireError
from asyncplay.methods.mccfr.messages import Merged
from asyncplay.methods.roles import be_worker
from asyncplay.methods.selfplay.messages import Game
from asyncplay.pools.inline import InlineLink
from asyncplay.pools.link import Link, OnFrame, OnLost
from asyncplay.wire.codec import HEADER, decode, encode
from asyncplay.wire.messages import (
    PROTOCOL,
    Ack,
    Answer,
    Ask,
    Bye,
    Done,
    Hello,
    Idle,
    Job,
    Message,
    MessagePart,
    Ping,
    Pong,
    Stop,
)
from asyncplay.wire.pipe import BlockingPipe
from asyncplay.worker.core import Step, Worker

HUGE = (2**31, 2**62, 2**63, 2**64 - 1)
WILD = (np.nan, np.inf, -np.inf, 3e38, -3e38, 1.5)
EMPTY = np.zeros(0, np.int32)

Change = Callable[[random.Random, Any], dict[str, Any]]
Bodies = Callable[[Job | None], bytes | None]
"""What a liar with this job says next; None: nothing yet."""


def entry(name: str, *values: float) -> Change:
    """One number of an array becomes one of these."""

    def change(dice: random.Random, message: Any) -> dict[str, Any]:
        array = getattr(message, name).copy()
        array.flat[dice.randrange(array.size)] = dice.choice(values)
        return {name: array}

    return change


def number(name: str, *values: int) -> Change:
    return lambda dice, message: {name: dice.choice(values)}


def shorter(name: str) -> Change:
    return lambda dice, message: {name: getattr(message, name)[: dice.randrange(len(getattr(message, name)))]}


def longer(name: str) -> Change:
    return lambda dice, message: {name: np.concatenate([getattr(message, name)] * dice.randint(2, 5))}


def illegal(dice: random.Random, game: Any) -> dict[str, Any]:
    """A later decision for the cell that was taken first."""
    actions = game.actions.copy()
    actions[game.decisions[dice.randrange(1, len(game.decisions))]] = actions[game.decisions[0]]
    return {"actions": actions}


GAME_LIES: list[Change] = [
    illegal,
    number("job", *HUGE, -1, 0, 10**9),
    number("unit", *HUGE, -1, 10**9),
    number("seed", *HUGE, -1, 0, 12345),
    number("reason", "", "limit", "resigned", "x" * 10_000),  # type: ignore[arg-type]
    entry("returns", np.nan, np.inf, -np.inf, 1e300, 0.25, 7.0),
    entry("outcome", *WILD, 0.25),
    entry("actions", -1, 9, 2**31 - 1, -(2**31)),
    entry("decisions", -1, 9, 2**31 - 1),
    entry("seats", -1, 2, 127, -128),
    entry("versions", -1, 2**31 - 1, 10**6),
    entry("legal", -1, 9, 2**31 - 1, -(2**31)),
    entry("offsets", -1, 10**6, 2**31 - 1),
    entry("targets", *WILD, -0.25),
    entry("values", *WILD, 0.25),
    *[shorter(name) for name in ("returns", "outcome", "actions", "decisions", "seats", "versions", "features")],
    *[shorter(name) for name in ("legal", "offsets", "targets", "values")],
    *[longer(name) for name in ("returns", "outcome", "actions", "decisions", "seats", "features", "legal", "targets")],
    lambda dice, game: {"features": game.features.astype(np.float32)},
    lambda dice, game: {"states": np.zeros((len(game.states) + dice.choice((-1, 1)), 0), np.int64)},
    lambda dice, game: {"states": np.zeros((len(game.states), dice.randrange(1, 30)), np.int64)},
    lambda dice, game: {"features": game.features[:, : dice.randrange(game.features.shape[1])]},
    lambda dice, game: {"returns": game.returns[:1], "outcome": game.outcome[:1], "values": game.values[:, :1]},
    lambda dice, game: {"decisions": game.decisions[::-1].copy()},
    lambda dice, game: {"legal": game.legal[::-1].copy()},
]
ASK_LIES: list[Change] = [
    number("ticket", 2**63, 2**64 - 1, -1),
    number("model", *HUGE, -1, 7),
    number("slots", *HUGE, -1, 0),
    number("thinking", *HUGE, -1),
    number("spared", *HUGE, -1),
    number("extra", *HUGE, -1, 10**6),
    entry("legal", -1, 9, 2**31 - 1, -(2**31)),
    entry("offsets", -1, 10**6, 2**31 - 1),
    *[shorter(name) for name in ("features", "legal", "offsets")],
    *[longer(name) for name in ("features", "legal", "offsets")],
    lambda dice, ask: {"features": ask.features.astype(np.float32)},
    lambda dice, ask: {"features": ask.features[:, : dice.randrange(ask.features.shape[1])]},
]
DELTA_LIES: list[Change] = [
    number("job", *HUGE, -1, 0, 10**9),
    number("iterations", *HUGE, -1, 0, 1),
    number("nodes", *HUGE, -1, 0, 1),
    number("utility", np.nan, np.inf, -np.inf, 1e9, -1e9),  # type: ignore[arg-type]
    entry("infosets", -1, 10**6, 2**31 - 1, -(2**31)),
    entry("regrets", np.nan, np.inf, -np.inf, 1e300, -1e300, 1e10, -1e10),
    entry("sums", np.nan, np.inf, -np.inf, 1e300, -1e-3, 1e10),
    *[shorter(name) for name in ("infosets", "regrets", "sums")],
    *[longer(name) for name in ("infosets", "regrets", "sums")],
    lambda dice, delta: {"infosets": np.full_like(delta.infosets, delta.infosets[0])},
    lambda dice, delta: {"is_last": False},
    lambda dice, delta: {"is_last": False, "iterations": 0, "nodes": 0, "utility": 0.0, "infosets": EMPTY},
]


def strange(dice: random.Random, job: int, unit: int) -> Message:
    """What a worker never says, or not any more."""
    return dice.choice(
        [
            Hello(PROTOCOL, 1, os.getpid()),
            Hello(PROTOCOL + dice.randint(1, 99), 1, 0),
            Bye(),
            Pong(dice.choice([0, 1, 2**62]), "x" * dice.randrange(10_000)),
            Stop(),
            Ping(1),
            Job(1, "selfplay", 0, 1, 0, b""),
            Ack(np.zeros(1, np.int64), np.zeros(1, np.int64)),
            Answer(1, 1, np.zeros(1, np.float32), np.zeros((1, 1), np.float32)),
            Merged("traverse", 0, EMPTY, np.zeros(0)),
            Done(job, np.array([unit])),
            Done(dice.choice([0, 10**9]), np.array([unit])),
            Done(job, np.array([dice.choice([-(2**63), 2**63 - 1, -1])])),
            Idle(dice.choice(HUGE[2:])),
            MessagePart(dice.choice([1, 2**31]), 2**32 - 1, b"x"),
            MessagePart(0, dice.choice([2**31, 2**32 - 1]), dice.randbytes(10)),
            MessagePart(0, dice.randint(1, 9), dice.randbytes(10)),
            MessagePart(0, len(again := encode(MessagePart(0, 1, b"x"))[HEADER.size :]), again),
        ]
    )


def unit_seed(seed: int, unit: int) -> int:
    """As ``rng.derive``, without the compiler that its module loads: a liar's process lives for a moment."""
    word, golden = (1 << 64) - 1, 0x9E3779B97F4A7C15

    def mix(number: int) -> int:
        number &= word
        number = ((number ^ (number >> 30)) * 0xBF58476D1CE4E5B9) & word
        number = ((number ^ (number >> 27)) * 0x94D049BB133111EB) & word
        return number ^ (number >> 31)

    return mix(mix(seed ^ mix(unit + golden)) + golden) >> 1


@dataclass
class Liar:
    """Makes the bodies of hostile frames out of what an honest worker said."""

    game: Game
    ask: Ask
    seed: int  # of the run

    def own(self, dice: random.Random, job: Job | None) -> Game:
        """The honest worker's game as if it were one of the liar's; nobody could tell it from a true one."""
        if job is None:
            return replace(self.game, job=10**9)
        unit = dice.randrange(job.first, job.first + job.count)
        return replace(self.game, job=job.number, unit=unit, seed=unit_seed(self.seed, unit))

    def lie(self, dice: random.Random, job: Job | None) -> bytes:
        """Of the right type, and to be refused whatever it is."""
        game, kind = self.own(dice, job), dice.randrange(10)
        if kind < 6:
            message = changed(dice, game, GAME_LIES)
        elif kind < 9:
            message = changed(dice, self.ask, ASK_LIES)
        else:
            message = strange(dice, game.job, game.unit)
        return encode(message)[HEADER.size :]

    def mutant(self, dice: random.Random, job: Job | None) -> bytes:
        """With some bytes changed, so that anything can come of it."""
        game = self.own(dice, job)
        others = [Done(game.job, np.array([game.unit])), Idle(3), Pong(1, "here"), Hello(PROTOCOL, 1, 77)]
        return mutated(dice, [game, game, self.ask, self.ask, dice.choice(others)])


def changed(dice: random.Random, message: Any, lies: list[Change]) -> Any:
    """Changed until it is another than it was."""
    while True:
        change = dice.choice(lies)(dice, message)
        if any(not same(getattr(message, name), value) for name, value in change.items()):
            return replace(message, **change)


def same(one: Any, other: Any) -> bool:
    if not isinstance(one, np.ndarray):
        return bool(one == other)
    return one.dtype == other.dtype and np.array_equal(one, other)


def mutated(dice: random.Random, messages: list[Message]) -> bytes:
    data = bytearray(encode(dice.choice(messages))[HEADER.size :])
    for _ in range(dice.randint(1, 4)):
        place = dice.randrange(len(data) + 1)
        match dice.randrange(4):
            case 0 if place < len(data):
                data[place] = dice.randrange(256)
            case 1:
                del data[place : place + dice.randint(1, 8)]
            case 2:
                data[place:place] = dice.randbytes(dice.randint(1, 8))
            case _ if place < len(data):
                data[place] ^= 1 << dice.randrange(8)
    return bytes(data) or b"\xc1"


class Witness(Worker):
    """An honest worker whose messages are written down."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.sent: list[Message] = []

    def advance(self, now_s: float) -> Step:
        step = super().advance(now_s)
        self.sent += [decode(encode(message)[HEADER.size :]) for message in step.messages]  # arrays are used again
        return step


@dataclass
class Tally:
    """What became of the frames that liars sent."""

    wanted: int
    sent: int = 0
    accepted: int = 0
    reasons: list[str] = field(default_factory=list)
    spent: asyncio.Event = field(default_factory=asyncio.Event)


class LiarLink:
    """Greets, waits for what it is told, and says one thing after another until it is hung up on."""

    def __init__(self, number: int, on_frame: OnFrame, on_lost: OnLost, tally: Tally, bodies: Bodies) -> None:
        self._number, self._on_frame, self._on_lost = number, on_frame, on_lost
        self._tally, self._bodies = tally, bodies
        self._job: Job | None = None
        self._is_open = True
        self._loop = asyncio.get_running_loop()
        self._loop.call_soon(self._greet)

    def send(self, frame: bytes) -> None:
        message = decode(frame[HEADER.size :])
        if isinstance(message, Job):
            self._job = message
        if isinstance(message, Stop):
            self.refuse("told to stop")

    def send_control(self, frame: bytes) -> None: ...

    def pause(self) -> None: ...

    def resume(self) -> None: ...

    def refuse(self, why: str) -> None:
        if self._is_open:
            self._is_open = False
            self._loop.call_soon(self._on_lost, why)

    def kill(self) -> None:
        self.refuse("killed")

    async def reap(self) -> None: ...

    def _greet(self) -> None:
        if self._is_open:
            self._on_frame(encode(Hello(PROTOCOL, self._number, os.getpid()))[HEADER.size :])
            self._loop.call_soon(self._lie)

    def _lie(self) -> None:
        if not self._is_open:
            return
        if self._tally.sent == self._tally.wanted:
            self._tally.spent.set()
            return
        body = self._bodies(self._job)
        if body is None:
            self._loop.call_later(0.001, self._lie)
            return
        self._tally.sent += 1
        try:
            self._on_frame(body)
            self._tally.accepted += 1
            self._loop.call_soon(self._lie)
        except WireError as error:
            self._tally.reasons.append(str(error))
            self.refuse(str(error))


class MixedPool:
    """Worker 0 is honest, all others lie."""

    def __init__(self, honest: Worker, tally: Tally, bodies: Bodies) -> None:
        self._honest, self._tally, self._bodies = honest, tally, bodies

    async def open(self, number: int, on_frame: OnFrame, on_lost: OnLost) -> Link:
        if number == 0:
            return InlineLink(self._honest, on_frame, on_lost)
        return LiarLink(number, on_frame, on_lost, self._tally, self._bodies)


@dataclass
class LiarEntry:
    """A worker's entry: number 0 is a real worker, the others lie, every second time with changed bytes.

    An instance travels to the process by pickling. How many frames were sent is in the file ``count``.
    """

    count: Path
    wanted: int
    game: bytes
    ask: bytes
    seed: int  # of the run

    def __call__(self, number: int, data: socket.socket, control: socket.socket) -> None:
        if number == 0:
            be_worker(number, data, control)
        pipe = BlockingPipe(data)
        game, ask = decode(self.game), decode(self.ask)
        assert isinstance(game, Game)
        assert isinstance(ask, Ask)
        liar = Liar(game, ask, self.seed)
        try:
            pipe.send(encode(Hello(PROTOCOL, number, os.getpid())))
            job = self._listen(pipe, 0.5)
            while (sent := int(self.count.read_text())) < self.wanted:
                draft = self.count.with_suffix(".draft")  # this process may be killed at any moment
                draft.write_text(str(sent + 1))
                draft.rename(self.count)
                dice = random.Random(sent)
                body = liar.mutant(dice, job) if sent % 2 else liar.lie(dice, job)
                pipe.send(HEADER.pack(len(body)) + body)
                self._listen(pipe, 0.5)
            while True:
                self._listen(pipe, 60.0)
        except EOFError:
            os._exit(0)

    @staticmethod
    def _listen(pipe: BlockingPipe, seconds: float) -> Job | None:
        """Until a job comes or nothing for so long; EOFError when it is hung up on or told to stop."""
        while (body := pipe.receive(seconds)) is not None:
            match decode(body):
                case Job() as job:
                    return job
                case Stop():
                    raise EOFError
        return None
