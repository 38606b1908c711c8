"""Remembered answers against a network that is asked everything."""

from dataclasses import replace

import numpy as np
import pytest

from asyncplay import games
from asyncplay.search.cache import EvaluationCache, cache_shape
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


def stream(recall: EvaluationCache, seeds: range, *, versions: int = 1) -> list[int]:
    """How many rows of each of many blocks had to be asked; every answer is checked, but for those of a block in which
    new weights are met: some of them may still be of the old ones."""
    found = []
    for seed in seeds:
        numbers, version = np.random.default_rng(seed), seed * versions // len(seeds)
        rows = rows_of(*zip(numbers.integers(1, 10, 6), numbers.integers(0, 9, 6), strict=True))
        is_known = recall.version == version
        n_asked, (priors, values) = answer(recall, rows, version)
        if is_known:
            expected = answers(rows[0], rows[2], version)
            np.testing.assert_array_equal(priors, expected[0])
            np.testing.assert_array_equal(values, expected[1])
        found.append(n_asked)
    return found


@pytest.mark.parametrize("positions", [8, 64, 1000])
def test_bytes_enough_for_the_most_legal_actions_everywhere_change_nothing(positions):
    enough = cache_shape(GAME, positions, 1 << 40).n_bytes
    free, limited = EvaluationCache(GAME, positions), EvaluationCache(GAME, positions, 2 * enough)
    assert stream(free, range(100), versions=3) == stream(limited, range(100), versions=3)
    assert (free.n_refused, limited.n_refused) == (0, 0)


VAST = replace(GAME, max_legal=21_432)
PLACE_BYTES = 36 + 4 * SEATS


def test_a_cache_of_few_bytes_keeps_what_fits_counts_the_rest_and_never_errs():
    """16 places and 176 priors: what replaces an answer of fewer actions soon finds no room, until there are new
    weights."""
    recall = EvaluationCache(VAST, 16, 2 * 16 * PLACE_BYTES)
    assert recall.held_bytes == 2 * 16 * PLACE_BYTES + 16
    asked = sum(stream(recall, range(100)))
    refused = recall.n_refused
    assert 0 < refused < asked
    again = rows_of((9, 8), (8, 7))
    assert answer(recall, again, 1)[0] == 2
    assert answer(recall, again, 1)[0] == 0
    assert recall.n_refused == refused


def test_places_are_never_sized_by_the_most_legal_actions_that_there_may_be():
    """100,000 positions with up to 21,432 legal actions each would be 8.6 GB."""
    recall = EvaluationCache(VAST, 100_000, 64 << 20)
    assert recall.held_bytes <= (64 << 20) + 16
    assert cache_shape(VAST, 100_000, 64 << 20).places == 100_000
    assert sum(stream(recall, range(20))) < 6 * 20
    assert recall.n_refused == 0


def test_a_forgetful_cache_is_as_new():
    recall = EvaluationCache(VAST, 16, 2 * 16 * PLACE_BYTES)
    first = stream(recall, range(30), versions=2)
    recall.forget()
    assert stream(recall, range(30), versions=2) == first
