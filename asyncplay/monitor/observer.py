"""Samples a run four times a second, and makes snapshots of it."""

import asyncio
import os
from collections.abc import Callable
from dataclasses import dataclass, field

from asyncplay.config.live import LiveSettings
from asyncplay.monitor import cpu, gauge
from asyncplay.monitor.courses import Courses
from asyncplay.monitor.figures import Figures
from asyncplay.monitor.gauge import RATE_S, STRAIN_S, TICK_S, Gauge, Sample
from asyncplay.monitor.log_tail import LogTail
from asyncplay.monitor.snapshot import Budget, Snapshot, Tuned
from asyncplay.monitor.trial import Trials
from asyncplay.monitor.verdict import judge

RARE_SAMPLES = 4  # samples of the run for each one of the machine and of the courses, which take longer


@dataclass(frozen=True, slots=True)
class Subject:
    """The run that is observed."""

    title: str
    folder: str
    figures: Callable[[], Figures]
    settings: LiveSettings
    units_wanted: int = 0  # 0 for no end
    budget_s: float = 0.0  # the same


@dataclass(slots=True)
class Observer:
    """Lifetime: ``run`` is one task of the run's group. All of it on the loop; ``snapshot`` may be called any time."""

    subject: Subject
    gauge: Gauge
    trials: Trials
    log_tail: LogTail
    clock: Callable[[], float]
    is_stopping: bool = False
    _courses: Courses = field(init=False, default_factory=Courses)
    _began_s: float = field(init=False)
    _n_samples: int = field(init=False, default=0)
    _first_units: int = field(init=False)  # that a resumed run had done before it began

    def __post_init__(self) -> None:
        self._began_s, self._first_units = self.clock(), self.subject.figures().units

    async def run(self) -> None:
        while True:
            self.sample()
            await asyncio.sleep(TICK_S)

    def sample(self) -> None:
        now_s, figures = self.clock(), self.subject.figures().still()
        pids = [os.getpid(), *(worker.pid for worker in figures.workers if worker.pid)]
        is_rare = self._n_samples % RARE_SAMPLES == 0
        self._n_samples += 1
        has_times = is_rare or self.trials.is_open  # its blocks are short
        self.gauge.add(Sample(now_s, figures, cpu.sample(pids, now_s) if has_times else None))
        if is_rare:
            self._courses.add(gauge.parts(self.gauge.since(RATE_S), self.subject.settings), figures.results)
        is_complete = all(worker.state in ("ready", "suspect", "left") for worker in figures.workers)
        self.trials.sampled(now_s, is_complete and not self.subject.settings.is_paused)

    def snapshot(self) -> Snapshot:
        if self.gauge.is_empty:
            self.sample()
        settings, samples, figures = self.subject.settings, self.gauge.since(RATE_S), self.gauge.last.figures
        elapsed_s = self.clock() - self._began_s
        state = "running" if figures.total else "starting"
        state = "stopping" if self.is_stopping else "paused" if settings.is_paused else state
        return Snapshot(
            title=self.subject.title,
            folder=self.subject.folder,
            pid=os.getpid(),
            elapsed_s=elapsed_s,
            state=state,
            verdict=judge(gauge.strain(self.gauge.since(STRAIN_S), settings)),
            throughput=gauge.throughput(samples, self.gauge.history()),
            parts=gauge.parts(samples, settings),
            workers=gauge.workers(samples, settings),
            results=figures.results,
            curves=self._courses.curves(),
            budget=self._budget(figures, elapsed_s),
            event=self.log_tail.event,
            trials=tuple(map(str, self.trials.all())),
            tunables=tuple(
                Tuned(each.key, settings.show(each.key), each.lowest, each.highest, tuple(each.words), each.meaning)
                for each in settings.tunables()
            ),
            log=self.log_tail.lines(),
        )

    def _budget(self, figures: Figures, elapsed_s: float) -> Budget | None:
        """The one that will end the run first."""
        budgets, wanted = [], self.subject.units_wanted
        if self.subject.budget_s:
            left_s = max(self.subject.budget_s - elapsed_s, 0.0)
            budgets.append(Budget("s", elapsed_s, self.subject.budget_s, left_s))
        if wanted:
            gained = figures.units - self._first_units
            eta_s = (wanted - figures.units) * elapsed_s / gained if gained > 0 else None
            budgets.append(Budget(figures.unit, figures.units, wanted, eta_s))
        return min(budgets, key=lambda budget: 1e300 if budget.eta_s is None else budget.eta_s, default=None)
