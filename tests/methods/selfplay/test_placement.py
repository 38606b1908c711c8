"""Where the network answers: in the coordinator or in the workers."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from pathlib import Path

import numpy as np
import pytest

from asyncplay.bench.outside import until
from asyncplay.config.loading import load
from asyncplay.config.sections import Config
from asyncplay.engine.loop import run_loop
from asyncplay.methods.selfplay.messages import Game
from asyncplay.methods.selfplay.run import SelfplayRun
from asyncplay.rundir.layout import SERVING
from asyncplay.rundir.weights import versions

SMOKE = Path(__file__).parents[3] / "configs" / "smoke.toml"


def config(placement: str, **train: str) -> Config:
    return load(
        SMOKE,
        {
            "pool": {"kind": "local", "workers": "2"},
            "train": {"seed": "3"} | train,
            "search": {"games": "32", "simulations": "12"},
            "learn": {"minimum_rows": "100", "batch_rows": "64", "publish_steps": "3", "publish_distance": "0"},
            "device": {"backend": "onnx-fp32", "placement": placement, "threads": "1"},
            "arena": {"every_s": "0"},
        },
    )


def play(
    config: Config, folder: Path, steer: Callable[[SelfplayRun], Awaitable[None]] | None = None
) -> tuple[SelfplayRun, list[Game], list[str]]:
    """A whole run, its games and what it said; ``steer`` runs beside it, and its end ends the run."""
    folder.mkdir()
    games, said, runs = list[Game](), list[str](), list[SelfplayRun]()

    async def main() -> int:
        run = SelfplayRun(config, folder, said.append)
        runs.append(run)
        take = run.engine.work.finished
        run.engine.work.finished = lambda game: (games.append(game), take(game))[1]
        async with asyncio.timeout(200), asyncio.TaskGroup() as group:
            whole = group.create_task(run.run())
            if steer is not None:
                await steer(run)
                run.engine.halt()
            await whole
        return 0

    run_loop(main())
    return runs[0], games, said


async def until_games(run: SelfplayRun, n_games: int) -> None:
    await until(lambda: run.engine.ledger.books.done >= n_games)


@pytest.mark.process
def test_a_run_whose_workers_answer_themselves_learns_and_keeps_its_books(tmp_path):
    run, games, _ = play(config("workers", units="400"), tmp_path / "run")
    stats, books = run.engine.stats(), run.engine.ledger.books
    assert books.issued == books.done == len(games) == 400
    assert run.figures().parts[0].placement == "workers"
    assert stats.rows > 400
    assert stats.batch_rows.octaves()
    assert run.learner.steps > 3
    seen = np.unique(np.concatenate([game.versions for game in games]))
    assert seen.max() > 0, "no new version reached a worker"
    assert seen.max() <= run.trainer.version == versions(tmp_path / "run")[-1]
    assert not (tmp_path / "run" / SERVING).exists()


@pytest.mark.process
def test_the_placement_can_be_changed_back_and_forth_while_the_run_goes_on(tmp_path):
    seen: list[tuple[str, int, int]] = []  # placement, rows answered on the lane, rows in all

    async def steer(run: SelfplayRun) -> None:
        settings, done = run.engine.settings, 0
        for placement in ("coordinator", "workers", "coordinator"):
            settings.change("device.placement", placement)
            await until_games(run, done := done + 64)
            await asyncio.sleep(0.2)
            assert run.placement == placement
            seen.append((placement, run.engine.evaluator.lane_rows, run.engine.stats().rows))

    run, _, _ = play(config("workers"), tmp_path / "run", steer)
    assert run.engine.ledger.books.lost == 0
    (_, lane_1, all_1), (_, lane_2, all_2), (_, lane_3, all_3) = seen
    assert all_1 < all_2 < all_3
    assert lane_1 > 0
    assert lane_3 > lane_2
    assert all_2 - all_1 > lane_2 - lane_1, "workers answered nothing themselves"


@pytest.mark.process
def test_workers_that_answer_themselves_stand_still_while_the_run_is_paused(tmp_path):
    async def steer(run: SelfplayRun) -> None:
        await until_games(run, 32)
        run.engine.settings.change("pause", "on")
        await asyncio.sleep(0.5)  # what was sent before has come
        rows = run.engine.stats().rows
        await asyncio.sleep(0.5)
        assert run.engine.stats().rows == rows
        run.engine.settings.change("pause", "off")
        await until_games(run, 128)

    run, _, _ = play(config("workers"), tmp_path / "run", steer)
    assert run.engine.supervisor.stats()[0].restarts == 0


@pytest.mark.process
def test_a_worker_that_was_killed_gets_the_network_before_its_first_job(tmp_path):
    async def steer(run: SelfplayRun) -> None:
        await until_games(run, 32)
        member = next(run.engine.supervisor.members())
        member.link.kill()
        await until(lambda: run.engine.supervisor.stats()[member.number].restarts)
        lane_rows = run.engine.evaluator.lane_rows
        await until_games(run, 300)
        assert run.engine.evaluator.lane_rows == lane_rows

    run, games, _ = play(config("workers"), tmp_path / "run", steer)
    assert len({game.unit for game in games}) == len(games)
    assert run.engine.ledger.books.lost > 0


@pytest.mark.process
def test_a_free_choice_is_measured_and_both_figures_are_said(tmp_path):
    async def steer(run: SelfplayRun) -> None:
        await until(lambda: run.is_placed)

    run, _, said = play(config("auto"), tmp_path / "run", steer)
    [line] = [line for line in said if line.startswith("placement ")]
    chosen, coordinator, workers = re.fullmatch(
        r"placement (\w+): coordinator ([\d,]+) rows/s, workers ([\d,]+) rows/s", line
    ).groups()
    coordinator, workers = (int(number.replace(",", "")) for number in (coordinator, workers))
    assert chosen == ("workers" if workers >= 1.1 * coordinator else "coordinator") == run.placement


def test_an_inline_run_and_a_torch_backend_have_no_choice(tmp_path):
    overrides = {"pool": {"kind": "inline", "workers": "1"}, "train": {"units": "8"}, "device": {"backend": "torch"}}
    run, *_ = play(load(SMOKE, overrides), tmp_path / "run")
    assert run.is_placed
    assert run.placement == "coordinator"
    assert "device.placement" not in [tunable.key for tunable in run.engine.settings.tunables()]
