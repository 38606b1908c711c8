"""Training rows turned by symmetries that depend on the position: a game's kernel ``turn`` over all actions of rows."""

from collections.abc import Callable

import numpy as np
from numba import int32, int64, types, void
from numpy.typing import NDArray

from asyncplay.games.kernels import body
from asyncplay.games.spec import ROOM, GameSpec
from asyncplay.payloads import Examples, Ints
from asyncplay.search import entries

Longs = NDArray[np.int64]

READ_ONLY = types.Array(int32, 1, "C", readonly=True)
TURN_ROWS = void(int64[::1], int64[:, ::1], int64[::1], READ_ONLY, int32[::1], ROOM)
MOST_TURNED = 4_096  # actions that are turned to check one row
CHECK_TURNS = int64(int64[::1], int64[:, ::1], int64, READ_ONLY, READ_ONLY, int64[::1], ROOM)


@body
def turn_rows(game, rules, states, turns, offsets, legal, room):  # noqa: PLR0917  # kernels take no keywords
    """Turn row i, a position of ``states`` int64[n, S], by symmetry ``turns[i]``: its actions in ``legal`` change."""
    for row in range(len(states)):
        for i in range(offsets[row], offsets[row + 1]):
            legal[i] = game.turn(rules, states[row], np.int64(legal[i]), turns[row], room)


@body
def check_turns(game, rules, states, n_turns, offsets, legal, seen, room):  # noqa: PLR0917
    """Return the first row that some symmetry gives an action out of range, or the same one twice; -1 for none.

    A row with many legal actions is turned by some of the symmetries only, the next row by others. ``seen`` int64[A],
    all 0, is scratch: in which turn of which row an action was met last.
    """
    for row in range(len(states)):
        stride = min(1 + (offsets[row + 1] - offsets[row]) * n_turns // MOST_TURNED, n_turns)
        for y in range(row % stride, n_turns, stride):
            for i in range(offsets[row], offsets[row + 1]):
                action = np.int64(legal[i])
                if action < 0 or action >= len(seen):
                    return row
                turned = game.turn(rules, states[row], action, np.int64(y), room)
                if turned < 0 or turned >= len(seen) or seen[turned] == row * n_turns + y + 1:
                    return row
                seen[turned] = row * n_turns + y + 1
    return -1


def turn_by_kernel(spec: GameSpec) -> Callable[[Examples, Longs], Ints]:
    """What the legal actions of examples become, each row turned by its own symmetry."""
    turn = entries.load(spec).turn_rows
    assert turn is not None, f"{spec.name} turns its actions by a table"

    def turned(examples: Examples, turns: Longs) -> Ints:
        legal = examples.legal.copy()
        turn(spec.rules, examples.states, turns, examples.offsets, legal, spec.new_room())
        return legal

    return turned


def turn_checker(spec: GameSpec) -> Callable[[Longs, Ints, Ints], str | None]:
    """Says of rows (states int64[n, S], offsets, legal actions), whose states may be any words, why one cannot be
    turned."""
    check = entries.load(spec).check_turns
    assert check is not None, f"{spec.name} turns its actions by a table"

    def flaw(states: Longs, offsets: Ints, legal: Ints) -> str | None:
        scratch = np.zeros(spec.actions, np.int64), spec.new_room()
        row = check(spec.rules, states.copy(), spec.n_symmetries, offsets, legal, *scratch)
        return None if row < 0 else f"a state in row {row} by which its legal actions cannot be turned"

    return flaw
