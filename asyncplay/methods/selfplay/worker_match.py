"""Games between two agents, for arenas and evaluations; several matches may be under way at a time.

Games 2k and 2k + 1 begin with the same random opening; the hero sits at seat 0 in one and at seat 1 in the
other (at seat u mod P in games of more players), all other seats are the rival's. Each side that searches has
a group of its own in which the other side's decisions come from outside; both groups see the same game. Any other
side is an agent that decides at once.
"""

import json
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from asyncplay import rng
from asyncplay.agents.agent import Agent, DecisionPoint
from asyncplay.agents.catalogue import make_agent
from asyncplay.config.sections import SearchSettings
from asyncplay.games.position import Position
from asyncplay.games.spec import end_reason, outcome_of
from asyncplay.methods.selfplay.messages import Game, MatchSpec
from asyncplay.methods.selfplay.worker import ask_message, load_game
from asyncplay.payloads import Positions
from asyncplay.search import layout
from asyncplay.search.group import kernel_settings
from asyncplay.search.groups import AnyGroup, make_group
from asyncplay.wire.codec import HEADER, decode
from asyncplay.wire.messages import Answer, Job, Message, PlaceModel
from asyncplay.worker.core import Step
from asyncplay.worker.session import LocalModels

OPENING_STREAM = 7
MODEL = "model:"


@dataclass(slots=True)
class Side:
    """One searching agent's view of all games of a match under way."""

    group: AnyGroup
    model: int
    is_waiting: bool = False

    def follow(self, slot: int, actions: tuple[int, ...]) -> None:
        """Take over what was decided elsewhere, one decision at a time, until this side has to think."""
        while (n_done := len(self.group.actions(slot))) < len(actions):
            if self.group.status(slot) in (layout.THINKING, layout.OUTSIDE):
                self.group.force(np.array([slot], np.int32), np.array([actions[n_done]], np.int32))
            self.group.advance()

    def decided(self, slot: int, n_decisions: int) -> int | None:
        """Its decision of this number, if it has taken it."""
        decided = self.group.actions(slot)
        return int(decided[n_decisions]) if len(decided) > n_decisions else None


@dataclass(slots=True)
class Board:
    """One game under way."""

    job: int
    unit: int
    position: Position


