"""How many iterations a round of a tabular run has."""

from dataclasses import dataclass

FIRST_ITERATIONS = 10  # a worker's in the first round
SHARE = 0.1  # of the iterations done, for all workers of a round together


@dataclass(frozen=True, slots=True)
class Effort:
    """What one piece of the latest round took; all counts, so that a run can be repeated exactly."""

    iterations: int = 0
    nodes: int = 0
    n_bytes: int = 0


@dataclass(frozen=True, slots=True)
class RoundSize:
    """Short rounds while strategies change quickly, long ones later: 10 iterations a worker, then a tenth of all done.

    No worker visits more than ``most_nodes`` in a round, which stands for its time, or sends more than
    ``most_bytes``, as far as the latest round tells.
    """

    batch: int = 0  # iterations of every round; 0: as said above
    most_nodes: int = 10_000_000
    most_bytes: int = 64 << 20

    def iterations(self, done: int, workers: int, latest: Effort) -> int:
        """Return the iterations of the next round, all workers together."""
        if self.batch:
            return self.batch
        grown = max(FIRST_ITERATIONS * workers, int(SHARE * done))
        return min(grown, workers * self._most(latest))

    def _most(self, latest: Effort) -> int:
        """Iterations of one worker: the latest piece stretched or shrunk until it meets its limits."""
        by_nodes = latest.iterations * self.most_nodes // max(latest.nodes, 1)
        by_bytes = latest.iterations * self.most_bytes // max(latest.n_bytes, 1)
        return max(min(by_nodes, by_bytes), FIRST_ITERATIONS)


def idle_warning(batch: int, workers: int) -> str | None:
    """Say so when a batch is too small for every worker to get something of it."""
    if not 0 < batch < workers:
        return None
    return (
        f"solve.batch is {batch}, fewer than the {workers} workers: {workers - batch} of them stay idle; "
        f"set solve.batch to {workers} or more, {FIRST_ITERATIONS * workers} for instance"
    )
