"""Finished games as they arrive: whether they can be, the examples they bring, and how they end.

The coordinator plays no game again, so an action that was not legal where no search was made stays unseen. Everything
else that would make a stored game useless, or a training step with it, is found here, before it is stored.
"""

from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from asyncplay.data.store import MOST_VALUE_BYTES
from asyncplay.engine.bounds import MOST_FEATURE, SLACK, is_sound, is_within
from asyncplay.games.spec import BY_LIMIT, BY_RULES
from asyncplay.methods.selfplay.figures import EndFigures
from asyncplay.methods.selfplay.messages import Game
from asyncplay.model.shape import NetShape
from asyncplay.payloads import MOST_BROKEN_OFF, Array, Examples, Floats, Ints, most_packed_bytes
from asyncplay.stats import wilson

FEW_GAMES = 100  # no warning before these are over


class GameFacts(NamedTuple):
    """The rules of a run's games, as far as a record can be held against them."""

    players: int
    actions: int
    max_decisions: int
    is_staged: bool  # rows are worth what their stage brought
    is_zero_sum: bool
    most_return: float  # of a seat, in the game's own units, either way
    reasons: tuple[str, ...]  # for which a game may end
    outcome_of: Callable[[Array], Floats]  # what returns are worth to each seat
    state_words: int = 0  # of the state that comes with each row
    turn_flaw: Callable[[Array, Ints, Ints], str | None] | None = None  # why states, offsets and legal actions of rows
    # cannot be turned; None: states are not needed for it


def result_flaw(game: Game, players: int) -> str | None:
    """Say why nobody can have got this."""
    if len(game.returns) != players:
        return f"returns of {len(game.returns)} seats, there are {players}"
    if not np.isfinite(game.returns).all():
        return "a return that is no finite number"
    return None if is_within(game.outcome, 1.0) else "an outcome outside -1 to 1"


def record_flaw(game: Game, facts: GameFacts, *, seed: int, version: int) -> str | None:
    """Say why the record or the rows of a game cannot be as they are.

    ``seed`` is its unit's, ``version`` the newest that has answered. That the rows are for the network is checked
    elsewhere.
    """
    if game.seed != seed:
        return f"seed {game.seed}, its unit has {seed}"
    return (
        _size_flaw(game)
        or result_flaw(game, facts.players)
        or _ending_flaw(game, facts)
        or _decisions_flaw(game, facts, version)
        or (_rows_flaw(game, facts) or _states_flaw(game, facts) if len(game.decisions) else None)
    )


def _size_flaw(game: Game) -> str | None:
    """The store could not read a longer record again; most games are too short to look at them closely."""
    n_entries = len(game.targets)
    if most_packed_bytes(len(game.actions), len(game.decisions), n_entries) > MOST_VALUE_BYTES:
        n_entries = int(np.count_nonzero(game.targets))
    n_bytes = most_packed_bytes(len(game.actions), len(game.decisions), n_entries)
    if n_bytes <= MOST_VALUE_BYTES:
        return None
    return f"a record of up to {n_bytes:,} bytes, the store takes {MOST_VALUE_BYTES:,}: its policies are too long"


def _ending_flaw(game: Game, facts: GameFacts) -> str | None:
    n_decisions, returns = len(game.actions), game.returns
    if not 0 < n_decisions <= facts.max_decisions:
        return f"{n_decisions} decisions, a game has 1 to {facts.max_decisions}"
    if game.reason not in facts.reasons:
        return f"{game.reason[:20]!r} for the reason of its end, known are {', '.join(facts.reasons)}"
    if not is_within(returns, facts.most_return):
        return f"a return beyond {facts.most_return:g}"
    if facts.is_zero_sum and abs(returns.sum()) > SLACK * facts.most_return:
        return "returns that do not add up to 0"
    return None if is_within(game.outcome - facts.outcome_of(returns), 0.0) else "an outcome that is not its returns'"


