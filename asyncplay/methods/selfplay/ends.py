"""How the games of a run end: reasons, and which seats win."""

from collections import Counter

from asyncplay.games.spec import BY_LIMIT, BY_RULES
from asyncplay.methods.selfplay.figures import EndFigures
from asyncplay.methods.selfplay.messages import Game
from asyncplay.payloads import MOST_BROKEN_OFF
from asyncplay.stats import wilson

FEW_GAMES = 100  # no warning before these are over


class Ends:
    """Counts finished games."""

    def __init__(self, players: int) -> None:
        self._reasons, self._wins = Counter[str](), [0] * players

    def add(self, game: Game) -> None:
        self._reasons[game.reason] += 1
        best = game.returns == game.returns.max()
        if best.sum() == 1:
            self._wins[int(best.argmax())] += 1

    def figures(self) -> EndFigures:
        n_games, reasons = self._reasons.total(), self._reasons.most_common()
        if n_games == 0:
            return EndFigures()
        intervals = (wilson(won, n_games) for won in self._wins)
        told = ", ".join(f"{reason.replace('_', ' ')} {count / n_games:.1%}" for reason, count in reasons)
        share = self._reasons[BY_LIMIT] / n_games
        return EndFigures(
            warning=_warning(share) if n_games >= FEW_GAMES else "",
            limit_share=share,
            reasons="" if set(self._reasons) == {BY_RULES} else told,
            seat_wins=tuple(won / n_games for won in self._wins),
            seat_intervals=" ".join(f"{low:.2f}-{high:.2f}" for low, high in intervals),
        )


def _warning(share: float) -> str:
    if share <= MOST_BROKEN_OFF:
        return ""
    return f"{share:.1%} of the games were broken off by their move limit, more than {MOST_BROKEN_OFF:.0%}"
