"""The compiled search against the plain-Python twin: the same visits, decision by decision."""

import pytest
from games import pig
from search.drive import check_twin, play_all, policies, roomy_group
from search.twin import Twin, even_network

from asyncplay import games
from asyncplay.search.group import make_settings

SPECS = {
    "tictactoe": games.load("tictactoe"),
    "connect4": games.load("connect4"),
    "pig": pig.spec(),
    "blob": games.load("blob", {"players": 4, "cards": 3}),
    "whole game of blob": games.load("blob", {"players": 3, "cards": 2, "whole": True}),
}
VARIANTS = {
    "plain": {"noise_weight": 0.0, "keeps_tree": 0},
    "noise": {"noise_weight": 0.25, "keeps_tree": 0},
    "reuse": {"noise_weight": 0.0, "keeps_tree": 1},
    "several leaves": {"noise_weight": 0.25, "leaves": 4, "virtual_loss": 0.7},
    "cooling": {"noise_weight": 0.25, "temperatures": [1.0, 0.5, 0.0], "c_puct": 2.5},
    "one simulation more than a root": {"simulations": 2},
    "few priors": {"noise_weight": 0.25, "max_priors": 3, "keeps_tree": 1, "leaves": 3},
    "three worlds": {"noise_weight": 0.25, "worlds": 3, "simulations": 12},
    "two worlds of several leaves": {"worlds": 2, "leaves": 3, "simulations": 12},
    "playout cap": {"noise_weight": 0.25, "worlds": 2, "quick_simulations": 6, "full_share": 0.4, "simulations": 12},
}
ENDINGS = {"blob": 8, "whole game of blob": 5}  # where they begin
SEEDS = [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("name", SPECS)
def test_the_twin_plays_the_same_games(name, variant):
    spec = SPECS[name]
    settings = make_settings(spec, **{"simulations": 24} | VARIANTS[variant])
    check_twin(Twin, spec, settings, 4, SEEDS)


@pytest.mark.parametrize("variant", ["noise", "reuse", "several leaves", "three worlds"])
@pytest.mark.parametrize("name", ENDINGS)
def test_the_twin_works_out_the_same_endings(name, variant):
    spec = SPECS[name]
    chosen = {"simulations": 24, "exact_decisions": ENDINGS[name]} | VARIANTS[variant]
    check_twin(Twin, spec, make_settings(spec, **chosen), 4, SEEDS)


@pytest.mark.parametrize("name", SPECS)
def test_equal_scores_go_to_the_first_action(name):
    """Without an opinion most choices are ties; one settled differently changes all that follows."""
    spec = SPECS[name]
    settings = make_settings(spec, simulations=24, noise_weight=0.0, leaves=2)
    records, _ = play_all(roomy_group(spec, settings, 4), SEEDS, even_network)
    for record in records:
        twin = Twin(spec, settings, record.seed, even_network)
        twin.play()
        assert record.actions.tolist() == twin.actions
        assert policies(record) == twin.visits
