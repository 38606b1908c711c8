"""Games against oneself: many at a time, in two groups of which one thinks while the other waits.

Where two groups would ask for blocks of fewer than BLOCK_ROWS there is one: many workers with a few games each overlap
among themselves, and what a message costs is shared by its rows. A worker that wakes finds the caches filled by the
network: about .4 ms of its time, whatever the size of its block.
"""

import json
from collections import deque
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from asyncplay import games, rng
from asyncplay.config.sections import SearchSettings
from asyncplay.games.spec import GameSpec, end_reason, outcome_of
from asyncplay.methods.selfplay.messages import Game, SelfplaySpec
from asyncplay.payloads import Floats, Positions, join_positions
from asyncplay.search.cache import EvaluationCache, Split
from asyncplay.search.examples import GameRows, PlayedGame
from asyncplay.search.group import SelectedRows, kernel_settings
from asyncplay.search.groups import AnyGroup, make_group
from asyncplay.wire.codec import HEADER, decode, payload_bytes
from asyncplay.wire.messages import Answer, Ask, Job, Message, PlaceModel
from asyncplay.worker.core import Step
from asyncplay.worker.session import LocalModels

BLOCK_ROWS = 128
MODEL = 0  # the number of the model that plays
STEP_BYTES = 32 << 20  # of finished games that are told of together, about
NO_UNIT = -1


class PlayingGroup:
    """One group with the units its slots play."""

    def __init__(self, group: AnyGroup) -> None:
        n_games = group.sizes.games
        self.group = group
        self.units = np.full(n_games, NO_UNIT, np.int64)
        self.jobs = np.zeros(n_games, np.int64)
        self.is_waiting = False  # for an answer
        self.finished: deque[int] = deque()  # slots whose games are over and not told of yet
        self.split: Split | None = None  # the rows under way, if some of them are remembered

    @property
    def is_playing(self) -> bool:
        return bool((self.units != NO_UNIT).any())

    def free(self) -> NDArray[np.int32]:
        return np.flatnonzero(self.units == NO_UNIT).astype(np.int32)


