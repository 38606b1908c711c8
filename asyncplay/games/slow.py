"""The slow lane: games whose rules are plain Python, behind the contract of all games.

Positions are Python objects that never change: ``play`` makes another one. A state is int64[S]: the number of words
behind it (WORDS), how many of them are decisions (DECISIONS), then the history: decisions and outcomes of chance, in
their order. The kernels are callables that know the positions of the histories they met last; searches do not use
them, they keep positions in their nodes (search/slow_group.py).
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import accumulate
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from asyncplay.games.draws import uniform
from asyncplay.games.kernels import Kernels, PlainKernel
from asyncplay.games.spec import BY_LIMIT, BY_RULES, CHANCE_TURN, GAME_OVER, GameSpec, no_ending, no_symmetries

WORDS, DECISIONS, HEAD = 0, 1, 2
MOST_KNOWN = 4096  # histories whose positions are kept

State = NDArray[np.int64]
Position = Any  # of the rules' own type


class SlowRules(Protocol):
    """The rules of one game with its options chosen."""

    def start(self) -> Position:
        """Before anything happened."""

    def player(self, position: Position) -> int:
        """The seat to decide, or CHANCE_TURN; any other negative number when the game is over."""

    def legal(self, position: Position) -> list[int]:
        """Ascending; only asked where a seat decides."""

    def chances(self, position: Position) -> list[tuple[int, float]]:
        """What may happen at a chance turn, as ascending numbers, and how likely it is."""

    def play(self, position: Position, action: int) -> Position:
        """The position after a decision or an outcome of chance; ``position`` stays as it is."""

    def returns(self, position: Position) -> Sequence[float]:
        """What each seat has got so far."""

    def encode(self, position: Position, viewer: int, row: NDArray[np.float32]) -> None:
        """Write every entry of ``row`` float32[F]."""

    def look(self, position: Position, viewer: int) -> str:
        """Equal for positions that look the same to the viewer, else different."""

    def imagine(self, position: Position, viewer: int, draw: Callable[[], float]) -> list[int]:
        """The history of a position that looks the same to the viewer; ``draw`` gives numbers in [0, 1)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SlowSizes:
    """What a game in plain Python says of itself, beside its rules."""

    players: int
    actions: int
    features: int  # 0: there are none
    planes: tuple[int, int, int] | None = None  # how the first of them fold
    longest: int  # decisions of a game; what is not over then is broken off
    most_chances: int = 0  # chance turns of a game
    most_outcomes: int = 0  # of a chance turn
    least_return: float = -1.0
    most_return: float = 1.0
    zero_sum: bool = False
    is_hidden: bool = False
    is_cut: bool = False  # whether ``longest`` breaks games off that would go on
    unsearchable: str = ""  # why there is no search, if there is none


class Chances(NamedTuple):
    """The outcomes of one chance turn, ready to be drawn from."""

    outcomes: list[int]
    sums: list[float]  # of their odds, up to each

    def draw(self, share: float) -> int:
        """The outcome that a number in [0, 1) stands for."""
        return self.outcomes[min(bisect_right(self.sums, share * self.sums[-1]), len(self.outcomes) - 1)]


def chances_of(rules: SlowRules, position: Position) -> Chances:
    listed = [chance for chance in rules.chances(position) if chance[1] > 0]
    return Chances([outcome for outcome, _ in listed], list(accumulate(odds for _, odds in listed)))


def position_after(rules: SlowRules, words: Sequence[int]) -> Position:
    """The position that a history leads to."""
    position = rules.start()
    for word in words:
        position = rules.play(position, word)
    return position


class _Place(NamedTuple):
    position: Position
    mover: int


