"""Results for people."""

from asyncplay.cli.tables import table


def test_a_small_number_keeps_three_digits_that_say_something():
    row = {"nash_conv": 0.000123456, "share": 0.9, "rows": 12_345.6, "none": 0.0, "interval": [-0.05, 0.25]}

    _, cells = table([row]).splitlines()

    assert cells.split() == ["0.000123", "0.900", "12,345.600", "0", "-0.05", "to", "0.250"]
