"""Runs that were stopped, killed or changed go on as if nothing had happened."""

import os
import shutil
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from asyncplay.cli import main
from asyncplay.config.loading import load
from asyncplay.config.sections import Config
from asyncplay.data import checkpoint, lock
from asyncplay.data.reader import read_games, reading
from asyncplay.engine.limiter import Balance
from asyncplay.engine.loop import run_loop
from asyncplay.errors import ConfigError
from asyncplay.methods.selfplay.run import SelfplayRun
from asyncplay.rundir import resume

SMOKE = Path(__file__).parents[2] / "configs" / "smoke.toml"
pytestmark = pytest.mark.timeout(400)  # whole runs, and perhaps kernels to be compiled first
LEG = 32  # games between two standstills: eight times the games at a time


def tiny(**overrides: dict[str, str]) -> Config:
    sections = {
        "pool": {"kind": "inline", "workers": "2"},
        "train": {"units": str(3 * LEG), "seed": "3"},
        "search": {"games": "4", "simulations": "8"},
        "learn": {"minimum_rows": "100", "batch_rows": "64", "publish_steps": "3", "publish_distance": "0"},
        "replay": {"start_rows": "300", "exponent": "0.5"},
        "device": {"backend": "torch", "threads": "1"},
        "arena": {"every_s": "0"},
        "store": {"durability": "process"},
    }
    for section, keys in overrides.items():
        sections[section] = {**sections.get(section, {}), **keys}
    return load(SMOKE, sections)


def train(
    config: Config,
    folder: Path,
    *,
    drain_after: int | None = None,
    says: list[str] | None = None,
    prepare: Callable[[SelfplayRun], None] = lambda run: None,
) -> SelfplayRun:
    """Train until the units are spent, or drain after so many games; goes on if the folder has a run."""
    found, complaints = checkpoint.newest(folder / "checkpoints")
    assert complaints == []
    is_resumed = folder.exists()
    folder.mkdir(exist_ok=True)
    runs: list[SelfplayRun] = []

    async def play() -> int:
        say = (says if says is not None else []).append
        run = SelfplayRun(config, folder, say, None if found is None else found.snapshot, is_resumed=is_resumed)
        runs.append(run)
        take = run.engine.work.finished

        def watch(game) -> None:
            take(game)
            if run.engine.ledger.books.done + 1 == drain_after:
                run.drain()

        run.engine.work.finished = watch
        prepare(run)
        await run.run()
        return 0

    run_loop(play())
    return runs[0]


def stored(folder: Path) -> list[tuple]:
    """All that is stored of the games but the time."""
    with reading(folder) as connection:
        games = list(read_games(connection))
    assert all(game.is_intact for game in games)
    return [game._replace(time_s=0.0, crc=0) for game in games]


def same_memory(one: SelfplayRun, other: SelfplayRun, but: tuple[str, ...] = ()) -> None:
    """Everything a checkpoint holds but times, and what is excepted."""
    ours, theirs = (run._checkpoint_of(run.trainer.last_progress()) for run in (one, other))
    assert ours.arrays.keys() == theirs.arrays.keys()
    for name, array in ours.arrays.items():
        np.testing.assert_array_equal(array, theirs.arrays[name], err_msg=name)
    states = [dict(snapshot.state) for snapshot in (ours, theirs)]
    for state in states:
        for name in but:
            del state[name]
        state["published"] = {**state["published"], "age_s": 0.0}
    assert states[0] == states[1]


