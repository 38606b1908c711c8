"""What a change did: known numbers, honest intervals, and changes that follow one another."""

import random
from dataclasses import asdict, replace

import pytest
from samples import batches, figures, gauge_of, sample, settings

from asyncplay.monitor.comparison import are_disturbed, compare, compare_pairs, student
from asyncplay.monitor.cpu import Process, Times
from asyncplay.monitor.gauge import TICK_S, Gauge
from asyncplay.monitor.trial import (
    BLOCK_S,
    LASTING_SETTLE_S,
    LEAST_PAIRS,
    MOST_S,
    SETTLE_S,
    WINDOW_BLOCK_S,
    WINDOW_BLOCKS,
    Trial,
    TrialBlock,
    Trials,
    block_of,
    describe,
    judged,
)

TIMEOUT, WORKERS = "batch.timeout_ms", "pool.workers"
SURE_S = LEAST_PAIRS * 2 * (BLOCK_S + SETTLE_S) + 1  # when a quiet trial is over for certain
OPEN = Trial(1, "timeout 2 -> 4 ms", "open")


@pytest.mark.parametrize(("freedom", "exact"), [(3, 3.182), (5, 2.571), (10, 2.228), (22, 2.074), (1e9, 1.960)])
def test_students_point_is_that_of_the_tables(freedom, exact):
    assert exact * 0.96 <= student(freedom) <= exact * 1.01


def test_a_comparison_by_hand():
    """Means 10 and 12, variances 1 and 4, five samples each: Welch's error is sqrt((12/10)^2 .2 + .8) / 10."""
    before, after = [9.0, 9.0, 10.0, 11.0, 11.0], [10.0, 10.0, 12.0, 14.0, 14.0]
    gain, doubt = compare(before, after)
    assert gain == pytest.approx(0.2)
    assert doubt == pytest.approx(2.4 * (1.44 * 0.2 + 0.8) ** 0.5 / 10, rel=0.03)


def test_a_comparison_of_pairs_by_hand():
    """Means 10 and 12, differences 1, 2 and 3: an error of 1 / sqrt(3) / 10, times 4.303. Taken apart, values that go
    up and down together would hide that."""
    before, after = [20.0, 0.0, 10.0], [21.0, 2.0, 13.0]
    gain, doubt = compare_pairs(before, after)
    assert gain == pytest.approx(0.2)
    assert doubt == pytest.approx(4.303 / 3**0.5 / 10, rel=0.12)
    assert compare(before, after)[1] > 3 * doubt


@pytest.mark.parametrize("comparison", [compare, compare_pairs])
def test_an_interval_of_95_percent_covers_95_percent(comparison):
    """Whole lives of noise with no change in it: in 2,000 of them 0 lies outside of 2 to 7 %."""
    draw, outside = random.Random(5), 0
    for _ in range(2000):
        before, after = ([draw.gauss(100.0, 10.0) for _ in range(10)] for _ in range(2))
        gain, doubt = comparison(before, after)
        outside += abs(gain) > doubt
    assert 40 <= outside <= 140


@pytest.mark.parametrize(
    ("before", "after", "is_paired", "is_disturbed"),
    [
        ([], [], True, False),
        ([0.5, 0.6, 0.5, 0.6], [0.6, 0.5, 0.7, 0.6], True, False),  # nearly the same
        ([1.2, 1.3, 0.2, 1.1], [0.2, 0.3, 0.9, 0.2], True, True),  # by chance
        ([0.2, 0.3, 0.2, 0.3], [0.8, 0.9, 0.8, 0.8], True, False),  # they take what the change leaves them
        ([0.2, 0.3, 0.2, 0.3], [0.8, 0.9, 0.8, 0.8], False, True),  # which nobody can know of one change
    ],
)
def test_other_programs_disturb_where_they_took_more_on_one_side_by_chance(before, after, is_paired, is_disturbed):
    assert are_disturbed(before, after, is_paired=is_paired) is is_disturbed


def test_a_change_is_told_in_words():
    assert describe({TIMEOUT: ("2", "4")}) == "timeout 2 -> 4 ms"
    assert describe({TIMEOUT: ("50", "auto")}) == "timeout 50 ms -> auto"
    assert describe({TIMEOUT: ("auto", "2"), "batch.max_rows": ("64", "128")}) == (
        "timeout auto -> 2 ms, max rows 64 -> 128"
    )


def test_a_trial_is_told_in_a_line():
    done = Trial(1, "timeout 2 -> 4 ms", "done", "rows", 6.0, 100.0, 106.1, 0.061, 0.012, 0.8)
    assert str(done) == "timeout 2 -> 4 ms: +6.1 % rows/s (+-1.2), wait p50 +0.8 ms"
    assert str(replace(done, gain=-0.5, wait_ms=None)) == "timeout 2 -> 4 ms: -50.0 % rows/s (+-1.2)"
    assert str(replace(done, state="open", left_s=42.4)) == "timeout 2 -> 4 ms: measuring, 42 s left at most"
    assert str(replace(done, state="void")) == "timeout 2 -> 4 ms: nothing to compare with"
    disturbed = replace(done, state="void", is_disturbed=True, foreign_before=1.2, foreign_after=0.6)
    assert str(disturbed) == "timeout 2 -> 4 ms: not comparable: other programs took 1.2, then 0.6 cores"


