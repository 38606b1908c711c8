"""A game with 60,000 actions through whole runs, and the networks and searches that it needs."""

import asyncio
from pathlib import Path

import numpy as np
import psutil
import pytest
from games import meadow
from games.foreign import ForeignEntry, register
from methods.selfplay.test_neural import SMOKE
from search.drive import check_twin, play_all
from search.twin import Twin

from asyncplay import games
from asyncplay.archive.export import export
from asyncplay.archive.replaying import Referee
from asyncplay.config.loading import load
from asyncplay.config.sections import Config, changed
from asyncplay.data import checkpoint
from asyncplay.data.reader import GameFilter, read_games, reading
from asyncplay.engine.loop import run_loop
from asyncplay.games.sampling import random_rows
from asyncplay.methods.selfplay.run import SelfplayRun
from asyncplay.methods.sizes import net_shape
from asyncplay.model.backends.onnx_backend import OnnxBackend
from asyncplay.model.backends.torch_backend import TorchBackend
from asyncplay.model.learner import Learner, LearnerSettings
from asyncplay.model.schedule import LearningRate
from asyncplay.payloads import Examples
from asyncplay.pools.local import LocalPool
from asyncplay.search.group import Group, make_settings
from asyncplay.search.symmetry import turn_by_kernel

GAME = meadow.spec()
FAST = LearnerSettings(LearningRate(peak=1e-2, warmup_steps=1), average_steps=1)


@pytest.fixture(autouse=True)
def known(monkeypatch):
    monkeypatch.setattr(games, "NAMES", games.NAMES)
    register("meadow")


def config(*, units: int, n_games: int, workers: int) -> Config:
    sections = {
        "game": {"name": "meadow"},
        "pool": {"kind": "local", "workers": str(workers)},
        "train": {"units": str(units), "seed": "3"},
        "search": {"games": str(n_games), "simulations": "8", "cache_positions": "1000"},
        "net": {"kind": "resnet", "width": "8", "blocks": "1"},
        "learn": {"minimum_rows": "16", "batch_rows": "16", "samples_per_insert": "1", "publish_steps": "2"},
        "device": {"backend": "torch", "threads": "1"},
        "arena": {"every_s": "0"},
        "store": {"durability": "process"},
    }
    return load(SMOKE, sections)


def play(settings: Config, folder: Path) -> tuple[SelfplayRun, int]:
    """A run through real processes, resumed if the folder is there; return it and the most bytes of a worker."""
    is_resumed = folder.exists()
    found = checkpoint.newest(folder / "checkpoints")[0] if is_resumed else None
    folder.mkdir(exist_ok=True)

    async def main() -> tuple[SelfplayRun, int]:
        run = SelfplayRun(settings, folder, lambda line: None, found and found.snapshot, is_resumed=is_resumed)
        run.engine.supervisor.pool = LocalPool(ForeignEntry("meadow"))
        take, most_bytes = run.engine.work.finished, 0

        def finished(game):
            nonlocal most_bytes
            workers = psutil.Process().children()
            most_bytes = max([most_bytes, *(worker.memory_info().rss for worker in workers)])
            take(game)

        run.engine.work.finished = finished
        await asyncio.wait_for(run.run(), 280)
        return run, most_bytes

    return run_loop(main())


@pytest.mark.process
def test_60_000_actions_are_played_stored_resumed_verified_and_exported(tmp_path):
    settings = config(units=6, n_games=4, workers=2)
    first, _ = play(settings, tmp_path / "run")
    again, _ = play(changed(settings, "train.units", 10), tmp_path / "run")

    assert first.engine.ledger.books.done == 6
    assert again.engine.ledger.books.done == 10
    assert first.trainer.stats().steps > 0
    assert again.trainer.stats().steps > first.trainer.stats().steps
    assert first.figures().parts[1].shortened == first.figures().parts[1].unrecorded == 0
    referee = Referee(GAME)
    with reading(tmp_path / "run") as store:
        stored = list(read_games(store))
    assert [referee.flaw(game) for game in stored] == [None] * 10
    assert export(tmp_path / "run", tmp_path / "all.npz", GameFilter(), lambda *_: None, "npz") == 10
    assert np.load(tmp_path / "all.npz")["actions"].max() > 50_000


