"""When arenas are held."""

import asyncio
from pathlib import Path

import pytest

from asyncplay import games
from asyncplay.config.loading import SHIPPED, load
from asyncplay.methods.selfplay import arena as module
from asyncplay.methods.selfplay.arena import Arena, ArenaRecord
from asyncplay.methods.selfplay.score import Score

NEURAL = [path for path in sorted(SHIPPED.glob("*.toml")) if load(path).solve.method == "off"]


def make_arena(config, results, newest) -> Arena:
    async def serve(model, version, weights) -> None:
        await asyncio.Event().wait()

    state = ArenaRecord(0, {}, results)
    game = games.load(config.game.name, config.game.options)
    return Arena(config, game, None, state, newest=newest, serve=serve, on_result=lambda *result: None)


async def test_a_new_run_has_its_first_arena_early_and_a_resumed_one_goes_on_as_before(monkeypatch):
    monkeypatch.setattr(module, "FIRST_S", 0.01)
    config, held = load(SHIPPED / "blob.toml"), asyncio.Event()

    def newest():
        held.set()
        return 0, {}

    assert config.arena.every_s > 60
    async with asyncio.timeout(60):
        fresh = asyncio.create_task(make_arena(config, {}, newest).run())
        await held.wait()
    held.clear()
    known = {"random": Score(0.5, 0.4, 0.6, 2, 1, 0, 1)}
    resumed = asyncio.create_task(make_arena(config, known, newest).run())
    await asyncio.sleep(0.05)
    assert not held.is_set()
    for task in (fresh, resumed):
        task.cancel()


@pytest.mark.parametrize("path", NEURAL, ids=lambda path: path.stem)
def test_shipped_configurations_hold_arenas_and_save_by_time(path: Path):
    """Then both are there within the first minute: see FIRST_S of the arena and of the saver."""
    config = load(path)
    assert config.game.name == "synthetic" or (config.arena.every_s > 0 and config.checkpoint.every_s > 0)
