"""Remembered answers against a network that is asked everything."""

import numpy as np
import pytest

from asyncplay import games
from asyncplay.search.cache import EvaluationCache
from asyncplay.search.group import Group, make_settings

GAME = games.load("tictactoe")
SEATS = GAME.players


def answers(features, offsets, version):
    """A network of sorts: what it says follows from the row alone, and from its version."""
    weights = np.sin(np.arange(1, features.shape[1] + 1) * (version + 1))
    scores = np.abs(features @ weights) + 0.1
    widths = np.diff(offsets)
    priors = np.concatenate([np.arange(1, width + 1) ** -score for width, score in zip(widths, scores, strict=True)])
    priors /= np.repeat(np.add.reduceat(priors, offsets[:-1]), widths)
    values = np.tanh(np.stack([scores, -scores], 1) - 1)
    return priors.astype(np.float32), values.astype(np.float32)


def rows_of(*boards):
    """Rows with the given first bytes; row i has as many legal actions as its first byte says."""
    features = np.zeros((len(boards), GAME.features), np.uint8)
    features[:, :2] = boards
    counts = features[:, 0].astype(np.int32)
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    legal = np.concatenate([np.arange(count, dtype=np.int32) for count in counts])
    return features, legal, offsets


def answer(recall, rows, version):
    """Ask what must be asked; return how many rows that was, and the whole answer."""
    split = recall.look_up(*rows)
    asked = split.ask
    priors, values = np.empty(0, np.float32), np.empty((0, SEATS), np.float32)
    if len(asked.features):
        priors, values = answers(asked.features, asked.offsets, version)
    return len(asked.features), recall.complete(split, priors, values, version)


def test_a_row_is_asked_once_and_its_equals_in_the_block_never():
    recall = EvaluationCache(GAME, 64)
    rows = rows_of((3, 1), (2, 5), (3, 1), (4, 0))
    n_asked, (priors, values) = answer(recall, rows, 0)
    expected = answers(rows[0], rows[2], 0)
    assert n_asked == 3
    np.testing.assert_array_equal(priors, expected[0])
    np.testing.assert_array_equal(values, expected[1])

    more = rows_of((2, 5), (5, 5), (4, 0))
    n_asked, (priors, values) = answer(recall, more, 0)
    expected = answers(more[0], more[2], 0)
    assert n_asked == 1
    np.testing.assert_array_equal(priors, expected[0])
    np.testing.assert_array_equal(values, expected[1])


def test_the_same_picture_with_other_legal_actions_is_another_position():
    recall = EvaluationCache(GAME, 64)
    features, legal, offsets = rows_of((3, 1))
    assert answer(recall, (features, legal, offsets), 0)[0] == 1
    assert answer(recall, (features, legal + 1, offsets), 0)[0] == 1
    assert answer(recall, (features, legal, offsets), 0)[0] == 0


def test_new_weights_make_all_old_answers_worthless():
    recall = EvaluationCache(GAME, 64)
    rows = rows_of((3, 1), (2, 5))
    assert answer(recall, rows, 0)[0] == 2
    assert answer(recall, rows_of((6, 6)), 1)[0] == 1
    n_asked, (priors, _) = answer(recall, rows, 1)
    assert n_asked == 2
    np.testing.assert_array_equal(priors, answers(rows[0], rows[2], 1)[0])


def test_a_full_memory_forgets_but_never_errs():
    recall = EvaluationCache(GAME, 8)
    for seed in range(200):
        numbers = np.random.default_rng(seed)
        rows = rows_of(*zip(numbers.integers(1, 10, 6), numbers.integers(0, 9, 6), strict=True))
        _, (priors, values) = answer(recall, rows, 0)
        expected = answers(rows[0], rows[2], 0)
        np.testing.assert_array_equal(priors, expected[0])
        np.testing.assert_array_equal(values, expected[1])


def play(n_games: int, recall: EvaluationCache | None) -> tuple[list, int]:
    """Whole games of a group, and how many rows were asked for them."""
    group = Group(GAME, make_settings(GAME, simulations=30), n_games)
    slots = np.arange(n_games, dtype=np.int32)
    group.start(slots, np.arange(n_games, dtype=np.uint64))
    records, n_asked = {}, 0
    while len(records) < n_games:
        for slot in group.advance():
            records[int(slot)] = group.take(int(slot))
            group.stop(np.array([slot], np.int32))
        rows = group.select()
        if recall is None or len(rows.slots) == 0:
            priors, values = answers(rows.features, rows.offsets, 0) if len(rows.slots) else ([], np.empty((0, SEATS)))
            group.backup(np.asarray(priors, np.float32), np.asarray(values, np.float32), 0)
            n_asked += len(rows.slots)
        else:
            asked, whole = answer(recall, (rows.features, rows.legal, rows.offsets), 0)
            group.backup(*whole, 0)
            n_asked += asked
    return [records[slot] for slot in sorted(records)], n_asked


@pytest.mark.parametrize("positions", [64, 100_000])
def test_games_are_the_same_with_and_without_a_memory(positions):
    plain, n_rows = play(16, None)
    recalled, n_asked = play(16, EvaluationCache(GAME, positions))
    for left, right in zip(plain, recalled, strict=True):
        np.testing.assert_array_equal(left.actions, right.actions)
        np.testing.assert_array_equal(left.policy_visits, right.policy_visits)
    assert n_asked < (0.6 * n_rows if positions > 64 else n_rows)
