"""Walks over a betting tree: the same game as the flattened one, unbiased, and pruned only where it may be."""

import numpy as np
import pytest
from numba import float64, int64
from solve.nine_cards import cards_of, nine_blueprint, nine_cards
from solve.test_unbiased import HUGE, LIMIT, FullWalk, policy_of

from asyncplay import games
from asyncplay.config.menus import parse_buckets
from asyncplay.config.tables import AbstractionSettings
from asyncplay.games.holdem import layout
from asyncplay.games.holdem.canonical import index_boards
from asyncplay.games.holdem.layout import FLOP, RIVER
from asyncplay.games.holdem.strength import rank_hands
from asyncplay.games.kernels import kernel, ready
from asyncplay.games.spec import GAME_OVER
from asyncplay.solve.abstraction.betting_tree import compile_tree
from asyncplay.solve.abstraction.blueprint import Blueprint, make_blueprint
from asyncplay.solve.abstraction.card_buckets import card_buckets
from asyncplay.solve.abstraction.menus import menu_table
from asyncplay.solve.abstraction.sizing import MENU_KEYS
from asyncplay.solve.abstraction.walk import TREE_GROUND, BlueprintSampler, gain_of
from asyncplay.solve.bounds import bounds_of
from asyncplay.solve.exact import exploitability
from asyncplay.solve.mccfr import Sampler, SamplerSettings
from asyncplay.solve.regret import REGRET, SUM, average_policy, largest_regrets, new_table

SELDOM = 5e-5  # what happens more rarely may not have happened at all, so that no error can be told
PLAIN = SamplerSettings(is_linear=0)


@kernel(float64(TREE_GROUND, int64, int64))
def gain_at(ground, node, player):
    return gain_of(ground, ground.game.nodes[node], player)


def without_cards(menu: str, **options: object) -> Blueprint:
    """Of a deck of 24 cards that all look alike."""
    spec = games.load("holdem", {"deck": 24, **options})
    deck = int(spec.rules[layout.CARDS_IN_PLAY])
    hands = [169, *(index_boards(deck, street).n_hands for street in range(FLOP, RIVER + 1))]
    menus = menu_table(AbstractionSettings(**dict.fromkeys(MENU_KEYS, menu)))
    cards = card_buckets(deck, [np.zeros(n, np.uint8) for n in hands])
    return make_blueprint(compile_tree(spec, menus, [1, 1, 1, 1]), cards, "none")


def test_the_flattened_game_has_the_same_infosets():
    """9 classes before the flop and 225 hands on it, each with the decisions of the tree."""
    game = nine_cards()
    decided = game.entries[game.entries >= 0]
    sizes = game.blueprint.tree.sizes
    assert sizes.buckets == (9, 225, 1, 1)
    assert len(set(decided.tolist())) == len(decided) == sum(sizes.entries[: FLOP + 1])


def flat_policy(table: np.ndarray) -> np.ndarray:
    """A blueprint's average policy in the flattened game."""
    game = nine_cards()
    policy = average_policy(game.blueprint, table)
    return np.where(game.entries >= 0, policy[game.entries], 1.0)


def test_a_walk_over_the_tree_changes_the_table_without_bias():
    """As a full walk through the flattened game does, within five standard errors for every entry."""
    game, batches, n = nine_cards(), 50, 4_000
    start = new_table(game.blueprint)
    start[:, REGRET] = HUGE * np.random.default_rng(0).uniform(-0.2, 1.0, len(start))
    table, means = start.copy(), np.zeros((batches, *start.shape))
    sampler = BlueprintSampler(game.blueprint, PLAIN, 11, table)
    for batch in range(batches):
        sampler.run(batch * n, n)
        means[batch] = (table - start) / n
        table[:] = start
    error = means.std(axis=0) / (batches - 1) ** 0.5
    is_decided = game.entries >= 0
    known = game.entries[is_decided]
    flat_start = new_table(game.flat)
    flat_start[is_decided] = start[known]
    wanted = FullWalk(game.flat.flat, policy_of(game.flat, flat_start)).changes[is_decided]

    assert (np.abs(wanted) > 20 * SELDOM).mean() > 0.3
    assert (np.abs(means.mean(axis=0)[known] - wanted) <= LIMIT * error[known] + SELDOM).all()


