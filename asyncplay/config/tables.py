"""The settings of runs that solve by table, as ``sections`` declares the others."""

from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Ge, Gt, Le

from asyncplay.config.limits import MOST_S, MOST_UNITS


@dataclass(frozen=True, kw_only=True, slots=True)
class SolveSettings:
    """How a small game is solved by a table instead of a network. TOML section ``[solve]``."""

    method: Literal["off", "external", "outcome"] = "off"
    """"external" or "outcome" sampling MCCFR solves the game; "off" trains a network."""

    weighting: Literal["uniform", "linear", "discounted"] = "linear"
    """What an early iteration counts; "discounted" shrinks the whole table after each round by alpha, beta, gamma."""

    alpha: Annotated[float, Ge(0), Le(100)] = 1.5
    """Discounting of regrets above 0, after k rounds by k^alpha / (k^alpha + 1),"""

    beta: Annotated[float, Ge(-100), Le(100)] = 0.0
    """of those below 0 likewise,"""

    gamma: Annotated[float, Ge(0), Le(100)] = 2.0
    """and of the strategy sums by (k / (k + 1))^gamma."""

    table: Literal["auto", "deltas", "shared"] = "auto"
    """"deltas": workers send what they changed; "shared": all change one table of hold'em; "auto": above 50 MB."""

    rounds: Literal["synchronous", "asynchronous"] = "synchronous"
    """"synchronous" gives the same bits every time; "asynchronous" waits for nobody."""

    batch: Annotated[int, Ge(0), Le(MOST_UNITS)] = 0
    """Iterations of a round, all workers together; 0 begins with 10 a worker and grows to a tenth of those done."""

    round_nodes: Annotated[int, Ge(1), Le(MOST_UNITS)] = 10_000_000
    """Most nodes that a worker visits in a round, as far as the round before tells."""

    round_mb: Annotated[float, Gt(0), Le(1_000_000)] = 64.0
    """Most megabytes that a worker sends after a round, likewise."""

    exploration: Annotated[float, Gt(0), Le(1)] = 0.6
    """Outcome sampling: part of the draws that falls on all actions alike, at first,"""

    exploration_last: Annotated[float, Gt(0), Le(1)] = 0.6
    """and in the end,"""

    exploration_iterations: Annotated[int, Ge(0), Le(MOST_UNITS)] = 0
    """after so many iterations, in a line between."""

    prune_below: Annotated[float, Ge(0), Le(MOST_UNITS)] = 0.0
    """External sampling: skip actions whose regret is below minus this, times the iteration's weight; 0 for never."""

    prune_after: Annotated[int, Ge(0), Le(MOST_UNITS)] = 0
    """First iteration that may skip."""

    snapshot_every_s: Annotated[float, Ge(0), Le(MOST_S)] = 60.0
    """Time between two files of the average policy, 0 for none but the last; of hold'em the newest four are kept."""

    exact_every_s: Annotated[float, Ge(0), Le(MOST_S)] = 5.0
    """Time between two exact measurements of the average policy's NashConv; 0 for none but the last."""

    exact_nodes: Annotated[int, Ge(0), Le(MOST_UNITS)] = 500_000
    """A game with more nodes than this is never measured exactly."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AbstractionSettings:
    """The small game that a blueprint of hold'em is solved in. TOML section ``[abstraction]``.

    Menus are raises as parts of the pot after a call, ascending; "|" parts those of the first raise of a street from
    those of the second and later ones, "-" is no raise. All-in is always among them. In position is, of the players in
    the hand with chips behind, the last to act after the flop.
    """

    preflop_in: str = "0.25 0.33 0.5 0.66 0.75 1 1.5 2 2.5 3"
    """Raises before the flop in position,"""

    preflop_out: str = "0.33 0.5 0.66 0.75 1 1.5 2 2.5"
    """and out of position."""

    flop_in: str = "0.33 0.75 1 1.5"
    """Raises on the flop in position,"""

    flop_out: str = "0.33 0.75 1"
    """and out of position."""

    turn_in: str = "0.66 1 1.5"
    """Raises on the turn in position,"""

    turn_out: str = "0.66 1 1.5"
    """and out of position."""

    river_in: str = "0.75 1 1.5"
    """Raises on the river in position,"""

    river_out: str = "0.75 1 1.5"
    """and out of position."""

    buckets: str = "24/80/80/64"
    """Buckets of cards before the flop, on the flop, the turn and the river; 169 before the flop is lossless."""

    file: str = ""
    """The file of these buckets; without one buckets/DECK-BUCKETS-0.buckets, which is built on first use."""
