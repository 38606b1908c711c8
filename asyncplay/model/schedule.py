"""The learning rate over a run."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LearningRate:
    """A linear warm-up, then a constant."""

    peak: float = 2e-3
    warmup_steps: int = 100

    def rate(self, step: int) -> float:
        """The learning rate of the step with this number, counted from 0."""
        return self.peak * (step + 1) / self.warmup_steps if step < self.warmup_steps else self.peak
