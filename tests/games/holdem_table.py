"""A hand of hold'em to be played by a test: cards as text, bets as amounts; and its pots."""

import numpy as np
from numba import int64

from asyncplay import games
from asyncplay.games.cards import parse_cards
from asyncplay.games.holdem import layout
from asyncplay.games.holdem.layout import CALL, FOLD, PLAYERS, RAISE_TO, is_in
from asyncplay.games.holdem.payout import NO_LEVEL, next_level, pot_between
from asyncplay.games.kernels import kernel
from asyncplay.games.spec import CHANCE_TURN, GAME_OVER, STATE

SEATS = 6


@kernel(int64(STATE, STATE, int64[::1], int64[::1]))
def list_pots(rules, state, amounts, members):
    """Write the size of each pot and the set of seats it is for; return how many there are."""
    below, count = 0, 0
    level = next_level(rules, state, below)
    while level != NO_LEVEL:
        amounts[count], members[count] = pot_between(rules, state, below, level), 0
        for seat in range(rules[PLAYERS]):
            members[count] |= (1 << seat) if is_in(state, seat) and state[layout.PAID + seat] >= level else 0
        count += 1
        below, level = level, next_level(rules, state, level)
    return count


class Hand:
    """A hand from the options on. ``cards``: the hole cards seat by seat, then the board; drawn if there are none."""

    def __init__(self, cards: str = "", seed: int = 0, **options: object) -> None:
        self.spec = games.load("holdem", options)
        self.state, self.rules, self.kernels = self.spec.new_state(), self.spec.rules, self.spec.kernels
        self._room = self.spec.new_room()
        drawn = np.random.default_rng(seed).permutation([card for card in range(52) if self._is_in_play(card)])
        known = parse_cards(cards)
        self._cards = known + [int(card) for card in drawn if card not in known]
        self.cards = self._cards[: 2 * self.spec.players + 5]
        self._deal()

    def _is_in_play(self, card: int) -> bool:
        return bool(self.rules[layout.CARDS_IN_PLAY] >> card & 1)

    def _deal(self) -> None:
        while self.mover == CHANCE_TURN:
            self.kernels.happen(self.rules, self.state, self._cards.pop(0))

    @property
    def mover(self) -> int:
        return self.kernels.to_move(self.rules, self.state)

    @property
    def is_over(self) -> bool:
        return self.mover == GAME_OVER

    @property
    def pot(self) -> int:
        return int(self.state[layout.PAID : layout.PAID + SEATS].sum())

    @property
    def legal(self) -> list[int]:
        actions = np.empty(self.spec.max_legal, np.int32)
        return actions[: self.kernels.legal(self.rules, self.state, actions, self._room)].tolist()

    @property
    def raises(self) -> tuple[int, int] | None:
        """The least and the largest amount that may be raised to."""
        amounts = [action - RAISE_TO for action in self.legal if action > CALL]
        assert amounts == list(range(min(amounts, default=0), max(amounts, default=-1) + 1))
        return (amounts[0], amounts[-1]) if amounts else None

    @property
    def net(self) -> list[float]:
        gains = np.empty(self.spec.players)
        self.kernels.returns(self.rules, self.state, gains)
        return gains.tolist()

    @property
    def pots(self) -> list[tuple[int, tuple[int, ...]]]:
        """Each pot with the seats it is for."""
        amounts, members = np.zeros(SEATS, np.int64), np.zeros(SEATS, np.int64)
        count = list_pots(self.rules, self.state, amounts, members)
        seats = [tuple(seat for seat in range(SEATS) if who >> seat & 1) for who in members[:count].tolist()]
        return list(zip(amounts[:count].tolist(), seats, strict=True))

    def act(self, *decisions: str | int) -> "Hand":
        """Play "fold", "call" (or "check") or an amount to raise to, each of them legal."""
        for decision in decisions:
            action = {"fold": FOLD, "call": CALL, "check": CALL}.get(decision) if isinstance(decision, str) else None
            self.play(RAISE_TO + int(decision) if action is None else action)
        return self

    def play(self, action: int) -> None:
        assert action in self.legal
        self.kernels.play(self.rules, self.state, action, self._room)
        self._deal()
