"""Compiles the rules of a small game to the flat arrays of flat.py."""

from collections.abc import Hashable, Iterator
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from asyncplay.errors import AsyncplayError
from asyncplay.games.spec import CHANCE_TURN, GAME_OVER, GameSpec
from asyncplay.solve.flat import NO_ENTRY, NODE, OUTCOME, WORLD, Array, Flat, FlatGame

MAX_HISTORIES = 5_000_000

State = NDArray[np.int64]
Thing = TypeVar("Thing", bound=Hashable)


def flatten(spec: GameSpec) -> FlatGame:
    """Walk through every history once, about 10 us each. What cannot be solved is the user's mistake."""
    return _Flattener(spec).flatten()


class _World(NamedTuple):
    """A tree of decisions with its cells. Equal ones are the same world."""

    shape: int
    cells: tuple[int, ...]  # rows, turns and payoffs by number: the root's, its children's, then what is below each


class _Turn(NamedTuple):
    """What chance may do."""

    worlds: tuple[int, ...]
    odds: tuple[float, ...]


class _Shape(NamedTuple):
    """A tree of decisions without its cells; chance turns and ends have no children."""

    mover: int
    children: tuple[int, ...] = ()


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
    """Numbers rows on the way down, and on the way up shapes and worlds: a world's own before its parents'."""

    def __init__(self, spec: GameSpec) -> None:
        self._spec = spec
        self._looks: _Numbers[tuple[int, int]] = _Numbers()  # of each row: mover and key
        self._rows: list[_Row] = []
        self._n_entries = 0
        self._n_histories = 0
        self._payoffs: _Numbers[tuple[float, ...]] = _Numbers()
        self._shapes: _Numbers[_Shape] = _Numbers()
        self._worlds: _Numbers[_World] = _Numbers()
        self._turns: _Numbers[_Turn] = _Numbers()

    def flatten(self) -> FlatGame:
        self._worlds.add(self._visit(self._spec.new_state(), (NO_ENTRY,) * self._spec.players))
        looks = self._looks.things
        offsets = np.array([*(row.first for row in self._rows), self._n_entries], np.int32)
        flat = Flat(
            *_Layout(self._shapes.things, self._worlds.things, self._turns.things, offsets).arrays(),
            np.array(self._payoffs.things, np.float64),
            offsets,
            np.repeat(np.arange(len(looks), dtype=np.int32), np.diff(offsets)),
            np.array([mover for mover, _ in looks], np.int32),
            np.array([row.parent for row in self._rows], np.int32),
        )
        actions = [action for row in self._rows for action in row.legal]
        return FlatGame(flat, np.array([key for _, key in looks], np.uint64), np.array(actions, np.int32))

    def _visit(self, state: State, last: tuple[int, ...]) -> _World:
        """All that is below a history; ``last`` is the latest entry of each seat."""
        self._n_histories += 1
        if self._n_histories > MAX_HISTORIES:
            raise AsyncplayError(f"{self._spec.name} is too large to be solved: above {MAX_HISTORIES:,} histories")
        mover = self._spec.kernels.to_move(self._spec.rules, state)
        if mover == GAME_OVER:
            return self._end(state)
        if mover == CHANCE_TURN:
            return self._chance(state, last)
        return self._decision(state, mover, last)

    def _end(self, state: State) -> _World:
        gains = np.empty(self._spec.players, np.float64)
        self._spec.kernels.returns(self._spec.rules, state, gains)
        return _World(self._shapes.add(_Shape(GAME_OVER)), (self._payoffs.add(tuple(gains.tolist())),))

    def _decision(self, state: State, mover: int, last: tuple[int, ...]) -> _World:
        kernels, rules = self._spec.kernels, self._spec.rules
        actions = np.empty(self._spec.max_legal, np.int32)
        legal = actions[: kernels.legal(rules, state, actions)].tolist()
        row = self._row((mover, kernels.key(rules, state, mover)), legal, last[mover])
        children = []
        for entry, action in enumerate(legal, self._rows[row].first):
            after = state.copy()
            kernels.play(rules, after, action)
            children.append(self._visit(after, (*last[:mover], entry, *last[mover + 1 :])))
        shape = self._shapes.add(_Shape(mover, tuple(child.shape for child in children)))
        heads = [child.cells[0] for child in children]
        return _World(shape, (row, *heads, *(cell for child in children for cell in child.cells[1:])))

    def _row(self, look: tuple[int, int], legal: list[int], parent: int) -> int:
        row = self._looks.add(look)
        if row == len(self._rows):
            self._rows.append(_Row(legal, self._n_entries, parent))
            self._n_entries += len(legal)
        if self._rows[row].legal != legal or self._rows[row].parent != parent:
            raise AsyncplayError(f"{self._spec.name} cannot be solved: seat {look[0]} forgets what it knew")
        return row

    def _chance(self, state: State, last: tuple[int, ...]) -> _World:
        """A turn; or what follows it, if that is the same whatever happens."""
        spread = self._spread(state, last)
        if len(spread) == 1:
            return self._worlds.things[next(iter(spread))]
        turn = self._turns.add(_Turn(tuple(spread), tuple(spread.values())))
        return _World(self._shapes.add(_Shape(CHANCE_TURN)), (turn,))

    def _spread(self, state: State, last: tuple[int, ...]) -> dict[int, float]:
        """The worlds that chance may lead to, through several turns if they follow each other, and their odds."""
        merged: dict[int, float] = {}
        for odds, after in self._outcomes(state):
            is_turn = self._spec.kernels.to_move(self._spec.rules, after) == CHANCE_TURN
            further = self._spread(after, last) if is_turn else {self._worlds.add(self._visit(after, last)): 1.0}
            for world, share in further.items():
                merged[world] = merged.get(world, 0.0) + share * odds
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


