"""What a run tells about itself: counts since it began, and its state now."""

from dataclasses import dataclass, replace

from asyncplay.monitor.part import Part
from asyncplay.monitor.snapshot import Result, WorkerFigures


@dataclass(frozen=True, slots=True)
class Figures:
    """One sample of a run."""

    name: str  # what throughput counts: "rows", "nodes"
    total: int  # of them, since the run began
    unit: str  # what a unit of work is called: "games", "iterations", "rows"
    units: int  # that are done
    workers: tuple[WorkerFigures, ...]
    parts: tuple[Part, ...] = ()  # the same ones in the same order each time
    results: tuple[Result, ...] = ()
    limit_per_s: float | None = None  # of the device alone
    device: str = "cpu"  # "cpu" computes on the workers' cores; "gpu" and "sim" do not
    holds: frozenset[str] = frozenset()  # reasons that hold new work back now: "limiter", "disk"

    def still(self) -> "Figures":
        """The same, but with parts that no longer change."""
        return replace(self, parts=tuple(part.still() for part in self.parts))