class Histories:
    """The kernels of one game, see spec.py; belongs to one thread."""

    def __init__(self, rules: SlowRules, longest: int) -> None:
        self._rules, self._longest = rules, longest
        self._known: dict[bytes, _Place] = {}

    def place(self, state: State) -> _Place:
        """The position that a history leads to and who is to move there."""
        words = state[HEAD : HEAD + state[WORDS]]
        if (known := self._known.get(words.tobytes())) is not None:
            return known
        return self._keep(state, position_after(self._rules, words.tolist()))

    def _keep(self, state: State, position: Position) -> _Place:
        mover = self._rules.player(position)
        if mover != CHANCE_TURN and (mover < 0 or state[DECISIONS] >= self._longest):
            mover = GAME_OVER
        if len(self._known) >= MOST_KNOWN:
            self._known.clear()
        place = _Place(position, mover)
        self._known[state[HEAD : HEAD + state[WORDS]].tobytes()] = place
        return place

    def _append(self, state: State, word: int, *, is_decision: bool) -> None:
        position = self._rules.play(self.place(state).position, word)
        state[HEAD + state[WORDS]] = word
        state[WORDS] += 1
        state[DECISIONS] += is_decision
        self._keep(state, position)

    def reset(self, _rules: State, state: State) -> None:
        state.fill(0)

    def to_move(self, _rules: State, state: State) -> int:
        return self.place(state).mover

    def legal(self, _rules: State, state: State, actions: NDArray[np.int32], _room: State) -> int:
        position, mover = self.place(state)
        found = self._rules.legal(position) if mover >= 0 else []
        actions[: len(found)] = found
        return len(found)

    def play(self, _rules: State, state: State, action: int, _room: State) -> None:
        self._append(state, int(action), is_decision=True)

    def chance(self, _rules: State, state: State, stream: NDArray[np.uint64]) -> None:
        outcome = chances_of(self._rules, self.place(state).position).draw(uniform(stream))
        self._append(state, outcome, is_decision=False)

    def returns(self, _rules: State, state: State, gains: NDArray[np.float64]) -> None:
        gains[:] = self._rules.returns(self.place(state).position)

    def encode(self, _rules: State, state: State, viewer: int, features: NDArray[np.float32], _room: State) -> None:
        self._rules.encode(self.place(state).position, int(viewer), features)

    def key(self, _rules: State, state: State, viewer: int) -> int:
        look = self._rules.look(self.place(state).position, int(viewer))
        return int.from_bytes(blake2b(f"{viewer} {look}".encode(), digest_size=8).digest(), "little")

    def determinize(
        self, _rules: State, state: State, viewer: int, stream: NDArray[np.uint64], worlds: NDArray[np.int64]
    ) -> None:
        for world in worlds:
            words = self._rules.imagine(self.place(state).position, int(viewer), lambda: uniform(stream))
            world.fill(0)
            world[:HEAD] = len(words), state[DECISIONS]
            world[HEAD : HEAD + len(words)] = words

    def outcomes(self, _rules: State, state: State, numbers: NDArray[np.int32], odds: NDArray[np.float64]) -> int:
        listed = self._rules.chances(self.place(state).position)
        for place, (outcome, share) in enumerate(listed):
            numbers[place], odds[place] = outcome, share
        return len(listed)

    def happen(self, _rules: State, state: State, outcome: int) -> None:
        self._append(state, int(outcome), is_decision=False)

    def why(self, _rules: State, state: State) -> int:
        """Of BY_RULES and BY_LIMIT."""
        return int(self._rules.player(self.place(state).position) >= 0)


def make_spec(name: str, rules: SlowRules, sizes: SlowSizes) -> GameSpec:
    """A game of the slow lane behind the contract; returns come to -1 .. 1 by the range that they can have."""
    kernels, width = Histories(rules, sizes.longest), sizes.most_return - sizes.least_return
    return GameSpec(
        name=name,
        players=sizes.players,
        rules=np.zeros(1, np.int64),
        state_words=HEAD + sizes.longest + sizes.most_chances,
        actions=sizes.actions,
        features=sizes.features,
        feature_dtype=np.float32,
        planes=sizes.planes,
        global_features=0 if sizes.planes is None else sizes.features - int(np.prod(sizes.planes)),
        max_legal=sizes.actions,
        max_decisions=sizes.longest,
        zero_sum=sizes.zero_sum,
        is_hidden=sizes.is_hidden,
        n_symmetries=1,
        symmetries=lambda: no_symmetries(sizes.features, sizes.actions),
        kernels=Kernels(
            name=name,
            reset=PlainKernel(kernels.reset),
            legal=PlainKernel(kernels.legal),
            play=PlainKernel(kernels.play),
            chance=PlainKernel(kernels.chance),
            to_move=PlainKernel(kernels.to_move),
            returns=PlainKernel(kernels.returns),
            encode=PlainKernel(kernels.encode),
            key=PlainKernel(kernels.key),
            determinize=PlainKernel(kernels.determinize),
            outcomes=PlainKernel(kernels.outcomes),
            happen=PlainKernel(kernels.happen),
            ending=no_ending,
        ),
        entry_module=None,
        value_scale=2 / width,
        value_offset=-(sizes.most_return + sizes.least_return) / width,
        reasons=(BY_RULES, BY_LIMIT) if sizes.is_cut else (BY_RULES,),
        why=PlainKernel(kernels.why) if sizes.is_cut else None,
        max_outcomes=sizes.most_outcomes,
        slow=rules,
        unsearchable=sizes.unsearchable,
    )
