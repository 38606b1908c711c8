"""Search over worlds: what is hidden stays hidden, and what it costs."""

import numpy as np
import pytest
from search.drive import order, play_all, policies, think
from search.twin import Network, network

from asyncplay import games, rng
from asyncplay.search import layout
from asyncplay.search.group import Group, make_settings

BLOB = games.load("blob")
LOAD = {"simulations": 30, "worlds": 3}  # the reference load: 4 players, 5 cards


@pytest.mark.parametrize("exact", [0, 12])
def test_hidden_cards_do_not_change_a_decision(exact):
    """The other hands are exchanged for possible ones in the middle of a game: visits and actions stay the same.

    Both groups play the same game with the same thoughts; only the second one's hidden cards are others.
    """
    swapped, found = 0, np.empty((1, BLOB.state_words), np.int64)
    for seed in range(12):
        settings = make_settings(BLOB, simulations=12, worlds=3, exact_decisions=exact)
        groups = [Group(BLOB, settings, 1) for _ in range(2)]
        for group in groups:
            order(group, np.zeros(1, np.int32), [seed])
            group.advance()
        for _ in range(seed % 7):
            for group in groups:
                decide(group)
        if groups[0].memory.games.slots["status"][0] != layout.THINKING:
            continue
        state = groups[1].state(0)
        mover = BLOB.kernels.to_move(BLOB.rules, state)
        BLOB.kernels.determinize(BLOB.rules, state, mover, rng.stream(seed, 9), found)
        swapped += (state != found[0]).any()
        state[:] = found[0]
        replant(groups)
        assert decide(groups[0]) == decide(groups[1])
    assert swapped > 8


def decide(group: Group, opinion: Network = network) -> tuple[list[int], int]:
    """Think a decision over and take it; return its visits and its action."""
    n_decisions = int(group.memory.games.slots["decisions"][0])
    while group.memory.games.slots["decisions"][0] == n_decisions:
        think(group, opinion=opinion)
        visits = group.visits(0).tolist()
        group.advance()
    return visits, int(group.memory.records.decisions["action"][0, n_decisions])


def replant(groups: list[Group]) -> None:
    """Draw the worlds of both once more, from the positions as they are now and with the same numbers."""
    for group in groups:
        thought = group.memory.games.streams[0, layout.THOUGHT_STREAM]
        thought[:] = rng.stream(3)
        mover = BLOB.kernels.to_move(BLOB.rules, group.state(0))
        worlds = np.empty((group.sizes.worlds, BLOB.state_words), np.int64)
        BLOB.kernels.determinize(BLOB.rules, group.state(0), mover, thought, worlds)
        forest = group.memory.forest
        forest.states[:: group.sizes.nodes_per_tree] = worlds


def test_every_world_has_all_the_simulations():
    """Visits over three worlds: in each, one simulation opens the root and 29 go through an edge."""
    records, _ = play_all(Group(BLOB, make_settings(BLOB, **LOAD), 2), [1, 2])

    searched = [visits for record in records for visits in policies(record) if visits]
    assert len(searched) > 20
    assert {sum(visits.values()) for visits in searched} == {3 * 29}


def test_a_game_of_the_reference_load_asks_for_at_most_1300_rows():
    """Without a cache; 24 decisions with 90 simulations would be 2,160."""
    records, n_rows = play_all(Group(BLOB, make_settings(BLOB, **LOAD), 8), list(range(24)))

    assert len(records) == 24
    assert 700 < n_rows / 24 <= 1300


def test_endings_that_are_worked_out_save_two_rows_of_five():
    """With the last three tricks: the same seeds as above."""
    records, n_rows = play_all(Group(BLOB, make_settings(BLOB, **LOAD, exact_decisions=12), 8), list(range(24)))

    assert len(records) == 24
    assert 500 < n_rows / 24 <= 700


def test_worlds_of_a_game_without_secrets_are_one():
    assert make_settings(games.load("connect4"), worlds=5).worlds == 1


def test_the_number_of_worlds_cannot_change():
    group = Group(BLOB, make_settings(BLOB, worlds=2), 1)
    with pytest.raises(AssertionError, match="worlds is fixed"):
        group.settings = group.settings._replace(worlds=3)
