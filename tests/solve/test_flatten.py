"""Games as flat arrays: every infoset has a number, and nothing lost by merging."""

import numpy as np
import pytest
from games import pig
from solve.test_mccfr import compiled

from asyncplay import games
from asyncplay.errors import AsyncplayError
from asyncplay.games.spec import CHANCE_TURN, GAME_OVER
from asyncplay.solve import flatten as compiler
from asyncplay.solve.exact import exploitability
from asyncplay.solve.flat import NO_ENTRY, WORLD, FlatGame
from asyncplay.solve.flatten import flatten
from asyncplay.solve.mccfr import Sampler, SamplerSettings
from asyncplay.solve.regret import average_policy
from asyncplay.solve.synthetic_tree import MAX_NODES, depth_range, grow


def histories(game: FlatGame) -> list[tuple[np.void, int]]:
    """Every node of every world with its cell."""
    flat = game.flat
    places = [(world, node) for world in flat.worlds for node in range(world["node"], world["node"] + world["n"])]
    return [(flat.nodes[node], int(flat.cells[(node + int(world["shift"])) % 2**64])) for world, node in places]


@pytest.mark.parametrize(("name", "infosets"), [("kuhn", 12), ("leduc", 288)])
def test_every_infoset_has_a_number(name, infosets):
    game = compiled(name)

    assert game.n_infosets == infosets == len(set(game.keys.tolist()))
    assert game.flat.offsets[-1] == game.n_entries == len(game.flat.infoset_of)


def test_leduc_poker_has_9_deals_24_with_the_upcard_and_suits_are_merged():
    """30 deals of 6 cards are 9 of ranks, and 120 with the upcard are 24; nothing is lost of the odds."""
    game = compiled("leduc")
    turns = [cell for node, cell in histories(game) if node["mover"] == CHANCE_TURN]
    root = game.flat.outcomes[turns[0] :][: game.flat.outcomes["n"][turns[0]]]

    assert sorted(root["odds"]) == pytest.approx([2 / 30] * 3 + [4 / 30] * 6)
    assert sum(game.flat.outcomes["n"][turn] for turn in turns[1:]) % 24 == 0


@pytest.mark.parametrize("name", ["kuhn", "leduc"])
def test_every_cell_leads_somewhere(name):
    game = compiled(name)
    for node, cell in histories(game):
        if node["mover"] == GAME_OVER:
            assert game.flat.payoffs[cell].sum() == 0.0
        elif node["mover"] >= 0:
            infoset = game.flat.infoset_of[cell]
            assert game.flat.movers[infoset] == node["mover"]
            assert game.flat.offsets[infoset] == cell
            assert game.flat.offsets[infoset + 1] - cell == node["n"]
    for infoset, parent in enumerate(game.flat.parents):
        assert parent == NO_ENTRY or game.flat.movers[game.flat.infoset_of[parent]] == game.flat.movers[infoset]


@pytest.mark.parametrize("odds", [(1.0,), (0.25, 0.75), (0.5, 0.3, 0.15, 0.05), (0.1,) * 10])
def test_a_draw_with_aliases_falls_on_each_outcome_with_its_odds(odds):
    """A draw picks a place uniformly, stays with ``keep`` and otherwise goes to ``other``."""
    outcomes = compiler.alias_table(odds, np.zeros(len(odds), WORLD))
    shares = outcomes["keep"].copy()
    np.add.at(shares, outcomes["other"], 1.0 - outcomes["keep"])

    assert (shares / len(odds)).tolist() == pytest.approx(odds)


def test_a_game_whose_chance_cannot_be_listed_is_refused():
    with pytest.raises(AsyncplayError, match="pig cannot be solved: its chance cannot be listed"):
        flatten(pig.spec())


def test_a_game_that_is_too_large_is_refused(monkeypatch):
    monkeypatch.setattr(compiler, "MAX_HISTORIES", 1_000)
    with pytest.raises(AsyncplayError, match="leduc is too large to be solved: above 1,000 histories"):
        flatten(games.load("leduc"))


def test_a_game_whose_deals_alone_are_too_many_is_refused_before_the_walk(monkeypatch):
    monkeypatch.setattr(compiler, "_Flattener", None)
    with pytest.raises(AsyncplayError, match="holdem is too large to be solved: above 5,000,000 histories"):
        flatten(games.load("holdem"))


def test_a_synthetic_tree_is_a_game_like_others():
    """Its best responses are found and it is solved: infosets, parents and cells fit each other."""
    game = grow(deals=3, depth=4, actions=3, seed=0)
    sampler = Sampler(game, SamplerSettings(), seed=1)
    uniform = exploitability(game, average_policy(game, sampler.table))
    sampler.run(0, 20_000)
    solved = exploitability(game, average_policy(game, sampler.table))

    assert game.n_infosets == 3 * (1 + 2 + 4 + 8)
    assert uniform.values.sum() == pytest.approx(0.0)
    assert solved.nash_conv < 0.05 * uniform.nash_conv


@pytest.mark.parametrize(("deals", "actions"), [(50, 3), (1, 3), (7, 12), (1_000_000, 100), (50_000_000, 2)])
def test_a_forest_is_as_deep_as_its_nodes_allow(deals, actions):
    """By the sum over the levels, which the range of the option does not use."""

    def nodes(depth: int) -> int:
        return sum(deals * (actions - 1) ** level * actions for level in range(depth))

    least, most = depth_range(deals, actions)
    assert least == 1
    assert nodes(most) <= MAX_NODES < nodes(most + 1)
