"""How many threads a training step uses on a CPU, learned from the steps themselves.

Each thread trains on rows of its own (learner.py). Two threads with a core each are 1.1 to 1.8 times as fast as one;
where workers compete for the cores two may be slower than one. No measurement before the run can decide it.
"""

FIRST_GAP, LAST_GAP = 16, 1024  # steps between two trials of the slower options; grows while the best stays the best
FADE = 0.5  # weight of the earlier figure when a step is noted


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
        """Note the time per row of a step with ``threads``; then ``threads`` is the choice for the next step."""
        before = self._per_row_s[self.threads]
        is_old = self.threads != self._last  # the machine may have changed since this option's last step
        self._per_row_s[self.threads] = per_row_s if is_old else FADE * before + (1 - FADE) * per_row_s
        self._last, self.threads = self.threads, self._next()

    def _next(self) -> int:
        if self._untried:
            return self._untried.pop()
        best = min(self._per_row_s, key=lambda threads: self._per_row_s[threads])
        if best != self._best:  # perhaps because of a single bad step
            self._best, self._gap, self._left = best, FIRST_GAP, FIRST_GAP
        self._left -= 1
        if self._left <= 0:
            self._gap = min(2 * self._gap, LAST_GAP)
            self._left = self._gap
            self._untried = [threads for threads in self._per_row_s if threads != best]
            return self._untried.pop() if self._untried else best
        return best