def test_a_trial_survives_the_socket():
    trial = Trial(1, "timeout 2 -> 4 ms", "done", "rows", 6.0, 100.0, 106.1, 0.061, 0.012, None)
    assert Trial.read(asdict(trial)) == trial


def test_a_block_has_its_own_waits_and_what_others_took_of_the_cores():
    def at(at_s: float, waits_s: list[float]) -> object:
        times = Times(at_s, 1.5 * at_s, 2, {7: Process(0.9 * at_s, 0.0)})
        return sample(at_s, figures(int(100 * at_s), parts=(batches(1, 1, waits_s),)), times)

    block = block_of([at(0.0, [5.0] * 500), at(2.0, [*[5.0] * 500, *[0.004] * 90])])
    assert (block.per_s, block.seconds) == (100.0, 2.0)
    assert block.wait_s == pytest.approx(0.004, rel=0.2)
    assert block.foreign == pytest.approx(0.6)


def test_waits_are_compared_block_by_block():
    before = [TrialBlock(100.0, 1.0, 0.001, None), TrialBlock(101.0, 1.0, 0.003, None)]
    after = [TrialBlock(100.0, 1.0, 0.005, None), TrialBlock(102.0, 1.0, 0.005, None)]
    assert judged(OPEN, before, after, is_paired=True).wait_ms == pytest.approx(3.0)


class Rig:
    """A run whose rows/s depend on the timeout that it heeds, and its trials."""

    def __init__(self, seed: int = 1) -> None:
        self.gauge, self.now_s, self.total, self.ended = Gauge(), 0.0, 0, []
        self.settings = settings(timeout_ms=2)
        self.trials = Trials(self.gauge, self.settings, self.ended.append, coin=random.Random(seed))
        self.rates = {0.002: 1000}  # by timeout; any other is 0
        self.heeded: list[float] = []  # by tick

    def go(self, seconds: float, *, is_settled: bool = True) -> None:
        for _ in range(round(seconds / TICK_S)):
            self.now_s += TICK_S
            self.heeded.append(self.settings.pinned_s)
            self.total += int(self.rates.get(self.settings.pinned_s, 0) * TICK_S)
            self.gauge.add(sample(self.now_s, figures(self.total)))
            self.trials.sampled(self.now_s, is_settled)

    def change(self, after: str, key: str = TIMEOUT) -> int:
        before = self.settings.show(key)
        self.settings.change(key, after)
        return self.trials.begin({key: (before, after)}, self.now_s)


def test_a_trial_goes_back_and_forth_and_ends_with_the_new_value():
    rig = Rig()
    rig.rates[0.004] = 4000
    rig.go(5)
    number = rig.change("4")
    rig.go(SURE_S)
    (trial,) = rig.ended
    assert (trial.number, trial.state, trial.name) == (number, "done", "rows")
    assert (trial.before_per_s, trial.after_per_s) == (pytest.approx(1000), pytest.approx(4000))
    assert (trial.gain, trial.doubt) == (pytest.approx(3.0), pytest.approx(0.0))
    assert trial.seconds == pytest.approx(LEAST_PAIRS * BLOCK_S, abs=LEAST_PAIRS * TICK_S)
    assert rig.settings.show(TIMEOUT) == "4"
    assert rig.settings.pinned_s == 0.004
    assert 0.3 < rig.heeded[20:].count(0.002) / len(rig.heeded[20:]) < 0.7


def test_a_coin_decides_the_order_of_each_pair():
    orders = set()
    for seed in range(8):
        rig = Rig(seed)
        rig.rates[0.004] = 1000
        rig.change("4")
        rig.go(SURE_S)
        orders.add(tuple(rig.heeded))
    assert len(orders) > 4


def test_what_was_set_is_shown_all_the_time():
    rig = Rig()
    rig.rates[0.004] = 1000
    rig.change("4")
    for _ in range(40):
        rig.go(TICK_S)
        assert rig.settings.show(TIMEOUT) == "4"


def test_a_slow_drift_is_in_the_interval_and_no_gain():
    """A machine that becomes faster by 1 % a second: windows before and after would call that a gain of a tenth."""
    gains = []
    for seed in range(20):
        rig = Rig(seed)
        rig.go(1)
        rig.change("4")
        while not rig.ended:
            speed = int(1000 * (1 + 0.01 * rig.now_s))
            rig.rates = {0.002: speed, 0.004: speed}
            rig.go(TICK_S)
        gains.append((rig.ended[0].gain, rig.ended[0].doubt))
    assert sum(abs(gain) > doubt for gain, doubt in gains) <= 3
    assert max(abs(gain) for gain, _ in gains) < 0.05


