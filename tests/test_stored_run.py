"""A run with real workers, one of which is killed: every game is stored once."""

import asyncio
import os
import signal
from pathlib import Path

import pytest
from methods.selfplay.test_neural import tiny

from asyncplay.data.store import open_read_only, read_kept, read_units
from asyncplay.data.watermark import read_watermark
from asyncplay.engine.loop import run_loop
from asyncplay.methods.selfplay.run import SelfplayRun

N_GAMES = 150

pytestmark = pytest.mark.process


async def play(folder: Path) -> SelfplayRun:
    """Kill a worker as soon as a game has been counted."""
    config = tiny(pool={"kind": "local"}, train={"units": str(N_GAMES)}, store={"commit_games": "8"})
    run = SelfplayRun(config, folder, lambda line: None)
    take, victims = run.engine.work.finished, []

    def kill_one(game) -> None:
        if not victims:
            victims.append(next(run.engine.supervisor.members()).pid)
            os.kill(victims[0], signal.SIGKILL)
        take(game)

    run.engine.work.finished = kill_one
    async with asyncio.timeout(100):
        await run.run()
    assert len(victims) == 1
    return run


def test_a_killed_worker_costs_no_game_and_doubles_none(tmp_path):
    runs: list[SelfplayRun] = []

    async def main() -> int:
        runs.append(await play(tmp_path))
        return 0

    run_loop(main())
    reader = open_read_only(tmp_path)
    kept = read_kept(reader)

    assert read_units(reader).tolist() == list(range(N_GAMES))
    books = runs[0].engine.ledger.books
    assert (kept.games, books.done, read_watermark(tmp_path)) == (N_GAMES, N_GAMES, kept)
    assert kept.rows == runs[0].trainer.stats().inserted_rows
    assert "death" in [kind for (kind,) in reader.execute("SELECT kind FROM events")]
    reader.close()
