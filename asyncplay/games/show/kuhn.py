"""Kuhn's poker for people."""

from collections.abc import Iterable

from asyncplay.games.dealt import DECISIONS, HISTORY
from asyncplay.games.kuhn import BET, PASS
from asyncplay.games.show import LastAction, State
from asyncplay.games.show.dealt import rank_name, seat_lines
from asyncplay.games.show.tables import TableLine, TableShow, is_over
from asyncplay.games.spec import GameSpec


class KuhnShow(TableShow):
    """An action is called by what it means here: a pass against a bet is a fold, a bet after a bet a call."""

    how = "check or bet; against a bet fold or call"

    def name(self, spec: GameSpec, state: State, action: int) -> str:
        is_bet = any(_bets(spec, state))
        return ("fold" if is_bet else "check") if action == PASS else "call" if is_bet else "bet"

    def spellings(self, spec: GameSpec, state: State, action: int) -> Iterable[str]:
        return (self.name(spec, state, action)[:1], *(("pass", "p") if action == PASS else ("b", "bet")))

    def caption(self, spec: GameSpec, state: State) -> list[str]:
        return [f"pot {spec.players + sum(_bets(spec, state))}; ante 1, one bet of 1"]

    def places(self, spec: GameSpec, state: State, viewer: int | None, last: LastAction | None) -> list[TableLine]:
        bets = _bets(spec, state)
        decided = min(int(state[DECISIONS]), spec.players)
        notes = ["bet 1" if bets[seat] else "no bet" if seat < decided else "" for seat in range(spec.players)]
        contenders = [seat for seat in range(spec.players) if bets[seat] or not any(bets)]
        shown = contenders if is_over(spec, state) and len(contenders) > 1 else ()
        names = [rank_name(rank, spec.players + 1) for rank in range(spec.players + 1)]
        return seat_lines(spec, state, viewer, names=names, shown=shown, notes=notes)


def _bets(spec: GameSpec, state: State) -> list[bool]:
    """Whether each seat is in for the bet: its latest decision says so."""
    taken = state[HISTORY : HISTORY + int(state[DECISIONS])].tolist()
    return [BET in taken[seat :: spec.players] for seat in range(spec.players)]


SHOW = KuhnShow()