def same_window(one: SelfplayRun, other: SelfplayRun) -> None:
    assert (one.replay.inserted, one.replay.rows) == (other.replay.inserted, other.replay.rows)
    batches = [run.replay.sample(500, np.random.default_rng(7)) for run in (one, other)]
    for ours, theirs in zip(*batches, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_an_inline_run_stopped_and_resumed_equals_the_uninterrupted_one_bit_for_bit(tmp_path):
    """Games, weights, optimizer, versions, counts and window. It is stopped twice in the middle of a leg, with games
    under way, and goes on to the next standstill."""
    straight = train(tiny(), tmp_path / "straight")
    for legs, drain_after in ((1, 1), (2, LEG + 5)):
        stopped = train(tiny(), tmp_path / "stopped", drain_after=drain_after)
        assert stopped.engine.ledger.books.done == legs * LEG
        assert 0 < stopped.learner.steps < straight.learner.steps

    resumed = train(tiny(), tmp_path / "stopped")

    assert len(stored(tmp_path / "straight")) == 3 * LEG
    assert stored(tmp_path / "stopped") == stored(tmp_path / "straight")
    assert straight.trainer.version > 5
    same_window(resumed, straight)
    same_memory(resumed, straight)


@pytest.mark.process
def test_a_pooled_run_resumed_has_the_same_learner_counts_and_window(tmp_path, monkeypatch):
    """The resumed run is stopped when its window is whole, before it trains or plays: all is as it was left."""
    config = tiny(pool={"kind": "local"}, train={"units": "150"})
    first = train(config, tmp_path / "run")
    assert first.learner.steps > 0
    assert first.replay.inserted > first.replay.rows

    def at_rest(run: SelfplayRun) -> None:
        async def halt() -> None:
            run.engine.halt()

        run.engine.dispatcher.hold(run.engine.work, "test", True)
        monkeypatch.setattr(run.trainer, "run", halt)

    second = train(tiny(pool={"kind": "local"}, train={"units": "300"}), tmp_path / "run", prepare=at_rest)

    assert second.engine.ledger.books.done == len(stored(tmp_path / "run")) == 150
    assert second.limiter.state() == (second.replay.inserted, second.learner.rows)
    assert second.learner.rows == 64 * second.learner.steps
    same_window(second, first)
    same_memory(second, first, but=("config", "config_sha256", "limiter", "tuner"))


def test_games_stored_after_the_last_checkpoint_are_kept_and_training_catches_up(tmp_path):
    config = tiny(checkpoint={"keep_last": "9"})
    folder = tmp_path / "run"
    killed = train(config, folder)
    games = stored(folder)
    for path in sorted((folder / "checkpoints").iterdir())[1:]:
        shutil.rmtree(path)  # as if it had been killed long after the first

    resumed = train(tiny(train={"units": str(4 * LEG)}), folder)

    assert stored(folder)[: len(games)] == games
    assert len(stored(folder)) == resumed.engine.ledger.books.done == 4 * LEG
    assert resumed.trainer.version > killed.trainer.version
    assert resumed.limiter.balance is not Balance.PLAY_AHEAD
    assert resumed.learner.steps > killed.learner.steps


def test_a_run_killed_before_its_first_checkpoint_keeps_its_games(tmp_path):
    train(tiny(train={"units": str(LEG)}), tmp_path / "run")
    games = stored(tmp_path / "run")
    shutil.rmtree(tmp_path / "run" / "checkpoints")

    resumed = train(tiny(train={"units": str(2 * LEG)}), tmp_path / "run")

    assert stored(tmp_path / "run")[:LEG] == games
    assert resumed.engine.ledger.books.done == 2 * LEG


def test_a_pace_that_was_tuned_counts_for_the_rows_that_came_under_it(tmp_path):
    """In the band of one batch that the limiter keeps, before and after."""
    config = tiny(learn={"samples_per_insert": "2", "band_steps": "1"}, train={"units": str(2 * LEG)})

    def tune(run: SelfplayRun) -> None:
        run.engine.settings.change("learn.samples_per_insert", "6")

    first = train(config, tmp_path / "run", prepare=tune, drain_after=1)
    assert first.learner.rows == pytest.approx(6 * first.replay.inserted, abs=64)
    second = train(config, tmp_path / "run")
    more = second.replay.inserted - first.replay.inserted
    assert second.learner.rows - first.learner.rows == pytest.approx(2 * more, abs=2 * 64)
    assert more > 100


def test_a_store_that_is_an_older_copy_is_noticed_and_named(tmp_path):
    folder = tmp_path / "run"
    train(tiny(train={"units": str(LEG)}), folder)
    shutil.copy(folder / "run.sqlite", tmp_path / "old")
    train(tiny(train={"units": str(2 * LEG)}), folder)
    shutil.copy(tmp_path / "old", folder / "run.sqlite")

    said: list[str] = []
    resumed = train(tiny(train={"units": str(2 * LEG)}), folder, says=said)

    warnings = [line for line in said if line.startswith("warning:")]
    assert len(warnings) == 2
    assert f"ends with game {LEG:,}, but game {2 * LEG:,} had been stored" in warnings[0]
    assert f"has {LEG:,} games, the last one number {LEG:,}, but the checkpoint knew of {2 * LEG:,}" in warnings[1]
    assert resumed.engine.ledger.books.done == len(stored(folder)) == 2 * LEG


def run_folder(folder: Path, **sections: dict[str, str]) -> Path:
    folder.mkdir()
    resume.write_config(load(SMOKE, sections), folder)
    return folder


def test_a_changed_configuration_is_told_key_by_key(tmp_path):
    folder = run_folder(tmp_path / "run", learn={"batch_rows": "128"})
    past = resume.read(folder, {"learn": {"batch-rows": "256"}, "train": {"units": "10"}})
    assert past.news == ["going on from no checkpoint", "train.units: 0 -> 10", "learn.batch_rows: 128 -> 256"]
    assert (past.config.learn.batch_rows, past.config.train.units) == (256, 10)
    assert past.snapshot is None


def test_the_checkpoints_own_configuration_is_what_counts(tmp_path):
    """A config.toml that was edited by hand is told of too, and cannot change what a run is."""
    folder = run_folder(tmp_path / "run", search={"simulations": "9"})
    old = asdict(load(SMOKE))
    checkpoint.save(folder / "checkpoints", checkpoint.Checkpoint({}, {"config": old}))
    assert resume.read(folder, {}).news == ["going on from checkpoint 000001", "search.simulations: 25 -> 9"]
    resume.write_config(load(SMOKE, {"net": {"width": "7"}}), folder)
    with pytest.raises(ConfigError, match=r"^net.width is 64 in this run and cannot become 7; a new run can have it$"):
        resume.read(folder, {})


def test_keys_that_make_the_run_are_refused_with_a_line_each(tmp_path):
    folder = run_folder(tmp_path / "run")
    flags = {"game": {"name": "connect4"}, "net": {"blocks": "3"}, "train": {"seed": "8"}}
    with pytest.raises(ConfigError) as caught:
        resume.read(folder, flags)
    assert str(caught.value).splitlines() == [
        "train.seed is 0 in this run and cannot become 8; a new run can have it",
        "game.name is tictactoe in this run and cannot become connect4; a new run can have it",
        "net.blocks is 2 in this run and cannot become 3; a new run can have it",
    ]


def test_a_damaged_checkpoint_is_named_and_the_one_before_it_taken(tmp_path):
    folder = run_folder(tmp_path / "run")
    for step in (1, 2):
        checkpoint.save(folder / "checkpoints", checkpoint.Checkpoint({}, {"step": step}))
    (folder / "checkpoints" / "000002" / "state.json").write_text("{}")
    past = resume.read(folder, {})
    assert past.snapshot is not None
    assert past.snapshot.state == {"step": 1}
    assert past.news[0].endswith("000002 is damaged: state.json has 2 bytes, 11 were written; passed over")
    assert past.news[1:] == ["going on from checkpoint 000001"]


def command(*words: object) -> int:
    return main(["train", *map(str, words)])


def flags(config: Config) -> list[str]:
    """What makes the smoke configuration this one."""
    changes = resume.changes(asdict(load(SMOKE)), asdict(config))
    return [word for key, _, value in changes for word in (f"--{key}", str(value))]


def test_the_command_goes_on_with_a_run_and_refuses_what_it_must(tmp_path, capfd):
    folder = tmp_path / "run"
    assert command(SMOKE, "--run", folder, *flags(tiny(train={"units": str(LEG)}))) == 0
    assert command("--resume", folder, "--games", 2 * LEG) == 0
    said = capfd.readouterr().err
    assert f"train.units: {LEG} -> {2 * LEG}" in said
    assert f"done {2 * LEG} in" in said
    assert len(stored(folder)) == 2 * LEG

    assert command(SMOKE, "--run", folder) == 2
    assert "there is a run already; `asyncplay train --resume" in capfd.readouterr().err
    assert command("--resume", folder, "--net.width", 7) == 2
    assert capfd.readouterr().err == (
        "asyncplay: net.width is 64 in this run and cannot become 7; a new run can have it\n"
    )
    with lock.hold(folder):
        assert command("--resume", folder) == 2
    assert f"is in use by process {os.getpid()}; stop it first" in capfd.readouterr().err


def test_resuming_what_is_no_run_is_one_clear_line(tmp_path, capfd):
    assert command("--resume", tmp_path / "nowhere") == 2
    assert capfd.readouterr().err.count("\n") == 1
    assert command("--resume", tmp_path) == 2
    assert "config.toml is missing" in capfd.readouterr().err
    assert list(tmp_path.iterdir()) == []
    assert command("--resume", tmp_path, "--run", tmp_path) == 2
    assert "leave CONFIG and --run out" in capfd.readouterr().err
    assert command(SMOKE, "--resume", tmp_path) == 2
    assert "has its own configuration and folder" in capfd.readouterr().err
