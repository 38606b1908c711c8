"""The parts of a run put together: workers, their supervision, the queue and the device lane."""

import asyncio
import math
from dataclasses import dataclass

from asyncplay.config.live import LiveSettings
from asyncplay.engine.dispatch import Dispatcher, Work
from asyncplay.engine.evaluator import Endpoint, Evaluator, Thinkers
from asyncplay.engine.lane import Lane
from asyncplay.engine.ledger import Ledger
from asyncplay.engine.recorder import GameRecorder
from asyncplay.engine.supervise import Patience, Supervisor
from asyncplay.engine.tuner import Lockstep, Tuner
from asyncplay.pools.link import Pool


@dataclass(frozen=True, slots=True)
class QueueLimits:
    """The fixed limits of the queue; what can be tuned in a run is in LiveSettings."""

    hard_cap_s: float = 0.05
    max_queued_rows: int = 65_536


class Engine:
    """One run's machinery, from the pool to the device.

    Lifetime: ``run`` from the first worker's start to the last one's end. ``drain`` ends it when all issued work
    is back, ``halt`` at once; both may be called from a signal handler of the loop.
    """

    def __init__(
        self,
        pool: Pool,
        work: Work,
        *,
        workers: int,
        settings: LiveSettings,
        limits: QueueLimits = QueueLimits(),  # frozen
        patience: Patience = Patience(),  # noqa: B008  # frozen
        depth: int = 1,
        is_lockstep: bool = False,
        recorder: GameRecorder | None = None,
    ) -> None:
        """``work`` is the run's own; when it is settled the run is over. ``recorder`` stores its games; opened and
        closed by whoever made it.

        ``is_lockstep``: what happens depends on the order of frames alone, never on the clock, so that with an
        inline pool a run can be repeated exactly.
        """
        self.settings, self.work, self.is_lockstep = settings, work, is_lockstep
        self.lane = Lane(depth, is_inline=is_lockstep)
        self.tuner = Lockstep() if is_lockstep else Tuner(seed=work.assignment.seed)
        self.evaluator = Evaluator(
            settings,
            self.tuner,
            hard_cap_s=math.inf if is_lockstep else limits.hard_cap_s,
            max_queued_rows=limits.max_queued_rows,
            depth=depth,
            thinkers=self._thinkers,
            on_full=self._pause,
        )
        self.evaluator.join(self.lane)
        self.dispatcher = Dispatcher(self.evaluator)
        self.recorder = recorder
        if recorder is not None:
            recorder.join(self.dispatcher, work)
        self.dispatcher.add(work)
        self.supervisor = Supervisor(pool, workers, self.dispatcher, patience)
        self._halt = asyncio.Event()
        settings.listen(self._settings_changed)

    @property
    def ledger(self) -> Ledger:
        return self.work.ledger

    def serve(self, model: int, endpoint: Endpoint) -> None:
        self.evaluator.serve(model, endpoint)

    def drain(self) -> None:
        """Issue nothing new, and end when what was issued is done."""
        self.dispatcher.close(self.work)

    def halt(self) -> None:
        """End now; what is under way is counted as lost."""
        self._halt.set()

    async def run(self) -> None:
        """Work until the ledger is settled or somebody halts; raise what ended a part of it."""
        async with asyncio.TaskGroup() as group:
            services = [group.create_task(self.lane.run()), group.create_task(self.supervisor.run())]
            if self.recorder is not None:
                services.append(group.create_task(self.recorder.run()))
            ends = [group.create_task(self.work.settled.wait()), group.create_task(self._halt.wait())]
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            await self.supervisor.stop()
            for task in [*services, *ends]:
                task.cancel()

    def _settings_changed(self) -> None:
        self.lane.pause(self.settings.is_paused)
        self.dispatcher.hold(self.work, "pause", self.settings.is_paused)
        workers = self.settings.workers
        if workers is not None and workers != self.supervisor.workers:
            self.supervisor.resize(workers)

    def _pause(self, is_full: bool) -> None:
        self.supervisor.pause(is_full)

    def _thinkers(self, now_s: float) -> Thinkers:
        return self.supervisor.thinkers(-math.inf if self.is_lockstep else now_s)  # nobody is late before all time
