"""How many threads a training step uses on a CPU, learned from the steps themselves.

Each thread has rows of its own (learner.py). With a core to itself each, two train 1.1 to 1.8 times as fast as one;
where workers want the same cores they may be slower. Nothing measured before the run tells which.
"""

FIRST_GAP, LAST_GAP = 16, 1024  # steps between two trials of what was slower, which grow while the same stays best
FADE = 0.5  # what a step leaves of the figure of the one before it


class ThreadChoice:
    """Takes the option that lately took the least time per row; tries the others now and then."""

    def __init__(self, options: tuple[int, ...]) -> None:
        assert options, "there is a number of threads to choose"
        self._per_row_s = dict.fromkeys(options, 0.0)
        self._gap, self._left = FIRST_GAP, FIRST_GAP
        self._untried: list[int] = list(options)
        self._best = 0
        self.threads, self._last = self._next(), 0

    def note(self, per_row_s: float) -> None:
        """A step with ``threads`` took so long for a row; ``threads`` is now that of the next step."""
        before = self._per_row_s[self.threads]
        is_old = self.threads != self._last  # another moment may be another machine
        self._per_row_s[self.threads] = per_row_s if is_old else FADE * before + (1 - FADE) * per_row_s
        self._last, self.threads = self.threads, self._next()

    def _next(self) -> int:
        if self._untried:
            return self._untried.pop()
        best = min(self._per_row_s, key=lambda threads: self._per_row_s[threads])
        if best != self._best:  # perhaps by a single bad step
            self._best, self._gap, self._left = best, FIRST_GAP, FIRST_GAP
        self._left -= 1
        if self._left <= 0:
            self._gap = min(2 * self._gap, LAST_GAP)
            self._left = self._gap
            self._untried = [threads for threads in self._per_row_s if threads != best]
            return self._untried.pop() if self._untried else best
        return best
