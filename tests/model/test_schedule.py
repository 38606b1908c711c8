import pytest

from asyncplay.model.schedule import LearningRate


def test_the_warm_up_is_linear_and_ends_at_the_peak():
    schedule = LearningRate(peak=0.4, warmup_steps=4)
    assert [schedule.rate(step) for step in range(6)] == pytest.approx([0.1, 0.2, 0.3, 0.4, 0.4, 0.4])


def test_no_warm_up_begins_at_the_peak():
    assert LearningRate(peak=0.3, warmup_steps=0).rate(0) == 0.3
