"""Trials of changes that change nothing, on recorded series of real runs beside other programs.

The runs had a lower priority than what ran beside them: their rows/s in blocks of 1.25 s differ by half of their mean.
"""

import json
import random
from pathlib import Path
from typing import NamedTuple

import pytest
from samples import figures, sample, settings

from asyncplay.monitor.cpu import Process, Times
from asyncplay.monitor.gauge import TICK_S, Gauge
from asyncplay.monitor.trial import MOST_S, Trial, Trials

SERIES = sorted((Path(__file__).parent / "series").glob("*.json"))
OWN = 1  # process id of the run, whichever it was


class Series(NamedTuple):
    """What a run had done at each tick, and the times of the machine's cores."""

    totals: list[int]
    times: list[Times]

    @classmethod
    def read(cls, path: Path) -> "Series":
        facts = json.loads(path.read_text())
        rows = zip(facts["at_s"], facts["busy_s"], facts["own_s"], strict=True)
        times = [Times(at_s, busy_s, facts["cores"], {OWN: Process(own_s, 0.0)}) for at_s, busy_s, own_s in rows]
        return cls(facts["total"], times)


def try_nothing(series: Series, first: int, coin: random.Random) -> Trial:
    """A trial that begins at a tick of the series, of a new value under which the run does what it did."""
    live, gauge, ended = settings(timeout_ms=2), Gauge(), list[Trial]()
    trials = Trials(gauge, live, ended.append, coin=coin)
    for tick in range(first, len(series.totals)):
        at_s = series.times[tick].at_s
        gauge.add(sample(at_s, figures(series.totals[tick]), series.times[tick]))
        if tick == first:
            live.change("batch.timeout_ms", "4")
            trials.begin({"batch.timeout_ms": ("2", "4")}, at_s)
        trials.sampled(at_s, True)
        if ended:
            assert at_s - series.times[first].at_s <= MOST_S + 2  # a tick of a starved recorder may be late
            return ended[0]
    raise AssertionError("the series is too short for a trial")


def outcomes(n_trials: int) -> list[Trial]:
    """Trials at random moments of all series, as many of each."""
    found, dice = [], random.Random(17)
    for path in SERIES:
        series = Series.read(path)
        last = len(series.totals) - int((MOST_S + 2) / TICK_S)
        moments = [dice.randrange(last) for _ in range(n_trials // len(SERIES))]
        found += [try_nothing(series, first, random.Random(dice.random())) for first in moments]
    return found


def check_null(n_trials: int, most_outside: float) -> None:
    trials = outcomes(n_trials)
    outside = [trial for trial in trials if trial.state == "done" and abs(trial.gain) > trial.doubt]
    assert len(outside) <= most_outside * len(trials), f"{len(outside)} of {len(trials)}"
    assert sum(trial.is_disturbed for trial in trials) < len(trials) / 2


def test_few_of_120_null_changes_are_outside_of_their_interval():
    check_null(120, 0.12)


@pytest.mark.slow
def test_at_most_7_percent_of_2000_null_changes_are_outside_of_their_interval():
    check_null(2000, 0.07)