@pytest.mark.parametrize(("gain", "least", "most"), [(0.0, 0, 6), (0.2, 36, 45)])
def test_a_fifth_is_told_from_nothing_where_blocks_differ_by_15_percent(gain, least, most):
    """Of 45 trials: a twentieth is told where there is no gain, four in five where there is one."""
    told = 0
    for seed in range(45):
        rig, noise, load = Rig(seed), random.Random(1000 + seed), 1.0
        rig.change("4")
        while not rig.ended:
            if round(rig.now_s / TICK_S) % 5 == 0:
                load = noise.gauss(1.0, 0.15)
            rig.rates = {0.002: 1000 * load, 0.004: 1000 * load * (1 + gain)}
            rig.go(TICK_S)
        told += abs(rig.ended[0].gain) > rig.ended[0].doubt
    assert least <= told <= most


def test_keys_held_down_are_one_trial_from_the_first_value_to_the_last():
    rig = Rig()
    rig.rates |= {0.004: 5, 0.008: 2000}
    rig.go(5)
    first = rig.change("4")
    rig.go(3)
    assert rig.change("8") == first
    rig.go(SURE_S)
    (trial,) = rig.ended
    assert trial.change == "timeout 2 -> 8 ms"
    assert trial.gain == pytest.approx(1.0)


def test_a_change_taken_back_was_no_change():
    rig = Rig()
    rig.go(5)
    rig.change("4")
    rig.go(3)
    rig.change("2")
    assert [(trial.state, trial.change) for trial in rig.ended] == [("void", "timeout 2 -> 2 ms")]
    assert rig.trials.all() == rig.ended
    assert rig.settings.pinned_s == 0.002
    assert not rig.settings.is_tried


def test_blocks_wait_until_the_run_has_settled():
    rig = Rig()
    rig.rates[0.004] = 2000
    rig.change("4")
    rig.go(20, is_settled=False)
    assert rig.ended == []
    rig.go(SURE_S + SETTLE_S)
    assert rig.ended[0].gain == pytest.approx(1.0)


def test_a_noisy_trial_takes_no_longer_than_a_minute():
    rig, draw = Rig(), random.Random(3)
    rig.change("4")
    while not rig.ended:
        rig.rates = dict.fromkeys((0.002, 0.004), draw.randrange(500, 1500))
        rig.go(TICK_S)
    assert rig.now_s <= MOST_S
    assert rig.ended[0].state == "done"


def test_a_run_that_stood_still_has_nothing_to_compare_with():
    rig = Rig()
    rig.rates = {0.004: 1000}
    rig.change("4")
    rig.go(MOST_S)
    assert [trial.state for trial in rig.ended] == ["void"]


def test_workers_do_not_come_and_go_for_a_trial():
    """The time before is compared with as much time after, once the run has settled."""
    rig = Rig()
    rig.go(40)
    rig.change("3", WORKERS)
    rig.go(20, is_settled=False)
    rig.rates = {0.002: 1500}
    rig.go(LASTING_SETTLE_S + WINDOW_BLOCKS * WINDOW_BLOCK_S + 2)
    (trial,) = rig.ended
    assert (trial.before_per_s, trial.gain) == (pytest.approx(1000), pytest.approx(0.5))
    assert trial.seconds == pytest.approx(WINDOW_BLOCKS * WINDOW_BLOCK_S, abs=2)
    assert rig.settings.workers == 3


def test_a_lasting_change_of_a_young_run_has_nothing_to_compare_with():
    rig = Rig()
    rig.go(WINDOW_BLOCK_S)
    rig.change("3", WORKERS)
    assert [trial.state for trial in rig.ended] == ["void"]


def test_the_time_before_leaves_out_what_was_unsettled():
    """Workers that were still on their way must not make a change look like a gain."""
    rig = Rig()
    rig.go(10)
    rig.rates = {0.002: 8}
    rig.go(4, is_settled=False)
    rig.rates = {0.002: 2000}
    rig.go(10)
    rig.change("3", WORKERS)
    rig.go(20)
    assert (rig.ended[0].before_per_s, rig.ended[0].gain) == (pytest.approx(2000), pytest.approx(0.0))


def test_who_waits_for_a_trial_is_told_once_and_who_comes_late_at_once():
    rig = Rig()
    rig.rates[0.004] = 1000
    number = rig.change("4")
    told, late = [], []
    rig.trials.when_ended(number, told.append)
    rig.trials.when_ended(number, late.append)
    rig.trials.forget(late.append)
    rig.trials.forget(late.append)
    rig.go(SURE_S)
    assert (told, late) == (rig.ended, [])
    rig.trials.when_ended(number, late.append)
    assert late == rig.ended
    assert rig.trials.is_known(number)
    assert not rig.trials.is_known(number + 1)


def test_only_the_latest_trials_are_kept():
    rig = Rig()
    for turn in range(50):
        rig.change(str(3 + turn), WORKERS)
    assert len(rig.trials.all()) == 20


def test_gauges_keep_enough_to_compare():
    gauge = gauge_of(60, lambda at_s: figures(int(at_s)))
    assert gauge.last.at_s - gauge.since(1e9)[0].at_s > WINDOW_BLOCKS * WINDOW_BLOCK_S
