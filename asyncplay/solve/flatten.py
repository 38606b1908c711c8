"""Compiles the rules of a small game to the flat arrays of flat.py."""

from collections.abc import Hashable
from typing import Generic, NamedTuple, TypeVar

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
    if _count_deals(spec) > MAX_HISTORIES:
        raise _TooLarge(spec)
    return _Flattener(spec).flatten()


def _count_deals(spec: GameSpec) -> int:
    """How many histories the chance turns before the first decision lead to: enough to refuse a large deck at once."""
    kernels, state, count = spec.kernels, spec.new_state(), 1
    if kernels.outcomes is None or kernels.happen is None:
        return count
    numbers, odds = np.empty(spec.max_outcomes, np.int32), np.empty(spec.max_outcomes)
    while kernels.to_move(spec.rules, state) == CHANCE_TURN:
        count *= kernels.outcomes(spec.rules, state, numbers, odds)
        kernels.happen(spec.rules, state, numbers[0])
    return count


class _TooLarge(AsyncplayError):
    def __init__(self, spec: GameSpec) -> None:
        super().__init__(f"{spec.name} is too large to be solved: above {MAX_HISTORIES:,} histories")


class _World(NamedTuple):
    """A tree of decisions with its cells. Equal ones are the same world."""

    shape: int
    cells: tuple[int, ...]  # infosets, turns and payoffs by number: the root's, its children's, then those below each


class _Turn(NamedTuple):
    """A chance turn: the worlds it may lead to."""

    worlds: tuple[int, ...]
    odds: tuple[float, ...]


class _Shape(NamedTuple):
    """A tree of decisions without its cells; chance turns and ends have no children."""

    mover: int
    children: tuple[int, ...] = ()


class _Numbers(Generic[Thing]):
    """Things by number and numbers by thing; equal things have one number."""

    def __init__(self) -> None:
        self.things: list[Thing] = []
        self._numbers: dict[Thing, int] = {}

    def add(self, thing: Thing) -> int:
        number = self._numbers.setdefault(thing, len(self.things))
        if number == len(self.things):
            self.things.append(thing)
        return number


class _Infoset(NamedTuple):
    legal: list[int]
    first: int  # its first entry
    parent: int


class _Flattener:
    """Numbers infosets on the way down, and on the way up shapes and worlds: a world after those it leads to."""

    def __init__(self, spec: GameSpec) -> None:
        self._spec, self._room = spec, spec.new_room()
        self._looks: _Numbers[tuple[int, int]] = _Numbers()  # of each infoset: mover and key
        self._infosets: list[_Infoset] = []
        self._n_entries = 0
        self._n_histories = 0
        self._payoffs: _Numbers[tuple[float, ...]] = _Numbers()
        self._shapes: _Numbers[_Shape] = _Numbers()
        self._worlds: _Numbers[_World] = _Numbers()
        self._turns: _Numbers[_Turn] = _Numbers()

    def flatten(self) -> FlatGame:
        self._worlds.add(self._visit(self._spec.new_state(), (NO_ENTRY,) * self._spec.players))
        looks = self._looks.things
        offsets = np.array([*(infoset.first for infoset in self._infosets), self._n_entries], np.int32)
        flat = Flat(
            *_Layout(self._shapes.things, self._worlds.things, self._turns.things, offsets).arrays(),
            np.array(self._payoffs.things, np.float64),
            offsets,
            np.repeat(np.arange(len(looks), dtype=np.int32), np.diff(offsets)),
            np.array([mover for mover, _ in looks], np.int32),
            np.array([infoset.parent for infoset in self._infosets], np.int32),
        )
        actions = [action for infoset in self._infosets for action in infoset.legal]
        return FlatGame(flat, np.array([key for _, key in looks], np.uint64), np.array(actions, np.int32))

    def _visit(self, state: State, last: tuple[int, ...]) -> _World:
        """Number all that is below a history; ``last`` is the latest entry of each seat."""
        spec, kernels, rules = self._spec, self._spec.kernels, self._spec.rules
        self._n_histories += 1
        if self._n_histories > MAX_HISTORIES:
            raise _TooLarge(spec)
        mover = kernels.to_move(rules, state)
        if mover == GAME_OVER:
            gains = np.empty(spec.players, np.float64)
            kernels.returns(rules, state, gains)
            return _World(self._shapes.add(_Shape(GAME_OVER)), (self._payoffs.add(tuple(gains.tolist())),))
        if mover == CHANCE_TURN:
            spread = self._spread(state, last)
            if len(spread) == 1:  # whatever happens, the same follows
                return self._worlds.things[next(iter(spread))]
            turn = self._turns.add(_Turn(tuple(spread), tuple(spread.values())))
            return _World(self._shapes.add(_Shape(CHANCE_TURN)), (turn,))
        actions = np.empty(spec.max_legal, np.int32)
        legal = actions[: kernels.legal(rules, state, actions, self._room)].tolist()
        infoset = self._number((mover, kernels.key(rules, state, mover)), legal, last[mover])
        children = []
        for entry, action in enumerate(legal, self._infosets[infoset].first):
            after = state.copy()
            kernels.play(rules, after, action, self._room)
            children.append(self._visit(after, (*last[:mover], entry, *last[mover + 1 :])))
        shape = self._shapes.add(_Shape(mover, tuple(child.shape for child in children)))
        heads = [child.cells[0] for child in children]
        return _World(shape, (infoset, *heads, *(cell for child in children for cell in child.cells[1:])))

    def _number(self, look: tuple[int, int], legal: list[int], parent: int) -> int:
        """The number of an infoset, which must be the same wherever it is met."""
        infoset = self._looks.add(look)
        if infoset == len(self._infosets):
            self._infosets.append(_Infoset(legal, self._n_entries, parent))
            self._n_entries += len(legal)
        if self._infosets[infoset].legal != legal or self._infosets[infoset].parent != parent:
            raise AsyncplayError(f"{self._spec.name} cannot be solved: seat {look[0]} forgets what it knew")
        return infoset

    def _spread(self, state: State, last: tuple[int, ...]) -> dict[int, float]:
        """The worlds that chance may lead to, through several turns if they follow each other, and their odds."""
        spec, kernels, rules = self._spec, self._spec.kernels, self._spec.rules
        if kernels.outcomes is None or kernels.happen is None:
            raise AsyncplayError(f"{spec.name} cannot be solved: its chance cannot be listed")
        numbers, odds = np.empty(spec.max_outcomes, np.int32), np.empty(spec.max_outcomes)
        merged: dict[int, float] = {}
        for k in range(kernels.outcomes(rules, state, numbers, odds)):
            after = state.copy()
            kernels.happen(rules, after, numbers[k])
            is_turn = kernels.to_move(rules, after) == CHANCE_TURN
            further = self._spread(after, last) if is_turn else {self._worlds.add(self._visit(after, last)): 1.0}
            for world, share in further.items():
                merged[world] = merged.get(world, 0.0) + share * float(odds[k])
        return merged


