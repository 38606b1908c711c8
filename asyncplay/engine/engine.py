"""The parts of a run put together: workers, their supervision, the queue, the device lane and the recorder."""

import asyncio
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from asyncplay.config.live import LiveSettings
from asyncplay.data.store import Store
from asyncplay.engine.dispatch import Dispatcher
from asyncplay.engine.evaluator import Endpoint, Evaluator
from asyncplay.engine.figures import BatchFigures
from asyncplay.engine.lane import Lane
from asyncplay.engine.ledger import Ledger
from asyncplay.engine.recorder import GameRecorder, RecorderLimits
from asyncplay.engine.supervise import Member, Patience, Supervisor
from asyncplay.engine.thinkers import Thinkers
from asyncplay.engine.tuner import Lockstep, Tuner
from asyncplay.engine.work import UnitWork, Work
from asyncplay.pools.link import Pool
from asyncplay.rundir.folder import RunFolder
from asyncplay.wire.messages import MOST_MESSAGE_BYTES


@dataclass(frozen=True, slots=True)
class QueueLimits:
    """The fixed limits of the queue; what can be tuned in a run is in LiveSettings."""

    hard_cap_s: float = 0.05
    max_queued_rows: int = 65_536
    max_queued_bytes: int = MOST_MESSAGE_BYTES
    message_bytes: int = MOST_MESSAGE_BYTES  # of one message from a worker


@dataclass(frozen=True, slots=True)
class Storage:
    """Where the games of a run's work are stored before they count."""

    folder: RunFolder
    store: Store
    limits: RecorderLimits


class Engine:
    """One run's machinery, from the pool to the device. It knows no method.

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
        storage: Storage | None = None,
        say: Callable[[str], None] = lambda line: None,
        on_death: Callable[[Member], None] = lambda member: None,
        others: Sequence[Work] = (),
    ) -> None:
        """``work`` is the run's own; when it is settled, and ``others`` are, the run is over. ``storage``: of a
        ``UnitWork`` whose results are stored; such an engine runs inside ``async with engine.recorder``.

        ``is_lockstep``: what happens depends on the order of frames alone, never on the clock, so that with an
        inline pool a run can be repeated exactly. ``on_death`` is called with workers that ended unasked.
        """
        self.settings, self.work, self._is_lockstep = settings, work, is_lockstep
        self._others = others
        self.lane = Lane(depth, is_inline=is_lockstep)
        self.tuner = Lockstep() if is_lockstep else Tuner(seed=work.assignment.seed)
        self.evaluator = Evaluator(
            settings,
            self.tuner,
            self.lane,
            hard_cap_s=math.inf if is_lockstep else limits.hard_cap_s,
            max_queued_rows=limits.max_queued_rows,
            max_queued_bytes=limits.max_queued_bytes,
            depth=depth,
            thinkers=self._thinkers,
            on_full=partial(self._pause_reading, "queue"),
        )
        self.dispatcher = Dispatcher(self.evaluator, on_death=on_death)
        self.recorder: GameRecorder | None = None
        if storage is not None:
            assert isinstance(work, UnitWork), "only results of single units can be stored"
            parts = (storage.folder, storage.store, storage.limits, self.dispatcher, work)
            on_full = partial(self._pause_reading, "store")
            self.recorder = GameRecorder(*parts, is_lockstep=is_lockstep, on_full=on_full)
        self.dispatcher.add(work, self.recorder)
        for other in others:
            self.dispatcher.add(other)
        message_bytes = limits.message_bytes
        self.supervisor = Supervisor(pool, workers, self.dispatcher, patience, message_bytes=message_bytes, say=say)
        self._full: set[str] = set()  # what has no room for what workers send
        self._halt = asyncio.Event()
        settings.listen(self._settings_changed)

    @property
    def ledger(self) -> Ledger:
        return self.work.ledger

    def serve(self, model: int, endpoint: Endpoint) -> None:
        self.evaluator.serve(model, endpoint)

    def drain(self) -> None:
        """Issue nothing new, and end when what was issued is done."""
        self.work.close()

    def halt(self) -> None:
        """End now; what is under way is cut short."""
        self._halt.set()

    async def run(self) -> None:
        """Work until the ledger is settled or the run is halted; raise what ended a part of it."""
        async with asyncio.TaskGroup() as group:
            services = [group.create_task(self.lane.run()), group.create_task(self.supervisor.run())]
            if self.recorder is not None:
                services.append(group.create_task(self.recorder.run()))
            ends = [group.create_task(self._settled()), group.create_task(self._halt.wait())]
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            for work in (self.work, *self._others):
                work.ledger.end()
            await self.supervisor.stop()
            for task in [*services, *ends]:
                task.cancel()

    async def _settled(self) -> None:
        for work in (self.work, *self._others):
            await work.settled.wait()

    def _settings_changed(self) -> None:
        self.lane.pause(self.settings.is_paused)
        self.dispatcher.hold(self.work, "pause", self.settings.is_paused)
        workers = self.settings.workers
        if workers is not None and workers != self.supervisor.workers:
            self.supervisor.resize(workers)

    def stats(self) -> BatchFigures:
        """The queue's figures, with what the pipes know."""
        return replace(self.evaluator.stats(), joined=self.supervisor.joined)

    def _pause_reading(self, who: str, is_full: bool) -> None:
        was_paused = bool(self._full)
        self._full = self._full | {who} if is_full else self._full - {who}
        if bool(self._full) != was_paused:
            self.supervisor.pause(is_full)

    def _thinkers(self, now_s: float) -> Thinkers:
        return self.supervisor.thinkers(-math.inf if self._is_lockstep else now_s)  # no worker is late before all time
