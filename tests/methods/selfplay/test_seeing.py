"""Values that see: through matches, the refill of a window and a whole run."""

import json
from collections.abc import Callable
from dataclasses import asdict

import numpy as np
from methods.selfplay.test_play import SEED
from rig import inline_pool
from rundir.test_resume import LEG, same_memory, same_window, stored, tiny, train

from asyncplay import games
from asyncplay.config.live import LiveSettings
from asyncplay.config.sections import SearchSettings
from asyncplay.engine.engine import Engine
from asyncplay.engine.evaluator import Endpoint
from asyncplay.engine.work import Assignment
from asyncplay.methods.selfplay.arena import HERO_MODEL, RIVAL_MODEL, Match
from asyncplay.methods.selfplay.messages import MatchSpec
from asyncplay.payloads import Estimates, Positions
from asyncplay.wire.codec import encode

BLOB = games.load("blob", {"players": 3, "cards": 2})


class Listener:
    """A network that knows nothing, and remembers how wide its rows were."""

    def __init__(self) -> None:
        self.widths: set[int] = set()
        self.hidden: set[bytes] = set()

    def launch(self, positions: Positions) -> Callable[[], Estimates]:
        self.widths.add(positions.features.shape[1])
        self.hidden |= {row.tobytes() for row in positions.features[:, BLOB.features :]}
        counts = np.diff(positions.offsets)
        priors = np.repeat(1 / counts, counts).astype(np.float32)
        return lambda: Estimates(priors, np.zeros((len(counts), 3), np.float32), 1)


async def test_a_seeing_and_a_blind_model_meet_each_with_rows_of_its_own_kind():
    search = json.dumps(asdict(SearchSettings(simulations=8, worlds=2)))
    options = json.dumps({"players": 3, "cards": 2})
    spec = MatchSpec("blob", options, 6, search, "model:1", "model:2", 0, "", shows_hidden=True)
    match = Match(Assignment("match", encode(spec), SEED, chunk=6, low_water=6), 12, 3)
    settings = LiveSettings(timeout_ms=None, max_rows=256)
    engine = Engine(inline_pool(), match.work, workers=2, settings=settings, is_lockstep=True)
    hero, rival = Listener(), Listener()
    for model, listener, hidden in ((HERO_MODEL, hero, True), (RIVAL_MODEL, rival, False)):
        width = BLOB.showing(hidden=hidden).row_features
        engine.serve(model, Endpoint(width, BLOB.actions, listener.launch, dtype=np.float32))
    await engine.run()

    assert match.score().games == 12
    assert (hero.widths, rival.widths) == ({256 + 2 * 52}, {256})
    assert len(hero.hidden) > 20
    assert rival.hidden == {b""}


def test_a_seeing_run_stopped_and_resumed_equals_the_uninterrupted_one_bit_for_bit(tmp_path):
    """Its window comes back from the store with the hands that were really hidden, and with the states that turn it."""
    config = tiny(
        game={"name": "blob"},
        net={"kind": "mlp", "width": "16", "blocks": "1", "hidden_features": "true", "value_width": "24"},
        search={"games": "4", "simulations": "4", "worlds": "2", "exact_decisions": "8"},
        train={"units": str(2 * LEG), "seed": "3"},
    )
    straight = train(config, tmp_path / "straight")
    train(config, tmp_path / "stopped", drain_after=5)
    resumed = train(config, tmp_path / "stopped")

    assert straight.learner.steps > 5
    assert stored(tmp_path / "stopped") == stored(tmp_path / "straight")
    same_memory(straight, resumed)
    same_window(straight, resumed)
    assert straight.replay.sample(1, np.random.default_rng(0)).features.shape == (1, 256 + 3 * 52)
    assert len(straight.trainer.stats().seat_r2) == 4
