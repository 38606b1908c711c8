"""Whole training runs, small ones."""

import errno
import os
from pathlib import Path

import numpy as np
import pytest

from asyncplay.config.loading import load
from asyncplay.config.sections import Config
from asyncplay.data.store import open_read_only, read_kept
from asyncplay.data.watermark import read_watermark
from asyncplay.engine.loop import run_loop
from asyncplay.errors import AsyncplayError
from asyncplay.methods import parts as build
from asyncplay.methods.selfplay.messages import Game
from asyncplay.methods.selfplay.network import load_weights, save_weights
from asyncplay.methods.selfplay.run import SelfplayRun
from asyncplay.payloads import dense, unpack
from asyncplay.rating.evaluate import Question, evaluate
from asyncplay.rundir.weights import versions

CONFIGS = Path(__file__).parents[3] / "configs"
SMOKE, BLOB = CONFIGS / "smoke.toml", CONFIGS / "blob-quick.toml"


def tiny(path: Path = SMOKE, **overrides: dict[str, str]) -> Config:
    sections = {
        "pool": {"kind": "inline", "workers": "2"},
        "train": {"units": "120", "seed": "3"},
        "search": {"games": "32", "simulations": "12"},
        "learn": {"minimum_rows": "100", "batch_rows": "64", "publish_steps": "3", "publish_distance": "0"},
        "device": {"backend": "torch", "threads": "1"},
        "arena": {"every_s": "0"},
    }
    for section, keys in overrides.items():
        sections[section] = {**sections.get(section, {}), **keys}
    return load(path, sections)


def train(config: Config, folder: Path) -> tuple[SelfplayRun, list[Game]]:
    folder.mkdir()
    taken: list[Game] = []
    runs: list[SelfplayRun] = []

    async def main() -> int:
        run = SelfplayRun(config, folder, lambda line: None)
        runs.append(run)
        take = run.engine.work.finished
        run.engine.work.finished = lambda game: (taken.append(game), take(game))[1]
        await run.run()
        return 0

    run_loop(main())
    return runs[0], taken


def test_an_inline_run_with_the_same_seed_is_bit_identical(tmp_path):
    """Same games, same order, same weights, same version, to the last bit."""
    first, games = train(tiny(), tmp_path / "first")
    second, games_again = train(tiny(), tmp_path / "second")

    assert [game.unit for game in games] == [game.unit for game in games_again]
    for one, other in zip(games, games_again, strict=True):
        np.testing.assert_array_equal(one.actions, other.actions)
        np.testing.assert_array_equal(one.targets, other.targets)
        np.testing.assert_array_equal(one.versions, other.versions)
    assert first.trainer.version == second.trainer.version > 2
    weights, weights_again = first.learner.weights(), second.learner.weights()
    assert all((weights[name] == weights_again[name]).all() for name in weights)


def test_a_network_with_more_seats_than_the_game_has_players_learns_from_its_games(tmp_path):
    """Blob's reference network has eight seats whoever plays."""
    run, games = train(tiny(net={"kind": "blobnet", "width": "16", "blocks": "1"}), tmp_path / "run")

    assert (run.game.players, run.shape.players, len(games)) == (2, 8, 120)
    assert run.learner.steps > 0


def test_another_seed_gives_another_run(tmp_path):
    _, games = train(tiny(), tmp_path / "first")
    _, others = train(tiny(train={"seed": "4"}), tmp_path / "second")
    assert [game.actions.tolist() for game in games] != [game.actions.tolist() for game in others]


def test_a_run_does_as_many_games_as_it_was_asked_for_and_saves_its_last_weights(tmp_path):
    run, games = train(tiny(), tmp_path / "run")

    assert len(games) == run.engine.ledger.books.done == 120
    assert versions(tmp_path / "run") == [run.trainer.version]
    saved = load_weights(tmp_path / "run", run.trainer.version, run.shape)
    assert set(saved) == set(run.learner.weights())
    with pytest.raises(AsyncplayError, match="has no weights of version 999; it has"):
        load_weights(tmp_path / "run", 999, run.shape)


def test_a_run_stores_what_it_played_published_and_went_through(tmp_path):
    run, games = train(tiny(store={"durability": "process"}), tmp_path / "run")

    reader = open_read_only(tmp_path / "run")
    units = [unit for (unit,) in reader.execute("SELECT unit FROM games ORDER BY number")]
    assert units == [game.unit for game in games]
    kept = read_kept(reader)
    assert read_watermark(tmp_path / "run") == kept == (120, 120, run.trainer.stats().inserted_rows)
    versions_noted = [version for (version,) in reader.execute("SELECT version FROM versions")]
    assert versions_noted == list(range(1, run.trainer.version + 1))
    assert [kind for (kind,) in reader.execute("SELECT kind FROM events")] == ["start", "stop"]
    for game, (packed,) in zip(games, reader.execute("SELECT record FROM games ORDER BY number"), strict=True):
        record = unpack(packed)
        np.testing.assert_array_equal(record.actions, game.actions)
        np.testing.assert_array_equal(dense(record, game.legal, game.offsets), game.targets)
    reader.close()


def test_a_folder_that_holds_a_run_is_not_written_over(tmp_path):
    train(tiny(train={"units": "4"}), tmp_path / "run")
    with pytest.raises(AsyncplayError, match=r"holds a run with 4 games; `asyncplay train --resume .*` goes on"):
        build.open_game_store(tiny(), tmp_path / "run", 2)


def test_a_folder_without_weights_is_named(tmp_path):
    async def main() -> int:
        await evaluate(Question(tmp_path, ["random"], 2, 2))
        return 0

    with pytest.raises(AsyncplayError, match="is no run folder with trained weights"):
        run_loop(main())


def test_weights_that_find_no_room_leave_those_before_them_and_take_up_none(tmp_path, monkeypatch):
    run, _ = train(tiny(train={"units": "4"}), tmp_path / "run")
    folder, fsync = tmp_path / "run", os.fsync
    before = {path.name: path.read_bytes() for path in (folder / "net.json", *(folder / "weights").iterdir())}

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        save_weights(folder, 99, run.learner.weights(), run.shape)
    monkeypatch.setattr(os, "fsync", fsync)
    assert before == {path.name: path.read_bytes() for path in (folder / "net.json", *(folder / "weights").iterdir())}
