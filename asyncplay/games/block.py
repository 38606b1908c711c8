"""Environments that are stepped in blocks: one call plays an action in each of many episodes.

An episode is a game with rewards on the way: after a step every seat has got the difference that the step made to its
returns. The bodies here are written once; a game's ``block_module`` compiles them with its rules, as the entries of
the search are. ``Blocked`` is what plays them, whether they are kernels or, slowly, other people's Python.

``states`` int64[N, S], ``streams`` uint64[N, 4] of chance and ``movers`` int64[N] belong to all N environments of a
block; ``slots`` int64[n] says which of them a call is about.
"""

from typing import NamedTuple, Protocol

import numpy as np
from numba import float32, float64, int32, int64, uint8, uint64, void
from numpy.typing import NDArray

from asyncplay import games, rng
from asyncplay.errors import AsyncplayError
from asyncplay.games.kernels import Kernel, Progress, body, kernel, ready, warm_up
from asyncplay.games.spec import CHANCE_TURN, GAME_OVER, ROOM, RULES, GameSpec
from asyncplay.payloads import Array, Floats, Ints, offsets_of

Longs = NDArray[np.int64]

STATES, STREAMS, LONGS, PAID = int64[:, ::1], uint64[:, ::1], int64[::1], float64[:, ::1]
BEGIN = void(RULES, STATES, STREAMS, LONGS, LONGS)
LOOK_BYTES = int64(RULES, STATES, LONGS, LONGS, uint8[:, ::1], int32[::1], int32[::1], ROOM)
STEP = void(RULES, STATES, STREAMS, LONGS, LONGS, LONGS, PAID, PAID, ROOM)
EXPLORE = void(STREAMS, float64[::1], int32[::1], int32[::1], LONGS)
BEST = void(float32[::1], int32[::1], int32[::1], LONGS)

ASKS = -1
"""Instead of an action: the row is to be asked about."""


@body
def begin_body(game, rules, states, streams, slots, movers):  # noqa: PLR0917  # kernels take no keywords
    """Begin episodes; ``movers`` gets the seat that decides first."""
    for slot in slots:
        game.reset(rules, states[slot])
        while game.to_move(rules, states[slot]) == CHANCE_TURN:
            game.chance(rules, states[slot], streams[slot])
        movers[slot] = game.to_move(rules, states[slot])


@body
def look_body(game, rules, states, slots, movers, rows, legal, offsets, room):  # noqa: PLR0917  # kernels take no keywords
    """What the seats to decide see and may do: the seat and its features, a row each; return the number of legal
    actions."""
    n_legal = 0
    for row in range(len(slots)):
        state = states[slots[row]]
        rows[row, 0] = movers[slots[row]]
        game.encode(rules, state, movers[slots[row]], rows[row, 1:], room)
        offsets[row] = n_legal
        n_legal += game.legal(rules, state, legal[n_legal:], room)
    offsets[len(slots)] = n_legal
    return n_legal


@body
def step_body(game, rules, states, streams, slots, actions, movers, paid, rewards, room):  # noqa: PLR0917  # kernels take no keywords
    """Play an action in each slot and let chance happen; ``rewards`` float64[n, P] gets what the step brought, by
    seat, and ``paid`` float64[N, P] what there was in all."""
    for row in range(len(slots)):
        slot = slots[row]
        state = states[slot]
        game.play(rules, state, actions[row], room)
        while game.to_move(rules, state) == CHANCE_TURN:
            game.chance(rules, state, streams[slot])
        movers[slot] = game.to_move(rules, state)
        game.returns(rules, state, rewards[row])
        for seat in range(rewards.shape[1]):
            total = rewards[row, seat]
            rewards[row, seat] = total - paid[slot, seat]
            paid[slot, seat] = total


@kernel(EXPLORE)
def draw_actions(streams, epsilons, legal, offsets, actions):
    """A random legal action in a part of the rows, each with its own stream; ASKS in the others."""
    for row in range(len(actions)):
        actions[row] = ASKS
        if epsilons[row] > 0.0 and rng.uniform(streams[row]) < epsilons[row]:
            actions[row] = legal[offsets[row] + rng.below(streams[row], offsets[row + 1] - offsets[row])]


@kernel(BEST)
def find_best(worths, legal, offsets, actions):
    """The first of a row's legal actions that are worth most."""
    for row in range(len(actions)):
        best = offsets[row]
        for place in range(offsets[row] + 1, offsets[row + 1]):
            if worths[place] > worths[best]:
                best = place
        actions[row] = legal[best]


