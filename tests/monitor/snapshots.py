"""A snapshot to begin with; a test replaces what it is about."""

from dataclasses import replace

import asyncplay.methods.figures  # noqa: F401  # every part is known
from asyncplay.engine.figures import BatchFigures, StoreFigures
from asyncplay.methods.selfplay.figures import LearnFigures
from asyncplay.monitor.part import Part
from asyncplay.monitor.snapshot import Budget, Curve, PinnedEvent, Result, Snapshot, Throughput, Tuned, WorkerFigures
from asyncplay.monitor.verdict import Verdict


def showing(shot: Snapshot, *parts: Part) -> Snapshot:
    """The same with these parts, in place of those of the same names."""
    return replace(shot, parts={**shot.parts, **{part.NAME: part for part in parts}})


NEURAL = Snapshot(
    title="connect4, self-play",
    folder="runs/connect4-20261116-120000",
    pid=4242,
    elapsed_s=754.5,
    state="running",
    verdict=Verdict("device-bound", "device busy 97 % of the time", "a smaller net (net.blocks)"),
    throughput=Throughput(
        "rows", 12_345.6, (11_000.0, 12_000.0, 12_345.6), 9_000_000, "games", 5_151, 412.3, 16e3, False
    ),
    parts={
        "batch": BatchFigures(
            mean_rows=301.5,
            histogram=((128, 0.25), (256, 0.5), (512, 0.25)),
            wait_p50_ms=1.5,
            wait_p95_ms=6.25,
            fixed_ms=2.5,
            per_row_us=55.5,
            linger="integral",
            why="won the last trial",
            queued_rows=64,
            device_share=0.72,
            timeout="auto",
            max_rows=1024,
            extra_share=0.0,
            spared_share=0.0,
        ),
        "learn": LearnFigures(17, 425, 3.5, 1.234, 0.567, 250_000, 120_000.0, 2.5, 4.01, "steady", 0.25),
        "store": StoreFigures(5_140, 35.5, 11, ""),
    },
    workers=(
        WorkerFigures(0, "ready", 4243, 2_600, 6_200.0, 0, ""),
        WorkerFigures(1, "suspect", 4244, 2_551, 6_145.6, 1, "exit 7"),
    ),
    results=(
        Result("vs random", 0.975, 0.93, 1.0, (), "score", "version 17"),
        Result("vs version 12", 0.61, 0.5, 0.72, (), "score", "version 17"),
    ),
    curves=(
        Curve("learn", "policy loss", (1.9, 1.5, 1.3, 1.234)),
        Curve("learn", "value loss", (0.8, 0.7, 0.6, 0.567)),
        Curve("strength", "vs random", (0.55, 0.9, 0.975)),
        Curve("strength", "vs earlier version", (0.7, 0.61)),
    ),
    budget=Budget("games", 5_151, 10_000, 706.0),
    event=PinnedEvent(1_794_830_400.0, "worker 1 died: exit 7; a new one starts in 0.1 s", True),
    trials=("batch.timeout_ms 2 -> 4: +6.1 % rows/s (+-1.2), wait p50 +0.8 ms",),
    tunables=(
        Tuned("batch.timeout_ms", "auto", 0, 10_000, ("auto",), "longest wait of a batch for company; auto learns it"),
        Tuned("batch.max_rows", "1024", 1, 1 << 20, (), "most rows of one network call"),
        Tuned("pool.workers", "2", 1, 1024, (), "worker processes"),
    ),
    log=("12:00:01 INFO worker 0 is ready", "12:00:01 INFO worker 1 is ready"),
)
"""Everything that neural self-play shows."""

SYNTHETIC = replace(
    NEURAL, parts={"batch": NEURAL.parts["batch"]}, results=(), curves=(), budget=None, event=None, trials=(), log=()
)
"""What is left where nothing is learned."""
