import numpy as np
import pytest

from asyncplay.wire.checksum import row_hashes, sim_answers

WORD = (1 << 64) - 1
GOLDEN, SPREAD = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9


def multiplier(place: int) -> int:
    """splitmix64, made odd."""
    mixed = (place + 1) * GOLDEN & WORD
    mixed = (mixed ^ mixed >> 30) * SPREAD & WORD
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB & WORD
    return (mixed ^ mixed >> 31) | 1


def slow_hash(row: bytes) -> int:
    """The formula in Python's integers."""
    row += bytes(-len(row) % 4)
    words = [int.from_bytes(row[start : start + 4], "little") for start in range(0, len(row), 4)]
    total = sum(word * multiplier(place) for place, word in enumerate(words)) & WORD
    return (total ^ total >> 32) * SPREAD & WORD


def slow_answers(row: bytes, actions: int, players: int) -> tuple[list[float], list[float]]:
    hashed = slow_hash(row)
    weights = [1 + (((hashed + j * GOLDEN) & WORD) >> 41) / 2**23 for j in range(actions)]
    tops = [(hashed * multiplier(seat) & WORD) >> 40 for seat in range(players)]
    values = [(top - 2**24 if top >= 2**23 else top) / 2**23 for top in tops]
    return [weight / sum(weights) for weight in weights], values


def questions(columns: int, dtype: type, rows: int = 6):
    random = np.random.default_rng(columns)
    features = random.integers(0, 200, (rows, columns)).astype(dtype)
    counts = random.integers(1, 9, rows)
    return features, np.concatenate(([0], np.cumsum(counts))).astype(np.int32)


@pytest.mark.parametrize(("columns", "dtype"), [(256, np.uint8), (126, np.uint8), (7, np.float32), (3, np.uint8)])
def test_answers_are_those_of_the_slow_twin(columns, dtype):
    features, offsets = questions(columns, dtype)
    priors, values = sim_answers(features, offsets, 3)
    for row in range(6):
        own = slice(offsets[row], offsets[row + 1])
        slow = slow_answers(features[row].tobytes(), int(np.diff(offsets)[row]), 3)
        np.testing.assert_allclose(priors[own], slow[0], rtol=1e-6)
        np.testing.assert_allclose(values[row], slow[1], rtol=1e-6, atol=1e-9)


def test_a_row_has_the_same_answer_in_every_batch():
    features, offsets = questions(256, np.uint8)
    priors, values = sim_answers(features, offsets, 2)
    part_priors, part_values = sim_answers(features[3:5], offsets[3:6] - offsets[3], 2)
    np.testing.assert_array_equal(part_priors, priors[offsets[3] : offsets[5]])
    np.testing.assert_array_equal(part_values, values[3:5])


def test_every_bit_of_a_row_counts():
    row = np.random.default_rng(0).integers(0, 256, 256).astype(np.uint8)
    flipped = np.repeat(row[None], 256 * 8, axis=0)
    for bit in range(256 * 8):
        flipped[bit, bit // 8] ^= 1 << bit % 8
    _, values = sim_answers(flipped, np.arange(256 * 8 + 1, dtype=np.int32), 1)
    _, original = sim_answers(row[None], np.array([0, 1], np.int32), 1)
    assert len(set(row_hashes(flipped).tolist())) == 256 * 8
    assert (values != original).all()


def test_words_that_change_places_change_the_hash():
    row = np.zeros((1, 16), np.uint8)
    row[0, 0] = 9
    assert row_hashes(row) != row_hashes(row[:, ::-1])


def test_answers_look_like_estimates():
    features, offsets = questions(256, np.uint8, rows=500)
    priors, values = sim_answers(features, offsets, 4)
    np.testing.assert_allclose(np.add.reduceat(priors, offsets[:-1]), 1, rtol=1e-6)
    assert priors.dtype == values.dtype == np.float32
    assert priors.min() > 0
    assert values.min() >= -1
    assert values.max() < 1
    assert abs(values.mean()) < 0.05  # 2,000 uniform numbers: standard error .013


def test_no_rows_have_no_answers():
    priors, values = sim_answers(np.empty((0, 8), np.uint8), np.zeros(1, np.int32), 2)
    assert (priors.shape, values.shape) == ((0,), (0, 2))
