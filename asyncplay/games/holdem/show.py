"""Hold'em for people: fold, check, call, bet 4, raise to 12."""

from collections.abc import Iterable, Sequence

from asyncplay.games.cards import card_names
from asyncplay.games.holdem.layout import (
    BETS,
    BIG_BLIND,
    BOARD,
    CALL,
    FOLD,
    FOLDED,
    HANDS,
    LARGEST,
    MOVER,
    PAID,
    RAISE_TO,
    SMALL_BLIND,
    STACKS,
    STREET,
    STREETS,
)
from asyncplay.games.show import LastAction, State
from asyncplay.games.show.svg import HIDDEN
from asyncplay.games.show.tables import TableLine, TableShow, is_over, seat_label
from asyncplay.games.spec import GameSpec

STREET_NAMES = ("before the flop", "flop", "turn", "river")


class HoldemShow(TableShow):
    """Amounts are what a seat's bet on this street becomes, in chips."""

    how = "fold, check, call; raise to 12, or 12, your whole bet of this street; pot, all in"

    def name(self, spec: GameSpec, state: State, action: int) -> str:
        if action == FOLD:
            return "fold"
        if action == CALL:
            return "call" if _owed(state) > 0 else "check"
        amount = action - RAISE_TO
        return f"raise to {amount}" if state[LARGEST] > 0 else f"bet {amount}"

    def spellings(self, spec: GameSpec, state: State, action: int) -> Iterable[str]:
        """Also pot and half pot, where the amount is that, and all in."""
        if action == FOLD:
            return ("f",)
        mover, owed = int(state[MOVER]), _owed(state)
        most = int(state[BETS + mover]) + _behind(spec, state, mover)
        if action == CALL:
            return ("c", "check", "call", *(("all in", "allin") if state[LARGEST] >= most else ()))
        amount, pot = action - RAISE_TO, _pot(spec, state) + owed
        words = [f"{verb} {amount}" for verb in ("raise to", "raise", "bet", "to", "r", "b")]
        words += ["all in", "allin", "shove"] if amount == most else []
        words += ["pot", "raise pot", "bet pot"] if amount == state[LARGEST] + pot else []
        words += ["half", "half pot"] if amount == state[LARGEST] + pot // 2 else []
        return str(amount), *words

    def choices(self, spec: GameSpec, state: State, legal: Sequence[int]) -> list[str]:
        """All amounts are one entry."""
        raises = [action for action in legal if action > CALL]
        names = [self.name(spec, state, action) for action in legal if action <= CALL]
        if raises:
            least, most = raises[0] - RAISE_TO, raises[-1] - RAISE_TO
            names.append(self.name(spec, state, raises[0]) + (f" .. {most} (all in)" if most > least else ""))
        return names

    def caption(self, spec: GameSpec, state: State) -> list[str]:
        blinds = f"blinds {spec.rules[SMALL_BLIND]}/{spec.rules[BIG_BLIND]}"
        told = f"{STREET_NAMES[int(state[STREET])]}, pot {_pot(spec, state)}, {blinds}"
        mover = int(state[MOVER])
        if mover < 0:
            return [told]
        owed = min(_owed(state), _behind(spec, state, mover))
        return [f"{told}, {owed} to call" if owed > 0 else told]

    def places(self, spec: GameSpec, state: State, viewer: int | None, last: LastAction | None) -> list[TableLine]:
        over = is_over(spec, state)
        is_shown = over and int(state[FOLDED]).bit_count() < spec.players - 1
        board = tuple(card for street in range(STREETS) for card in _split(int(state[BOARD + street])))
        lines = [TableLine("board", board, "" if board else "no cards yet")]
        for seat in range(spec.players):
            stays = not state[FOLDED] >> seat & 1
            cards = _split(int(state[HANDS + seat]))
            if not (viewer in (None, seat) or (is_shown and stays)):
                cards = (HIDDEN,) * len(cards)
            chips = _behind(spec, state, seat)
            note = f"bet {state[BETS + seat]}, {chips} behind"
            note += ", folded" if not stays else ", all in" if chips == 0 and not over else ""
            lines.append(TableLine(f"{seat_label(seat, viewer)}{_position(spec, seat)}", cards, note, seat))
        return lines


def _owed(state: State) -> int:
    """What the mover has to put in to stay, more than its stack perhaps."""
    return int(state[LARGEST] - state[BETS + int(state[MOVER])])


def _behind(spec: GameSpec, state: State, seat: int) -> int:
    return int(spec.rules[STACKS + seat] - state[PAID + seat])


def _pot(spec: GameSpec, state: State) -> int:
    return int(state[PAID : PAID + spec.players].sum())


def _position(spec: GameSpec, seat: int) -> str:
    """Blinds and button; heads-up the button has the small blind."""
    if seat == spec.players - 1:
        return ", button" if spec.players > 2 else ", button, small blind"
    blinds = {0: ", big blind"} if spec.players == 2 else {0: ", small blind", 1: ", big blind"}
    return blinds.get(seat, "")


def _split(cards: int) -> tuple[str, ...]:
    names = card_names(cards)
    return tuple(names[place : place + 2] for place in range(0, len(names), 2))


SHOW = HoldemShow()
