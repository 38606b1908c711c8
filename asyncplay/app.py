"""Builds a run out of its parts and sees it through to its end. Only this module knows everybody."""

import asyncio
import gc
import logging
import os
import signal
import sys
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from asyncplay.config import Config, DeviceSection, dump
from asyncplay.coordinator.dispatch import Assignment, Work
from asyncplay.coordinator.evaluator import Endpoint
from asyncplay.coordinator.ledger import Ledger
from asyncplay.coordinator.split import shares
from asyncplay.coordinator.supervise import Patience
from asyncplay.errors import AsyncplayError, ConfigError
from asyncplay.model.backends.sim import SimBackend, SimSpeed
from asyncplay.model.cores import usable_cores
from asyncplay.pools.inline import InlinePool
from asyncplay.pools.link import Pool
from asyncplay.pools.local import LocalPool
from asyncplay.settings import Settings
from asyncplay.spine import Limits, Spine
from asyncplay.wire.codec import encode
from asyncplay.wire.messages import SyntheticSpec
from asyncplay.worker.core import Worker
from asyncplay.worker.main import run as worker_entry
from asyncplay.worker.roles import ROLES

log = logging.getLogger(__name__)

EXIT_INTERRUPTED = 130
GC_ALLOCATIONS = 20_000
SYNTHETIC_PLAYERS = 2


def default_config() -> Path:
    """configs/default.toml of the checkout, wherever the command is run from."""
    return Path(__file__).parent.parent / "configs" / "default.toml"


def train(config: Config, *, run_dir: Path | None, headless: bool) -> int:
    """Make the run folder, work until the budget is spent or somebody stops it, and sum up."""
    folder = _open_folder(config, run_dir)
    _say(f"run folder: {folder}")
    _log_to(folder / "run.log")
    try:
        return run_loop(_train(config))
    except AsyncplayError:
        raise
    except Exception as error:
        log.exception("the run failed")
        raise AsyncplayError(
            f"the run failed: {type(error).__name__}: {error}; {folder / 'run.log'} has more"
        ) from error


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


def make_pool(kind: str) -> Pool:
    if kind == "inline":
        return InlinePool(lambda number: Worker(number, os.getpid(), ROLES))
    if sys.platform == "win32":
        raise ConfigError("pool.kind is local, which needs Linux or macOS; use --pool.kind inline")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # workers inherit it; they have no use for more
    return LocalPool(worker_entry)


def sim_backend(device: DeviceSection) -> SimBackend:
    speed = SimSpeed(device.sim_device_ms / 1000, device.sim_host_ms / 1000, device.sim_rows_per_s)
    return SimBackend(speed, SYNTHETIC_PLAYERS)


def synthetic_spine(config: Config) -> Spine:
    """A spine under the synthetic load, on the simulated accelerator."""
    if config.device.backend not in ("auto", "sim"):
        raise ConfigError(f"device.backend is {config.device.backend}, the synthetic load takes only sim")
    backend = sim_backend(config.device)
    workers = min(config.pool.workers or usable_cores(), config.load.slots)
    slots = shares(config.load.slots, workers)[0]
    spec = encode(_synthetic_spec(config, slots))
    assignment = Assignment("synthetic", spec, config.train.seed, chunk=16 * slots, low_water=8 * slots)
    spine = Spine(
        make_pool(config.pool.kind),
        Work(assignment, Ledger(config.train.units or None)),
        workers=workers,
        settings=live_settings(config),
        limits=Limits(config.batch.hard_cap_ms / 1000, config.batch.max_queued_rows),
        patience=_patience(config),
        depth=backend.depth,
    )
    spine.serve(0, Endpoint(config.load.row_bytes, config.load.actions, backend.launch))
    return spine


def live_settings(config: Config) -> Settings:
    timeout_ms = config.batch.timeout_ms
    return Settings(timeout_ms=None if isinstance(timeout_ms, str) else timeout_ms, max_rows=config.batch.max_rows)


