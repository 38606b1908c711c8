"""Endings worked out instead of asked about: known results. The twin tests compare every visit."""

import numpy as np
import pytest
from games.test_blob import dealt, play
from numba import njit
from search.drive import think
from search.twin import Twin, even_network, network

from asyncplay import games
from asyncplay.games.blob import KERNELS
from asyncplay.search import endings, layout
from asyncplay.search.group import Group, make_settings

TICTACTOE, BLOB = games.load("tictactoe"), games.load("blob")
SPADES, HEARTS = 0, 1
CORNER, CENTRE = 0, 4


@njit
def work_out(rules, lines):
    endings.work_out(KERNELS, rules, lines)


def values_of(spec, state, most_left=12):
    """What every seat of a game of Blob gets."""
    memory = layout.allocate(
        spec, layout.Sizes(1, 1, 1, 1, 1, 1), make_settings(spec, worlds=1, exact_decisions=most_left)
    )
    memory.endings.states[0] = state
    work_out(spec.rules, memory.endings)
    return memory.endings.values[0].copy()


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
            n_legal = spec.kernels.legal(spec.rules, state, actions)
            spec.kernels.play(spec.rules, state, int(numbers.choice(actions[:n_legal])))

        np.testing.assert_allclose(values_of(spec, state), twin.best_play(state), rtol=1e-12)


def test_only_the_centre_holds_a_corner_opening():
    """Tic-tac-toe with all positions after the second stone worked out, and a network without an opinion."""
    settings = make_settings(TICTACTOE, simulations=200, noise_weight=0.0, exact_decisions=7)
    group = Group(TICTACTOE, settings, 1)
    slot = np.zeros(1, np.int32)
    group.start(slot, np.zeros(1, np.uint64), outside=1)
    group.advance()
    group.force(slot, np.array([CORNER], np.int32))
    group.advance()
    rows = 0
    while group.visits(0).sum() < 199:
        rows += think(group, opinion=even_network)

    visits = dict(zip(group.legal(0).tolist(), group.visits(0).tolist(), strict=True))
    assert rows == 1  # the root alone
    assert max(visits, key=visits.__getitem__) == CENTRE
    assert visits[CENTRE] > 100


def test_no_ending_is_asked_about_but_roots_are():
    settings = make_settings(BLOB, simulations=20, worlds=2, exact_decisions=9)
    group, left_of_rows = Group(BLOB, settings, 4), {True: set(), False: set()}
    group.start(np.arange(4, dtype=np.int32), np.arange(4, dtype=np.uint64))
    while len(finished := group.advance()) == 0:
        n_rows = think(group)
        for row in group.memory.leaves.rows[:n_rows]:
            is_root = row["node"] % group.sizes.nodes_per_tree == 0
            left_of_rows[is_root].add(BLOB.kernels.left(BLOB.rules, group.memory.forest.states[row["node"]]))

    assert len(finished) > 0
    assert min(left_of_rows[False]) == 10
    assert min(left_of_rows[True]) < 9