class Sights(NamedTuple):
    """What the seats to decide see, a row each."""

    slots: Longs  # int64[n]
    seats: Longs  # int64[n]
    rows: Array  # uint8 or float32[n, 1 + F], the seat first
    legal: Ints  # int32[L]
    offsets: Ints  # int32[n + 1]

    def part(self, places: Longs) -> "Sights":
        """Copies of the rows at these places, ascending."""
        counts = np.diff(self.offsets)
        is_wanted = np.zeros(len(counts), np.bool_)
        is_wanted[places] = True
        legal = self.legal[np.repeat(is_wanted, counts)]
        return Sights(self.slots[places], self.seats[places], self.rows[places], legal, offsets_of(counts[places]))


class Blocked(Protocol):
    """A block of environments."""

    movers: Longs  # int64[N], the seat to decide, GAME_OVER where no episode is under way
    paid: NDArray[np.float64]  # float64[N, P], what each seat has got in all

    def begin(self, slots: Longs, seeds: list[int], streams: NDArray[np.uint64]) -> None:
        """Begin episodes in these slots; ``streams`` uint64[n, 4] are those of chance, ``seeds`` say the same."""

    def look(self, slots: Longs) -> Sights:
        """Valid until the next call."""

    def step(self, slots: Longs, actions: Longs) -> NDArray[np.float64]:
        """Play; return the rewards float64[n, P] by seat, valid until the next call."""


class EnvironmentBlock:
    """Environments of a game with kernels."""

    def __init__(self, spec: GameSpec, n_slots: int) -> None:
        self._spec, self._kernels = spec, load(spec)
        self._states = np.zeros((n_slots, spec.state_words), np.int64)
        self._streams = np.zeros((n_slots, rng.STREAM_WORDS), np.uint64)
        self.movers = np.full(n_slots, GAME_OVER, np.int64)
        self.paid = np.zeros((n_slots, spec.players))
        self._rewards = np.zeros((n_slots, spec.players))
        self._rows = np.zeros((n_slots, 1 + spec.features), spec.feature_dtype)
        self._legal = np.zeros(n_slots * spec.max_legal, np.int32)
        self._offsets, self._room = np.zeros(n_slots + 1, np.int32), spec.new_room()

    def begin(self, slots: Longs, seeds: list[int], streams: NDArray[np.uint64]) -> None:
        self._streams[slots], self.paid[slots] = streams, 0.0
        self._kernels.begin(self._spec.rules, self._states, self._streams, slots, self.movers)

    def look(self, slots: Longs) -> Sights:
        rows, offsets = self._rows[: len(slots)], self._offsets[: len(slots) + 1]
        n_legal = self._kernels.look(
            self._spec.rules, self._states, slots, self.movers, rows, self._legal, offsets, self._room
        )
        return Sights(slots, self.movers[slots], rows, self._legal[:n_legal], offsets)

    def step(self, slots: Longs, actions: Longs) -> NDArray[np.float64]:
        rewards = self._rewards[: len(slots)]
        states, streams = self._states, self._streams
        step, rules = self._kernels.step, self._spec.rules
        step(rules, states, streams, slots, actions, self.movers, self.paid, rewards, self._room)
        return rewards

    def state(self, slot: int) -> Longs:
        """The position of a slot, as it is until the next step."""
        return self._states[slot]


class BlockKernels(NamedTuple):
    """The bodies compiled for a game."""

    begin: Kernel
    look: Kernel
    step: Kernel


def declared(spec: GameSpec) -> BlockKernels:
    """A game's kernels as they are; AsyncplayError if it has none."""
    if spec.block_module is None:
        raise AsyncplayError(f"{spec.name} has no rewards on the way to learn from; treasurehunt has")
    module = games.import_part(spec.name, spec.block_module, BlockKernels._fields)
    return BlockKernels(module.begin, module.look, module.step)


def load(spec: GameSpec) -> BlockKernels:
    """Compiled, or fetched from the disk."""
    return BlockKernels(*map(ready, declared(spec)))


def warm(spec: GameSpec, progress: Progress | None = None) -> None:
    """Compile the kernels of a game into the cache, before workers start; ``progress(done, total, name)``."""
    warm_up([*spec.kernels.all(), *declared(spec), draw_actions, find_best], progress)


def explore(streams: NDArray[np.uint64], epsilons: NDArray[np.float64], sights: Sights) -> Longs:
    """Actions int64[n], ASKS where a row does not explore; ``streams`` uint64[n, 4] go on."""
    actions = np.empty(len(sights.slots), np.int64)
    ready(draw_actions)(streams, epsilons, sights.legal, sights.offsets, actions)
    return actions


def best_actions(worths: Floats, legal: Ints, offsets: Ints) -> Longs:
    """Actions int64[n] of rows whose legal actions are worth float32[L]."""
    actions = np.empty(len(offsets) - 1, np.int64)
    ready(find_best)(worths.copy(), legal, offsets, actions)  # what comes off the wire is read-only
    return actions
