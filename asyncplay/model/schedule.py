"""The learning rate over a run."""

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LearningRate:
    """A linear warm-up, then a constant, or half a cosine down to another one."""

    peak: float = 2e-3
    warmup_steps: int = 100
    decay_steps: int = 0  # the step that reaches ``final``, warm-up included; 0: constant
    final: float = 1e-4

    def rate(self, step: int) -> float:
        """The learning rate of the step with this number, counted from 0."""
        if step < self.warmup_steps:
            return self.peak * (step + 1) / self.warmup_steps
        if not self.decay_steps:
            return self.peak
        progress = min(1.0, (step - self.warmup_steps) / max(1, self.decay_steps - self.warmup_steps))
        return self.final + (self.peak - self.final) * 0.5 * (1 + math.cos(math.pi * progress))
