"""RingRift in the words of its rules: positions set up, decisions by name."""

from typing import Any

import numpy as np

from asyncplay import games
from asyncplay.games.ringrift import decisions, layout
from asyncplay.games.ringrift.decisions import Decision, RingRiftPosition
from asyncplay.games.ringrift.turns import START, go_on
from asyncplay.games.spec import GameSpec

LATER = 10  # a turn in the middle of a game


class Table:
    """A game from its start."""

    def __init__(self, **options: Any) -> None:
        self.spec: GameSpec = games.load("ringrift", options)
        self.state = self.spec.new_state()

    @property
    def position(self) -> RingRiftPosition:
        return decisions.read(self.spec, self.state)

    @property
    def legal(self) -> set[Decision]:
        return set(decisions.legal_decisions(self.spec, self.state))

    def kinds(self) -> set[str]:
        return {decision[0] for decision in self.legal}

    def play(self, *chosen: Decision) -> RingRiftPosition:
        for decision in chosen:
            action = decisions.parse(self.spec, self.state, decision)
            self.spec.kernels.play(self.spec.rules, self.state, action, self.spec.new_room())
        return self.position

    def returns(self) -> list[float]:
        self.spec.kernels.returns(self.spec.rules, self.state, gains := np.zeros(self.spec.players))
        return gains.tolist()


def set_up(
    *,
    stacks: dict[Any, tuple[int, ...]] | None = None,
    markers: dict[Any, int] | None = None,
    collapsed: dict[Any, int] | None = None,
    hand: list[int] | None = None,
    credit: list[int] | None = None,
    player: int = 1,
    holder: int | None = None,
    count: int = 0,
    **options: Any,
) -> Table:
    """A position in which a turn of ``player`` starts; hands are empty unless told. Players without a ring are gone."""
    table = Table(**options)
    state, players, board = table.state, table.spec.players, decisions.board_of(table.spec)
    for cell, rings in (stacks or {}).items():
        state[layout.CELLS + board.number(cell)] = decisions.stack_word(rings)
    for cell, owner in (markers or {}).items():
        state[layout.CELLS + board.number(cell)] = layout.MARKER + owner - 1
    for cell, owner in (collapsed or {}).items():
        state[layout.CELLS + board.number(cell)] = layout.COLLAPSED + owner - 1
        state[layout.TERRITORIES + owner - 1] += 1
    state[layout.HANDS : layout.HANDS + players] = hand or [0] * players
    state[layout.CREDITS : layout.CREDITS + players] = credit or [0] * players
    owners = {owner for rings in (stacks or {}).values() for owner in rings}
    for seat in range(players):
        is_gone = state[layout.HANDS + seat] == 0 and seat + 1 not in owners
        state[layout.GONE + seat] = 1 + seat if is_gone else 0
    state[layout.TURN], state[layout.TURNS] = player - 1, LATER
    state[layout.HOLDER], state[layout.COUNT] = (layout.NOBODY if holder is None else holder - 1), count
    go_on(table.spec.rules, state, START, table.spec.new_room())
    return table