class _Layout:
    """Puts what was numbered into arrays."""

    def __init__(self, shapes: list[_Shape], worlds: list[_World], turns: list[_Turn], offsets: Array) -> None:
        self._shapes, self._worlds, self._turns, self._offsets = shapes, worlds, turns, offsets
        self._first_outcomes = np.cumsum([0, *(len(turn.odds) for turn in turns)])
        self._nodes: list[tuple[int, int, int]] = []
        self._starts: dict[int, int] = {}  # of the shapes that worlds have, in the nodes

    def arrays(self) -> tuple[Array, Array, Array, Array]:
        """Nodes, cells, worlds and outcomes."""
        worlds = np.zeros(len(self._worlds), WORLD)
        first = 0
        for number, world in enumerate(reversed(self._worlds)):  # parents were finished last
            node = self._place(world.shape)
            worlds[number] = ((first - node) % 2**64, node, len(world.cells))
            first += len(world.cells)
        nodes = np.array(self._nodes, NODE)
        cells = [self._cells(nodes, at, world) for at, world in zip(worlds, reversed(self._worlds), strict=True)]
        return nodes, np.concatenate(cells), worlds, self._outcomes(worlds[::-1])

    def _place(self, shape: int) -> int:
        """The first node of a shape's tree."""
        if shape not in self._starts:
            self._starts[shape] = len(self._nodes)
            self._nodes.append((0, 0, 0))
            self._fill(shape, len(self._nodes) - 1)
        return self._starts[shape]

    def _fill(self, shape: int, node: int) -> None:
        mover, children = self._shapes[shape]
        first = len(self._nodes)
        self._nodes[node] = (first, mover, len(children))
        self._nodes += [(0, 0, 0)] * len(children)
        for k, child in enumerate(children):
            self._fill(child, first + k)

    def _cells(self, nodes: Array, at: Any, world: _World) -> NDArray[np.uint32]:
        """A world's numbers as places: of the row's entries, the turn's outcomes, the payoffs."""
        movers, numbers = nodes["mover"][at["node"] :][: at["n"]], np.array(world.cells)
        cells = numbers.astype(np.uint32)
        cells[movers >= 0] = self._offsets[numbers[movers >= 0]]
        cells[movers == CHANCE_TURN] = self._first_outcomes[numbers[movers == CHANCE_TURN]]
        return cells

    def _outcomes(self, worlds: Array) -> NDArray[np.void]:
        return np.concatenate([_draws(turn, worlds) for turn in self._turns] or [np.zeros(0, OUTCOME)])


def _draws(turn: _Turn, worlds: Array) -> NDArray[np.void]:
    """The outcomes of a chance turn with Walker's aliases, so that one draw picks one in constant time."""
    n = len(turn.odds)
    outcomes = np.zeros(n, OUTCOME)
    outcomes["odds"], outcomes["n"], outcomes["other"] = turn.odds, n, np.arange(n)
    outcomes["node"], outcomes["shift"] = worlds["node"][list(turn.worlds)], worlds["shift"][list(turn.worlds)]
    scaled = [share * n for share in turn.odds]
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
