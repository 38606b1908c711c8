"""What a run tells about itself: counts that only grow, and how things stand. Rates are made of it elsewhere."""

from dataclasses import dataclass, replace

from asyncplay.monitor.snapshot import Result
from asyncplay.stats import BatchStats, RoundStats, StoreStats, TrainStats, WorkerStats


@dataclass(frozen=True, slots=True)
class Figures:
    """One look at a run; None stands where something does not apply to it."""

    name: str  # what throughput counts: "rows", "nodes"
    total: int  # of them, since the run began
    unit: str  # what a unit of work is called: "games", "iterations", "rows"
    units: int  # that are done
    workers: tuple[WorkerStats, ...]
    batch: BatchStats | None = None
    train: TrainStats | None = None
    rounds: RoundStats | None = None
    store: StoreStats | None = None
    results: tuple[Result, ...] = ()
    limit_per_s: float | None = None  # of the device alone
    device: str = "cpu"  # "cpu" computes on the workers' cores; "gpu" and "sim" do not
    holds: frozenset[str] = frozenset()  # who holds new work back now: "limiter", "disk"

    def still(self) -> "Figures":
        """The same, but with histograms that no longer change."""
        if self.batch is None:
            return self
        batch_rows, wait_s = self.batch.batch_rows.copy(), self.batch.wait_s.copy()
        return replace(self, batch=replace(self.batch, batch_rows=batch_rows, wait_s=wait_s))
