"""Plots by their numbers: axes end at round ones, points lie where they should, nothing is left out."""

import math
import re
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asyncplay.archive.report.plots import Bar, Line, Mark, bar_plot, line_plot, mark_plot, thinned
from asyncplay.archive.report.scale import Scale, brief, fit, fit_wide, ticks, time_unit

NUMBERS = st.floats(-1e12, 1e12, allow_nan=False)


def test_an_axis_ends_at_round_numbers_and_says_them():
    scale = fit([3.0, 97.0], 0.0, 1.0)
    assert (scale.low, scale.high) == (0.0, 100.0)
    assert ticks(scale) == [0, 20, 40, 60, 80, 100]
    assert ticks(fit([-1.2, 7.0], 0, 1)) == [-2, 0, 2, 4, 6, 8]
    assert ticks(fit([0.4691, 0.5309], 0, 1, has_zero=False)) == pytest.approx([0.46, 0.48, 0.5, 0.52, 0.54])


def test_places_are_linear():
    scale = Scale(10.0, 20.0, 230.0, 30.0)
    assert [scale.place(value) for value in (10.0, 15.0, 20.0)] == [230.0, 130.0, 30.0]


def test_values_far_apart_get_an_axis_of_powers_of_ten():
    """NashConv from .9 down to .003: decades from .001 to 1, half way at a thirtieth."""
    scale = fit_wide([0.9, 0.1, 0.003], 0.0, 3.0)
    assert ticks(scale) == pytest.approx([0.001, 0.01, 0.1, 1.0])
    assert [scale.place(value) for value in (0.001, 0.01, 1.0)] == pytest.approx([0.0, 1.0, 3.0])
    assert scale.place(10**-1.5) == pytest.approx(1.5)
    assert fit_wide([0.4, 0.9], 0, 1) == fit([0.4, 0.9], 0, 1)
    assert not fit_wide([0.0, 0.9], 0, 1).is_log
    assert fit_wide([], 0, 1) == fit([], 0, 1)


@given(st.lists(NUMBERS, max_size=20), st.booleans())
def test_whatever_the_values_they_all_fit(values, has_zero):
    scale = fit(values, 0.0, 1.0, has_zero=has_zero)
    assert scale.low < scale.high
    assert all(-1e-6 <= scale.place(value) <= 1 + 1e-6 for value in values)
    assert 2 <= len(ticks(scale)) <= 9


@pytest.mark.parametrize(
    ("value", "told"), [(0.05, "0.05"), (1234.0, "1234"), (12_345.0, "12.35k"), (3.4e6, "3.4M"), (-2e9, "-2G")]
)
def test_numbers_are_brief(value, told):
    assert brief(value) == told


@pytest.mark.parametrize(("span_s", "unit"), [(30, "s"), (600, "min"), (9000, "h"), (400_000, "d")])
def test_time_is_told_in_the_unit_that_suits(span_s, unit):
    assert time_unit(span_s)[1] == unit


def test_many_points_become_few_with_the_same_mean():
    points = [(float(second), second % 7.0) for second in range(10_000)]
    few = thinned(points, 100)
    assert len(few) == 100
    assert sum(value for _, value in few) / 100 == pytest.approx(sum(value for _, value in points) / 10_000)
    assert thinned([(0.0, 1.0), (1.0, math.nan), (2.0, math.inf)]) == [(0.0, 1.0)]


def parsed(text: str) -> ET.Element:
    return ET.fromstring(text)


def test_a_line_goes_through_its_points_and_breaks_where_nothing_came():
    points = [(0.0, 0.0), (1.0, 5.0), (2.0, 10.0), (100.0, 10.0)]
    svg = parsed(line_plot("some", [Line("rows", points)], unit="rows", nothing=""))
    assert (svg.get("id"), svg.get("data-drawn")) == ("plot-some", "yes")
    (path,) = svg.findall("path")
    steps = re.findall(r"([ML])([\d.]+) ([\d.]+)", path.get("d"))
    assert [letter for letter, _, _ in steps] == ["M", "L", "L", "M"]
    assert [float(y) for _, _, y in steps] == [230.0, 130.0, 30.0, 30.0]
    assert [float(x) for _, x, _ in steps][::3] == [62.0, 616.0]


def test_bars_and_marks_have_their_intervals():
    svg = parsed(bar_plot("bars", [Bar("a", 0.5, 0.25, 0.75), Bar("b", -0.5)], unit="", nothing=""))
    assert len([one for one in svg.findall("rect") if one.get("class") == "bar"]) == 2
    assert len([one for one in svg.findall("line") if one.get("class") == "whisker"]) == 1
    svg = parsed(mark_plot("marks", [Mark("x", 0, 0.5, 0.4, 0.6), Mark("y", 9, 0.7, 0.6, 0.8)], unit="", nothing=""))
    assert len(svg.findall("circle")) == 2
    assert [one.text for one in svg.findall("text") if one.get("class") == "name"] == ["x", "y"]


@pytest.mark.parametrize("plot", [line_plot, mark_plot, bar_plot])
def test_nothing_to_draw_is_said(plot):
    svg = parsed(plot("none", [], unit="", nothing="no <games> yet"))
    assert svg.get("data-drawn") == "no"
    assert svg.find("text").text == "no <games> yet"


@given(st.lists(st.tuples(st.floats(0, 1e6), NUMBERS), max_size=30), st.text(max_size=10))
def test_every_plot_is_well_formed(points, name):
    clean = "".join(letter for letter in name if letter.isprintable())
    parsed(line_plot("x", [Line(clean, sorted(points))], unit=clean, nothing="none"))
    parsed(bar_plot("x", [Bar(clean, value) for _, value in points], unit=clean, nothing="none"))


def test_points_that_no_line_joins_are_dots():
    """A run so short that each figure was recorded once has dots to show, not blank plots."""
    once = parsed(line_plot("loss", [Line("policy", [(5.0, 1.2)]), Line("value", [(5.0, 0.3)])], unit="", nothing=""))
    assert len(once.findall("circle")) == 2
    stretch = [(float(second), 1.0) for second in range(20)]
    apart = parsed(line_plot("loss", [Line("policy", [*stretch, (500.0, 1.0)])], unit="", nothing=""))
    assert len(apart.findall("circle")) == 1
    assert parsed(line_plot("loss", [Line("policy", stretch)], unit="", nothing="")).findall("circle") == []
