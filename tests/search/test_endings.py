"""Endings worked out instead of asked about: known results. The twin tests compare every visit."""

import numpy as np
import pytest
from games.test_blob import dealt, play
from search.drive import think
from search.twin import Twin, network

from asyncplay import games
from asyncplay.games.blob import layout
from asyncplay.search.group import Group, make_settings

BLOB = games.load("blob")
SPADES, HEARTS = 0, 1


def values_of(spec, state, most=12):
    """What every seat gets, or None."""
    room, values = np.zeros((most + 2, spec.state_words), np.int64), np.zeros((most + 2, spec.players))
    before = state.copy()
    is_known = spec.kernels.ending(spec.rules, state, most, room, values)
    np.testing.assert_array_equal(state, before)
    return values[0].copy() if is_known else None


def left_of(state, players=4):
    return players * (state[layout.SIZE] + 1) - state[layout.DECISIONS]


def test_two_who_need_a_trick_each_get_one_and_the_third_none():
    """No trump; spades A and 2, spades K and 3, and two hearts that never win; everybody has bid one."""
    hands = [{(SPADES, 14), (SPADES, 2)}, {(SPADES, 13), (SPADES, 3)}, {(HEARTS, 2), (HEARTS, 3)}]
    spec, state = dealt(hands, dealer=2, trump="none")
    play(spec, state, 1, 1, 1)

    assert values_of(spec, state).tolist() == [11, 11, 0]


@pytest.mark.parametrize(("players", "cards"), [(3, 3), (4, 2), (8, 1)])
def test_random_deals_agree_with_the_twin(players, cards):
    spec = games.load("blob", {"players": players, "cards": cards})
    twin = Twin(spec, make_settings(spec), 0, network)
    actions = np.zeros(spec.max_legal, np.int32)
    for seed in range(20):
        numbers = np.random.default_rng(seed)
        state = spec.new_state()
        spec.kernels.chance(spec.rules, state, numbers.integers(1, 1 << 60, 4).astype(np.uint64))
        for _ in range(players):  # everybody bids
            n_legal = spec.kernels.legal(spec.rules, state, actions, spec.new_room())
            spec.kernels.play(spec.rules, state, int(numbers.choice(actions[:n_legal])), spec.new_room())

        np.testing.assert_allclose(values_of(spec, state), twin.best_play(state), rtol=1e-12)


def test_only_endings_within_reach_are_worked_out():
    """Six cards are left; a bid is never worked out."""
    spec, state = dealt([{(SPADES, 2), (SPADES, 3)} for _ in range(3)], dealer=0, trump="none")
    assert values_of(spec, state) is None
    play(spec, state, 0, 0, 0)
    assert values_of(spec, state, most=5) is None
    assert values_of(spec, state, most=6) is not None


def test_a_game_that_knows_none_works_none_out():
    assert make_settings(games.load("connect4"), exact_decisions=4).exact_decisions == 0
    assert make_settings(BLOB, exact_decisions=4).exact_decisions == 4


def test_no_ending_is_asked_about_but_roots_are():
    settings = make_settings(BLOB, simulations=20, worlds=2, exact_decisions=9)
    group, left_of_rows = Group(BLOB, settings, 4), {True: set(), False: set()}
    group.start(np.arange(4, dtype=np.int32), np.arange(4, dtype=np.uint64))
    while len(finished := group.advance()) == 0:
        n_rows = think(group)
        for row in group.memory.leaves.rows[:n_rows]:
            is_root = row["node"] % group.sizes.nodes_per_tree == 0
            left_of_rows[is_root].add(int(left_of(group.memory.forest.states[row["node"]])))

    assert len(finished) > 0
    assert min(left_of_rows[False]) == 10
    assert min(left_of_rows[True]) < 9
