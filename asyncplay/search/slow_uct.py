"""Plain MCTS of the slow lane: the rules and the random numbers of uct.py, for positions that are Python objects."""

import math

import numpy as np
from numpy.typing import NDArray

from asyncplay.games.draws import KERNELS, below, uniform
from asyncplay.games.kernels import ready
from asyncplay.games.slow import DECISIONS, HEAD, WORDS, Position, SlowRules, chances_of, position_after
from asyncplay.games.spec import CHANCE_TURN, GameSpec

Stream = NDArray[np.uint64]


class _Step:
    """A node: a sequence of decisions since the root."""

    __slots__ = ("children", "sums", "visits")

    def __init__(self, n_players: int) -> None:
        self.visits, self.sums, self.children = 0, [0.0] * n_players, dict[int, "_Step"]()


class SlowRollouts:
    """UCT with so many rollouts a decision."""

    def __init__(self, spec: GameSpec, rollouts: int, exploration: float) -> None:
        self._spec, self._rollouts, self._exploration = spec, rollouts, exploration
        self._rules: SlowRules = spec.slow
        for kernel in KERNELS:
            ready(kernel)

    def decide(self, state: NDArray[np.int64], stream: Stream) -> int:
        """The decision of the seat to move: most visits, then the best mean, then the lowest number."""
        rules, root = self._rules, _Step(self._spec.players)
        here = position_after(rules, state[HEAD : HEAD + state[WORDS]].tolist())
        seat = rules.player(here)
        for _ in range(self._rollouts):
            world = here
            if self._spec.is_hidden:
                world = position_after(rules, rules.imagine(here, seat, lambda: uniform(stream)))
            self._roll_out(root, world, int(state[DECISIONS]), stream)
        return max(root.children, key=lambda action: (*_rank(root.children[action], seat), -action))

    def _roll_out(self, root: _Step, world: Position, n_decisions: int, stream: Stream) -> None:
        rules, spec = self._rules, self._spec
        path, is_new, mover = [root], False, rules.player(world)
        while mover >= 0 and n_decisions < spec.max_decisions:
            legal = rules.legal(world)
            if is_new:
                action = legal[below(stream, len(legal))]
            else:
                action, is_new = self._choose(path[-1], legal, mover, stream)
                if is_new:
                    path[-1].children[action] = _Step(spec.players)
                path.append(path[-1].children[action])
            world, n_decisions = rules.play(world, action), n_decisions + 1
            while (mover := rules.player(world)) == CHANCE_TURN:
                world = rules.play(world, chances_of(rules, world).draw(uniform(stream)))
        gains = [gain * spec.value_scale + spec.value_offset for gain in rules.returns(world)]
        for step in path:
            step.visits += 1
            step.sums = [total + gain for total, gain in zip(step.sums, gains, strict=True)]

    def _choose(self, step: _Step, legal: list[int], mover: int, stream: Stream) -> tuple[int, bool]:
        """An action, and whether it is met for the first time: those come first, in random order."""
        fresh = [action for action in legal if action not in step.children]
        if fresh:
            return fresh[below(stream, len(fresh))], True
        spread = self._exploration * math.sqrt(math.log(step.visits))
        bounds = [
            child.sums[mover] / child.visits + spread / math.sqrt(child.visits)
            for child in (step.children[action] for action in legal)
        ]
        return legal[bounds.index(max(bounds))], False


def _rank(step: _Step, seat: int) -> tuple[int, float]:
    return step.visits, step.sums[seat]