class MatchGames:
    """The games of one match, ``spec.games`` of them at a time."""

    def __init__(self, spec: MatchSpec, seed: int) -> None:
        self._game, self._n_games = load_game(spec.game, spec.options), spec.games
        self._seed, self._opening = seed, spec.opening
        hero = self._side(spec.hero, spec.search, hidden=spec.shows_hidden)
        rival = self._side(spec.rival, spec.rival_search or spec.search, hidden=spec.shows_rival_hidden)
        self._players = (hero, rival)
        self.searching = [side for side in self._players if isinstance(side, Side)]
        self.units: deque[tuple[int, int]] = deque()
        self._boards: dict[int, Board] = {}  # by slot

    def _side(self, name: str, search: str, *, hidden: bool) -> Side | Agent:
        if not name.startswith(MODEL):
            return make_agent(name, self._game)
        game = self._game.showing(hidden=hidden)
        settings = kernel_settings(game, SearchSettings(**json.loads(search)), is_match=True)
        return Side(make_group(game, settings, self._n_games), int(name.removeprefix(MODEL)))

    @property
    def is_busy(self) -> bool:
        return bool(self._boards or self.units)

    @property
    def can_play(self) -> bool:
        """Whether it can go on without an answer."""
        return self.is_busy and not any(side.is_waiting for side in self.searching)

    def play(self) -> list[Message]:
        """Go on until every game waits for a search; return the games that are over."""
        finished: list[Message] = []
        while True:
            self._begin()
            for side in self.searching:
                side.group.advance()
            over = [slot for slot, board in self._boards.items() if self._play_on(slot, board)]
            finished += [self._finish(slot) for slot in over]
            if not (over and self.units and self.searching):  # between agents alone, all games of this call are over
                return finished

    def _begin(self) -> None:
        """Seat new games in free slots."""
        free = [slot for slot in range(self._n_games) if slot not in self._boards]
        for slot in free[: len(self.units)]:
            job, unit = self.units.popleft()
            seed = rng.derive(self._seed, unit // self._game.players)
            self._boards[slot] = Board(job, unit, Position.start(self._game, seed))
            hero_seats = 1 << (unit % self._game.players)
            others = ((1 << self._game.players) - 1) & ~hero_seats
            for side, outside in zip(self._players, (others, hero_seats), strict=True):
                if isinstance(side, Side):
                    side.group.start(np.array([slot], np.int32), np.array([seed], np.uint64), outside=outside)

    def _play_on(self, slot: int, board: Board) -> bool:
        """Play a game as far as it goes without a search; return whether it is over."""
        while not board.position.is_over:
            for side in self.searching:
                side.follow(slot, board.position.actions)
            action = self._decision(slot, board)
            if action is None:
                return False
            board.position = board.position.after(action)
        return True

    def _decision(self, slot: int, board: Board) -> int | None:
        """What is decided in a game, or None as long as a search thinks it over."""
        position = board.position
        n_decisions, legal = len(position.actions), position.legal
        if len(legal) == 1:
            return legal[0]
        if n_decisions < self._opening:
            return _random(legal, position.seed, n_decisions)
        is_hero = position.player == board.unit % self._game.players
        side = self._players[0 if is_hero else 1]
        if isinstance(side, Side):
            return side.decided(slot, n_decisions)
        return side.decide(DecisionPoint.of(position))

    def _finish(self, slot: int) -> Message:
        board = self._boards.pop(slot)
        shortened = sum(side.group.take(slot).shortened for side in self.searching)
        for side in self.searching:
            side.group.stop(np.array([slot], np.int32))
        return result_message(board, shortened)


class MatchPlayer:
    """Plays the games of all matches that it has units of; a unit is a game."""

    def __init__(self, tickets: Iterator[int]) -> None:
        self._tickets = tickets
        self._asked: dict[int, Side] = {}
        self._models = LocalModels()
        self._matches: dict[tuple[bytes, int], MatchGames] = {}  # by spec and seed

    def take(self, job: Job) -> None:
        key = (job.spec, job.seed)
        if key not in self._matches:
            self._matches = {key: match for key, match in self._matches.items() if match.is_busy}
            spec = decode(job.spec[HEADER.size :])
            assert isinstance(spec, MatchSpec), "a match needs its own spec"
            self._matches[key] = MatchGames(spec, job.seed)
        self._matches[key].units.extend((job.number, unit) for unit in range(job.first, job.first + job.count))

    def receive(self, message: Message) -> None:
        if isinstance(message, PlaceModel):
            self._models.place(message)
            return
        assert isinstance(message, Answer), f"a match was sent a {type(message).__name__}"
        side = self._asked.pop(message.ticket)
        side.group.backup(message.priors, message.values, message.version)
        side.is_waiting = False

    def advance(self, now_s: float) -> Step:
        """Let every match play on that does not wait for an answer."""
        messages: list[Message] = []
        for match in self._matches.values():
            if match.can_play:
                messages += match.play()
                messages += [ask for side in match.searching if (ask := self._ask(side)) is not None]
        is_stuck = not any(match.can_play for match in self._matches.values())
        return Step(messages + self._models.report(now_s, is_last=is_stuck), None if is_stuck else 0)

    def _ask(self, side: Side) -> Message | None:
        """The rows that a side wants to know; None where there are none or this worker has answered them."""
        rows = side.group.select()
        if len(rows.slots) == 0:
            side.group.backup(np.empty(0, np.float32), np.empty((0, side.group.spec.players), np.float32), 0)
            return None
        n_extra = int(rows.is_extra.sum())
        if self._models.has(side.model):
            side.group.backup(*self._models.estimate(side.model, Positions(*rows[:3])))
            self._models.count(extra=n_extra)
            return None
        ticket = next(self._tickets)
        self._asked[ticket] = side
        side.is_waiting = True
        return ask_message(rows, ticket, model=side.model, thinking=0, extra=n_extra)


def result_message(board: Board, shortened: int) -> Game:
    """A finished game without training rows."""
    spec, state = board.position.spec, board.position.state
    returns = np.array(board.position.returns)
    nothing, offsets = np.empty(0, np.int32), np.zeros(1, np.int32)
    return Game(
        job=board.job,
        unit=board.unit,
        seed=board.position.seed,
        reason=end_reason(spec, state),
        returns=returns,
        outcome=outcome_of(spec, returns),
        actions=np.array(board.position.actions, np.int32),
        decisions=nothing,
        seats=np.empty(0, np.int8),
        versions=nothing,
        features=np.empty((0, spec.row_features), spec.feature_dtype),
        legal=nothing,
        offsets=offsets,
        targets=np.empty(0, np.float32),
        values=np.empty((0, spec.players), np.float32),
        states=np.empty((0, spec.example_words), np.int64),
        shortened=shortened,
    )


def _random(legal: list[int], seed: int, decision: int) -> int:
    return legal[int(rng.stream(seed, OPENING_STREAM, decision)[0]) % len(legal)]