def _decisions_flaw(game: Game, facts: GameFacts, version: int) -> str | None:
    decisions = game.decisions
    if _largest(game.actions) >= facts.actions:
        return f"an action outside the {facts.actions} that there are"
    if _largest(decisions) >= len(game.actions) or np.count_nonzero(decisions[1:] > decisions[:-1]) + 1 < len(
        decisions
    ):
        return f"rows that are not in the order of its {len(game.actions)} decisions"
    if _largest(game.seats) >= facts.players:
        return f"a seat outside its {facts.players}"
    return None if _largest(game.versions) <= version else f"weights of a version outside 0 to {version}"


def _rows_flaw(game: Game, facts: GameFacts) -> str | None:
    """Of a game with at least one row, whose seats and decisions are sound."""
    legal, starts, counts = game.legal, game.offsets[:-1], game.offsets[1:] - game.offsets[:-1]
    is_first = np.zeros(len(legal), np.bool_)
    is_first[starts] = True
    if np.count_nonzero((legal[1:] > legal[:-1]) | is_first[1:]) + 1 < len(legal):
        return "legal actions that do not ascend"
    if not np.logical_or.reduceat(legal == game.actions[game.decisions].repeat(counts), starts).all():
        return "a decision that was not legal"
    is_share = game.targets.min() >= 0.0 and game.targets.max() <= 1.0
    if not (is_share and is_within(np.add.reduceat(game.targets, starts, dtype=np.float64) - 1.0, 0.0)):
        return "a policy that does not share out 1"
    if game.features.dtype == np.float32 and not is_sound(game.features):
        return f"a feature that is no number from -{MOST_FEATURE:g} to {MOST_FEATURE:g}"
    if facts.is_staged:
        return None if is_within(game.values, 1.0) else "a value outside -1 to 1"
    seats = (game.seats[:, None] + np.arange(facts.players)) % facts.players
    return None if is_within(game.values - game.outcome[seats], 0.0) else "values that are not its outcome"


def _states_flaw(game: Game, facts: GameFacts) -> str | None:
    if game.states.shape[1] != facts.state_words:
        return f"states of {game.states.shape[1]} words, wanted are {facts.state_words}"
    return None if facts.turn_flaw is None else facts.turn_flaw(game.states, game.offsets, game.legal)


def _largest(numbers: Array) -> int:
    """The largest of whole numbers, a negative one counting as huge; -1 of none."""
    return int(numbers.view(f"u{numbers.itemsize}").max()) if len(numbers) else -1


def examples_of(game: Game, players: int) -> Examples:
    """A game's rows, each from the seat of who decided; a network's further seats are filled with zeros."""
    n_rows, n_seats = len(game.features), len(game.outcome)
    values = np.zeros((n_rows, players), np.float32)
    values[:, :n_seats] = game.values
    return Examples(
        features=game.features,
        legal=game.legal,
        offsets=game.offsets,
        targets=game.targets,
        values=values,
        seats=np.full(n_rows, n_seats, np.int32),
        weight=np.ones(n_rows, np.float32),
        versions=game.versions,
        states=game.states,
    )


def misfit(game: Game, shape: NetShape, feature_dtype: np.dtype[Any]) -> str | None:
    """Say why a game's rows cannot train such a network, or None; the message itself is sound already."""
    n_seats = len(game.outcome)
    if not 0 < n_seats <= shape.players:
        return f"{n_seats} seats, the network knows {shape.players}"
    if len(game.features) == 0:
        return None
    if game.features.shape[1] != shape.row_features or game.features.dtype != feature_dtype:
        wanted = f"{shape.row_features} of {feature_dtype}"
        return f"{game.features.shape[1]} features of {game.features.dtype}, wanted {wanted}"
    if int(game.legal.max()) >= shape.actions:
        return f"action {game.legal.max()}, there are {shape.actions}"
    return None


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
