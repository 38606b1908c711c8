"""A stored game played again by the rules, move by move, and compared with what was stored."""

import json

import numpy as np

from asyncplay import rng
from asyncplay.data.reader import StoredGame
from asyncplay.games.kernels import ready
from asyncplay.games.spec import CHANCE_TURN, GAME_OVER, GameSpec, end_reason, outcome_of
from asyncplay.payloads import Array
from asyncplay.records import Record, RecordDamaged, unpack
from asyncplay.search.layout import CHANCE_STREAM


class Referee:
    """One game's rules, ready to judge records. Belongs to one thread."""

    def __init__(self, spec: GameSpec) -> None:
        self._spec = spec
        for kernel in spec.kernels.all():
            ready(kernel)
        self._state = np.empty(spec.state_words, np.int64)
        self._legal = np.empty(spec.max_legal, np.int32)
        self._returns = np.empty(spec.players, np.float64)

    def flaw(self, game: StoredGame) -> str | None:
        """What is wrong with a stored game; None when it is as it was written and the rules bear it out."""
        if (flaw := game.flaw) is not None:
            return flaw
        try:
            record = unpack(game.record)
        except RecordDamaged as error:
            return str(error)
        return self._replay(game, record) or self._compare(game, record)

    def _replay(self, game: StoredGame, record: Record) -> str | None:
        """Play it to its end; every action must be legal, every row its decider's."""
        spec, state, kernels = self._spec, self._state, self._spec.kernels
        stream = rng.stream(game.seed, CHANCE_STREAM)
        rows = _rows(record)
        kernels.reset(spec.rules, state)
        for decision, action in enumerate(record.actions.tolist()):
            player = self._to_move(stream)
            legal = set(self._legal[: kernels.legal(spec.rules, state, self._legal)].tolist())
            if action not in legal:
                return f"decision {decision} is {action}, which is not legal there"
            if (row := rows.get(decision)) is not None and (flaw := _row_flaw(row, player, legal)):
                return f"decision {decision} {flaw}"
            kernels.play(spec.rules, state, action)
        return None if self._to_move(stream) == GAME_OVER else f"it is not over after {len(record.actions)} decisions"

    def _to_move(self, stream: Array) -> int:
        spec, kernels = self._spec, self._spec.kernels
        while (player := kernels.to_move(spec.rules, self._state)) == CHANCE_TURN:
            kernels.chance(spec.rules, self._state, stream)
        return int(player)

    def _compare(self, game: StoredGame, record: Record) -> str | None:
        """The columns beside the record against the position at its end."""
        spec, returns = self._spec, self._returns
        spec.kernels.returns(spec.rules, self._state, returns)
        wanted = {
            "returns": (json.loads(game.returns), returns.tolist()),
            "outcome": (json.loads(game.outcome), outcome_of(spec, returns).tolist()),
            "length": (game.length, len(record.actions)),
            "reason": (game.reason, end_reason(spec, len(record.actions))),
            "seats": (game.seats, spec.players),
            "rows": (game.rows, len(record.decisions)),
            "lowest version": (game.lowest_version, min(record.versions.tolist(), default=None)),
            "highest version": (game.highest_version, max(record.versions.tolist(), default=None)),
        }
        for name, (stored, played) in wanted.items():
            if stored != played:
                return f"its {name} is stored as {stored}, played again it is {played}"
        return None


Decided = tuple[int, list[int]]
"""Who decided, and the actions his policy names."""


def _rows(record: Record) -> dict[int, Decided]:
    """By decision."""
    ends, actions = np.cumsum(record.counts).tolist(), record.policy_actions.tolist()
    decided = zip(record.decisions.tolist(), record.seats.tolist(), [0, *ends], ends, strict=False)
    return {decision: (seat, actions[start:end]) for decision, seat, start, end in decided}


def _row_flaw(row: Decided, player: int, legal: set[int]) -> str | None:
    seat, policy = row
    if seat != player:
        return f"is stored for seat {seat}, played again seat {player} decides"
    return None if legal.issuperset(policy) else "has a policy with an action that is not legal there"
