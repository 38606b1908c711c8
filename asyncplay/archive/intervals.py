"""Confidence intervals of shares."""

import math

Z_95 = 1.959963984540054


def wilson(successes: float, trials: int, z: float = Z_95) -> tuple[float, float]:
    """Wilson's interval of a share, 95 % by default; all of 0 to 1 where nothing was tried."""
    if trials == 0:
        return 0.0, 1.0
    share, spread = successes / trials, z * z / trials
    centre = (share + spread / 2) / (1 + spread)
    half = z / (1 + spread) * math.sqrt(share * (1 - share) / trials + spread / (4 * trials))
    return max(0.0, centre - half), min(1.0, centre + half)
