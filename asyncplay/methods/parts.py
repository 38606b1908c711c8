"""Pieces of a run that follow from its configuration alone."""

import logging
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from asyncplay import machine
from asyncplay.config.live import LiveSettings
from asyncplay.config.sections import Config
from asyncplay.data.store import Store, open_store, run_meta
from asyncplay.data.writer import CommitPolicy
from asyncplay.engine.engine import QueueLimits
from asyncplay.engine.recorder import EventRecorder, RecorderLimits
from asyncplay.engine.supervise import Patience
from asyncplay.errors import AsyncplayError, ConfigError
from asyncplay.machine import usable_cores
from asyncplay.methods.limits import ByteLimits, byte_limits
from asyncplay.methods.roles import ROLES, be_worker
from asyncplay.methods.sizes import WORKER_BYTES
from asyncplay.monitor.countdown import countdown
from asyncplay.pools.inline import InlinePool
from asyncplay.pools.link import Pool
from asyncplay.pools.local import LocalPool
from asyncplay.rundir.folder import RunFolder
from asyncplay.worker.core import Worker

log = logging.getLogger(__name__)


def make_pool(kind: str) -> Pool:
    if kind == "inline":
        return InlinePool(lambda number: Worker(number, os.getpid(), ROLES))
    if sys.platform == "win32":
        raise ConfigError("pool.kind is local, which needs Linux or macOS; use --pool.kind inline")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # workers inherit it; they have no use for more
    return LocalPool(be_worker)


@contextmanager
def compiling(what: str, say: Callable[[str], None]) -> Iterator[Callable[[int, int, str], None]]:
    """Say how far the compiling of kernels is where it takes long, and log each of them."""
    say(f"compiling the kernels {what}, unless they are in the cache")
    with countdown(f"compiling the kernels {what}", say) as progress:

        def told(done: int, total: int, name: str) -> None:
            log.info("kernels %d of %d %s", done, total, name)
            progress(done, total)

        yield told


def n_workers(config: Config) -> int:
    return config.pool.workers or usable_cores()


def live_settings(
    config: Config,
    workers: int | None = None,
    *,
    learns: bool = False,
    places: bool = False,
    asks: bool = True,
    worker_bytes: int = WORKER_BYTES,
) -> LiveSettings:
    """``workers``: if the run begins with another number than the configuration says; ``places``: whether its network
    may answer in the workers; ``asks``: whether they ask a
    network; ``worker_bytes``: of one worker more."""
    timeout_ms = config.batch.timeout_ms
    return LiveSettings(
        timeout_ms=None if isinstance(timeout_ms, str) else timeout_ms,
        max_rows=config.batch.max_rows,
        workers=workers or n_workers(config),
        samples_per_insert=config.learn.samples_per_insert if learns else None,
        placement=config.device.placement if places else None,
        asks=asks,
        worker_bytes=worker_bytes,
        free_bytes=machine.at_hand,
    )


def limits(config: Config, most: ByteLimits | None = None) -> QueueLimits:
    """``most``: if they are reckoned already."""
    most = most or byte_limits(config, machine.at_hand())
    return QueueLimits(config.batch.hard_cap_ms / 1000, config.batch.max_queued_rows, most.queue, most.message)


def patience(config: Config) -> Patience:
    section = config.supervise
    return Patience(
        start_s=section.start_s,
        silence_floor_s=section.silence_floor_s,
        silence_ceiling_s=max(section.silence_ceiling_s, section.silence_floor_s),
        window_s=section.window_s,
        deaths=section.deaths,
        deaths_per_worker=section.deaths_per_worker,
    )


def open_game_store(config: Config, folder: Path, players: int, *, is_resumed: bool = False) -> Store:
    """The store of a run, which must be new unless the run is resumed."""
    store = open_store(folder, run_meta(config, players), config.store.durability)
    if store.kept.games and not is_resumed:
        games = store.kept.games
        store.close()
        raise AsyncplayError(f"{folder} holds a run with {games:,} games; `asyncplay train --resume {folder}` goes on")
    return store


def open_event_recorder(config: Config, folder: RunFolder, players: int) -> EventRecorder:
    """For a run that stores no games."""
    store = open_store(folder.path, run_meta(config, players), config.store.durability)
    return EventRecorder(folder, store, commit_policy(config))


def commit_policy(config: Config) -> CommitPolicy:
    return CommitPolicy(config.store.commit_games, config.store.commit_ms / 1000)


def recorder_limits(config: Config, most: ByteLimits) -> RecorderLimits:
    return RecorderLimits(commit_policy(config), config.store.queue_games, most.store)
