import pytest

from asyncplay.model.schedule import LearningRate


def test_the_warm_up_is_linear_and_ends_at_the_peak():
    schedule = LearningRate(peak=0.4, warmup_steps=4)
    assert [schedule.rate(step) for step in range(6)] == pytest.approx([0.1, 0.2, 0.3, 0.4, 0.4, 0.4])


def test_no_warm_up_begins_at_the_peak():
    assert LearningRate(peak=0.3, warmup_steps=0).rate(0) == 0.3


def test_the_cosine_falls_from_the_peak_to_the_final_rate_and_stays_there():
    """Half way the cosine is 0, so the rate is the mean of 1 and 0.1; at a third it is 0.5."""
    schedule = LearningRate(peak=1.0, warmup_steps=10, decay_steps=70, final=0.1)
    assert [schedule.rate(step) for step in (9, 10, 30, 40, 70, 1000)] == pytest.approx(
        [1, 1, 0.1 + 0.9 * 0.75, 0.55, 0.1, 0.1]
    )


def test_a_decay_within_the_warm_up_ends_right_after_it():
    schedule = LearningRate(peak=1.0, warmup_steps=10, decay_steps=5, final=0.1)
    assert [schedule.rate(step) for step in (9, 10, 11)] == pytest.approx([1, 1, 0.1])