class _Layout:
    """Puts what was numbered into arrays."""

    def __init__(self, shapes: list[_Shape], worlds: list[_World], turns: list[_Turn], offsets: Array) -> None:
        self._shapes, self._worlds, self._turns, self._offsets = shapes, worlds, turns, offsets
        self._nodes: list[tuple[int, int, int]] = []

    def arrays(self) -> tuple[Array, Array, Array, Array]:
        """Nodes, cells, worlds and outcomes."""
        worlds, starts, first = np.zeros(len(self._worlds), WORLD), dict[int, int](), 0
        for number, world in enumerate(reversed(self._worlds)):  # parents were finished last
            if world.shape not in starts:
                starts[world.shape] = len(self._nodes)
                self._nodes.append((0, 0, 0))
                self._fill(world.shape, starts[world.shape])
            node = starts[world.shape]
            worlds[number] = ((first - node) % 2**64, node, len(world.cells))
            first += len(world.cells)
        nodes, cells = np.array(self._nodes, NODE), []
        first_outcomes = np.cumsum([0, *(len(turn.odds) for turn in self._turns)])
        for at, world in zip(worlds, reversed(self._worlds), strict=True):  # numbers become places
            movers, numbers = nodes["mover"][at["node"] :][: at["n"]], np.array(world.cells)
            cells.append(numbers.astype(np.uint32))
            cells[-1][movers >= 0] = self._offsets[numbers[movers >= 0]]
            cells[-1][movers == CHANCE_TURN] = first_outcomes[numbers[movers == CHANCE_TURN]]
        outcomes = [alias_table(turn.odds, worlds[::-1][list(turn.worlds)]) for turn in self._turns]
        return nodes, np.concatenate(cells), worlds, np.concatenate(outcomes or [np.zeros(0, OUTCOME)])

    def _fill(self, shape: int, node: int) -> None:
        """Write a shape's tree, its root at ``node``."""
        mover, children = self._shapes[shape]
        first = len(self._nodes)
        self._nodes[node] = (first, mover, len(children))
        self._nodes += [(0, 0, 0)] * len(children)
        for k, child in enumerate(children):
            self._fill(child, first + k)


def alias_table(odds: tuple[float, ...], worlds: Array) -> Array:
    """OUTCOME[n], one for each of these worlds, with Walker's aliases: one draw picks one in constant time."""
    n = len(odds)
    outcomes = np.zeros(n, OUTCOME)
    outcomes["odds"], outcomes["n"], outcomes["other"] = odds, n, np.arange(n)
    outcomes["node"], outcomes["shift"] = worlds["node"], worlds["shift"]
    scaled = [share * n for share in odds]
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