class SelfPlayer:
    """Keeps ``spec.games`` games under way as long as there are units; a unit is a game."""

    def __init__(self, tickets: Iterator[int]) -> None:
        self._tickets = tickets
        self._tables: list[PlayingGroup] = []
        self._units: deque[tuple[int, int]] = deque()  # (job, unit) not begun yet
        self._asked: dict[int, PlayingGroup] = {}
        self._seed = 0
        self._turn = 0
        self._cache: EvaluationCache | None = None
        self._models = LocalModels()
        self._spared = 0  # rows that needed no asking since the last ask
        self._refused = 0  # answers that the cache had no room for, up to the last ask

    def take(self, job: Job) -> None:
        if not self._tables:
            self._lay_out(job)
        if not self._is_busy:
            self._begin_anew()
        self._units.extend((job.number, unit) for unit in range(job.first, job.first + job.count))

    def receive(self, message: Message) -> None:
        if isinstance(message, PlaceModel):
            self._models.place(message)
            return
        assert isinstance(message, Answer), f"a self-player was sent a {type(message).__name__}"
        table = self._asked.pop(message.ticket)
        self._back_up(table, message.priors, message.values, message.version)
        table.is_waiting = False

    def advance(self, now_s: float) -> Step:
        """Let one table that is not waiting play on until it has to ask; with a network of this worker's own one table
        or all, until its answers are backed up."""
        if self._models.has(MODEL):
            return self._think_here(now_s)
        table = self._next_table()
        if table is None:
            return Step([], None)
        messages = self._settle(table)
        if table.finished:  # and too long to be sent together
            self._turn -= 1
            return Step(messages, 0)
        messages += self._ask(table, table.group.select())
        return Step(messages, 0 if self._n_thinking() else None)

    def _lay_out(self, job: Job) -> None:
        spec = decode(job.spec[HEADER.size :])
        assert isinstance(spec, SelfplaySpec), "self-play needs its own spec"
        game = load_game(spec.game, spec.options).showing(hidden=spec.shows_hidden)
        search = SearchSettings(**json.loads(spec.search))
        settings = kernel_settings(game, search)
        half = spec.games // 2
        sizes = [spec.games - half, half] if half * settings.worlds >= BLOCK_ROWS else [spec.games]
        self._tables = [PlayingGroup(make_group(game, settings, size)) for size in sizes]
        self._cache = EvaluationCache(game, spec.cache, spec.cache_bytes) if spec.cache else None
        self._seed = job.seed

    @property
    def _is_busy(self) -> bool:
        return bool(self._units) or any(table.is_playing for table in self._tables)

    def _begin_anew(self) -> None:
        """Be like one that has never played: an inline run may go on from here in another process, bit for bit."""
        self._turn = self._spared = 0
        if self._cache is not None:
            self._cache.forget()

    def _think_here(self, now_s: float) -> Step:
        tables = [table for table in self._tables if self._can_think(table)]
        if not self._models.gathers(MODEL):
            tables = [table for table in [self._next_table()] if table is not None]
        messages: list[Message] = []
        for table in tables:
            messages += self._settle(table)
        tables = [table for table in tables if not table.finished]  # the others have too much to be sent together
        asks = [(table, *self._unknown(table, table.group.select())) for table in tables]
        wanted = [(table, rows) for table, rows, n_extra in asks if len(rows.features)]
        if wanted:
            estimates = self._models.estimate(MODEL, join_positions([Positions(*rows[:3]) for _, rows in wanted]))
            row = entry = 0
            for table, rows in wanted:
                n_rows, n_entries = len(rows.features), len(rows.legal)
                priors, values = estimates.priors[entry : entry + n_entries], estimates.values[row : row + n_rows]
                self._back_up(table, priors, values, estimates.version)
                row, entry = row + n_rows, entry + n_entries
            self._models.count(extra=sum(n_extra for *_, n_extra in asks), **self._take_counts())
        is_stuck = not any(self._can_think(table) for table in self._tables)
        return Step(messages + self._models.report(now_s, is_last=is_stuck), None if is_stuck else 0)

    def _ask(self, table: PlayingGroup, rows: SelectedRows) -> list[Message]:
        """Ask what is not remembered; where nothing is left to ask, the search goes on at once."""
        wanted, n_extra = self._unknown(table, rows)
        if len(wanted.features) == 0:
            return []
        ticket = next(self._tickets)
        self._asked[ticket] = table
        table.is_waiting = True
        thinking = self._n_thinking()
        return [ask_message(wanted, ticket, model=MODEL, thinking=thinking, extra=n_extra, **self._take_counts())]

    def _unknown(self, table: PlayingGroup, rows: SelectedRows) -> tuple[SelectedRows | Positions, int]:
        """The rows that the cache does not answer, and how many of them are extra leaves; where there are none the
        search has its answers already."""
        if self._cache is not None and len(rows.slots):
            table.split = self._cache.look_up(rows.features, rows.legal, rows.offsets)
            self._spared += table.split.n_spared
        wanted = rows if table.split is None else table.split.ask
        n_wanted = len(wanted.features)
        if n_wanted == 0:
            self._back_up(table, np.empty(0, np.float32), np.empty((0, table.group.spec.players), np.float32), 0)
            return wanted, 0
        is_extra = rows.is_extra if table.split is None else rows.is_extra[table.split.block.asked[:n_wanted]]
        return wanted, int(is_extra.sum())

    def _take_counts(self) -> dict[str, int]:
        """Rows that were spared and that found no room in the cache, since the last call."""
        refused = 0 if self._cache is None else self._cache.n_refused
        counts = {"spared": self._spared, "uncached": refused - self._refused}
        self._spared, self._refused = 0, refused
        return counts

    def _back_up(self, table: PlayingGroup, priors: Floats, values: Floats, version: int) -> None:
        """Answers to what was asked, completed by what is remembered."""
        if self._cache is not None and table.split is not None:
            priors, values = self._cache.complete(table.split, priors, values, version)
            table.split, version = None, self._cache.version
        table.group.backup(priors, values, version)

    def _next_table(self) -> PlayingGroup | None:
        """The tables take turns; one with nothing to play and nothing to begin is passed over."""
        for _ in self._tables:
            self._turn = (self._turn + 1) % len(self._tables)
            table = self._tables[self._turn]
            if self._can_think(table):
                return table
        return None

    def _can_think(self, table: PlayingGroup) -> bool:
        return not table.is_waiting and (table.is_playing or bool(self._units))

    def _n_thinking(self) -> int:
        return sum(self._can_think(table) for table in self._tables)

    def _settle(self, table: PlayingGroup) -> list[Message]:
        """Take all decisions that are due, tell of finished games and begin new ones in their place.

        Games are told of until they have STEP_BYTES; the others wait for the next call.
        """
        messages: list[Message] = []
        n_bytes = 0
        while True:
            while table.finished and n_bytes < STEP_BYTES:
                messages.append(self._finish(table, table.finished.popleft()))
                n_bytes += payload_bytes(messages[-1])
            if table.finished:
                return messages
            self._begin(table)
            table.finished.extend(table.group.advance().tolist())
            if not table.finished:
                return messages

    def _begin(self, table: PlayingGroup) -> None:
        slots = table.free()[: len(self._units)]
        if len(slots) == 0:
            return
        begun = [self._units.popleft() for _ in slots]
        table.jobs[slots], table.units[slots] = np.array(begun).T
        seeds = np.array([rng.derive(self._seed, unit) for _, unit in begun], np.uint64)
        table.group.start(slots, seeds)

    def _finish(self, table: PlayingGroup, slot: int) -> Message:
        job, unit = int(table.jobs[slot]), int(table.units[slot])
        played = table.group.take(slot)
        game = game_message(table.group.spec, played, table.group.examples(played), job=job, unit=unit)
        table.units[slot] = NO_UNIT
        table.group.stop(np.array([slot], np.int32))
        return game


def load_game(name: str, options: str) -> GameSpec:
    """``options``: as JSON."""
    return games.load(name, json.loads(options))


def ask_message(rows: SelectedRows | Positions, ticket: int, *, model: int, thinking: int, **counts: int) -> Ask:
    """The rows of one select, or what is left of them, as one slot's query; valid until the group's next select."""
    return Ask(ticket, model, 1, thinking, rows.features, rows.legal, rows.offsets, **counts)


def game_message(spec: GameSpec, played: PlayedGame, rows: GameRows, *, job: int, unit: int) -> Game:
    """A finished game and the training rows that were made of it."""
    return Game(
        job=job,
        unit=unit,
        seed=played.seed,
        reason=end_reason(spec, rows.final),
        returns=played.returns,
        outcome=outcome_of(spec, played.returns),
        actions=played.actions,
        decisions=rows.decisions,
        seats=rows.players.astype(np.int8),
        versions=played.versions[rows.decisions],
        features=rows.features,
        legal=rows.legal,
        offsets=rows.offsets,
        targets=rows.policy,
        values=rows.values,
        states=rows.states,
        shortened=played.shortened,
        unrecorded=played.unrecorded,
    )
