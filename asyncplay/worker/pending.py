"""Results of units that the coordinator has not acknowledged as stored yet."""

from asyncplay.wire.messages import Ack, Job, UnitResult


class Pending:
    """Keeps a unit's result from the moment it is sent until its Ack.

    Limit: the units of jobs under way; the coordinator counts results that are not acknowledged as under way and issues
    no more.
    """

    def __init__(self) -> None:
        self._jobs: dict[int, int] = {}  # by number of a job whose results are kept: units not acknowledged yet
        self._results: dict[tuple[int, int], UnitResult] = {}  # by job and unit, in the order they were sent

    def __len__(self) -> int:
        return len(self._results)

    def expect(self, job: Job) -> None:
        if job.is_kept:
            self._jobs[job.number] = job.count

    def keep(self, result: UnitResult) -> None:
        if result.job in self._jobs:
            self._results[result.job, result.unit] = result

    def forget(self, ack: Ack) -> None:
        """Drop what is stored; an Ack may come twice."""
        for job, unit in zip(ack.jobs.tolist(), ack.units.tolist(), strict=True):
            if self._results.pop((job, unit), None) is not None:
                self._jobs[job] -= 1
                if self._jobs[job] == 0:
                    del self._jobs[job]

    def again(self) -> list[UnitResult]:
        """Return all of them, for a coordinator that may not have received them."""
        return list(self._results.values())
