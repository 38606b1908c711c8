"""One lane to the device: inference batches and training steps take turns on one thread.

So the model needs no locks and is never copied. What a source puts on the lane is bound at launch, not
before: rows that come in while the device is busy still make it into the next batch.
"""

import asyncio
import queue
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

from asyncplay.engine.alarm import Alarm

Finish = Callable[[], Any]
HOST_FADE = 0.1
LEAST_S = 1e-6  # a bell set for less would never ring


@dataclass(slots=True)
class Task:
    """One turn on the device."""

    launch: Callable[[], Finish]  # on the lane's thread; what it returns waits for the result
    landed: Callable[[Any, float], None]  # on the loop, with the service time, before the next launch
    deliver: Callable[[Any], None]  # on the loop, after the next launch: what is slow and can wait
    is_timed: bool = False  # launching costs nothing and ``Timed`` comes of it: no thread is needed


class Timed(Protocol):
    """What a task that is timed launches: a result that is there at a time known beforehand."""

    due_s: float

    def __call__(self) -> Any: ...


class LaneSource(Protocol):
    """Somebody who wants the device."""

    def due_in_s(self, now_s: float, running: int) -> float:
        """Return 0 if a task shall start now, inf if only an event can change that."""

    def start(self, now_s: float) -> Task:
        """Bind the next task; called only when due."""


@dataclass(slots=True, eq=False)
class _Entry:
    source: LaneSource
    share: float
    is_first: bool
    used: float = 0.0  # device seconds divided by the share; whoever has least is furthest behind
    busy_s: float = 0.0
    was_due: bool = False


@dataclass(slots=True)
class _Turn:
    entry: _Entry
    task: Task
    started_s: float
    result: Any = None
    error: BaseException | None = None
    seconds: float = field(default=0.0)