def test_both_ways_of_solving_come_as_close_to_equilibrium():
    """Nine cards: 10,000 iterations, then 200,000 each; NashConv in chips, of a pot of 3 at the start."""
    game = nine_cards()
    tree, flat = BlueprintSampler(game.blueprint, SamplerSettings(), 1), Sampler(game.flat, SamplerSettings(), 1)
    found = []
    for first, n in ((0, 10_000), (10_000, 190_000)):
        tree.run(first, n)
        flat.run(first, n)
        by_tree = exploitability(game.flat, flat_policy(tree.table))
        by_flat = exploitability(game.flat, average_policy(game.flat, flat.table))
        found.append((by_tree, by_flat))
    for by_tree, by_flat in found:
        assert by_flat.nash_conv / 1.5 < by_tree.nash_conv < 1.5 * by_flat.nash_conv
        assert by_tree.values[0] == pytest.approx(by_flat.values[0], abs=by_tree.nash_conv + by_flat.nash_conv)
    assert found[1][0].nash_conv < found[0][0].nash_conv / 2
    assert found[1][0].nash_conv < 0.04


def test_what_one_seat_earns_the_other_pays():
    """Estimates of both seats come from walks of their own; nothing is learned, so that all iterations are alike."""
    game, n = nine_blueprint(), 40_000
    table = new_table(game)
    table[:, REGRET] = 1e12
    utility = BlueprintSampler(game, PLAIN, 5, table).run(0, n).utility / n
    assert abs(utility[0]) > 0.05
    assert utility.sum() == pytest.approx(0.0, abs=0.04)


def test_buckets_of_one_byte_and_of_two_are_read_alike():
    wide, narrow = (BlueprintSampler(nine_blueprint(dtype), PLAIN, 3) for dtype in (np.uint16, np.uint8))
    assert wide.run(0, 300).nodes == narrow.run(0, 300).nodes
    np.testing.assert_array_equal(wide.table, narrow.table)


def test_a_range_does_the_same_in_one_call_or_in_several_and_is_withdrawn():
    game = nine_blueprint()
    whole, parts = (BlueprintSampler(game, SamplerSettings(), 3) for _ in range(2))
    done = whole.run(0, 500)
    assert done.nodes == sum(parts.run(first, n).nodes for first, n in ((0, 1), (1, 99), (100, 400)))
    np.testing.assert_array_equal(whole.table, parts.table)

    before = whole.table.copy()
    infosets, regrets, sums = whole.withdraw()
    entries = [entry for k in infosets for entry in range(game.offsets[k], game.offsets[k + 1])]
    np.testing.assert_array_equal(before[entries], np.stack([regrets, sums], axis=1))
    assert len(set(entries)) == len(entries)
    assert not whole.table.any()


def test_no_walk_goes_beyond_the_bounds():
    game = nine_blueprint()
    bounds, sampler = bounds_of(game, SamplerSettings()), BlueprintSampler(game, SamplerSettings(), 4)
    for first, n in ((0, 1), (1, 9), (10, 200)):
        walked, weight = sampler.run(first, n), bounds.weight(first, n)
        changes = sampler.withdraw()
        assert 0.05 < np.abs(changes.regrets).max() / (weight * bounds.regret) <= 1.0
        assert 0.05 < changes.sums.max() / (weight * bounds.total) <= 1.0
        assert abs(walked.utility[0]) <= n * bounds.value
        assert n * bounds.least_nodes <= walked.nodes <= n * bounds.most_nodes


