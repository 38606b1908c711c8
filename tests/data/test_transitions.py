"""Rings of transitions against lists of episodes."""

import numpy as np
import pytest

from asyncplay.data.transitions import DrawnRows, Passage, Transitions

FRAME, FRAMES, N_STEP, DISCOUNT = 3, 4, 3, 0.9


def ring(capacity: int = 40, agents: int = 2, **options: float) -> Transitions:
    return Transitions(
        agents,
        capacity,
        features=FRAMES * FRAME,
        frames=FRAMES,
        feature_dtype=np.uint8,
        actions=5,
        n_step=N_STEP,
        discount=DISCOUNT,
        **options,
    )


def passage(number: int, length: int) -> Passage:
    """Frames say which episode and decision they are of, and are never 0."""
    frames = np.array([[1 + number, 1 + step, 7] for step in range(length)], np.uint8)
    random = np.random.default_rng(number)
    legal = random.integers(0, 2, (length, 5)).astype(np.uint8)
    versions = np.full(length, number)
    return Passage(frames, legal, random.integers(0, 5, length), random.normal(0, 1, length), versions)


def stack(of: Passage, step: int) -> np.ndarray:
    frames = [of.frames[at] if at >= 0 else np.zeros(FRAME, np.uint8) for at in range(step - FRAMES + 1, step + 1)]
    return np.concatenate(frames)


def check_rows(drawn: DrawnRows, episodes: dict[int, list[Passage]]) -> None:
    """Every drawn row is what the episode it names says."""
    for row in range(len(drawn.actions)):
        number, step = (int(value) - 1 for value in drawn.features[row, -FRAME : -FRAME + 2])
        (of,) = [found for found in episodes[int(drawn.agents[row])] if found.frames[0, 0] == number + 1]
        left = len(of.actions) - step
        np.testing.assert_array_equal(drawn.features[row], stack(of, step))
        assert drawn.actions[row] == of.actions[step]
        wanted = sum(DISCOUNT**ahead * of.rewards[step + ahead] for ahead in range(min(N_STEP, left)))
        assert drawn.rewards[row] == pytest.approx(wanted, abs=1e-5)
        assert drawn.versions[row] == number
        if left > N_STEP:
            assert drawn.discounts[row] == pytest.approx(DISCOUNT**N_STEP)
            np.testing.assert_array_equal(drawn.next_features[row], stack(of, step + N_STEP))
            np.testing.assert_array_equal(drawn.next_legal[row], of.legal[step + N_STEP])
        else:
            assert drawn.discounts[row] == 0


def test_rows_are_stacked_and_summed_within_their_episode_however_often_the_ring_goes_round():
    random, held, episodes = np.random.default_rng(0), ring(), {0: [], 1: []}
    for number in range(60):
        agent = int(random.integers(0, 2))
        episodes[agent].append(passage(number, int(random.integers(1, 15))))
        held.add(agent, episodes[agent][-1])
        if number > 5:
            check_rows(held.draw([0, 1], 20, random), episodes)


def test_whole_episodes_leave_and_the_latest_that_fit_stay():
    held = ring(capacity=10, agents=1)
    for number, length in enumerate([4, 4, 3, 5]):
        held.add(0, passage(number, length))
    drawn = held.draw([0], 400, np.random.default_rng(0))

    assert held.rows == 8
    assert set(drawn.versions.tolist()) == {2, 3}
    assert {tuple(row) for row in drawn.features[:, -FRAME:].tolist()} == {
        *((3, step, 7) for step in (1, 2, 3)),
        *((4, step, 7) for step in (1, 2, 3, 4, 5)),
    }


def test_a_refilled_ring_draws_the_same_rows():
    """Resume: the same episodes in the same order, put into an empty ring."""
    first, second = ring(capacity=20, agents=1), ring(capacity=20, agents=1)
    for number in range(9):
        first.add(0, passage(number, 6))
    for number in range(4, 9):
        second.add(0, passage(number, 6))
    ours, theirs = (held.draw([0], 50, np.random.default_rng(3)) for held in (first, second))

    for name in ("features", "actions", "rewards", "discounts", "next_features", "next_legal", "versions"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))
    assert ours.age_rows == theirs.age_rows


def test_the_age_of_a_row_is_how_many_of_its_agent_came_later():
    held = ring(agents=1)
    held.add(0, passage(0, 1))
    for number in range(1, 4):
        held.add(0, passage(number, 5))
    drawn = held.draw([0], 3000, np.random.default_rng(0))

    assert drawn.age_rows == pytest.approx(15 / 2, abs=0.5)


def test_a_shared_network_draws_from_the_rings_of_all_its_agents_by_their_rows():
    held = ring(agents=3)
    held.add(0, passage(0, 10))
    held.add(2, passage(1, 30))
    drawn = held.draw([0, 2], 4000, np.random.default_rng(0))

    assert np.bincount(drawn.agents, minlength=3)[[0, 2]] == pytest.approx([1000, 3000], abs=120)


def test_rows_with_larger_errors_are_drawn_more_often_and_count_less():
    held = ring(agents=1, priority=1.0, priority_weight=1.0)
    held.add(0, passage(0, 10))
    drawn = held.draw([0], 1000, np.random.default_rng(0))
    held.prioritise(drawn, np.where(drawn.places == 3, 9.0, 1.0).astype(np.float32))
    drawn = held.draw([0], 3600, np.random.default_rng(1))
    is_large = drawn.places == 3

    assert is_large.sum() == pytest.approx(1800, abs=150)
    np.testing.assert_allclose(drawn.weight[is_large] * 9, drawn.weight[~is_large][0], rtol=1e-3)
    assert drawn.weight.max() == 1


def test_a_new_transition_gets_the_highest_odds():
    held = ring(agents=1, priority=1.0)
    held.add(0, passage(0, 5))
    drawn = held.draw([0], 100, np.random.default_rng(0))
    held.prioritise(drawn, np.full(100, 3.0, np.float32))
    held.add(0, passage(1, 5))
    drawn = held.draw([0], 4000, np.random.default_rng(0))

    assert (drawn.versions == 1).mean() == pytest.approx(0.5, abs=0.05)
