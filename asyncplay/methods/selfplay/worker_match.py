"""Games between two agents, for arenas and evaluations.

Games 2k and 2k + 1 begin with the same random opening; the hero sits at seat 0 in one and at seat 1 in the
other (at seat u mod P in games of more players), all other seats are the rival's. Each side that searches has
a group of its own in which the other side's decisions come from outside; both groups see the same game.
"""

import json
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from asyncplay import rng
from asyncplay.agents.agent import Agent, DecisionPoint
from asyncplay.agents.catalogue import make_agent
from asyncplay.config.sections import SearchSettings
from asyncplay.games.spec import GameSpec
from asyncplay.methods.selfplay.messages import MatchSpec
from asyncplay.methods.selfplay.worker import ask_message, game_message, load_game
from asyncplay.search import layout
from asyncplay.search.group import kernel_settings
from asyncplay.search.groups import AnyGroup, make_group
from asyncplay.wire.codec import HEADER, decode
from asyncplay.wire.messages import Answer, Job, Message
from asyncplay.worker.core import Step

OPENING_STREAM = 7


@dataclass(slots=True)
class Side:
    """One agent's view of all games under way."""

    group: AnyGroup
    model: int
    is_waiting: bool = False


@dataclass(slots=True)
class Board:
    """One game under way."""

    job: int
    unit: int
    seed: int
    opening: int  # random decisions still to be made
    actions: list[int] = field(default_factory=list)


class MatchPlayer:
    """Plays ``spec.games`` games of a match at a time; a unit is a game."""

    def __init__(self, tickets: Iterator[int]) -> None:
        self._tickets = tickets
        self._units: deque[tuple[int, int]] = deque()
        self._asked: dict[int, Side] = {}
        self._spec: bytes = b""
        self._sides: list[Side] = []
        self._boards: dict[int, Board] = {}  # by slot
        self._rival: Agent | None = None
        self._seed = 0

    def take(self, job: Job) -> None:
        if job.spec != self._spec:
            assert not self._boards, "a match began before the one before it was over"
            self._lay_out(job)
        self._units.extend((job.number, unit) for unit in range(job.first, job.first + job.count))

    def receive(self, message: Message) -> None:
        assert isinstance(message, Answer), f"a match was sent a {type(message).__name__}"
        side = self._asked.pop(message.ticket)
        side.group.backup(message.priors, message.values, message.version)
        side.is_waiting = False

    def advance(self, now_s: float) -> Step:
        """Let every side that is not waiting think, and carry decisions from one to the other."""
        self._begin()
        messages: list[Message] = []
        if self._boards and not any(side.is_waiting for side in self._sides):
            messages += self._exchange()
            messages += self._ask_all()
        is_stuck = not self._boards or any(side.is_waiting for side in self._sides)
        return Step(messages, None if is_stuck and not (self._units and not self._boards) else 0)

    def _lay_out(self, job: Job) -> None:
        spec = decode(job.spec[HEADER.size :])
        assert isinstance(spec, MatchSpec), "a match needs its own spec"
        game = load_game(spec.game, spec.options)
        ways = [
            (spec.hero, spec.search, spec.shows_hidden),
            (spec.rival, spec.rival_search or spec.search, spec.shows_rival_hidden),
        ]
        self._sides = [
            Side(_group(game.showing(hidden=hidden), search, spec.games), int(name.removeprefix("model:")))
            for name, search, hidden in ways
            if name.startswith("model:")
        ]
        self._rival = None if spec.rival.startswith("model:") else make_agent(spec.rival, game)
        self._spec, self._seed, self._opening = job.spec, job.seed, spec.opening
        self._n_players, self._n_games = game.players, spec.games

    def _begin(self) -> None:
        """Seat new games in free slots."""
        free = [slot for slot in range(self._n_games if self._sides else 0) if slot not in self._boards]
        for slot in free[: len(self._units)]:
            job, unit = self._units.popleft()
            seed = rng.derive(self._seed, unit // self._n_players)
            self._boards[slot] = Board(job, unit, seed, self._opening)
            for index, side in enumerate(self._sides):
                outside = self._hero_seats(unit) if index else self._all_seats & ~self._hero_seats(unit)
                side.group.start(np.array([slot], np.int32), np.array([seed], np.uint64), outside=outside)

    @property
    def _all_seats(self) -> int:
        return (1 << self._n_players) - 1

    def _hero_seats(self, unit: int) -> int:
        return 1 << (unit % self._n_players)

    def _exchange(self) -> list[Message]:
        """Advance all sides until everybody who is to decide has to think; tell of what is over."""
        messages: list[Message] = []
        while True:
            finished = [side.group.advance() for side in self._sides]
            messages += [self._finish(int(slot)) for slot in finished[0]]
            if not self._forward():
                return messages

    def _forward(self) -> bool:
        """Hand decisions over; return whether there was one."""
        moved = False
        for slot, board in self._boards.items():
            self._note(slot, board)
            for side in self._sides:
                moved |= self._force(side, slot, board)
        return moved

    def _note(self, slot: int, board: Board) -> None:
        """Write down what the side furthest ahead has played."""
        for side in self._sides:
            played = side.group.actions(slot)
            board.actions += played[len(board.actions) :].tolist()

    def _force(self, side: Side, slot: int, board: Board) -> bool:
        """Give a side that waits in ``slot`` the decision it waits for, if there is one."""
        group = side.group
        if group.status(slot) != layout.OUTSIDE and not self._is_opening(group, slot, board):
            return False
        done = len(group.actions(slot))
        if done < len(board.actions):
            action = board.actions[done]
        elif done < board.opening:
            action = _random(group.legal(slot), board.seed, done)
        elif self._rival is not None:
            actions = np.array(board.actions, np.int32)
            action = self._rival.decide(
                DecisionPoint(group.state(slot), actions, group.legal(slot), board.seed + board.unit)
            )
        else:
            return False
        group.force(np.array([slot], np.int32), np.array([action], np.int32))
        return True

    def _is_opening(self, group: AnyGroup, slot: int, board: Board) -> bool:
        return group.status(slot) == layout.THINKING and len(group.actions(slot)) < board.opening

    def _finish(self, slot: int) -> Message:
        board = self._boards.pop(slot)
        group = self._sides[0].group
        played = group.take(slot)
        rows = group.examples(played._replace(policy_ends=np.zeros_like(played.policy_ends)))  # none are wanted
        game = game_message(group.spec, played, rows, job=board.job, unit=board.unit)
        for side in self._sides:
            side.group.stop(np.array([slot], np.int32))
        return game

    def _ask_all(self) -> list[Message]:
        messages: list[Message] = []
        for side in self._sides:
            rows = side.group.select()
            if len(rows.slots) == 0:
                side.group.backup(np.empty(0, np.float32), np.empty((0, self._n_players), np.float32), 0)
                continue
            ticket = next(self._tickets)
            self._asked[ticket] = side
            side.is_waiting = True
            extra = int(rows.is_extra.sum())
            messages.append(ask_message(rows, ticket, model=side.model, thinking=0, extra=extra))
        return messages


def _group(game: GameSpec, text: str, n_games: int) -> AnyGroup:
    return make_group(game, kernel_settings(game, SearchSettings(**json.loads(text)), is_match=True), n_games)


def _random(legal: NDArray[np.int32], seed: int, decision: int) -> int:
    return int(legal[int(rng.stream(seed, OPENING_STREAM, decision)[0]) % len(legal)])
