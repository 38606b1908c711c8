"""How long somebody usually stays silent, and when a silence is no longer usual."""

import math

DEVIATIONS = 4.0
MEMORY = 256  # intervals; what is older counts for less and less
SHORTEST_S = 1e-9  # an interval of 0 has no logarithm
SURE_AFTER = 8  # intervals; before that the limit is the ceiling


class SilenceLimit:
    """Mean and deviation of the logarithm of somebody's intervals, with forgetting.

    The logarithm, because silences spread over orders of magnitude: ten times the usual is as
    remarkable above as below. Until a few intervals are known nothing counts as unusual.
    """

    def __init__(self) -> None:
        self._seen, self._mean, self._variance = 0, 0.0, 0.0

    def observe(self, interval_s: float) -> None:
        """Count one finished silence."""
        self._seen = min(self._seen + 1, MEMORY)
        share = 1 / self._seen
        off = math.log(max(interval_s, SHORTEST_S)) - self._mean
        self._mean += share * off
        self._variance = (1 - share) * (self._variance + share * off * off)

    def limit_s(self, floor_s: float, ceiling_s: float) -> float:
        """A silence beyond this is unusual: exp(mean + 4 deviations), clamped."""
        assert 0 < floor_s <= ceiling_s, "the floor must not lie above the ceiling"
        if self._seen < SURE_AFTER:
            return ceiling_s
        usual = self._mean + DEVIATIONS * math.sqrt(self._variance)
        return min(max(math.exp(min(usual, 700.0)), floor_s), ceiling_s)
