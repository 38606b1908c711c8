import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import ACTIONS, FEATURES, PLAYERS, WORDS, assert_same, make_row, make_rows

from asyncplay.config.sections import ReplaySettings
from asyncplay.data.replay import Replay, augment, turn_by_table, window_rows
from asyncplay.payloads import Examples, concatenate, offsets_of

SMALL = ReplaySettings(start_rows=50, exponent=0.5, capacity_rows=120)

sizes = st.lists(st.integers(0, 40), min_size=1, max_size=12).filter(any)


def replay(window: ReplaySettings = SMALL, block_rows: int = 16) -> Replay:
    return Replay(FEATURES, np.uint8, PLAYERS, window=window, state_words=WORDS, block_rows=block_rows)


def filled(block_sizes: list[int], window: ReplaySettings = SMALL, **kind: int) -> Replay:
    """Rows 0, 1, 2 ... added in blocks of these sizes."""
    kept, first = replay(window, **kind), 0
    for size in block_sizes:
        kept.add(make_rows(size, first=first))
        first += size
    return kept


def stateless(rows: Examples) -> Examples:
    """Turned rows carry no states: they are of positions that were not met."""
    return rows._replace(states=np.empty((rows.rows, 0), np.int64))


def random(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@given(sizes, st.integers(1, 40), st.integers(0, 9))
def test_a_drawn_row_is_the_row_that_was_added(block_sizes, block_rows, seed):
    """All columns, sparse targets included, whatever the blocks; a row's version is its number."""
    batch = filled(block_sizes, block_rows=block_rows).sample(25, random(seed))
    assert_same(batch, concatenate([make_row(int(number)) for number in batch.versions]))


@given(sizes)
def test_exactly_the_rows_of_the_window_can_be_drawn(block_sizes):
    kept = filled(block_sizes)
    drawn = set(kept.sample(40 * kept.rows, random()).versions.tolist())
    assert drawn == set(range(kept.inserted - kept.rows, kept.inserted))


@given(sizes)
def test_the_window_never_reaches_back_to_a_forgotten_row(block_sizes):
    kept, first, oldest = replay(), 0, 0
    for size in block_sizes:
        kept.add(make_rows(size, first=first))
        first += size
        assert kept.inserted - kept.rows >= oldest
        oldest = kept.inserted - kept.rows


@pytest.mark.parametrize(
    ("inserted", "rows"),
    [
        (0, 0),
        (100_000, 100_000),
        (250_000, 250_000),
        (1_000_000, 500_000),
        (4_000_000, 1_000_000),
        (10**9, 2_000_000),
    ],
)
def test_the_window_grows_as_a_power_of_the_rows_that_came(inserted, rows):
    """With exponent 1/2, four times the rows make twice the window, until the capacity is reached."""
    assert window_rows(ReplaySettings(start_rows=250_000, exponent=0.5, capacity_rows=2_000_000), inserted) == rows


def test_a_draw_is_not_touched_by_what_comes_after_it():
    """The rows drawn are gone from the window, and their block's lists have moved, before they are copied."""
    kept = filled([20])
    draw = kept.draw(30, random())
    kept.add(make_rows(500, first=20))
    batch = draw.gather()
    assert batch.versions.max() < 20
    assert_same(batch, concatenate([make_row(int(number)) for number in batch.versions]))


def test_uniform_draws_take_every_row_equally_often():
    """40,000 draws from 100 rows: 400 each, with a standard deviation of 20."""
    counts = Counter(filled([100], ReplaySettings(start_rows=1000)).sample(40_000, random()).versions.tolist())
    assert len(counts) == 100
    assert all(abs(count - 400) < 5 * 20 for count in counts.values())


def test_a_row_one_half_life_older_is_drawn_half_as_often():
    kept = filled([200], ReplaySettings(start_rows=1000, half_life_rows=50))
    counts = Counter((199 - kept.sample(200_000, random()).versions).tolist())
    share = [sum(counts[age] for age in range(start, start + 50)) / 200_000 for start in range(0, 200, 50)]
    np.testing.assert_allclose(share, np.array([8, 4, 2, 1]) / 15, atol=0.005)


def test_the_mean_age_counts_the_rows_that_came_after():
    kept = filled([101], ReplaySettings(start_rows=1000))
    batch = kept.sample(20_000, random())
    assert kept.age_rows == pytest.approx(100 - batch.versions.mean())
    assert kept.age_rows == pytest.approx(50, abs=1)


def test_the_same_generator_draws_the_same_batch():
    assert_same(filled([30, 40]).sample(50, random(7)), filled([30, 40]).sample(50, random(7)))


def test_memory_follows_the_window_and_not_the_rows_that_came():
    kept = replay(ReplaySettings(start_rows=64, exponent=0.0, capacity_rows=1000), block_rows=16)
    kept.add(make_rows(100))
    early = kept.held_bytes
    kept.add(make_rows(900, first=100))
    assert kept.inserted == 1000
    assert kept.rows == 64
    assert kept.held_bytes <= 1.5 * early


def test_a_row_may_have_fifty_thousand_legal_actions():
    kept = replay(block_rows=4)
    rows = [make_row(number, 50_000) for number in range(6)]
    for row in rows:
        kept.add(row)
    batch = kept.sample(8, random())
    assert_same(batch, concatenate([rows[number] for number in batch.versions]))


def test_numbering_may_begin_where_an_earlier_run_ended():
    kept = replay()
    kept.begin_at(1000)
    kept.add(make_rows(30, first=1000))
    assert (kept.inserted, kept.rows) == (1030, 30)
    assert set(kept.sample(2000, random()).versions.tolist()) == set(range(1000, 1030))


# Symmetries of a strip of three cells in two planes: as it is, and mirrored. Action 3 is to pass.
STRIP_FEATURES = np.array([[0, 1, 2, 3, 4, 5], [2, 1, 0, 5, 4, 3]], np.int32)
STRIP_ACTIONS = np.array([[0, 1, 2, 3], [2, 1, 0, 3]], np.int32)


def strip(cells: list[int], policy: dict[int, float]) -> Examples:
    """One row; plane 0 holds the 1s of the board, plane 1 its 2s."""
    planes = [[cell == player for cell in cells] for player in (1, 2)]
    return make_row(0)._replace(
        features=np.array(planes, np.uint8).reshape(1, 6),
        legal=np.array(list(policy), np.int32),
        offsets=offsets_of(np.array([len(policy)])),
        targets=np.array(list(policy.values()), np.float32),
    )


def test_a_turned_row_is_the_row_of_the_mirrored_board():
    row = strip([1, 0, 2], {1: 0.7, 2: 0.2, 3: 0.1})
    mirrored = strip([2, 0, 1], {1: 0.7, 0: 0.2, 3: 0.1})
    batch = augment(concatenate([row] * 100), STRIP_FEATURES, turn_by_table(STRIP_ACTIONS), random())

    kinds = [int(np.array_equal(features, mirrored.features[0])) for features in batch.features]
    assert_same(batch, stateless(concatenate([[row, mirrored][kind] for kind in kinds])))
    assert 30 < sum(kinds) < 70


@given(st.integers(0, 99))
def test_turning_a_batch_equals_turning_its_rows_one_by_one(seed):
    """The slow twin, with arbitrary permutations in place of symmetries."""
    shuffles = random(seed)
    feature_turns = np.array([shuffles.permutation(FEATURES) for _ in range(4)], np.int32)
    action_turns = np.array([shuffles.permutation(ACTIONS) for _ in range(4)], np.int32)
    batch = make_rows(20, first=seed)
    turned = augment(batch, feature_turns, turn_by_table(action_turns), random(seed))

    for place, turn in enumerate(random(seed).integers(0, 4, 20)):
        before, after = batch.part(place, place + 1), turned.part(place, place + 1)
        assert after.features[0].tolist() == [before.features[0, column] for column in feature_turns[turn]]
        assert after.legal.tolist() == [action_turns[turn, action] for action in before.legal]
        assert_same(after._replace(features=before.features, legal=before.legal), stateless(before))


def test_one_symmetry_changes_nothing():
    batch = make_rows(10)
    features, actions = np.arange(FEATURES, dtype=np.int32)[None], np.arange(ACTIONS, dtype=np.int32)[None]
    assert_same(augment(batch, features, turn_by_table(actions), random()), stateless(batch))


def test_a_power_of_one_keeps_every_row_up_to_the_capacity():
    window = ReplaySettings(start_rows=10, exponent=1.0, capacity_rows=10**6)
    assert all(math.isclose(window_rows(window, inserted), inserted, abs_tol=1) for inserted in range(1, 3000, 7))


@given(sizes, st.lists(st.integers(1, 30), max_size=5), st.integers(1, 40), st.integers(0, 9))
def test_a_refilled_window_draws_what_the_old_one_would_have_drawn(block_sizes, later, block_rows, seed):
    """Its rows come back in other portions, while new ones come in already; those wait for their turn."""
    whole = filled([*block_sizes, *later], block_rows=block_rows)
    before = filled(block_sizes, block_rows=block_rows)
    first, total = before.inserted - before.rows, before.inserted

    kept = replay(block_rows=block_rows)
    kept.begin_at(first, missing=total - first)
    news, number = list(later), total
    while not kept.is_whole:
        if news:
            size = news.pop(0)
            kept.add(make_rows(size, first=number))
            number += size
        there = kept.inserted
        kept.refill(make_rows(min(7, total - there), first=there))
    for size in news:
        kept.add(make_rows(size, first=number))
        number += size

    assert (kept.rows, kept.inserted) == (whole.rows, whole.inserted)
    assert_same(kept.sample(25, random(seed)), whole.sample(25, random(seed)))


def limited(capacity_bytes: int, block_rows: int = 16) -> Replay:
    return Replay(
        FEATURES,
        np.uint8,
        PLAYERS,
        window=ROOMY,
        capacity_bytes=capacity_bytes,
        state_words=WORDS,
        block_rows=block_rows,
    )


ROOMY = ReplaySettings(start_rows=10**6, capacity_rows=10**6)
all_widths = st.lists(st.integers(1, 25), min_size=1, max_size=6)
bytes_of_rows = st.integers(8 * 270, 60_000)  # a row has 57 to 257 bytes, as its legal actions are few or many


@given(
    sizes, bytes_of_rows, st.integers(1, 40), st.lists(st.integers(1, 25), min_size=1, max_size=6), st.integers(0, 9)
)
def test_the_window_never_has_more_bytes_than_it_may_and_counts_what_it_forgets(
    block_sizes, capacity_bytes, block_rows, widths, seed
):
    kept, rows = limited(capacity_bytes, block_rows), []
    for size in block_sizes:
        new = [make_row(number, widths[number % len(widths)]) for number in range(len(rows), len(rows) + size)]
        rows += new
        if new:
            kept.add(concatenate(new))
        assert kept.held_bytes <= capacity_bytes
        assert kept.held_bytes == sum(block.held_bytes for block in kept._blocks)
        assert kept.inserted == len(rows) == kept.rows + kept.early_rows
    batch = kept.sample(25, random(seed))
    assert batch.versions.min() >= kept.early_rows
    assert_same(batch, concatenate([rows[number] for number in batch.versions]))


def test_a_window_with_bytes_to_spare_draws_what_one_without_a_limit_does():
    one, other = replay(ROOMY), limited(10**6)
    for kept in (one, other):
        kept.add(make_rows(300))
    assert other.early_rows == 0
    assert_same(one.sample(50, random()), other.sample(50, random()))


def test_a_block_of_large_rows_is_no_larger_than_an_eighth_of_the_window():
    """16,384 rows of 100 KB would be 1.6 GB at once."""
    kept = Replay(100_000, np.uint8, 2, window=ROOMY, capacity_bytes=8_000_000)
    row = make_row(0)._replace(
        features=np.zeros((1, 100_000), np.uint8),
        values=np.zeros((1, 2), np.float32),
        states=np.zeros((1, 0), np.int64),
    )
    kept.add(row)
    assert 100_000 < kept.held_bytes <= 1_000_000
    for _ in range(200):
        kept.add(row)
        assert kept.held_bytes <= 8_000_000
    assert kept.held_bytes > 6_000_000


@given(st.integers(1, 120), st.lists(st.integers(1, 60), max_size=8), bytes_of_rows, st.integers(0, 9))
def test_a_window_that_is_refilled_while_rows_come_has_its_latest_rows_and_no_byte_more(
    missing, later, capacity_bytes, seed
):
    kept, news, number = limited(capacity_bytes), list(later), missing
    kept.begin_at(0, missing=missing)
    there = 0
    while not kept.is_whole or news:
        if news:
            kept.add(make_rows(size := news.pop(0), first=number))
            number += size
            assert kept.held_bytes <= capacity_bytes
        if there < missing:  # goes on even where nothing is missing any more
            kept.refill(make_rows(min(7, missing - there), first=there))
            there += min(7, missing - there)
            assert kept.held_bytes <= capacity_bytes
    assert kept.inserted == number == kept.rows + kept.early_rows
    batch = kept.sample(25, random(seed))
    assert batch.versions.min() >= number - kept.rows
    assert_same(batch, concatenate([make_row(int(version)) for version in batch.versions]))
