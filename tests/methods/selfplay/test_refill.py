"""A window filled again from the store: the same rows with the same numbers, to the bit."""

import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
from rig import inline_pool
from rows import assert_same

from asyncplay import games
from asyncplay.config.live import LiveSettings
from asyncplay.config.sections import ReplaySettings, SearchSettings
from asyncplay.data.entries import GameEntry
from asyncplay.data.replay import Replay
from asyncplay.data.store import StoreError, open_store
from asyncplay.data.window import count_rows
from asyncplay.engine.engine import Engine
from asyncplay.engine.evaluator import Endpoint
from asyncplay.engine.ledger import Ledger
from asyncplay.engine.work import Assignment, UnitWork, Work
from asyncplay.methods.roles import ROLES
from asyncplay.methods.selfplay import refill as rebuild
from asyncplay.methods.selfplay.games import examples_of
from asyncplay.methods.selfplay.messages import Game, SelfplaySpec
from asyncplay.methods.selfplay.refill import Missing, Refill
from asyncplay.methods.selfplay.worker_refill import Rebuilder
from asyncplay.payloads import Estimates, Positions
from asyncplay.pools.inline import InlinePool
from asyncplay.search import entries
from asyncplay.wire.codec import encode
from asyncplay.worker.core import Worker

SEED = 5
WINDOW = ReplaySettings(start_rows=200, exponent=0.5, capacity_rows=10_000)


@pytest.fixture(autouse=True, scope="module")
def kernels() -> None:
    """Compiled before any clock runs."""
    for name in ("tictactoe", "connect4"):
        entries.warm(games.load(name))


def skewed(positions: Positions) -> Callable[[], Estimates]:
    """A network with opinions, so that policies are no round numbers."""
    widths = np.diff(positions.offsets)
    weights = 1.0 + (positions.legal * 7 % 5)
    sums = np.add.reduceat(weights, positions.offsets[:-1])
    priors = (weights / np.repeat(sums, widths)).astype(np.float32)
    return lambda: Estimates(priors, np.full((len(widths), 2), 0.1, np.float32), 3)


def selfplay(game, on_game, n_games: int | None, low_water: int = 16) -> Work:
    search = json.dumps(asdict(SearchSettings(simulations=20, warm_decisions=4)))
    spec = encode(SelfplaySpec(game.name, "{}", 16, search))
    return UnitWork(Assignment("selfplay", spec, SEED, chunk=8, low_water=low_water), Ledger(n_games), finished=on_game)


def make_engine(game, work: Work) -> Engine:
    settings = LiveSettings(timeout_ms=None, max_rows=256)
    engine = Engine(inline_pool(), work, workers=2, settings=settings, is_lockstep=True)
    engine.serve(0, Endpoint(game.features, game.actions, skewed))
    return engine


async def play(game, n_games: int) -> list[Game]:
    taken: list[Game] = []
    async with asyncio.timeout(60):
        await make_engine(game, selfplay(game, taken.append, n_games)).run()
    return taken


def store(folder: Path, played: list[Game]) -> None:
    opened = open_store(folder, {"game": "any"})
    opened.write([GameEntry(game, 0, time.time()) for game in played], [])
    opened.close()


def replay_of(game) -> Replay:
    return Replay(game.features, game.feature_dtype, game.players, window=WINDOW, block_rows=64)


async def refilled(game, folder: Path, missing: Missing, n_rows: int | None = None) -> Replay:
    """Rebuild while one more game is played, which must wait for its turn."""
    kept, n_rows = replay_of(game), n_rows or missing.stop_row - missing.first_row
    kept.begin_at(missing.stop_row - n_rows, n_rows)
    late: list[Game] = []

    def take(played: Game) -> None:
        late.append(played)
        kept.add(examples_of(played, game.players))

    engine, one_game = make_engine(game, selfplay(game, None, None, low_water=0)), selfplay(game, take, 1)
    job = Refill(folder, kept, engine.dispatcher, game.name, "{}", game.players, SEED)

    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        playing = group.create_task(engine.run())
        engine.dispatcher.add(one_game)
        await one_game.settled.wait()
        assert (kept.inserted, kept.is_whole) == (missing.stop_row - n_rows, False)
        await job.run(missing)
        playing.cancel()
    assert len(late) == 1
    return kept


@pytest.mark.parametrize("name", ["tictactoe", "connect4"])
async def test_a_window_rebuilt_from_the_records_is_the_window_that_was(tmp_path, monkeypatch, name):
    monkeypatch.setattr(rebuild, "PART_ROWS", 100)
    game = games.load(name)
    played = await play(game, 60)
    store(tmp_path, played)
    before = replay_of(game)
    for one in played:
        before.add(examples_of(one, game.players))
    missing = Missing(before.inserted - before.rows, before.inserted)
    assert missing.first_row > 0

    after = await refilled(game, tmp_path, missing)

    (newest,) = await play(game, 1)
    before.add(examples_of(newest, game.players))
    assert (after.inserted, after.rows) == (before.inserted, before.rows)
    draws = [kept.sample(500, np.random.default_rng(1)) for kept in (before, after)]
    assert_same(*draws)


