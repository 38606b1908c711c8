"""What a change did: known numbers, honest intervals, and changes that follow one another."""

import math
import random
from dataclasses import asdict, replace

import pytest
from samples import batches, figures, gauge_of, sample

from asyncplay.monitor.gauge import TICK_S, Gauge
from asyncplay.monitor.trial import LEAST_S, SETTLE_S, WINDOW_S, Trial, Trials, compare, describe, measured, student

TIMEOUT = {"batch.timeout_ms": ("2", "4")}


@pytest.mark.parametrize(("freedom", "exact"), [(3, 3.182), (5, 2.571), (10, 2.228), (22, 2.074), (1e9, 1.960)])
def test_students_point_is_that_of_the_tables(freedom, exact):
    assert exact * 0.96 <= student(freedom) <= exact * 1.01


def test_a_comparison_by_hand():
    """Means 10 and 12, variances 1 and 4, five samples each: Welch's error is sqrt((12/10)^2 .2 + .8) / 10."""
    before, after = [9.0, 9.0, 10.0, 11.0, 11.0], [10.0, 10.0, 12.0, 14.0, 14.0]
    gain, doubt = compare(before, after)
    assert gain == pytest.approx(0.2)
    early, late = 1.44 * 1.0 / 5, 4.0 / 5
    freedom = (early + late) ** 2 / (early**2 / 4 + late**2 / 4)
    assert doubt == pytest.approx(student(freedom) * math.sqrt(early + late) / 10)


def test_samples_without_any_spread_leave_no_doubt():
    assert compare([5.0] * 4, [10.0] * 4) == (1.0, 0.0)


def test_nineteen_intervals_of_twenty_hold_the_truth():
    source = random.Random(7)
    hits = 0
    for _ in range(2000):
        before = [source.gauss(100, 10) for _ in range(12)]
        after = [source.gauss(110, 15) for _ in range(12)]
        gain, doubt = compare(before, after)
        hits += abs(gain - 0.1) <= doubt
    assert 0.93 <= hits / 2000 <= 0.97


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"batch.timeout_ms": ("2", "4")}, "timeout 2 -> 4 ms"),
        ({"batch.timeout_ms": ("50", "auto")}, "timeout 50 ms -> auto"),
        ({"batch.timeout_ms": ("auto", "2.5")}, "timeout auto -> 2.5 ms"),
        ({"batch.max_rows": ("512", "1024"), "pool.workers": ("2", "3")}, "max rows 512 -> 1024, workers 2 -> 3"),
        ({"pause": ("off", "on")}, "pause off -> on"),
    ],
)
def test_a_change_is_told_in_a_few_words(values, words):
    assert describe(values) == words


def test_a_trial_is_told_in_one_line():
    done = Trial(1, "timeout 2 -> 4 ms", "done", "rows", 6.0, 100.0, 106.1, 0.061, 0.012, 0.8)
    assert str(done) == "timeout 2 -> 4 ms: +6.1 % rows/s (+-1.2), wait p50 +0.8 ms"
    assert str(replace(done, gain=-0.5, wait_ms=None)) == "timeout 2 -> 4 ms: -50.0 % rows/s (+-1.2)"
    assert str(replace(done, state="open")) == "timeout 2 -> 4 ms: measuring"
    assert str(replace(done, state="void")) == "timeout 2 -> 4 ms: nothing to compare with"


def test_a_trial_survives_the_socket():
    trial = Trial(1, "timeout 2 -> 4 ms", "done", "rows", 6.0, 100.0, 106.1, 0.061, 0.012, None)
    assert Trial.read(asdict(trial)) == trial


def test_waits_are_compared_window_by_window():
    def samples(wait_s: float, *, old: list[float]):
        first = figures(0, parts=(batches(1, 1, old),))
        last = figures(900, parts=(batches(1, 1, [*old, *[wait_s] * 90]),))
        return [
            sample(0.0, first),
            *(sample(at, figures(100 * at, parts=first.parts)) for at in range(1, 9)),
            sample(9.0, last),
        ]

    trial = measured(Trial(1, "", "open"), samples(0.001, old=[5.0]), samples(0.004, old=[5.0] * 500))
    assert trial.wait_ms == pytest.approx(3.0, rel=0.2)


class Rig:
    """A run whose rows/s the test sets, and its trials."""

    def __init__(self) -> None:
        self.gauge, self.now_s, self.total, self.ended = Gauge(), 0.0, 0, []
        self.trials = Trials(self.gauge, self.ended.append)

    def go(self, seconds: float, rows_per_s: int, *, is_settled: bool = True) -> None:
        for _ in range(round(seconds / TICK_S)):
            self.now_s += TICK_S
            self.total += int(rows_per_s * TICK_S)
            self.gauge.add(sample(self.now_s, figures(self.total)))
            self.trials.sampled(self.now_s, is_settled)

    def change(self, before: str, after: str, key: str = "batch.timeout_ms") -> int:
        return self.trials.begin({key: (before, after)}, self.now_s)


