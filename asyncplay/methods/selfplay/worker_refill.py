"""Stored games made into training rows again: records in, the messages of their games out."""

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from asyncplay.games.spec import GameSpec
from asyncplay.methods.selfplay.messages import Game, RebuildSpec
from asyncplay.methods.selfplay.worker import game_message, load_game
from asyncplay.payloads import Array, unpack
from asyncplay.search import entries
from asyncplay.search.rebuilt import notes_of, rebuild_rows
from asyncplay.wire.codec import HEADER, decode, payload_bytes
from asyncplay.wire.messages import Job, Message
from asyncplay.worker.core import Step

STEP_BYTES = 16 << 20  # of rebuilt games that wait to be sent, about
STEP_GAMES = 4  # rebuilt at a time: with 16 the first new game after a resume came twice as late


class _Stored(NamedTuple):
    job: int
    unit: int
    seed: int
    returns: Array  # float64[P]
    record: bytes


class Rebuilder:
    """Plays stored games again, in the order they come; a unit is a game."""

    def __init__(self, tickets: Iterator[int]) -> None:
        self._todo: deque[_Stored] = deque()
        self._game: GameSpec | None = None

    def take(self, job: Job) -> None:
        spec = decode(job.spec[HEADER.size :])
        assert isinstance(spec, RebuildSpec), "a rebuilder needs its own spec"
        self._game = self._game or load_game(spec.game, spec.options).showing(hidden=spec.shows_hidden)
        self._todo.extend(_stored_games(job, spec))

    def receive(self, message: Message) -> None:
        raise AssertionError(f"a rebuilder asks nothing, but was sent a {type(message).__name__}")

    def advance(self, now_s: float) -> Step:
        messages: list[Message] = []
        n_bytes = 0
        while self._todo and len(messages) < STEP_GAMES and n_bytes < STEP_BYTES:
            messages.append(self._rebuild(self._todo.popleft()))
            n_bytes += payload_bytes(messages[-1])
        return Step(messages, 0 if self._todo else None)

    def _rebuild(self, stored: _Stored) -> Game:
        assert self._game is not None, "a job brings its game"
        record = unpack(stored.record)
        notes = notes_of(self._game, stored.seed, record, stored.returns)
        rows = rebuild_rows(self._game, entries.load_rebuild(self._game), notes, record)
        return game_message(self._game, notes, rows, job=stored.job, unit=stored.unit)


def _stored_games(job: Job, spec: RebuildSpec) -> Iterator[_Stored]:
    records = np.concatenate([[0], spec.record_ends])
    returns = np.concatenate([[0], spec.return_ends])
    for place, unit in enumerate(range(job.first, job.first + job.count)):
        paid = spec.returns[returns[place] : returns[place + 1]].copy()  # what comes off the wire is read-only
        record = spec.records[records[place] : records[place + 1]]
        yield _Stored(job.number, unit, int(spec.seeds[place]), paid, record)