class Lane:
    """Runs the tasks of its sources, each as its share says.

    Lifetime: ``run`` is one task of the run's group; the thread ends with it. Order: among the sources that
    are due, the one furthest behind its share; a source that wants nothing saves up no credit. Limit:
    ``depth`` tasks at a time. End: a failing task ends the run; it is a bug, not a transient error.
    """

    def __init__(
        self, depth: int = 1, clock: Callable[[], float] = time.perf_counter, *, is_inline: bool = False
    ) -> None:
        """``is_inline``: no thread, tasks run on the loop, so that their order can be repeated exactly."""
        assert depth == 1 or not is_inline, "on the loop there is one task at a time"
        self._depth, self._clock, self._is_inline = depth, clock, is_inline
        self._entries: list[_Entry] = []
        self._running = 0
        self._is_paused = False
        self._last_finish_s = 0.0  # of the thread's tasks
        self._last_timed_s = 0.0  # of timed ones, which run beside them
        self._host_s = 0.0
        self._failure: asyncio.Future[None] | None = None
        self._alarm: Alarm | None = None
        self._bell: Alarm | None = None  # for what is timed
        self._timed: deque[tuple[_Turn, Timed]] = deque()
        self._todo: queue.SimpleQueue[_Turn | None] = queue.SimpleQueue()
        self._launched: queue.SimpleQueue[tuple[_Turn, Finish | None] | None] = queue.SimpleQueue()

    def attach(self, source: LaneSource, *, share: float, is_first: bool = False) -> None:
        """``is_first``: whenever it is due it goes before those who are not, whatever the shares say."""
        self._entries.append(_Entry(source, share, is_first))

    def set_share(self, source: LaneSource, share: float) -> None:
        """Give ``source`` another part of the device, as the limiter says."""
        self._entry(source).share = share

    def busy_s(self, source: LaneSource) -> float:
        """Return the device seconds that ``source`` has had."""
        return self._entry(source).busy_s

    def now_s(self) -> float:
        return self._clock()

    @property
    def last_finish_s(self) -> float:
        """When the device was last done with something, which is a little before the loop hears of it."""
        return max(self._last_finish_s, self._last_timed_s)

    @property
    def host_s(self) -> float:
        """From the decision to launch until the launch is done, lately; where launching computes, all of it."""
        return self._host_s

    @property
    def all_busy_s(self) -> float:
        return sum(entry.busy_s for entry in self._entries)

    def wake(self) -> None:
        """Ask the sources again; they call this whenever their answer may have become sooner."""
        if self._running < self._depth and self._alarm is not None:
            self._pump()

    def pause(self, is_paused: bool) -> None:
        """Start nothing, or go on; what is under way is finished."""
        self._is_paused = is_paused
        self.wake()

    async def run(self) -> None:
        self._failure = asyncio.get_running_loop().create_future()
        self._alarm, self._bell = Alarm(self._pump), Alarm(self._rung)
        loop = asyncio.get_running_loop()
        bodies = [self._launch_all] if self._depth == 1 else [self._launch_all, self._finish_all]
        if self._is_inline:
            bodies = []
        threads = [threading.Thread(target=body, args=(loop,), daemon=True, name="lane") for body in bodies]
        for thread in threads:
            thread.start()
        try:
            self._pump()
            await self._failure
        finally:
            alarms, self._alarm, self._bell = (self._alarm, self._bell), None, None
            for alarm in alarms:
                alarm.close()
            self._todo.put(None)
            for thread in threads:
                await asyncio.to_thread(thread.join)

    def _pump(self) -> None:
        """Start all that may start now, and set the alarm for what may start later."""
        while self._alarm is not None and self._running < self._depth and not self._is_paused:
            now_s = self._clock()
            waits = [entry.source.due_in_s(now_s, self._running) for entry in self._entries]
            due = [entry for entry, wait_s in zip(self._entries, waits, strict=True) if wait_s <= 0]
            if not due:
                self._alarm.set(min(waits, default=float("inf")))
                return
            self._start(self._furthest_behind(due), now_s)

    def _furthest_behind(self, due: list[_Entry]) -> _Entry:
        """Who comes to the lane anew starts level with the others: an idle time is no credit."""
        level = max((entry.used for entry in self._entries if entry.was_due), default=0.0)
        for entry in due:
            if not entry.was_due:
                entry.used = max(entry.used, level)
        for entry in self._entries:
            entry.was_due = entry in due
        return min(due, key=lambda entry: (not entry.is_first, entry.used))

    def _start(self, entry: _Entry, now_s: float) -> None:
        self._running += 1
        turn = _Turn(entry, entry.source.start(now_s), now_s)
        if self._is_inline:
            loop = asyncio.get_running_loop()
            loop.call_soon(self._take_turn, loop, turn)
        elif turn.task.is_timed:
            assert self._bell is not None, "a task was started before the lane runs"
            timed = cast(Timed, turn.task.launch())
            self._host_s += HOST_FADE * (self._clock() - turn.started_s - self._host_s)
            self._timed.append((turn, timed))
            if len(self._timed) == 1:
                self._bell.set(max(timed.due_s - self._clock(), LEAST_S))
        else:
            self._todo.put(turn)

    def _rung(self) -> None:
        """The oldest timed task is done; those behind it come later, as the device has one at a time."""
        assert self._bell is not None, "a lane that does not run was rung"
        turn, timed = self._timed.popleft()
        self._last_timed_s = self._note_result(turn, timed, timed.due_s, self._last_timed_s)
        if self._timed:
            self._bell.set(max(self._timed[0][1].due_s - self._clock(), LEAST_S))
        self._completed(turn)

    def _completed(self, turn: _Turn) -> None:
        """Back on the loop: books first, then the next launch, then the answers."""
        if self._failure is None or self._failure.done():
            return
        if turn.error is not None:
            self._failure.set_exception(turn.error)
            return
        self._running -= 1
        turn.entry.busy_s += turn.seconds
        turn.entry.used += turn.seconds / turn.entry.share
        turn.task.landed(turn.result, turn.seconds)
        self._pump()
        turn.task.deliver(turn.result)
        self._pump()

    def _entry(self, source: LaneSource) -> _Entry:
        return next(entry for entry in self._entries if entry.source is source)

    def _launch_all(self, loop: asyncio.AbstractEventLoop) -> None:
        """The lane's thread. With one task at a time it waits for each; else another thread does."""
        while (turn := self._todo.get()) is not None:
            self._take_turn(loop, turn)
        self._launched.put(None)

    def _take_turn(self, loop: asyncio.AbstractEventLoop, turn: _Turn) -> None:
        finish: Finish | None = None
        try:
            finish = turn.task.launch()
        except BaseException as error:
            turn.error = error
        self._host_s += HOST_FADE * (self._clock() - turn.started_s - self._host_s)
        if self._depth == 1:
            self._finish(loop, turn, finish)
        else:
            self._launched.put((turn, finish))

    def _finish_all(self, loop: asyncio.AbstractEventLoop) -> None:
        while (item := self._launched.get()) is not None:
            self._finish(loop, *item)

    def _note_result(self, turn: _Turn, finish: Finish | None, done_s: float | None, before_s: float) -> float:
        """Return when the device was done: at ``done_s``, if that is known better than by looking at the clock now;
        with the task before at ``before_s``."""
        try:
            turn.result = finish() if finish is not None else None
        except BaseException as error:
            turn.error = error
        done_s = self._clock() if done_s is None else done_s
        turn.seconds = done_s - max(turn.started_s, before_s)  # a batch behind another waits first
        return done_s

    def _finish(self, loop: asyncio.AbstractEventLoop, turn: _Turn, finish: Finish | None) -> None:
        self._last_finish_s = self._note_result(turn, finish, None, self._last_finish_s)
        if not loop.is_closed():
            loop.call_soon_threadsafe(self._completed, turn)
