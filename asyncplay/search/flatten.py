"""Compiles the rules of a small game to the flat arrays of flat.py."""

from collections.abc import Hashable, Iterator, Sequence
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from asyncplay.errors import AsyncplayError
from asyncplay.games.spec import CHANCE_TURN, GAME_OVER, GameSpec
from asyncplay.search.flat import NO_ENTRY, NODE, OUTCOME, Flat, FlatGame

MAX_NODES = 5_000_000

State = NDArray[np.int64]
Thing = TypeVar("Thing", bound=Hashable)


def flatten(spec: GameSpec) -> FlatGame:
    """Walk through every history once, about 10 us each. What cannot be solved is the user's mistake."""
    return _Flattener(spec).flatten()


class _Node(NamedTuple):
    """A node while it is put together. Equal ones are the same node."""

    mover: int
    n: int = 0
    place: int = 0  # the row of a decision, the odds of a chance turn, the payoffs of an end
    block: int = 0  # its children


class _Numbers(Generic[Thing]):
    """Things by number and numbers by thing; what is equal has one number."""

    def __init__(self) -> None:
        self.things: list[Thing] = []
        self._numbers: dict[Thing, int] = {}

    def add(self, thing: Thing) -> int:
        number = self._numbers.setdefault(thing, len(self.things))
        if number == len(self.things):
            self.things.append(thing)
        return number


class _Row(NamedTuple):
    legal: list[int]
    first: int  # its first entry
    parent: int


