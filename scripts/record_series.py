"""The course of a real run, four times a second, for the simulation of trials: tests/monitor/series/*.json.

``scripts/dev python scripts/record_series.py CONFIG SECONDS NAME`` trains CONFIG and writes what the run had done, and
what it and all other programs had of the cores, tick by tick. What else runs meanwhile is up to whoever records.
"""

import argparse
import asyncio
import json
import subprocess
import tempfile
import time
from pathlib import Path

import asyncplay.methods.figures  # noqa: F401  # a snapshot knows the parts of every method
from asyncplay.errors import AsyncplayError
from asyncplay.monitor import cpu
from asyncplay.monitor.gauge import TICK_S
from asyncplay.monitor.remote import Remote
from asyncplay.monitor.snapshot import Snapshot

SERIES = Path(__file__).parent.parent / "tests" / "monitor" / "series"
WARM_S = 30.0  # from the first row to the first tick


def main(config: str, seconds: float, name: str) -> None:
    with tempfile.TemporaryDirectory() as place:
        run = subprocess.Popen(["asyncplay", "train", config, "--run", "run", "--headless"], cwd=place)
        try:
            series = asyncio.run(record(Path(place) / "run", seconds))
        finally:
            run.terminate()
            run.wait()
    (SERIES / f"{name}.json").write_text(json.dumps({"config": config, **series}, separators=(",", ":")) + "\n")


async def record(folder: Path, seconds: float) -> dict[str, list[float] | int]:
    remote = await attach(folder)
    while not (await remote.look()).throughput.total:  # noqa: ASYNC110  # no event tells of it
        await asyncio.sleep(TICK_S)
    end_s = time.perf_counter() + WARM_S
    while time.perf_counter() < end_s:
        await remote.look()
        await asyncio.sleep(1.0)
    rows, began_s = [], time.perf_counter()
    for tick in range(int(seconds / TICK_S)):
        rows.append(sample(await remote.look(), began_s))
        await asyncio.sleep(max(began_s + (tick + 1) * TICK_S - time.perf_counter(), 0.0))
    remote.close()
    at_s, total, busy_s, own_s, cores = zip(*rows, strict=True)
    return {"cores": cores[0], "at_s": at_s, "total": total, "busy_s": busy_s, "own_s": own_s}


def sample(shot: Snapshot, began_s: float) -> tuple[float, int, float, float, int]:
    now_s = time.perf_counter()
    times = cpu.sample([shot.pid, *(worker.pid for worker in shot.workers if worker.pid)], now_s)
    assert times is not None, "only Linux tells who uses the cores"
    own_s = sum(process.run_s for process in times.own.values())
    return round(now_s - began_s, 3), shot.throughput.total, round(times.busy_s, 2), round(own_s, 2), times.cores


async def attach(folder: Path) -> Remote:
    """It takes a while until a run listens."""
    while True:
        try:
            return await Remote.open(folder)
        except AsyncplayError:
            await asyncio.sleep(TICK_S)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("config")
    parser.add_argument("seconds", type=float)
    parser.add_argument("name")
    main(**vars(parser.parse_args()))
