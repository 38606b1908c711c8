"""Leduc poker for people. Suits count for nothing and are not told."""

from collections.abc import Iterable

from asyncplay.games.leduc import ANTE, CALL, FOLD, FOLDED, PAID, RAISE_OF_FIRST_ROUND, ROUNDS, SEAT, STAKES, SUITS
from asyncplay.games.show import LastAction, State
from asyncplay.games.show.dealt import rank_name, seat_lines, upcard_name
from asyncplay.games.show.tables import TableLine, TableShow, is_over
from asyncplay.games.spec import GameSpec


class LeducShow(TableShow):
    """A call of nothing is a check."""

    how = "check or bet; against a bet fold, call or raise"

    def name(self, spec: GameSpec, state: State, action: int) -> str:
        if action == FOLD:
            return "fold"
        owes = state[STAKES] > state[PAID + int(state[SEAT])]
        return ("call" if owes else "check") if action == CALL else "raise" if owes else "bet"

    def spellings(self, spec: GameSpec, state: State, action: int) -> Iterable[str]:
        others = {
            "call": ("c", "check"),
            "check": ("c", "call"),
            "raise": ("r", "bet", "b"),
            "bet": ("b", "raise", "r"),
        }
        return others.get(self.name(spec, state, action), ("f",))

    def caption(self, spec: GameSpec, state: State) -> list[str]:
        second = state[ROUNDS] > 0
        paid = [ANTE + int(state[PAID + seat]) for seat in range(spec.players)]
        worth = RAISE_OF_FIRST_ROUND * (2 if second else 1)
        return [f"{'second' if second else 'first'} round, pot {sum(paid)}; a raise is {worth}"]

    def places(self, spec: GameSpec, state: State, viewer: int | None, last: LastAction | None) -> list[TableLine]:
        ranks = spec.players + 1
        names = [rank_name(value // SUITS, ranks) for value in range(SUITS * ranks)]
        folded = [bool(state[FOLDED + seat]) for seat in range(spec.players)]
        contenders = [seat for seat in range(spec.players) if not folded[seat]]
        shown = contenders if is_over(spec, state) and len(contenders) > 1 else ()
        notes = [
            f"paid {ANTE + int(state[PAID + seat])}" + (", folded" if folded[seat] else "")
            for seat in range(spec.players)
        ]
        up = upcard_name(state, spec.rules, names)
        table = TableLine("upcard", () if up is None else (up,), "not yet turned" if up is None else "")
        return [table, *seat_lines(spec, state, viewer, names=names, shown=shown, notes=notes)]


SHOW = LeducShow()
