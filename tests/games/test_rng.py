"""Random numbers against published vectors and known moments."""

import numpy as np
import pytest

from asyncplay import rng

DRAWS = 20_000


def test_xoshiro_gives_the_reference_numbers():
    """The first ten outputs of Blackman and Vigna's xoshiro256plusplus.c from the state 1, 2, 3, 4."""
    state = np.array([1, 2, 3, 4], np.uint64)

    assert [rng.next_word(state) for _ in range(10)] == [
        41943041,
        58720359,
        3588806011781223,
        3591011842654386,
        9228616714210784205,
        9973669472204895162,
        14011001112246962877,
        12406186145184390807,
        15849039046786891736,
        10450023813501588000,
    ]


def test_a_seed_alone_is_spread_by_splitmix64():
    """The first outputs of splitmix64.c from 1234567, as the authors advise for seeding."""
    assert rng.stream(1234567).tolist() == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
    ]


@pytest.mark.parametrize("seed", [0, 1, 2**63 - 1, 2**64 - 1])
@pytest.mark.parametrize("part", [0, 1, 77])
def test_kernels_and_python_plant_the_same_stream(seed, part):
    state = np.zeros(4, np.uint64)
    rng.plant(state, np.uint64(seed), part)

    np.testing.assert_array_equal(state, rng.stream(seed, part))


def test_paths_give_different_streams():
    paths = [(), (0,), (1,), (0, 0), (0, 1), (1, 0), (0, 0, 0)]
    words = {tuple(rng.stream(seed, *path).tolist()) for seed in range(50) for path in paths}

    assert len(words) == 50 * len(paths)


def test_derived_seeds_have_63_bits():
    seeds = {rng.derive(7, number) for number in range(1000)}

    assert len(seeds) == 1000
    assert 2**62 < max(seeds) < 2**63


def test_whole_numbers_are_equally_likely():
    """Chi-square with 6 degrees of freedom: 22.5 is exceeded once in a thousand; the seed is fixed."""
    state = rng.stream(3)
    counts = np.bincount([rng.below(state, 7) for _ in range(DRAWS)], minlength=7)

    assert ((counts - DRAWS / 7) ** 2 / (DRAWS / 7)).sum() < 22.5
    assert rng.below(state, 1) == 0


def test_gumbel_numbers_have_their_mean_and_variance():
    """Euler's constant and pi^2 / 6; the variance of the variance is 4.4 times its square over the draws."""
    state, variance = rng.stream(8), np.pi**2 / 6
    drawn = np.array([rng.gumbel(state) for _ in range(DRAWS)])

    assert drawn.mean() == pytest.approx(np.euler_gamma, abs=4 * np.sqrt(variance / DRAWS))
    assert drawn.var() == pytest.approx(variance, abs=4 * np.sqrt(4.4 * variance**2 / DRAWS))


def test_floats_fill_the_unit_interval():
    state = rng.stream(4)
    drawn = np.array([rng.uniform(state) for _ in range(DRAWS)])

    assert 0.0 <= drawn.min() < 0.001
    assert 0.999 < drawn.max() < 1.0
    assert drawn.mean() == pytest.approx(0.5, abs=4 * np.sqrt(1 / 12 / DRAWS))


@pytest.mark.parametrize("shape", [0.03, 0.3, 1.0, 4.5])
def test_gamma_has_its_mean_and_variance(shape):
    """Both are the shape itself; the variance of the variance is about 2 k^2 + 6 k over the draws."""
    state = rng.stream(5)
    drawn = np.array([rng.gamma(state, shape) for _ in range(DRAWS)])

    assert drawn.mean() == pytest.approx(shape, abs=4 * np.sqrt(shape / DRAWS))
    assert drawn.var() == pytest.approx(shape, abs=4 * np.sqrt((2 * shape**2 + 6 * shape) / DRAWS))


@pytest.mark.parametrize("alpha", [0.001, 0.3, 10.0])
def test_dirichlet_shares_add_up_to_one(alpha):
    state, shares = rng.stream(6), np.zeros(5)
    total = np.zeros(5)
    for _ in range(2000):
        rng.dirichlet(state, alpha, shares)
        assert shares.sum() == pytest.approx(1.0)
        total += shares

    np.testing.assert_allclose(total / 2000, 0.2, atol=0.04)
