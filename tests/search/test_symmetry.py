"""Examples turned by the kernel of a game whose symmetries depend on the position."""

import numpy as np
import pytest

from asyncplay import games
from asyncplay.data.replay import augment
from asyncplay.games.blob import layout
from asyncplay.games.contract import random_game
from asyncplay.payloads import Examples, offsets_of
from asyncplay.search.symmetry import turn_by_kernel, turn_checker

BLOB = games.load("blob").showing(hidden=False)


def examples(n_games: int) -> Examples:
    """Every decision of random rounds."""
    moments = [moment for seed in range(n_games) for moment in random_game(BLOB, seed).decisions]
    n, legal = len(moments), [moment.legal for moment in moments]
    targets = np.arange(sum(map(len, legal)), dtype=np.float32)
    return Examples(
        features=np.array([moment.features for moment in moments]),
        legal=np.concatenate(legal),
        offsets=offsets_of(np.array([len(actions) for actions in legal])),
        targets=targets,
        values=np.zeros((n, 4), np.float32),
        seats=np.full(n, 4, np.int32),
        weight=np.ones(n, np.float32),
        versions=np.arange(n, dtype=np.int32),
        states=np.array([moment.state for moment in moments]),
    )


def turn(state: np.ndarray, action: int, y: int) -> int:
    return BLOB.kernels.turn(BLOB.rules, state, action, y, BLOB.new_room())


def test_turned_examples_are_those_of_the_kernel_called_action_by_action():
    rows, features = examples(20), BLOB.symmetries().features[:, : BLOB.row_features]
    turned = augment(rows, features, turn_by_kernel(BLOB), np.random.default_rng(3))
    drawn = np.random.default_rng(3).integers(0, 24, rows.rows)

    assert len(set(drawn)) == 24
    for place, y in enumerate(drawn):
        before, after = rows.part(place, place + 1), turned.part(place, place + 1)
        assert after.legal.tolist() == [turn(rows.states[place], int(action), int(y)) for action in before.legal]
        np.testing.assert_array_equal(after.features[0], before.features[0, features[y]])
        np.testing.assert_array_equal(after.targets, before.targets)


def test_bids_stay_and_cards_turn():
    """All 24 symmetries: the spade 2 becomes the 2 of the suit that spades become; a bid of 0 stays one."""
    state = random_game(BLOB, 0).decisions[0].state
    bids = {turn(state, 0, y) for y in range(24)}
    state[layout.PHASE] = layout.PLAYING
    cards = [turn(state, 0, y) for y in range(24)]
    assert bids == {0}
    assert [cards.count(card) for card in (0, 13, 26, 39)] == [6, 6, 6, 6]


def test_rows_of_honest_games_can_be_turned():
    rows = examples(5)
    assert turn_checker(BLOB)(rows.states, rows.offsets, rows.legal) is None


@pytest.mark.parametrize("action", [-1, 52, 2**31 - 1, -(2**31)])
def test_an_action_that_there_is_not_is_never_turned(action):
    rows = examples(1)
    legal = rows.legal.copy()
    legal[rows.offsets[7]] = action
    assert "row 7 " in turn_checker(BLOB)(rows.states, rows.offsets, legal)


def test_a_row_whose_turned_actions_would_collide_is_refused():
    rows = examples(1)
    legal = rows.legal.copy()
    start = rows.offsets[3]
    legal[start + 1] = legal[start]
    assert "row 3 " in turn_checker(BLOB)(rows.states, rows.offsets, legal)


def test_states_of_any_words_are_survived():
    rows, random = examples(3), np.random.default_rng(0)
    wild = random.integers(-(2**63), 2**63, rows.states.shape)
    assert turn_checker(BLOB)(wild, rows.offsets, rows.legal) is None  # not in play: nothing is turned
    wild[:, layout.PHASE] = layout.PLAYING
    assert turn_checker(BLOB)(wild, rows.offsets, rows.legal) is None
