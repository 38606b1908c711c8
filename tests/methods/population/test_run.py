"""Whole runs of a population, small ones."""

import json
import os
import signal
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from asyncplay.archive.verify import verify
from asyncplay.cli import main
from asyncplay.config.loading import load
from asyncplay.config.sections import Config
from asyncplay.data import checkpoint
from asyncplay.data.reader import read_games, reading
from asyncplay.engine.loop import run_loop
from asyncplay.methods.game_options import lay_over
from asyncplay.methods.population.run import PopulationRun
from asyncplay.rating.rewards import load_stack, play
from asyncplay.rundir import resume

QUICK = Path(__file__).parents[3] / "configs" / "treasurehunt-quick.toml"
LEG = 16  # episodes between two barriers: eight times the environments


def tiny(**overrides: dict[str, str]) -> Config:
    sections = {
        "pool": {"kind": "inline", "workers": "2"},
        "train": {"units": str(2 * LEG), "seed": "3"},
        "population": {"environments": "2", "replay_rows": "60"},
        "net": {"width": "16"},
        "learn": {"minimum_rows": "60", "batch_rows": "16", "publish_steps": "3", "publish_distance": "0"},
        "device": {"threads": "1"},
        "arena": {"every_s": "0"},
        "store": {"durability": "process"},
    }
    for section, keys in overrides.items():
        sections[section] = {**sections.get(section, {}), **keys}
    return lay_over(load(QUICK, sections), ["turns=8"])


def train(config: Config, folder: Path, *, drain_after: int | None = None) -> PopulationRun:
    """Train until the units are spent, or drain after so many episodes; goes on if the folder has a run."""
    found, complaints = checkpoint.newest(folder / "checkpoints")
    assert complaints == []
    is_resumed = folder.exists()
    folder.mkdir(exist_ok=True)
    resume.write_config(config, folder)
    runs: list[PopulationRun] = []

    async def work() -> int:
        snapshot = None if found is None else found.snapshot
        run = PopulationRun(config, folder, lambda line: None, snapshot, is_resumed=is_resumed)
        runs.append(run)
        take = run.engine.work.finished

        def watch(episode) -> None:
            take(episode)
            if run.engine.ledger.books.done + 1 == drain_after:
                run.drain()

        run.engine.work.finished = watch
        await run.run()
        return 0

    run_loop(work())
    return runs[0]


def stored(folder: Path) -> list[tuple]:
    with reading(folder) as connection:
        games = list(read_games(connection))
    assert all(game.is_intact for game in games)
    return [game._replace(time_s=0.0, crc=0) for game in games]


def same_weights(one: PopulationRun, other: PopulationRun) -> bool:
    ours, theirs = one.learner.save(), other.learner.save()
    same = all((array == theirs.tensors[name]).all() for name, array in ours.tensors.items())
    return same and ours.facts == theirs.facts


