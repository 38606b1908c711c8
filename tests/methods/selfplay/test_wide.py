"""Rows of 100 KB through whole runs: games arrive in parts and whole, and nothing holds more bytes than it may."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from games import wide
from games.foreign import ForeignEntry, register
from methods.selfplay.test_neural import SMOKE

from asyncplay import games
from asyncplay.archive.replaying import Referee
from asyncplay.config.loading import load
from asyncplay.config.sections import Config, changed
from asyncplay.data import checkpoint
from asyncplay.data.reader import read_games, reading
from asyncplay.engine.loop import run_loop
from asyncplay.methods.selfplay import refill
from asyncplay.methods.selfplay.messages import Game
from asyncplay.methods.selfplay.run import SelfplayRun
from asyncplay.pools.birth import Entry
from asyncplay.pools.link import OnFrame, OnLost
from asyncplay.pools.local import LocalLink, LocalPool
from asyncplay.wire import codec

MB = 1 << 20
ROW = wide.FEATURES


@pytest.fixture(autouse=True)
def known(monkeypatch):
    monkeypatch.setattr(games, "NAMES", games.NAMES)
    register("wide")


def config(units: int, decisions: int, **limits: int) -> Config:
    """Two workers with two games each; ``limits`` in megabytes: queue, window, store, message, cache."""
    keys = {
        "queue": ("batch", "max_queued_mb"),
        "window": ("replay", "capacity_mb"),
        "store": ("store", "queue_mb"),
        "message": ("pool", "message_mb"),
        "cache": ("search", "cache_mb"),
    }
    sections = {
        "game": {"name": "wide"},
        "pool": {"kind": "local", "workers": "2"},
        "train": {"units": str(units), "seed": "3"},
        "search": {"games": "4", "simulations": "2", "cache_positions": "1000"},
        "net": {"kind": "mlp", "width": "4", "blocks": "1"},
        "learn": {"minimum_rows": "8", "batch_rows": "8", "samples_per_insert": "1", "publish_steps": "2"},
        "device": {"backend": "torch", "threads": "1"},
        "arena": {"every_s": "0"},
        "store": {"durability": "process"},
    }
    for name, megabytes in limits.items():
        section, key = keys[name]
        sections.setdefault(section, {})[key] = str(megabytes)
    return changed(load(SMOKE, sections), "game.options", {"decisions": decisions})


@dataclass
class Played:
    """A run that is over, what was said, and the most that its parts ever held."""

    run: SelfplayRun
    said: list[str]
    units: list[int] = field(default_factory=list)  # of games that arrived,
    flaws: list[int] = field(default_factory=list)  # and rows of theirs that are not what was sent
    queue_bytes: int = 0
    window_bytes: int = 0
    store_bytes: int = 0
    unfinished_bytes: int = 0


class WatchedPool(LocalPool):
    """Calls ``look`` after each frame that came."""

    def __init__(self, entry: Entry, look: Callable[[], None]) -> None:
        super().__init__(entry)
        self._look = look

    async def open(self, number: int, on_frame: OnFrame, on_lost: OnLost) -> LocalLink:
        def framed(body: memoryview | bytes) -> None:
            on_frame(body)
            self._look()

        return await super().open(number, framed, on_lost)


def play(settings: Config, folder: Path, part_bytes: int = codec.PART_BYTES) -> Played:
    """A run through real processes, looked at after each frame and each game; resumed if the folder is there."""
    said: list[str] = []
    is_resumed = folder.exists()
    found = checkpoint.newest(folder / "checkpoints")[0] if is_resumed else None
    folder.mkdir(exist_ok=True)

    async def main() -> Played:
        run = SelfplayRun(settings, folder, said.append, found.snapshot if found else None, is_resumed=is_resumed)
        seen, take = Played(run, said=said), run.engine.work.finished

        def look() -> None:
            seen.queue_bytes = max(seen.queue_bytes, run.engine.evaluator._bytes)
            seen.window_bytes = max(seen.window_bytes, run.replay.held_bytes)
            seen.store_bytes = max(seen.store_bytes, run.recorder._bytes)
            seen.unfinished_bytes = max(seen.unfinished_bytes, run.engine.supervisor.unfinished_bytes)

        def finished(game: Game) -> None:
            seen.flaws += feature_flaws(game, settings)
            seen.units.append(game.unit)
            take(game)
            look()

        run.engine.work.finished = finished
        run.engine.supervisor.pool = WatchedPool(ForeignEntry("wide", part_bytes), look)
        await asyncio.wait_for(run.run(), 280)
        return seen

    return run_loop(main())


def feature_flaws(game: Game, settings: Config) -> list[int]:
    """The decisions of a game whose features are not those of their position."""
    spec = games.load("wide", settings.game.options)
    kernels, state, row = spec.kernels, np.zeros(spec.state_words, np.int64), np.zeros(spec.features, np.uint8)
    kernels.reset(spec.rules, state)
    wrong = []
    for decision, action in enumerate(game.actions):
        kernels.encode(spec.rules, state, decision % 2, row, spec.new_room())
        if not np.array_equal(row, game.features[decision]):
            wrong.append(decision)
        kernels.play(spec.rules, state, action, spec.new_room())
    return wrong


def check_stored(folder: Path, settings: Config, n_games: int) -> None:
    referee = Referee(games.load("wide", settings.game.options))
    with reading(folder) as store:
        stored = list(read_games(store))
    assert sorted(game.unit for game in stored) == list(range(n_games))
    assert [referee.flaw(game) for game in stored] == [None] * n_games


@pytest.mark.process
def test_rows_of_100_kb_are_played_in_parts_stored_learned_and_brought_back_within_their_bytes(tmp_path, monkeypatch):
    """A game has 600 KB here and a part a tenth of a megabyte; the window of 2 MB holds some 18 rows."""
    monkeypatch.setattr(refill, "PART_BYTES", 250_000)  # two rows, so a game at a time
    monkeypatch.setattr(refill, "JOB_BYTES", 1)
    settings = config(10, 6, queue=1, window=2, store=1, message=1, cache=1)
    first = play(settings, tmp_path / "run", part_bytes=100_000)
    again = play(changed(settings, "train.units", 14), tmp_path / "run", part_bytes=100_000)

    assert first.said[-1].startswith("at most: queue 1 MB, replay window 2 MB, games to be stored 1 MB, a message 1 MB")
    assert sorted(first.units) == list(range(10))
    assert sorted(again.units) == list(range(10, 14))
    assert first.flaws == again.flaws == []
    for played, n_games in ((first, 10), (again, 4)):
        figures = played.run.engine.stats()
        assert figures.joined >= n_games
        assert played.run.engine.ledger.books.lost == 0
        assert played.queue_bytes <= MB + 4 * 2 * ROW
        assert played.store_bytes <= MB + 7 * ROW
        assert 0 < played.unfinished_bytes <= 2 * MB
        assert ROW < played.window_bytes <= 2 * MB
    learned = first.run.trainer.stats()
    assert learned.steps > 0
    assert learned.early_rows == 60 - learned.window_rows > 0
    assert again.run.replay.inserted == 84
    assert again.run.replay.is_whole
    check_stored(tmp_path / "run", settings, 14)


def test_a_game_longer_than_a_message_may_be_is_refused_counted_told_and_stored(tmp_path, monkeypatch):
    monkeypatch.setattr(codec, "PART_BYTES", 100_000)
    settings = changed(config(1, 12, message=1), "pool.kind", "inline")
    run = SelfplayRun(settings, tmp_path, lambda line: None)
    run_loop(asyncio.wait_for(run.run(), 280))
    assert (run.engine.ledger.books.done, run.engine.ledger.books.set_aside) == (0, 1)
    with reading(tmp_path) as store:
        told = [text for (text,) in store.execute("SELECT text FROM events WHERE kind = 'death'")]
    assert len(told) == 3
    assert all("bytes is coming, at most 1,048,576 are allowed: see pool.message_mb" in text for text in told)


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.timeout(600)
def test_games_of_300_mb_arrive_whole_and_nothing_holds_more_than_its_bytes(tmp_path):
    """3,000 decisions of 100 KB each; the window has room for less than a game."""
    settings = config(2, 3000, queue=8, window=200, store=64, message=400, cache=16)
    played = play(settings, tmp_path / "run")
    game_bytes = 3000 * (ROW + 200)
    assert sorted(played.units) == [0, 1]
    assert played.flaws == []
    assert played.run.engine.stats().joined >= 2
    assert played.queue_bytes <= 8 * MB + 4 * 2 * ROW
    assert 150 * MB < played.window_bytes <= 200 * MB
    assert 3000 * ROW < played.store_bytes <= 64 * MB + game_bytes
    assert 250 * MB < played.unfinished_bytes <= 2 * 400 * MB
    assert played.run.trainer.stats().early_rows > 3000
    check_stored(tmp_path / "run", settings, 2)