class _Flattener:
    """Numbers rows on the way down and blocks of siblings on the way up."""

    def __init__(self, spec: GameSpec) -> None:
        self._spec = spec
        self._looks: _Numbers[tuple[int, int]] = _Numbers()  # of each row: mover and key
        self._rows: list[_Row] = []
        self._n_entries = 0
        self._payoffs: _Numbers[tuple[float, ...]] = _Numbers()
        self._odds: _Numbers[tuple[float, ...]] = _Numbers()
        self._blocks: _Numbers[tuple[_Node, ...]] = _Numbers()

    def flatten(self) -> FlatGame:
        root = self._visit(self._spec.new_state(), (NO_ENTRY,) * self._spec.players)
        self._blocks.add((root,))
        looks = self._looks.things
        flat = Flat(
            self._lay_out_nodes(),
            np.concatenate([_draws(odds) for odds in self._odds.things] or [np.zeros(0, OUTCOME)]),
            np.array(self._payoffs.things, np.float64),
            np.array([*(row.first for row in self._rows), self._n_entries], np.int32),
            np.array([mover for mover, _ in looks], np.int32),
            np.array([row.parent for row in self._rows], np.int32),
        )
        actions = [action for row in self._rows for action in row.legal]
        return FlatGame(flat, np.array([key for _, key in looks], np.uint64), np.array(actions, np.int32))

    def _visit(self, state: State, last: tuple[int, ...]) -> _Node:
        """The node of a history; ``last`` is the latest entry of each seat."""
        spread = self._spread(state, last)
        if len(spread) == 1:
            return next(iter(spread))
        return _Node(CHANCE_TURN, len(spread), self._odds.add(tuple(spread.values())), self._block(list(spread)))

    def _spread(self, state: State, last: tuple[int, ...]) -> dict[_Node, float]:
        """What comes next and with what odds, once chance is through; outcomes that lead to the same are one."""
        mover = self._spec.kernels.to_move(self._spec.rules, state)
        if mover == GAME_OVER:
            return {self._end(state): 1.0}
        if mover != CHANCE_TURN:
            return {self._decision(state, mover, last): 1.0}
        merged: dict[_Node, float] = {}
        for odds, after in self._outcomes(state):
            for node, share in self._spread(after, last).items():
                merged[node] = merged.get(node, 0.0) + share * odds
        return merged

    def _outcomes(self, state: State) -> Iterator[tuple[float, State]]:
        kernels, rules = self._spec.kernels, self._spec.rules
        if kernels.outcomes is None or kernels.happen is None:
            raise AsyncplayError(f"{self._spec.name} cannot be solved: its chance cannot be listed")
        numbers, odds = np.empty(self._spec.max_outcomes, np.int32), np.empty(self._spec.max_outcomes)
        for k in range(kernels.outcomes(rules, state, numbers, odds)):
            after = state.copy()
            kernels.happen(rules, after, numbers[k])
            yield float(odds[k]), after

    def _end(self, state: State) -> _Node:
        gains = np.empty(self._spec.players, np.float64)
        self._spec.kernels.returns(self._spec.rules, state, gains)
        return _Node(GAME_OVER, place=self._payoffs.add(tuple(gains.tolist())))

    def _decision(self, state: State, mover: int, last: tuple[int, ...]) -> _Node:
        kernels, rules = self._spec.kernels, self._spec.rules
        actions = np.empty(self._spec.max_legal, np.int32)
        legal = actions[: kernels.legal(rules, state, actions)].tolist()
        row = self._row((mover, kernels.key(rules, state, mover)), legal, last[mover])
        children = []
        for entry, action in enumerate(legal, self._rows[row].first):
            after = state.copy()
            kernels.play(rules, after, action)
            children.append(self._visit(after, (*last[:mover], entry, *last[mover + 1 :])))
        return _Node(mover, len(legal), row, self._block(children))

    def _row(self, look: tuple[int, int], legal: list[int], parent: int) -> int:
        row = self._looks.add(look)
        if row == len(self._rows):
            self._rows.append(_Row(legal, self._n_entries, parent))
            self._n_entries += len(legal)
        if self._rows[row].legal != legal or self._rows[row].parent != parent:
            raise AsyncplayError(f"{self._spec.name} cannot be solved: seat {look[0]} forgets what it knew")
        return row

    def _block(self, children: Sequence[_Node]) -> int:
        if len(self._blocks.things) > MAX_NODES:
            raise AsyncplayError(f"{self._spec.name} is too large to be compiled: more than {MAX_NODES:,} nodes")
        return self._blocks.add(tuple(children))

    def _lay_out_nodes(self) -> NDArray[np.void]:
        """Blocks backwards: those of the children were finished before those of their parents."""
        blocks = self._blocks.things[::-1]
        starts = np.concatenate(([0], np.cumsum([len(block) for block in blocks])))[:-1][::-1]
        made = np.array([node for block in blocks for node in block], np.int64)
        nodes = np.zeros(len(made), NODE)
        nodes["mover"], nodes["n"] = made[:, 0], made[:, 1]
        place, block = made[:, 2], made[:, 3]
        is_end, is_chance, decides = (made[:, 0] == GAME_OVER), (made[:, 0] == CHANCE_TURN), (made[:, 0] >= 0)
        nodes["first"] = np.where(is_end, place, starts[block])
        turns = np.concatenate(([0], np.cumsum([len(odds) for odds in self._odds.things])))
        nodes["row"][is_chance] = turns[place[is_chance]]
        nodes["row"][decides] = place[decides]
        nodes["entry"][decides] = np.array([row.first for row in self._rows])[place[decides]]
        return nodes


def _draws(odds: Sequence[float]) -> NDArray[np.void]:
    """The outcomes of a chance turn with Walker's aliases, so that one draw picks one in constant time."""
    outcomes = np.zeros(len(odds), OUTCOME)
    outcomes["odds"] = odds
    outcomes["other"] = np.arange(len(odds))
    scaled = [share * len(odds) for share in odds]
    poor = [k for k, share in enumerate(scaled) if share < 1.0]
    rich = [k for k, share in enumerate(scaled) if share >= 1.0]
    while poor and rich:
        taker, giver = poor.pop(), rich[-1]
        outcomes["other"][taker] = giver
        scaled[giver] -= 1.0 - scaled[taker]
        if scaled[giver] < 1.0:
            poor.append(rich.pop())
    outcomes["keep"] = scaled
    return outcomes