def test_only_actions_that_lead_on_before_the_river_are_skipped():
    """All have a regret far below the floor but the calls, which every walk takes."""
    game = without_cards("1", stack=20)
    nodes, table = game.tree.nodes, new_table(game)
    calls, ends, rivers = (np.zeros(len(table), bool) for _ in range(3))
    for node in nodes[nodes["mover"] >= 0]:
        for a in range(node["n"]):
            child = nodes[node["first"] + a]
            calls[node["base"] + a] = game.tree.actions[node["first"] + a] == layout.CALL
            ends[node["base"] + a] = child["mover"] == GAME_OVER
            rivers[node["base"] + a] = node["street"] == RIVER
    table[:, REGRET] = np.where(calls, 5.0, -1000.0)
    start = table[:, REGRET].copy()
    settings = SamplerSettings(prune_below=50.0, is_linear=0, prune_share=1.0)
    BlueprintSampler(game, settings, 4, table).run(0, 50)
    changed = table[:, REGRET] != start

    assert not changed[~calls & ~ends & ~rivers].any()
    assert changed[~calls & ends & ~rivers].any()
    assert changed[~calls & rivers].any()
    assert (~calls & ~ends & ~rivers).any()


@pytest.mark.parametrize("options", [{}, {"players": 3, "stacks": "20/9/14"}, {"players": 4, "stacks": "5/11/7/9"}])
def test_an_end_pays_what_the_real_game_pays(options):
    game, spec = without_cards("1 | | -", **{"stack": 20, **options}), games.load("holdem", {"stack": 20, **options})
    sampler, random = BlueprintSampler(game, PLAIN, 0), np.random.default_rng(0)
    dealt, ends = sampler._ground.scratch.dealt, np.flatnonzero(game.tree.nodes["mover"] == GAME_OVER)
    deck = cards_of(int(games.load("holdem", {"deck": 24}).rules[layout.CARDS_IN_PLAY]))
    gains = np.empty(spec.players)
    for node in random.choice(ends, 300).tolist():
        state, at = spec.new_state(), game.tree.nodes[node]
        cards = [int(card) for card in random.permutation(deck)]
        state[layout.BOARD + FLOP] = sum(1 << card for card in cards[:5])
        for seat in range(spec.players):
            state[layout.HANDS + seat] = sum(1 << card for card in cards[5 + 2 * seat : 7 + 2 * seat])
        state[layout.PAID : layout.PAID + spec.players] = game.tree.paid[at["first"]]
        state[layout.FOLDED], state[layout.MOVER] = at["base"], GAME_OVER
        spec.kernels.returns(spec.rules, state, gains)
        dealt.worth[:] = strengths(state, spec.players)
        assert [gain_at(sampler._ground, node, seat) for seat in range(spec.players)] == gains.tolist()


def strengths(state: np.ndarray, players: int) -> np.ndarray:
    hands = state[layout.HANDS : layout.HANDS + players] | state[layout.BOARD + FLOP]
    found = np.empty(players, np.int64)
    ready(rank_hands)(hands, found)
    return found


def test_the_largest_regrets_are_added_up_where_they_are_positive():
    offsets = np.array([0, 2, 5], np.int32)
    table = np.zeros((5, 2))
    table[:, REGRET], table[:, SUM] = [1.0, 3.0, -1.0, -2.0, -0.5], 7.0
    assert largest_regrets(offsets, table) == 3.0


def test_infosets_of_a_tree_are_numbered_in_the_order_of_their_entries():
    options = {"deck": 24, "stack": 24}
    spec, counts = games.load("holdem", options), parse_buckets("3/4/5/2")
    tree = compile_tree(spec, menu_table(AbstractionSettings()), counts)
    game = make_blueprint(tree, without_cards("1").cards, "any")
    assert game.offsets[-1] == game.n_entries == tree.sizes.n_entries
    for at in np.flatnonzero(tree.nodes["mover"] >= 0)[::37]:
        node = tree.nodes[at]
        for bucket in range(counts[node["street"]]):
            infoset = game.infosets[at] + bucket
            assert game.offsets[infoset] == node["base"] + bucket * node["n"]
            assert game.offsets[infoset + 1] - game.offsets[infoset] == node["n"]