@pytest.mark.slow
@pytest.mark.process
def test_64_games_of_60_000_actions_take_a_worker_less_than_1500_mb(tmp_path):
    run, most_bytes = play(config(units=80, n_games=64, workers=1), tmp_path / "run")
    assert run.engine.ledger.books.done == 80
    assert 0 < most_bytes < 1_500_000_000


def examples(n_rows: int) -> Examples:
    """The first actions of random positions are the ones to learn, and the first seat wins."""
    positions = random_rows(GAME, n_rows)
    targets = np.zeros(len(positions.legal), np.float32)
    targets[positions.offsets[:-1]] = 1
    return Examples(
        *positions,
        targets=targets,
        values=np.tile(np.float32([1, -1]), (n_rows, 1)),
        seats=np.full(n_rows, 2, np.int32),
        weight=np.ones(n_rows, np.float32),
        versions=np.zeros(n_rows, np.int32),
        states=np.zeros((n_rows, GAME.state_words), np.int64),
    )


def test_a_plane_head_learns_and_its_graph_answers_as_torch_does():
    shape = net_shape(config(units=1, n_games=2, workers=1), GAME)
    learner, batch = Learner(shape, FAST, 0), examples(32)
    losses = [learner.train(batch) for _ in range(60)]
    positions, weights = random_rows(GAME, 20, seed=1), learner.weights()
    graph = OnnxBackend(shape, weights, 1, threads=1).launch(positions)()
    torch = TorchBackend(shape, weights, 1).launch(positions)()

    assert (shape.action_planes, shape.global_features, shape.actions) == (meadow.KINDS, 4, meadow.ACTIONS)
    assert losses[-1].policy_loss < 0.8 * losses[0].policy_loss
    assert losses[-1].value_loss < 0.5 * losses[0].value_loss
    np.testing.assert_allclose(graph.priors, torch.priors, rtol=0, atol=1e-4)
    np.testing.assert_allclose(graph.values, torch.values, rtol=0, atol=1e-4)


def test_a_tree_has_room_for_a_root_with_all_actions_and_little_more():
    """A tree of 32 simulations: 35,000 edges of 24 bytes; with 144 nodes of all legal actions it would be 70 MB."""
    group = Group(GAME, make_settings(GAME, simulations=32), 1)
    assert group.memory.forest.edges.nbytes < 1_000_000
    (record,), _ = play_all(group, [5])
    assert record.shortened == record.unrecorded == 0


@pytest.mark.slow
def test_the_twin_plays_the_same_game_with_the_best_priors_below_the_root():
    settings = make_settings(GAME, simulations=6, noise_weight=0.25, max_priors=20)
    check_twin(Twin, GAME, settings, 1, [1])


def test_examples_turned_by_the_batch_are_turned_action_by_action():
    """Meadows keep no number when the board is turned: their actions depend on the position."""
    state = GAME.new_state()
    state[:5], state[5:10] = [0, 1, 0, 1, 0], 1
    legal = np.array([7, meadow.PASS, meadow.TAKE, meadow.TAKE + 1, meadow.TAKE + 2], np.int32)
    rows = examples(1)._replace(legal=legal, offsets=np.array([0, 5], np.int32), states=state[None])
    mirrored = {tuple(turn_by_kernel(GAME)(rows, np.array([y])).tolist()) for y in range(8)}
    one_by_one = {
        tuple(GAME.kernels.turn(GAME.rules, state, int(action), y, GAME.new_room()) for action in legal)
        for y in range(8)
    }
    assert mirrored == one_by_one
    assert {turned[1] for turned in mirrored} == {meadow.PASS}
    assert {turned[2:] for turned in mirrored} == {
        (meadow.TAKE, meadow.TAKE + 1, meadow.TAKE + 2),
        (meadow.TAKE + 2, meadow.TAKE + 1, meadow.TAKE),
    }