def test_a_trial_compares_equal_windows_on_both_sides_of_a_change():
    rig = Rig()
    rig.go(30, 1000)
    number = rig.change("50", "auto")
    rig.go(SETTLE_S, 0)  # not measured
    assert [str(trial) for trial in rig.trials.all()] == ["timeout 50 ms -> auto: measuring"]
    rig.go(WINDOW_S - TICK_S, 4000)
    assert rig.ended == []
    rig.go(2 * TICK_S, 4000)
    (trial,) = rig.ended
    assert (trial.number, trial.state, trial.seconds) == (number, "done", pytest.approx(WINDOW_S, abs=TICK_S))
    assert (trial.before_per_s, trial.after_per_s) == (pytest.approx(1000), pytest.approx(4000))
    assert (trial.gain, trial.doubt) == (pytest.approx(3.0), pytest.approx(0.0))


def test_the_window_before_leaves_out_what_was_unsettled():
    """Workers that were still on their way must not make a change look like a gain."""
    rig = Rig()
    rig.go(20, 1000)
    rig.go(4, 8, is_settled=False)
    rig.go(SETTLE_S + 3, 2000)
    rig.change("2", "4")
    rig.go(SETTLE_S + 4, 2000)
    (trial,) = rig.ended
    assert (trial.before_per_s, trial.gain) == (pytest.approx(2000), pytest.approx(0.0))
    assert trial.seconds == pytest.approx(3.0, abs=TICK_S)


def test_a_single_slice_after_a_change_says_nothing():
    before = [sample(at * TICK_S, figures(100 * at)) for at in range(20)]
    assert measured(Trial(1, "", "open"), before, before[:3]).state == "void"
    assert measured(Trial(1, "", "open"), before, before[:5]).state == "done"


def test_a_young_run_is_compared_over_what_there_is_and_a_younger_one_not_at_all():
    young, younger = Rig(), Rig()
    young.go(LEAST_S + 2 * TICK_S, 1000)
    young.change("2", "4")
    young.go(SETTLE_S + LEAST_S + 2 * TICK_S, 2000)
    assert young.ended[0].state == "done"
    assert young.ended[0].seconds == pytest.approx(LEAST_S + TICK_S)
    younger.go(LEAST_S - TICK_S, 1000)
    younger.change("2", "4")
    assert younger.ended[0].state == "void"


def test_keys_held_down_are_one_trial_from_the_first_value_to_the_last():
    rig = Rig()
    rig.go(10, 1000)
    first = rig.change("2", "4")
    rig.go(0.5, 3000)
    assert rig.change("4", "8") == first
    rig.go(SETTLE_S, 0)
    rig.go(WINDOW_S + TICK_S, 2000)
    (trial,) = rig.ended
    assert trial.change == "timeout 2 -> 8 ms"
    assert trial.gain == pytest.approx(1.0)


def test_a_change_taken_back_at_once_was_no_change():
    rig = Rig()
    rig.go(10, 1000)
    rig.change("2", "4")
    rig.change("4", "2")
    assert [(trial.state, trial.change) for trial in rig.ended] == [("void", "timeout 2 -> 2 ms")]
    assert rig.trials.all() == rig.ended


def test_what_was_before_an_earlier_change_does_not_count_as_before():
    rig = Rig()
    rig.go(10, 1000)
    rig.change("2", "4")
    rig.go(SETTLE_S, 0)
    rig.go(WINDOW_S + TICK_S, 2000)
    rig.go(TICK_S, 2000)
    rig.change("4", "8")
    rig.go(SETTLE_S + WINDOW_S + 2 * TICK_S, 2000)
    assert [trial.gain for trial in rig.ended] == [pytest.approx(1.0), pytest.approx(0.0)]


def test_the_window_after_waits_until_the_run_has_settled():
    rig = Rig()
    rig.go(10, 1000)
    rig.change("2", "3", "pool.workers")
    rig.go(20, 10, is_settled=False)
    assert rig.ended == []
    rig.go(SETTLE_S, 10)
    rig.go(WINDOW_S + TICK_S, 1500)
    assert rig.ended[0].gain == pytest.approx(0.5)


def test_a_run_that_stood_still_has_nothing_to_compare_with():
    rig = Rig()
    rig.go(10, 0)
    rig.change("2", "4")
    rig.go(SETTLE_S + WINDOW_S + TICK_S, 1000)
    assert [trial.state for trial in rig.ended] == ["void"]


def test_who_waits_for_a_trial_is_told_once_and_who_comes_late_at_once():
    rig = Rig()
    rig.go(10, 1000)
    number = rig.change("2", "4")
    told, late = [], []
    rig.trials.when_ended(number, told.append)
    rig.trials.when_ended(number, late.append)
    rig.trials.forget(late.append)
    rig.trials.forget(late.append)
    rig.go(SETTLE_S + WINDOW_S + TICK_S, 1000)
    assert (told, late) == (rig.ended, [])
    rig.trials.when_ended(number, late.append)
    assert late == rig.ended
    assert rig.trials.is_known(number)
    assert not rig.trials.is_known(number + 1)


def test_only_the_latest_trials_are_kept():
    rig = Rig()
    for turn in range(50):
        rig.change(str(turn), str(turn + 1))
    assert len(rig.trials.all()) == 20


def test_gauges_keep_enough_to_compare():
    gauge = gauge_of(60, lambda at_s: figures(int(at_s)))
    assert gauge.last.at_s - gauge.since(1e9)[0].at_s > 2 * WINDOW_S + SETTLE_S
