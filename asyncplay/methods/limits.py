"""How many bytes the parts of a run may hold, where rows are large: as set, or reckoned from the memory at hand."""

from typing import NamedTuple

from asyncplay.config.sections import Config
from asyncplay.machine import usable_cores
from asyncplay.wire.codec import MAX_FRAME_BYTES
from asyncplay.wire.messages import MOST_MESSAGE_BYTES

MB = 1 << 20
WINDOW_PART = 3  # of the free memory, one part in so many is for the replay window,
QUEUE_PART = 16  # for rows that wait for a batch, and likewise for games that wait for their commit,
MESSAGES_PART = 8  # for messages of all workers that are on their way,
CACHES_PART = 8  # and for what all workers remember; the rest is for trees, networks and batches


class ByteLimits(NamedTuple):
    """The most bytes of each."""

    queue: int  # rows that wait for a batch
    window: int  # training rows
    store: int  # games that came and are not counted yet
    message: int  # one message of a worker
    cache: int  # answers that a worker remembers

    def __str__(self) -> str:
        names = ("queue", "replay window", "games to be stored", "a message", "cache of a worker")
        return ", ".join(f"{name} {told(n_bytes)}" for name, n_bytes in zip(names, self, strict=True))


def byte_limits(config: Config, free_bytes: int) -> ByteLimits:
    """What the configuration says, and where it says 0 a part of the free memory."""
    workers = config.pool.workers or usable_cores()

    def limit(megabytes: int, reckoned: int) -> int:
        return megabytes * MB or max(reckoned, MB)

    messages = max(free_bytes // MESSAGES_PART // workers, MAX_FRAME_BYTES)
    return ByteLimits(
        queue=limit(config.batch.max_queued_mb, free_bytes // QUEUE_PART),
        window=limit(config.replay.capacity_mb, free_bytes // WINDOW_PART),
        store=limit(config.store.queue_mb, free_bytes // QUEUE_PART),
        message=min(limit(config.pool.message_mb, messages), MOST_MESSAGE_BYTES),
        cache=limit(config.search.cache_mb, free_bytes // CACHES_PART // workers),
    )


def told(n_bytes: float) -> str:
    """In words."""
    return f"{n_bytes / MB:,.0f} MB" if n_bytes < 10_000 * MB else f"{n_bytes / 1024 / MB:,.0f} GB"
