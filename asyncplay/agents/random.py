"""Random play."""

from asyncplay import rng
from asyncplay.agents.agent import DecisionPoint


class RandomAgent:
    """All legal actions alike."""

    def decide(self, point: DecisionPoint) -> int:
        return int(point.legal[int(rng.stream(point.seed, len(point.actions))[0]) % len(point.legal)])
