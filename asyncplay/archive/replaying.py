"""A stored game played again by the rules, decision by decision, and compared with what was stored."""

import json
from itertools import pairwise

import numpy as np

from asyncplay import rng
from asyncplay.data.reader import StoredGame
from asyncplay.games.environment import Environment
from asyncplay.games.kernels import ready
from asyncplay.games.spec import CHANCE_TURN, GAME_OVER, GameSpec, end_reason, outcome_of
from asyncplay.payloads import Array, Record, RecordDamaged, unpack
from asyncplay.search.layout import CHANCE_STREAM


class Referee:
    """One game's rules, ready to judge records. Belongs to one thread."""

    def __init__(self, spec: GameSpec) -> None:
        self._spec, self.players = spec, spec.players
        for kernel in spec.kernels.all():
            ready(kernel)
        self._state, self._room = np.empty(spec.state_words, np.int64), spec.new_room()
        self._legal = np.empty(spec.max_legal, np.int32)
        self._returns = np.empty(spec.players, np.float64)

    def flaw(self, game: StoredGame) -> str | None:
        """What is wrong with a stored game; None if it is what was written and a replay has the same result."""
        if (flaw := game.flaw) is not None:
            return flaw
        try:
            record = unpack(game.record)
        except RecordDamaged as error:
            return str(error)
        if (flaw := self._replay(game.seed, record)) is not None:
            return flaw
        spec, returns = self._spec, self._returns
        spec.kernels.returns(spec.rules, self._state, returns)
        return _difference(game, record, returns, outcome_of(spec, returns), end_reason(spec, self._state))

    def _replay(self, seed: int, record: Record) -> str | None:
        """Play to the end: every action must be legal, every example of the seat that decides, its policy legal."""
        spec, state, kernels = self._spec, self._state, self._spec.kernels
        stream = rng.stream(seed, CHANCE_STREAM)
        actions, ends = record.policy_actions.tolist(), np.cumsum(record.counts).tolist()
        policies = [actions[start:end] for start, end in pairwise([0, *ends])]
        examples = dict(zip(record.decisions.tolist(), zip(record.seats.tolist(), policies, strict=True), strict=True))
        kernels.reset(spec.rules, state)
        for decision, action in enumerate(record.actions.tolist()):
            player = self._to_move(stream)
            legal = set(self._legal[: kernels.legal(spec.rules, state, self._legal, self._room)].tolist())
            if action not in legal:
                return f"decision {decision} is {action}, which is not legal there"
            seat, policy = examples.get(decision, (player, ()))
            if seat != player:
                return f"decision {decision} is stored for seat {seat}, played again seat {player} decides"
            if not legal.issuperset(policy):
                return f"decision {decision} has a policy with an action that is not legal there"
            kernels.play(spec.rules, state, action, self._room)
        return None if self._to_move(stream) == GAME_OVER else f"it is not over after {len(record.actions)} decisions"

    def _to_move(self, stream: Array) -> int:
        spec, kernels = self._spec, self._spec.kernels
        while (player := kernels.to_move(spec.rules, self._state)) == CHANCE_TURN:
            kernels.chance(spec.rules, self._state, stream)
        return int(player)


class EnvironmentReferee:
    """The same of environments that have no kernels."""

    def __init__(self, environment: Environment) -> None:
        self._environment, self.players = environment, environment.players
        self._block = environment.make_block(1)

    def flaw(self, game: StoredGame) -> str | None:
        if (flaw := game.flaw) is not None:
            return flaw
        try:
            record = unpack(game.record)
        except RecordDamaged as error:
            return str(error)
        block, slots = self._block, np.zeros(1, np.int64)
        block.begin(slots, [game.seed], rng.stream(game.seed, CHANCE_STREAM)[None])
        for decision, (action, seat) in enumerate(zip(record.actions, record.seats, strict=True)):
            if block.movers[0] != seat:
                return f"decision {decision} is stored for seat {seat}, played again seat {block.movers[0]} decides"
            if action not in block.look(slots).legal:
                return f"decision {decision} is {action}, which is not legal there"
            block.step(slots, np.array([action], np.int64))
        if block.movers[0] != GAME_OVER:
            return f"it is not over after {len(record.actions)} decisions"
        returns = block.paid[0]
        return _difference(game, record, returns, self._environment.outcome(returns), self._environment.reason)


def _difference(game: StoredGame, record: Record, returns: Array, outcome: Array, reason: str) -> str | None:
    """The first column of a stored game that is not what was played again."""
    columns = {
        "returns": (json.loads(game.returns), returns.tolist()),
        "outcome": (json.loads(game.outcome), outcome.tolist()),
        "length": (game.length, len(record.actions)),
        "reason": (game.reason, reason),
        "seats": (game.seats, len(returns)),
        "rows": (game.rows, len(record.decisions)),
        "lowest version": (game.lowest_version, min(record.versions.tolist(), default=None)),
        "highest version": (game.highest_version, max(record.versions.tolist(), default=None)),
    }
    for name, (stored, played) in columns.items():
        if stored != played:
            return f"its {name} is stored as {stored}, played again it is {played}"
    return None
