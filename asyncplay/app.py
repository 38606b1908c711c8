"""Builds a run out of its parts and sees it through to its end. Only this module knows everybody."""

import asyncio
import gc
import logging
import os
import signal
import stat
import sys
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from asyncplay.config import Config, dump
from asyncplay.errors import AsyncplayError, RunFailed
from asyncplay.spine import Spine

log = logging.getLogger(__name__)

EXIT_INTERRUPTED = 130
GC_ALLOCATIONS = 20_000


def default_config() -> Path:
    """configs/default.toml of the checkout, wherever the command is run from."""
    return Path(__file__).parent.parent / "configs" / "default.toml"


def train(config: Config, *, run_dir: Path | None, headless: bool) -> int:
    """Make the run folder, work until the budget is spent or somebody stops it, and sum up."""
    folder = _open_folder(config, run_dir)
    _say(f"run folder: {folder}")
    try:
        return run_loop(_train(config, folder))
    except AsyncplayError:
        raise
    except Exception as error:
        log.exception("the run failed")
        cause = _first(error) if isinstance(error, BaseExceptionGroup) else error
        reason = f"{type(cause).__name__}: {cause}"
        raise RunFailed(f"the run failed: {reason}; {folder / 'run.log'} has more") from error


def run_loop(main: Coroutine[Any, Any, int]) -> int:
    """uvloop where it exists, asyncio's own loop elsewhere.

    What was imported is taken out of the garbage collector's sight: walking through it again and again cost the
    coordinator 40 % of its time.
    """
    gc.freeze()
    gc.set_threshold(GC_ALLOCATIONS)
    try:
        import uvloop
    except ImportError:
        return asyncio.run(main)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(main)


@dataclass(slots=True)
class Interrupts:
    """Ctrl-C: once drains, twice ends at once, three times leaves without a word. SIGTERM counts as two.

    A closed terminal (SIGHUP) is a first Ctrl-C, unless it is ignored already, as under nohup.
    """

    drain: Callable[[], None]
    halt: Callable[[], None]
    farewell: Callable[[], None] = lambda: None  # before it leaves without a word
    count: int = 0

    def install(self) -> None:
        for number, handler in self._handlers().items():
            asyncio.get_running_loop().add_signal_handler(number, handler)

    def remove(self) -> None:
        for number in self._handlers():
            asyncio.get_running_loop().remove_signal_handler(number)

    def _handlers(self) -> dict[signal.Signals, Callable[[], None]]:
        handlers = {signal.SIGINT: self.interrupt, signal.SIGTERM: self.terminate}
        is_ignored = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
        return handlers if is_ignored else {**handlers, signal.SIGHUP: self.hang_up}

    def interrupt(self) -> None:
        self.count += 1
        if self.count == 1:
            _say("stopping: finishing what is under way; Ctrl-C again stops at once")
            self.drain()
        elif self.count == 2:
            _say("stopping now; Ctrl-C again leaves without saving")
            self.halt()
        else:
            self.farewell()
            os._exit(EXIT_INTERRUPTED)

    def hang_up(self) -> None:
        """The terminal is gone: what would be said there goes nowhere, and the run ends with everything saved."""
        _forget_terminal()
        if self.count == 0:
            self.interrupt()

    def terminate(self) -> None:
        self.count = max(self.count, 1)
        self.interrupt()


class Run(Protocol):
    """What can be trained."""

    spine: Spine

    async def run(self) -> None: ...

    def drain(self) -> None:
        """The first Ctrl-C: end soon, with everything saved."""

    def line(self, interval_s: float) -> str:
        """What happened since the last line."""

    def summary(self, seconds: float) -> list[str]: ...


def make_run(config: Config, folder: Path) -> Run:
    if config.game.name == "synthetic":
        from asyncplay.synthetic import SyntheticRun

        return SyntheticRun(config)
    if config.solve.method != "off":
        from asyncplay.tabular import TabularRun

        return TabularRun(config, folder, _say)
    from asyncplay.neural import NeuralRun

    return NeuralRun(config, folder, _say)


async def _train(config: Config, folder: Path) -> int:
    run = make_run(config, folder)
    interrupts = Interrupts(run.drain, run.spine.halt)
    interrupts.install()
    started_s = time.perf_counter()
    try:
        async with asyncio.TaskGroup() as group:
            reports = group.create_task(_report(run, config.train.interval_s))
            budget = group.create_task(_spend(run, config.train.time_budget_s))
            await run.run()
            reports.cancel()
            budget.cancel()
    except* AsyncplayError as errors:
        raise _first(errors) from None
    finally:
        interrupts.remove()
    _sum_up(run, time.perf_counter() - started_s)
    return EXIT_INTERRUPTED if interrupts.count else 0


async def _report(run: Run, interval_s: float) -> None:
    """One plain line each interval."""
    while True:
        await asyncio.sleep(interval_s)
        _say(run.line(interval_s))


async def _spend(run: Run, budget_s: float) -> None:
    if budget_s:
        await asyncio.sleep(budget_s)
        run.drain()


def _sum_up(run: Run, seconds: float) -> None:
    books, stats = run.spine.ledger.books, run.spine.evaluator.stats()
    for line in run.summary(seconds):
        _say(line)
    _say(
        f"done {books.done:,} in {seconds:.1f} s: issued {books.issued:,} = done {books.done:,} + lost {books.lost:,}"
        f" + outstanding {books.outstanding:,}; issued again {books.reissued:,}, set aside {books.set_aside:,}"
    )
    _say(
        f"rows {stats.rows:,}, {stats.rows / seconds:,.0f} rows/s, mean batch {stats.mean_batch:.0f}, "
        f"{stats.rows_per_device_s:,.0f} rows per device-second"
    )


def _open_folder(config: Config, run_dir: Path | None) -> Path:
    folder = run_dir or Path("runs") / f"{config.game.name}-{time.strftime('%Y%m%d-%H%M%S')}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.toml").write_text(dump(config), encoding="utf-8")
        _log_to(folder / "run.log")
    except OSError as error:
        raise AsyncplayError(f"--run {folder}: cannot be written: {error.strerror}") from None
    return folder


def _log_to(path: Path) -> None:
    handler = logging.FileHandler(path)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logger = logging.getLogger("asyncplay")
    logger.setLevel(logging.INFO)
    logger.addHandler(handler)


def _forget_terminal() -> None:
    """Who writes to a terminal that is gone fails; files and pipes stay what they are."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        if stat.S_ISCHR(os.fstat(descriptor).st_mode):
            os.dup2(nowhere, descriptor)
    os.close(nowhere)


def _say(line: str) -> None:
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


def _first(group: BaseExceptionGroup[Any]) -> BaseException:
    """The one error that a person needs to see."""
    error: BaseException = group.exceptions[0]
    return _first(error) if isinstance(error, BaseExceptionGroup) else error
