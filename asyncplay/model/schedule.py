"""The learning rate over a run."""

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LearningRate:
    """A linear warm-up, then a constant, or half a cosine down to ``floor`` times the peak."""

    peak: float = 2e-3
    warmup_steps: int = 100
    cosine_steps: int | None = None  # the step that reaches the floor, warm-up included; None: constant
    floor: float = 0.05

    def rate(self, step: int) -> float:
        """For the step with this number, counted from 0."""
        if step < self.warmup_steps:
            return self.peak * (step + 1) / self.warmup_steps
        if self.cosine_steps is None:
            return self.peak
        length = max(1, self.cosine_steps - self.warmup_steps)
        progress = min(1.0, (step - self.warmup_steps) / length)
        return self.peak * (self.floor + (1 - self.floor) * 0.5 * (1 + math.cos(math.pi * progress)))
