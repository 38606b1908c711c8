"""Shares and means of batches between two samples, and over a whole run."""

from asyncplay.config.live import LiveSettings
from asyncplay.engine.figures import BatchFigures

SETTINGS = LiveSettings(timeout_ms=None, max_rows=1024)


def test_figures_of_a_run_that_has_not_begun_are_zero():
    shown = BatchFigures().since(BatchFigures(), 0.0, SETTINGS)
    assert (shown.mean_rows, shown.device_share, shown.extra_share, shown.spared_share) == (0.0, 0.0, 0.0, 0.0)
    assert shown.histogram == ()


def test_means_are_rows_over_batches_and_device_time_over_time():
    shown = BatchFigures(rows=1000, batches=8, device_s=0.5).since(BatchFigures(), 2.0, SETTINGS)
    assert (shown.mean_rows, shown.device_share) == (125.0, 0.25)


def test_where_rows_came_from_is_told_of_those_asked_and_of_those_wanted():
    begin = BatchFigures()
    early = BatchFigures(asked_rows=1000, extra_rows=900, spared_rows=0)
    late = BatchFigures(asked_rows=1400, extra_rows=1000, spared_rows=600)
    of_run, of_window = early.since(begin, 1.0, SETTINGS), late.since(early, 1.0, SETTINGS)
    assert (of_run.extra_share, of_run.spared_share) == (0.9, 0.0)
    assert (of_window.extra_share, of_window.spared_share) == (0.25, 0.6)


def test_the_share_of_fixed_costs_is_known_only_where_the_fit_is():
    """Ten batches of 20 ms each in half a second are 40 % of it; an unknown fit is infinite."""
    begin, late = BatchFigures(), BatchFigures(batches=10, device_s=0.5, fixed_s=0.02)
    assert late.since(begin, 1.0, SETTINGS).fixed_share == 0.4
    unknown = BatchFigures(batches=10, device_s=0.5, fixed_s=float("inf")).since(begin, 1.0, SETTINGS)
    assert (unknown.fixed_share, unknown.fixed_ms) == (0.0, 0.0)
