"""The twin and the kernels of RingRift behind one face, so that a position is written once and asked of both.

Decisions are plain tuples, kind first: ("place", cell, count) ("skip_placement",) ("move", from, landing)
("capture", from, target, landing) ("skip_capture",) ("slide", marker, destination) ("strike", marker, stack)
("skip_recovery",) ("line", cells in cell order) ("pay_ring", cell) ("pay_cap", cell) ("extract", cell)
("claim", lowest cell, border colour or "none") ("skip_territory",) ("eliminate", cell) ("swap_sides",). Cells are
(x, y) on square boards and (x, y, z) on hexagons; players are numbered from 1; tuples by seat begin with player 1.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypedDict

import numpy as np
import pytest
from games import ringrift_table
from games.ringrift_board import Cell
from games.ringrift_twin import Decision, Game, Options

from asyncplay.games.ringrift import decisions, layout
from asyncplay.games.spec import BY_LIMIT

ROOM = 3  # rings in hand, unless a position says otherwise, of those who are not to act


class Position(TypedDict, total=False):
    """Where a turn of ``player`` starts; what is left out is empty, player 1, or as ``complete`` has it."""

    player: int
    stacks: dict[Cell, list[int]]  # bottom to top
    markers: dict[Cell, int]
    collapsed: dict[Cell, int]
    hands: tuple[int, ...]
    credit: tuple[int, ...]
    holder: int | None  # of the last-player-standing count, before this turn starts
    count: int


def complete(position: Position, options: Options) -> Position:
    """Nothing in hand for the player to act and 3 rings for each other; no credit, no holder."""
    player, seats = position.get("player", 1), range(1, options.players + 1)
    whole = Position(player=player, stacks={}, markers={}, collapsed={}, credit=(0,) * options.players)
    whole |= Position(hands=tuple(0 if seat == player else ROOM for seat in seats), holder=None, count=0)
    return whole | position


@dataclass(frozen=True)
class View:
    """All that is compared at a decision, and at the end."""

    player: int | None  # to act; None when the game is over
    stacks: dict[Cell, tuple[int, ...]]
    markers: dict[Cell, int]
    collapsed: dict[Cell, int]
    hands: tuple[int, ...]
    credit: tuple[int, ...]
    territory: tuple[int, ...]
    holder: int | None
    count: int
    n_decisions: int
    reason: str | None = None
    winner: int | None = None
    ranks: tuple[int, ...] | None = None
    values: tuple[float, ...] | None = None


class Table(Protocol):
    """A game in progress on one of the sides, from its start or from a position."""

    def __init__(self, options: Options, position: Position | None = None) -> None: ...

    def legal(self) -> list[Decision]: ...

    def play(self, *decisions: Decision) -> None: ...

    def view(self) -> View: ...


class TwinTable:
    """The slow twin."""

    def __init__(self, options: Options, position: Position | None = None) -> None:
        self.game = Game(options)
        if position is not None:
            self._set_up(complete(position, options))

    def _set_up(self, position: Position) -> None:
        """What is neither in hand nor on the board counts as eliminated, so that rings are conserved."""
        game = self.game
        game.pieces.stacks = {cell: list(rings) for cell, rings in position["stacks"].items()}
        game.pieces.markers, game.pieces.collapsed = dict(position["markers"]), dict(position["collapsed"])
        for seat, hand, credit in zip(game.seats, position["hands"], position["credit"], strict=True):
            game.hand[seat], game.credit[seat] = hand, credit
            on_board = sum(rings.count(seat) for rings in position["stacks"].values())
            game.lost[seat] = game.rings - hand - on_board
        game.holder, game.count = position["holder"], position["count"]
        game.begin_turn(position["player"])

    def legal(self) -> list[Decision]:
        return self.game.legal()

    def play(self, *decisions: Decision) -> None:
        for decision in decisions:
            self.game.play(decision)

    def view(self) -> View:
        game, pieces = self.game, self.game.pieces
        end: dict[str, Any] = vars(game.outcome) if game.outcome else {}
        return View(
            player=None if game.outcome else game.player,
            stacks={cell: tuple(rings) for cell, rings in pieces.stacks.items()},
            markers=dict(pieces.markers),
            collapsed=dict(pieces.collapsed),
            hands=tuple(game.hand.values()),
            credit=tuple(game.credit.values()),
            territory=tuple(pieces.territory(seat) for seat in game.seats),
            holder=game.holder,
            count=game.count,
            n_decisions=game.n_decisions,
            **end,
        )


class KernelTable:
    """The kernels."""

    def __init__(self, options: Options, position: Position | None = None) -> None:
        if position is None:
            self.table = ringrift_table.Table(**kernel_options(options))
            return
        whole = complete(position, options)
        self.table = ringrift_table.set_up(
            stacks={cell: tuple(rings) for cell, rings in whole["stacks"].items()},
            markers=whole["markers"],
            collapsed=whole["collapsed"],
            hand=list(whole["hands"]),
            credit=list(whole["credit"]),
            player=whole["player"],
            holder=whole["holder"],
            count=whole["count"],
            **kernel_options(options),
        )
        gone = self.table.state[layout.GONE : layout.GONE + options.players]
        gone[(gone > 0) & (gone < ringrift_table.LATER)] = 1  # who begins without a ring lost it at one time

    def legal(self) -> list[Decision]:
        spec, state = self.table.spec, self.table.state
        actions = np.empty(spec.max_legal, np.int32)
        count = spec.kernels.legal(spec.rules, state, actions, spec.new_room())
        return [decisions.describe(spec, state, int(action)) for action in actions[:count]]

    def play(self, *chosen: Decision) -> None:
        self.table.play(*chosen)

    def view(self) -> View:
        """Returns are those of the players who began at a seat, values those of the seats."""
        position = self.table.position
        gains, is_swapped = self.table.returns(), int(self.table.state[layout.SWAPPED])
        is_over = position.to_act is None
        return View(
            player=position.to_act,
            stacks=position.stacks,
            markers=position.markers,
            collapsed=position.collapsed,
            hands=tuple(position.hand),
            credit=tuple(position.credit),
            territory=tuple(position.territory),
            holder=position.holder,
            count=position.count,
            n_decisions=position.decisions,
            reason="max_moves" if position.reason == BY_LIMIT else position.reason,
            winner=position.winner,
            ranks=None if position.ranks is None else tuple(position.ranks),
            values=tuple(gains[seat ^ is_swapped] for seat in range(len(gains))) if is_over else None,
        )


def kernel_options(options: Options) -> dict[str, Any]:
    """The game's own options; what the rules text decides is left out."""
    named = {"board": options.board, "players": options.players, "rings": options.rings, "rounds": options.rounds}
    named |= {"swap": options.swap, "stack_strike": options.strike, "max_moves": options.max_moves}
    return {name: value for name, value in named.items() if value is not None}


TABLES: dict[str, type[Table]] = {"twin": TwinTable, "kernels": KernelTable}

Begin = Callable[..., Table]


@pytest.fixture(params=TABLES.values(), ids=TABLES.keys())
def begin(request: pytest.FixtureRequest) -> Begin:
    """Begin a game, or a turn in a position, on each side: ``begin(options, **position)``."""

    def begin(options: Options | None = None, **position: Any) -> Table:
        table: Table = request.param(options or Options(), Position(**position) if position else None)
        return table

    return begin


def kinds(table: Table) -> set[str]:
    return {decision[0] for decision in table.legal()}


def offers(table: Table, kind: str) -> set[tuple[Any, ...]]:
    """What identifies the legal decisions of this kind."""
    return {decision[1:] for decision in table.legal() if decision[0] == kind}


def legal_set(table: Table) -> set[Decision]:
    """The legal decisions, each of which is listed once."""
    legal = table.legal()
    assert len(set(legal)) == len(legal), "no two legal actions of a state are the same"
    return set(legal)
