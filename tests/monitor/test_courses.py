"""What became of a figure: few values, whose mean is that of all."""

from dataclasses import replace
from statistics import fmean

import pytest
from snapshots import NEURAL, SYNTHETIC

from asyncplay.monitor.courses import Course, Courses
from asyncplay.monitor.snapshot import Curve, Result


@pytest.mark.parametrize("n_values", [0, 1, 7, 8, 9, 64, 1000])
def test_a_course_has_few_values_and_they_are_means_of_neighbours(n_values):
    course = Course(most=8)
    for value in range(n_values):
        course.add(float(value))
    assert len(course.values) == n_values if n_values < 8 else 4 <= len(course.values) <= 8
    assert list(course.values) == sorted(course.values)
    if n_values in (7, 8, 64):  # every mean is of equally many
        assert fmean(course.values) == fmean(range(n_values))


def test_figures_with_a_curve_begin_where_they_are_not_nothing():
    courses, learn = Courses(), NEURAL.parts["learn"]
    courses.add({"learn": replace(learn, policy_loss=0.0, value_loss=0.0)}, ())
    assert courses.curves() == ()
    courses.add({"learn": learn}, ())
    courses.add({"learn": replace(learn, policy_loss=0.5)}, ())
    assert courses.curves() == (
        Curve("learn", "policy loss", (1.234, 0.5)),
        Curve("learn", "value loss", (0.567, 0.567)),
    )


def test_a_strength_counts_once_however_often_it_is_seen_and_earlier_versions_are_one_series():
    courses, first = Courses(), Result("vs version 3", 0.6, 0.5, 0.7, (), "score", "version 9")
    for _ in range(5):
        courses.add(SYNTHETIC.parts, (first,))
    courses.add({}, (replace(first, name="vs version 9", of="version 12"),))
    assert courses.curves() == (Curve("strength", "vs earlier version", (0.6, 0.6)),)