def test_an_inline_run_repeats_itself_and_resumes_bit_for_bit(tmp_path):
    """Stopped at a barrier and gone on with, it has the episodes and weights of one that was never stopped."""
    whole = train(tiny(), tmp_path / "whole")
    train(tiny(), tmp_path / "parts", drain_after=LEG // 2)
    assert len(stored(tmp_path / "parts")) == LEG
    parts = train(tiny(), tmp_path / "parts")

    assert stored(tmp_path / "whole") == stored(tmp_path / "parts")
    assert same_weights(whole, parts)
    assert whole.trainer.version == parts.trainer.version > 3
    assert whole.limiter.state() == parts.limiter.state()


def test_every_stored_episode_is_played_again_with_the_same_returns(tmp_path):
    run = train(tiny(), tmp_path / "run")
    found = verify(tmp_path / "run", lambda done, total: None)

    assert (found.sound, found.flaws) == (2 * LEG, [])
    books = run.engine.ledger.books
    assert books.issued == books.done == 2 * LEG
    assert run.recorder.position.rows == 2 * LEG * run.environment.longest


def test_training_keeps_to_its_samples_for_each_insert(tmp_path):
    run = train(tiny(learn={"samples_per_insert": "1.5", "band_steps": "2"}), tmp_path / "run")
    counts, stats = run.limiter.state(), run.trainer.stats()

    batch = 16 * 3
    assert counts.sampled == batch * run.learner.steps[0]
    assert abs(counts.sampled - 1.5 * counts.inserted) <= 2 * batch + 1.5 * 60
    assert stats.published == run.trainer.version
    assert 0 < stats.age_rows < 60


def test_weights_that_do_not_move_enough_are_not_published(tmp_path):
    run = train(tiny(learn={"publish_distance": "1000"}), tmp_path / "run")

    assert run.trainer.version == 0
    assert run.trainer.stats().skipped > 3


def test_frozen_and_shared_networks(tmp_path):
    run = train(tiny(population={"share": "0 1", "frozen": "2", "older": "1:2"}), tmp_path / "run")
    before = PopulationRun(
        replace(run._config, train=replace(run._config.train, seed=3)), _made(tmp_path / "new"), lambda line: None
    )
    fresh, trained = before.learner.weights(), run.learner.weights()
    before.recorder.store.close()

    assert run.shape.networks == 2
    assert run.learner.steps[1] == 0 < run.learner.steps[0]
    np.testing.assert_array_equal(trained["hidden.weight"][1], fresh["hidden.weight"][1])
    assert (trained["hidden.weight"][0] != fresh["hidden.weight"][0]).any()


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


@pytest.mark.filterwarnings("ignore")  # of other people's packages
def test_a_population_trains_on_pettingzoos_tictactoe(tmp_path):
    pytest.importorskip("pettingzoo")
    game = {"name": "pettingzoo:pettingzoo.classic.tictactoe_v3", "options": {"longest": 20}}
    base = tiny()
    config = replace(base, game=replace(base.game, **game), train=replace(base.train, units=24))
    run = train(config, tmp_path / "run")
    found = verify(tmp_path / "run", lambda done, total: None)

    assert run.shape.networks == 2
    assert run.learner.most_steps > 0
    assert (found.sound, found.flaws) == (24, [])
    again = train(replace(config, train=replace(config.train, units=30)), tmp_path / "run")
    assert again.learner.most_steps > run.learner.most_steps


@pytest.mark.slow
@pytest.mark.process
def test_with_processes_threads_and_greedy_episodes_the_books_are_exact(tmp_path, capsys):
    """By the commands that people use: train, go on, eval, stats."""
    run = tmp_path / "run"
    words = [
        "--train.interval-s",
        "1",
        "--pool.workers",
        "2",
        "--store.durability",
        "process",
        "--arena.every-s",
        "0.5",
    ]
    assert main(["train", str(QUICK), "--run", str(run), "--headless", "--games", "30", *words]) == 0
    assert main(["train", "--resume", str(run), "--headless", "--games", "60"]) == 0
    said = capsys.readouterr().err
    assert "issued 60 = done 60 + lost 0 + outstanding 0" in said
    assert main(["eval", str(run), "--games", "20", "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert (figures["game"], figures["games"], len(figures["reward_by_agent"])) == ("treasurehunt", 20, 3)
    assert figures["interval"][0] <= figures["reward"] <= figures["interval"][1]
    assert sum(figures["reward_by_agent"]) == pytest.approx(figures["reward"])
    assert main(["eval", str(run), "--against", "random"]) == 2
    assert "trains a population and plays no match" in capsys.readouterr().err
    assert len(stored(run)) == 60
    assert main(["data", str(run), "show", "--game", "3"]) == 0
    assert "turn " in capsys.readouterr().out
    assert main(["data", str(run), "show", "--svg", str(tmp_path / "last.svg")]) == 0
    assert "<animate" in (tmp_path / "last.svg").read_text()
    assert main(["data", str(run), "show", "--game", "61"]) == 2
    assert "there is no game 61" in capsys.readouterr().err


@pytest.mark.process
def test_an_episode_that_was_acknowledged_survives_the_death_of_its_worker(tmp_path):
    """A worker is killed in the middle: all units come, none twice."""
    config = tiny(pool={"kind": "local", "workers": "2"}, train={"units": "40"})
    folder, killed = _made(tmp_path / "run"), []

    async def work() -> int:
        run = PopulationRun(config, folder, lambda line: None)
        take = run.engine.work.finished

        def watch(episode) -> None:
            take(episode)
            if not killed and run.engine.ledger.books.done > 8:
                killed.append(run.engine.supervisor.stats()[0].pid)
                os.kill(killed[0], signal.SIGKILL)

        run.engine.work.finished = watch
        await run.run()
        assert run.engine.ledger.books.done == 40
        return 0

    run_loop(work())

    assert killed
    assert sorted(game.unit for game in stored(folder)) == list(range(40))


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.timeout(400)
def test_agents_learn_to_get_more_than_by_chance(tmp_path, capsys):
    """On a small grid with many gems, in 1,500 episodes: more than 1.3 times what random play gets."""
    run = tmp_path / "run"
    words = ["--option", "gem_rate=0.05", "--learn.samples-per-insert", "4", "--arena.every-s", "0"]
    assert main(["train", str(QUICK), "--run", str(run), "--headless", "--games", "1500", *words]) == 0
    capsys.readouterr()
    assert main(["eval", str(run), "--games", "200", "--json"]) == 0
    learned = json.loads(capsys.readouterr().out)
    config = load(run / "config.toml")
    weights = load_stack(run, learned["version"], config)
    chance = run_loop(play(config, weights, learned["version"], episodes=200, seed=1, epsilon=1.0))
    assert learned["interval"][0] > 1.3 * chance.total.mean
