"""Runs that were stopped, killed or changed go on as if nothing had happened."""

from pathlib import Path

import numpy as np
import pytest

from asyncplay.app import run_loop
from asyncplay.config import Config, load
from asyncplay.data import checkpoint
from asyncplay.data.reader import read_games, reading
from asyncplay.neural import NeuralRun

SMOKE = Path(__file__).parent.parent / "configs" / "smoke.toml"
LEG = 64  # games between two standstills: eight times the games at a time


def tiny(**overrides: dict[str, str]) -> Config:
    sections = {
        "pool": {"kind": "inline", "workers": "2"},
        "train": {"units": str(3 * LEG), "seed": "3"},
        "search": {"games": "8", "simulations": "8"},
        "learn": {"minimum_rows": "100", "batch_rows": "64", "publish_steps": "3", "publish_distance": "0"},
        "replay": {"start_rows": "300", "exponent": "0.5"},
        "device": {"backend": "torch", "threads": "1"},
        "arena": {"every_s": "0"},
    }
    for section, keys in overrides.items():
        sections[section] = {**sections.get(section, {}), **keys}
    return load(SMOKE, sections)


def train(config: Config, folder: Path, *, drain_after: int | None = None, says: list[str] | None = None) -> NeuralRun:
    """Train until the units are spent, or drain after so many games; goes on if the folder has a run."""
    found, complaints = checkpoint.newest(folder / "checkpoints")
    assert complaints == []
    is_resumed = folder.exists()
    folder.mkdir(exist_ok=True)
    runs: list[NeuralRun] = []

    async def main() -> int:
        say = (says if says is not None else []).append
        run = NeuralRun(config, folder, say, None if found is None else found.snapshot, is_resumed=is_resumed)
        runs.append(run)
        take = run.spine.work.on_game

        def watch(game) -> None:
            take(game)
            if run.spine.ledger.books.done + 1 == drain_after:
                run.drain()

        run.spine.work.on_game = watch
        await run.run()
        return 0

    run_loop(main())
    return runs[0]


def stored(folder: Path) -> list[tuple]:
    """All that is stored of the games but the time."""
    with reading(folder) as connection:
        games = list(read_games(connection))
    assert all(game.is_intact for game in games)
    return [game._replace(time_s=0.0, crc=0) for game in games]


def same_memory(one: NeuralRun, other: NeuralRun) -> None:
    """Everything a checkpoint holds but times."""
    ours, theirs = (run._remember(run.trainer.last_progress()) for run in (one, other))
    assert ours.arrays.keys() == theirs.arrays.keys()
    for name, array in ours.arrays.items():
        np.testing.assert_array_equal(array, theirs.arrays[name], err_msg=name)
    states = [dict(snapshot.state) for snapshot in (ours, theirs)]
    for state in states:
        state["published"] = {**state["published"], "age_s": 0.0}
    assert states[0] == states[1]


def same_window(one: NeuralRun, other: NeuralRun) -> None:
    assert (one.replay.inserted, one.replay.rows) == (other.replay.inserted, other.replay.rows)
    batches = [run.replay.sample(500, np.random.default_rng(7)) for run in (one, other)]
    for ours, theirs in zip(*batches, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("drain_after", [1, LEG + 5])
def test_an_inline_run_stopped_and_resumed_equals_the_uninterrupted_one_bit_for_bit(tmp_path, drain_after):
    """Games, weights, optimizer, versions, counts and window; it stopped in the middle of a leg, with games under way,
    and went on to the next standstill."""
    straight = train(tiny(), tmp_path / "straight")
    stopped = train(tiny(), tmp_path / "stopped", drain_after=drain_after)
    assert stopped.spine.ledger.books.done == -(-drain_after // LEG) * LEG
    assert 0 < stopped.learner.steps < straight.learner.steps

    resumed = train(tiny(), tmp_path / "stopped")

    assert len(stored(tmp_path / "straight")) == 3 * LEG
    assert stored(tmp_path / "stopped") == stored(tmp_path / "straight")
    assert straight.trainer.version > 5
    same_window(resumed, straight)
    same_memory(resumed, straight)