@dataclass(slots=True)
class Interrupts:
    """Ctrl-C: once drains, twice ends at once, three times leaves without a word. SIGTERM counts as two."""

    drain: Callable[[], None]
    halt: Callable[[], None]
    count: int = 0

    def install(self) -> None:
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, self.interrupt)
        loop.add_signal_handler(signal.SIGTERM, self.terminate)

    def remove(self) -> None:
        loop = asyncio.get_running_loop()
        loop.remove_signal_handler(signal.SIGINT)
        loop.remove_signal_handler(signal.SIGTERM)

    def interrupt(self) -> None:
        self.count += 1
        if self.count == 1:
            _say("stopping: finishing what is under way; Ctrl-C again stops at once")
            self.drain()
        elif self.count == 2:
            _say("stopping now; Ctrl-C again leaves without saving")
            self.halt()
        else:
            os._exit(EXIT_INTERRUPTED)

    def terminate(self) -> None:
        self.count = max(self.count, 1)
        self.interrupt()


async def _train(config: Config) -> int:
    spine = synthetic_spine(config)
    interrupts = Interrupts(spine.drain, spine.halt)
    interrupts.install()
    started_s = time.perf_counter()
    try:
        async with asyncio.TaskGroup() as group:
            reports = group.create_task(_report(spine, config.train.interval_s))
            budget = group.create_task(_spend(spine, config.train.time_budget_s))
            await spine.run()
            reports.cancel()
            budget.cancel()
    except* AsyncplayError as errors:
        raise _first(errors) from None
    finally:
        interrupts.remove()
    _sum_up(spine, time.perf_counter() - started_s)
    return EXIT_INTERRUPTED if interrupts.count else 0


async def _report(spine: Spine, interval_s: float) -> None:
    """One plain line each interval."""
    before = spine.evaluator.stats()
    while True:
        await asyncio.sleep(interval_s)
        now = spine.evaluator.stats()
        rows, batches = now.rows - before.rows, now.batches - before.batches
        _say(
            f"done {spine.ledger.books.done:,}  rows/s {rows / interval_s:,.0f}  "
            f"mean batch {rows / max(batches, 1):.0f}  wait p50 {now.wait_s.quantile(0.5) * 1000:.2f} ms  "
            f"a {now.fixed_s * 1000:.2f} ms  b {now.per_row_s * 1e6:.2f} us  linger {now.arm}"
        )
        before = now


async def _spend(spine: Spine, budget_s: float) -> None:
    if budget_s:
        await asyncio.sleep(budget_s)
        spine.drain()


def _sum_up(spine: Spine, seconds: float) -> None:
    books, stats = spine.ledger.books, spine.evaluator.stats()
    _say(
        f"done {books.done:,} in {seconds:.1f} s: issued {books.issued:,} = done {books.done:,} + lost {books.lost:,}"
        f" + outstanding {books.outstanding:,}; issued again {books.reissued:,}, set aside {books.set_aside:,}"
    )
    _say(
        f"rows {stats.rows:,}, {stats.rows / seconds:,.0f} rows/s, mean batch {stats.mean_batch:.0f}, "
        f"{stats.rows_per_device_s:,.0f} rows per device-second"
    )


def _synthetic_spec(config: Config, slots: int) -> SyntheticSpec:
    load = config.load
    return SyntheticSpec(
        slots=slots,
        features=load.row_bytes,
        actions=load.actions,
        players=SYNTHETIC_PLAYERS,
        law=load.law,
        think_s=load.think_ms / 1000,
        straggler_share=load.straggler_share,
        straggler_s=load.straggler_ms / 1000,
        grain_s=load.grain_ms / 1000,
        message_rows=load.message_rows,
        checked=True,
    )


def _patience(config: Config) -> Patience:
    section = config.supervise
    return Patience(
        start_s=section.start_s,
        silence_floor_s=section.silence_floor_s,
        silence_ceiling_s=max(section.silence_ceiling_s, section.silence_floor_s),
        window_s=section.window_s,
        deaths=section.deaths,
        deaths_per_worker=section.deaths_per_worker,
    )


def _open_folder(config: Config, run_dir: Path | None) -> Path:
    folder = run_dir or Path("runs") / f"{config.game.name}-{time.strftime('%Y%m%d-%H%M%S')}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.toml").write_text(dump(config))
    except OSError as error:
        raise AsyncplayError(f"--run {folder}: cannot be written: {error.strerror}") from None
    return folder


def _log_to(path: Path) -> None:
    handler = logging.FileHandler(path)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logger = logging.getLogger("asyncplay")
    logger.setLevel(logging.INFO)
    logger.addHandler(handler)


def _say(line: str) -> None:
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


def _first(group: BaseExceptionGroup[AsyncplayError]) -> AsyncplayError:
    """The one error that a person needs to see."""
    error = group.exceptions[0]
    return error if isinstance(error, AsyncplayError) else _first(error)
