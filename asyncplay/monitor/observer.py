"""Looks at a run four times a second, and says what there is to see."""

import asyncio
import os
from collections.abc import Callable
from dataclasses import dataclass, field

from asyncplay.config.live import LiveSettings
from asyncplay.monitor import cpu, gauge
from asyncplay.monitor.figures import Figures
from asyncplay.monitor.gauge import RATE_S, STRAIN_S, TICK_S, Gauge, Look
from asyncplay.monitor.log_tail import LogTail
from asyncplay.monitor.snapshot import Budget, Snapshot, Tuned
from asyncplay.monitor.trial import Trials
from asyncplay.monitor.verdict import judge

CPU_LOOKS = 4  # looks at the run for each one at the machine, which takes longer


@dataclass(frozen=True, slots=True)
class Subject:
    """What is looked at."""

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
    journal: LogTail
    clock: Callable[[], float]
    is_stopping: bool = False
    _began_s: float = field(init=False)
    _n_looks: int = field(init=False, default=0)
    _first_units: int = field(init=False)  # that a resumed run had done before it began

    def __post_init__(self) -> None:
        self._began_s, self._first_units = self.clock(), self.subject.figures().units

    async def run(self) -> None:
        while True:
            self.look()
            await asyncio.sleep(TICK_S)

    def look(self) -> None:
        """Take note of where the run is now."""
        now_s, figures = self.clock(), self.subject.figures().still()
        is_turn = self._n_looks % CPU_LOOKS == 0
        pids = [os.getpid(), *(worker.pid for worker in figures.workers if worker.pid)]
        self._n_looks += 1
        self.gauge.add(Look(now_s, figures, cpu.look(pids, now_s) if is_turn else None))
        is_complete = all(worker.state in ("ready", "suspect", "left") for worker in figures.workers)
        self.trials.look(now_s, is_complete and not self.subject.settings.is_paused)

    def snapshot(self) -> Snapshot:
        if self.gauge.is_empty:
            self.look()
        settings, looks, last = self.subject.settings, self.gauge.since(RATE_S), self.gauge.last
        verdict = judge(gauge.strain(self.gauge.since(STRAIN_S), settings))
        return Snapshot(
            title=self.subject.title,
            folder=self.subject.folder,
            pid=os.getpid(),
            elapsed_s=self.clock() - self._began_s,
            state=self._state(last.figures),
            verdict=verdict,
            throughput=gauge.throughput(looks, self.gauge.history()),
            batch=gauge.batch(looks, settings),
            learn=gauge.learn(looks),
            rounds=gauge.rounds(last),
            workers=gauge.workers(looks),
            store=gauge.store(last),
            results=last.figures.results,
            budget=self._budget(last.figures),
            event=self.journal.event,
            trials=tuple(map(str, self.trials.all())),
            tunables=tuned(settings),
            log=self.journal.lines(),
        )

    def _state(self, figures: Figures) -> str:
        if self.is_stopping:
            return "stopping"
        if self.subject.settings.is_paused:
            return "paused"
        return "running" if figures.total else "starting"

    def _budget(self, figures: Figures) -> Budget | None:
        """The one that will end the run first."""
        elapsed_s, wanted = self.clock() - self._began_s, self.subject.units_wanted
        budgets = []
        if self.subject.budget_s:
            left_s = max(self.subject.budget_s - elapsed_s, 0.0)
            budgets.append(Budget("s", elapsed_s, self.subject.budget_s, left_s))
        if wanted:
            gained = figures.units - self._first_units
            eta_s = (wanted - figures.units) * elapsed_s / gained if gained > 0 else None
            budgets.append(Budget(figures.unit, figures.units, wanted, eta_s))
        return min(budgets, key=lambda budget: 1e300 if budget.eta_s is None else budget.eta_s, default=None)


def tuned(settings: LiveSettings) -> tuple[Tuned, ...]:
    """Every live setting as it is now."""
    return tuple(
        Tuned(t.key, settings.show(t.key), t.lowest, t.highest, tuple(t.words), t.meaning) for t in settings.tunables()
    )
