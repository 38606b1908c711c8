"""A position of any game with kernels, as a value: made, asked, and followed by others.

A position is not changed by what comes after it, so taking a decision back is keeping the one before.
"""

from collections.abc import Iterable
from typing import Self

import numpy as np
from numpy.typing import NDArray

from asyncplay import rng
from asyncplay.errors import AsyncplayError
from asyncplay.games.kernels import ready
from asyncplay.games.spec import CHANCE_TURN, GAME_OVER, GameSpec

CHANCE_STREAM = 0  # of a seed: deals, dice and whatever else happens in its game

State = NDArray[np.int64]


class Position:
    """Where a seat has to decide, or where the game is over: chance has had its turns.

    ``start`` and ``after`` follow the game that searches play from the same seed and actions; ``from_state`` takes a
    position as it stands. Kernels of a game are compiled, or fetched, when its first position is made.
    """

    __slots__ = ("_legal", "_state", "_stream", "actions", "player", "seed", "spec", "stage_decisions")

    spec: GameSpec
    seed: int
    actions: tuple[int, ...]  # the decisions so far, forced ones included; of a position that was set up: since then
    stage_decisions: int  # those of the present stage, where the game has stages; else all
    player: int  # the seat to decide; GAME_OVER when there is none

    def __init__(
        self, spec: GameSpec, seed: int, actions: tuple[int, ...], *, state: State, stream: NDArray[np.uint64]
    ) -> None:
        """Owns ``state`` and ``stream``, uint64[4] of chance; others use ``start``, ``after`` and ``from_state``."""
        self.spec, self.seed, self.actions = spec, seed, actions
        self._state, self._stream = state, stream
        self.stage_decisions = len(actions)
        kernels, rules = spec.kernels, spec.rules
        while kernels.to_move(rules, state) == CHANCE_TURN:
            kernels.chance(rules, state, stream)
            if spec.is_staged:
                self.stage_decisions = 0
        self.player = int(kernels.to_move(rules, state))
        self._legal: tuple[int, ...] = ()
        if self.player != GAME_OVER:
            listed = np.empty(spec.max_legal, np.int32)
            self._legal = tuple(listed[: kernels.legal(rules, state, listed, spec.new_room())].tolist())

    @classmethod
    def start(cls, spec: GameSpec, seed: int = 0) -> Self:
        """The first decision of the game that has this seed."""
        _make_ready(spec)
        return cls(spec, seed, (), state=spec.new_state(), stream=rng.stream(seed, CHANCE_STREAM))

    @classmethod
    def from_state(cls, spec: GameSpec, state: State, seed: int = 0) -> Self:
        """A position that was not played to. Its words must be those of a position of this game: rules trust them."""
        if state.dtype != np.int64 or state.shape != (spec.state_words,):
            raise AsyncplayError(
                f"a state of {spec.name} is int64[{spec.state_words}], not {state.dtype}{list(state.shape)}"
            )
        _make_ready(spec)
        return cls(spec, seed, (), state=state.copy(), stream=rng.stream(seed, CHANCE_STREAM))

    def after(self, action: int) -> Self:
        """The next position; AsyncplayError if the action is not legal here."""
        if self.is_over:
            raise AsyncplayError(f"action {action} comes after the end of this game of {self.spec.name}")
        if action not in self._legal:
            raise AsyncplayError(f"action {action} is not legal in this position of {self.spec.name}: {self._choice()}")
        state, stream = self._state.copy(), self._stream.copy()
        self.spec.kernels.play(self.spec.rules, state, int(action), self.spec.new_room())
        after = type(self)(self.spec, self.seed, (*self.actions, int(action)), state=state, stream=stream)
        if after.stage_decisions:  # no new stage
            after.stage_decisions = self.stage_decisions + 1
        return after

    def follow(self, actions: Iterable[int]) -> Self:
        """The position after these actions."""
        position = self
        for action in actions:
            position = position.after(action)
        return position

    @property
    def legal(self) -> list[int]:
        """The legal actions, ascending; none when the game is over."""
        return list(self._legal)

    @property
    def is_over(self) -> bool:
        return self.player == GAME_OVER

    @property
    def returns(self) -> list[float]:
        """What each seat has got so far, in the game's own units."""
        returns = np.zeros(self.spec.players)
        self.spec.kernels.returns(self.spec.rules, self._state, returns)
        return [float(share) for share in returns]

    @property
    def state(self) -> State:
        """A copy of the position's words, hidden ones included."""
        return self._state.copy()

    @property
    def stream(self) -> NDArray[np.uint64]:
        """A copy of the stream from which chance goes on."""
        return self._stream.copy()

    def features(self) -> NDArray[np.generic]:
        """What the seat to decide sees, as its networks read it: uint8 or float32[F], hidden features behind them
        where the game shows them."""
        row = np.zeros(self.spec.row_features, self.spec.feature_dtype)
        self.spec.kernels.encode(self.spec.rules, self._state, self.player, row, self.spec.new_room())
        return row

    def __repr__(self) -> str:
        return f"<{self.spec.name} after {len(self.actions)} decisions, seed {self.seed}>"

    def _choice(self) -> str:
        few = ", ".join(map(str, self._legal[:12]))
        return f"{few} are" if len(self._legal) <= 12 else f"{few} and {len(self._legal) - 12} others are"


def _make_ready(spec: GameSpec) -> None:
    for kernel in spec.kernels.all():
        ready(kernel)
