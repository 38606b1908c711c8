"""Gumbel root selection: against its twin, against the counts of sequential halving, against its theorem."""

import numpy as np
import pytest
from games import pig
from search.drive import play_all, policies, roomy_group
from search.gumbel_twin import GumbelTwin

from asyncplay import games
from asyncplay.search.group import make_settings

TICTACTOE, BLOB = games.load("tictactoe"), games.load("blob", {"players": 4, "cards": 3})
SPECS = {"tictactoe": TICTACTOE, "pig": pig.spec(), "blob": BLOB}
VARIANTS = {
    "plain": {"noise_weight": 0.0, "keeps_tree": 0},
    "noise": {"keeps_tree": 0, "gumbel_actions": 5},
    "reuse": {"gumbel_scale": 0.1},
    "several leaves": {"leaves": 4, "virtual_loss": 0.7},
    "cooling": {"temperatures": [1.0, 0.5, 0.0], "gumbel_visits": 10.0},
    "one simulation more than a root": {"simulations": 2},
    "fewer simulations than actions": {"simulations": 5},
    "three worlds": {"worlds": 3, "simulations": 12},
    "two worlds of several leaves": {"worlds": 2, "leaves": 3, "simulations": 13, "gumbel_actions": 4},
}


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("name", SPECS)
def test_the_twin_plays_the_same_games(name, variant):
    spec = SPECS[name]
    settings = make_settings(spec, **{"simulations": 24, "is_gumbel": 1} | VARIANTS[variant])
    records, n_rows = play_all(roomy_group(spec, settings, 3), [1, 2, 3, 4])
    n_twin_rows = 0
    for record in records:
        twin = GumbelTwin(spec, settings, record.seed)
        returns = twin.play()
        n_twin_rows += twin.rows
        assert record.actions.tolist() == twin.actions
        assert policies(record) == twin.visits
        np.testing.assert_allclose(record.values, twin.values, rtol=1e-6, atol=1e-12)
        np.testing.assert_array_equal(record.returns, returns)
    assert n_rows == n_twin_rows
