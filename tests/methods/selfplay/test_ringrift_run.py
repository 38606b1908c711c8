"""RingRift through whole runs: real processes, store, resume, verify, drawing."""

import json

import pytest
from archive.trained import CONFIGS, answer, flags

FEW = {"search.games": "16", "net.width": "8", "arena.every-s": "0", "pool.workers": "2", "store.durability": "process"}


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize(
    "options", [("board=square8", "players=4"), ("board=hex8", "players=3", "stack_strike=true"), ("swap=true",)]
)
def test_games_are_played_stored_resumed_verified_and_drawn(options, tmp_path):
    run = tmp_path / "run"
    chosen = [word for option in (*options, "rings=4") for word in ("--option", option)]
    status, said = answer(
        "train", CONFIGS / "ringrift-quick.toml", *chosen, *flags(FEW), "--run", run, "--headless", "--games", 30
    )
    assert status == 0, said
    assert answer("train", "--resume", run, "--headless", "--games", 40)[0] == 0
    status, said = answer("data", run, "verify", "--json")
    assert (status, json.loads(said)["sound"], json.loads(said)["flaws"]) == (0, 40, [])
    found = json.loads(answer("data", run, "stats", "--json")[1])
    assert sum(found["reasons"].values()) == 40
    assert found["limit_share"] == 0.0
    status, drawn = answer("data", run, "show", "--game", 1)
    assert status == 0
    assert " won after " in drawn