@pytest.mark.parametrize(
    "forge",
    [
        lambda game: replace(game, actions=game.actions[::-1].copy()),
        lambda game: replace(game, seats=1 - game.seats),
        lambda game: replace(game, versions=game.versions + 1),
        lambda game: replace(game, targets=game.targets[::-1].copy()),
        lambda game: replace(game, unit=game.unit + 1000),
    ],
)
async def test_a_worker_that_brings_another_game_back_is_replaced(tmp_path, monkeypatch, forge):
    game = games.load("tictactoe")
    played = await play(game, 10)
    store(tmp_path, played)
    forgers: list[Forger] = []

    def worker(number: int) -> Worker:
        is_honest = number == 0 or bool(forgers)
        return Worker(number, 0, ROLES if is_honest else {**ROLES, "rebuild": hire})

    def hire(tickets) -> Forger:
        forgers.append(Forger(tickets, forge))
        return forgers[-1]

    monkeypatch.setattr("test_refill.inline_pool", lambda: InlinePool(worker))
    monkeypatch.setattr(rebuild, "JOB_GAMES", 2)
    after = await refilled(game, tmp_path, Missing(0, sum(len(one.features) for one in played)))

    before = replay_of(game)
    for one in [*played, *await play(game, 1)]:
        before.add(examples_of(one, game.players))
    assert len(forgers) == 1
    assert_same(*[kept.sample(200, np.random.default_rng(1)) for kept in (before, after)])


class Forger(Rebuilder):
    """Makes something else of every game."""

    def __init__(self, tickets, forge: Callable[[Game], Game]) -> None:
        super().__init__(tickets)
        self._forge = forge

    def _rebuild(self, stored) -> Game:
        return self._forge(super()._rebuild(stored))


async def test_rebuilt_rows_are_shown_to_whoever_will_use_them(tmp_path):
    game = games.load("tictactoe")
    played = await play(game, 4)
    store(tmp_path, played)
    kept, seen = replay_of(game), []
    n_rows = sum(len(one.features) for one in played)
    kept.begin_at(0, n_rows)
    engine = make_engine(game, selfplay(game, None, None, low_water=0))
    judge = Refill(
        tmp_path, kept, engine.dispatcher, game.name, "{}", game.players, SEED, check=lambda *shown: seen.append(shown)
    )
    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        playing = group.create_task(engine.run())
        await judge.run(Missing(0, n_rows))
        playing.cancel()
    assert sorted(seed for _, seed in seen) == sorted(one.seed for one in played)


async def test_a_damaged_game_is_named_and_nothing_is_made_of_it(tmp_path):
    game = games.load("tictactoe")
    played = await play(game, 10)
    store(tmp_path, played)
    opened = open_store(tmp_path, {})
    opened.connection.execute("UPDATE games SET seed = seed + 1 WHERE number = 4")
    opened.close()

    with pytest.raises(ExceptionGroup) as caught:
        await refilled(game, tmp_path, Missing(0, sum(len(one.features) for one in played)))
    assert caught.group_contains(StoreError, match="game 4 is not what was stored; `asyncplay data .* verify --repair`")


async def test_what_a_repaired_store_lacks_is_left_out_and_the_rest_comes_back(tmp_path, monkeypatch):
    """Game 4 is gone; the window holds all others, the newest with their old numbers."""
    monkeypatch.setattr(rebuild, "PART_ROWS", 10)
    game = games.load("tictactoe")
    played = await play(game, 10)
    store(tmp_path, played)
    opened = open_store(tmp_path, {})
    opened.connection.execute("DELETE FROM games WHERE number = 4")
    opened.close()
    n_rows = [len(one.features) for one in played]
    total, left = sum(n_rows), sum(n_rows) - n_rows[3]
    assert count_rows(tmp_path, 0, total) == left
    assert count_rows(tmp_path, 2, total) == left - 2
    assert count_rows(tmp_path, sum(n_rows[:3]) + 1, total) == sum(n_rows[4:])

    after = await refilled(game, tmp_path, Missing(0, total), left)

    before = replay_of(game)
    before.begin_at(total - left)
    for one in [*played[:3], *played[4:], *await play(game, 1)]:
        before.add(examples_of(one, game.players))
    assert_same(*[kept.sample(200, np.random.default_rng(1)) for kept in (before, after)])
