"""Rates and shares out of samples of made-up runs."""

from collections import deque
from dataclasses import replace

import pytest
from samples import batches, figures, gauge_of, sample, settings, worker

from asyncplay.engine.figures import StoreFigures
from asyncplay.methods.mccfr.figures import RoundFigures
from asyncplay.methods.selfplay.figures import LearnFigures
from asyncplay.monitor import gauge as parts
from asyncplay.monitor.cpu import Process, Times
from asyncplay.monitor.gauge import KEEP_S, TICK_S, Gauge
from asyncplay.monitor.snapshot import HISTORY


def test_throughput_is_that_of_the_last_seconds():
    gauge = gauge_of(10, lambda at_s: figures(int(100 * at_s if at_s < 5 else 500 + 300 * (at_s - 5)), units=int(at_s)))
    flow = parts.throughput(gauge.since(2.0), gauge.history())
    assert flow.per_s == pytest.approx(300)
    assert flow.units_per_min == pytest.approx(60)
    assert flow.total == 2000
    assert flow.history == pytest.approx((100,) * 5 + (300,) * 5)


def test_the_history_of_a_long_run_stays_short():
    gauge = gauge_of(400, lambda at_s: figures(int(10 * at_s)))
    assert len(gauge.history()) == HISTORY
    assert len(gauge.since(1e9)) == KEEP_S / TICK_S


def test_the_history_is_by_the_second_though_the_clock_is_a_little_early():
    gauge = Gauge()
    for tick in range(41):
        gauge.add(sample(0.999 * TICK_S * tick, figures(10 * tick)))
    assert gauge.history() == pytest.approx((40 / 0.999,) * 10)


def shown_batch(early, late, seconds: float = 2.0, timeout_ms: float | None = None):
    samples = [sample(0.0, figures(parts=(early,))), sample(seconds, figures(parts=(late,)))]
    return parts.parts(samples, settings(timeout_ms))["batch"]


def test_where_no_query_came_lately_the_waits_are_those_of_all():
    stats = batches(640, 10, [0.002] * 50)
    shown = shown_batch(stats, stats)
    assert shown.mean_rows == 0
    assert shown.histogram == ((64, pytest.approx(1.0)),)
    assert 2.0 <= shown.wait_p50_ms <= 2.4


@pytest.mark.parametrize(("rows", "is_cut"), [(921, False), (922, True), (1024, True)])
def test_batches_are_cut_where_they_come_near_the_limit(rows, is_cut):
    """The limit is 1,024 rows."""
    first = sample(0.0, figures(parts=(batches(0, 0, []),)))
    last = sample(4.0, figures(1, parts=(batches(10 * rows, 10, [0.1]),)))
    assert parts.strain([first, last], settings()).is_cut is is_cut


def test_one_sample_is_enough_to_say_something():
    gauge = Gauge()
    gauge.add(sample(0.0, figures(10, parts=(batches(10, 1, [0.1]),))))
    assert parts.throughput(gauge.since(2.0), gauge.history()).per_s == 0.0
    assert parts.parts(gauge.since(2.0), settings())["batch"].mean_rows == 0.0
    assert parts.strain(gauge.since(2.0), settings()).is_ready is False


def test_batches_and_waits_are_those_between_the_samples():
    early = batches(10_000, 10, [1.0] * 50, device_s=3.0)
    late = batches(10_000, 10, [1.0] * 50, device_s=4.0)
    for _ in range(40):
        late.batch_rows.add(64)
        late.wait_s.add(0.002)
    shown = shown_batch(early, replace(late, rows=late.rows + 40 * 64, batches=late.batches + 40))
    assert shown.mean_rows == 64
    assert shown.histogram == ((64, pytest.approx(1.0)),)
    assert 2.0 <= shown.wait_p50_ms <= 2.4
    assert shown.device_share == pytest.approx(0.5)
    assert (shown.fixed_ms, shown.per_row_us, shown.timeout) == (pytest.approx(1.0), pytest.approx(10.0), "auto")


def test_where_rows_came_from_is_told_of_the_last_seconds():
    early = replace(batches(10, 1, [0.1]), asked_rows=100, extra_rows=100, spared_rows=50)
    late = replace(early, asked_rows=300, extra_rows=110, spared_rows=150)
    shown = shown_batch(early, late)
    assert (shown.extra_share, shown.spared_share) == (pytest.approx(10 / 200), pytest.approx(100 / 300))


def test_a_pinned_timeout_is_why_the_linger_is_what_it_is():
    stats = replace(batches(10, 1, [0.1]), linger="pinned")
    shown = shown_batch(stats, stats, timeout_ms=2.5)
    assert (shown.linger, shown.why) == ("pinned", "timeout pinned at 2.5 ms")


def test_workers_have_rates_of_their_own_and_those_sent_away_are_not_shown():
    then = figures(workers=(worker(0, rows=100), worker(1, rows=50), worker(2)))
    now = figures(
        workers=(worker(0, rows=300, units=7), worker(1, rows=60), worker(2, state="left"), worker(3, rows=8))
    )
    shown = parts.workers([sample(0.0, then), sample(2.0, now)], settings())
    assert [(each.number, each.rows_per_s, each.games) for each in shown] == [(0, 100.0, 7), (1, 5.0, 0), (3, 4.0, 0)]


def test_what_a_run_has_not_got_is_not_shown():
    assert parts.parts([sample(0.0, figures()), sample(1.0, figures())], settings()) == {}


def test_steps_have_a_rate_and_utilities_a_mean_by_iteration():
    rounds = RoundFigures(pieces=2, iterations=10, utilities=deque([(-0.05, 30), (-0.01, 10)]))
    samples = [sample(at_s, figures(parts=(LearnFigures(steps=int(5 * at_s)), rounds)).still()) for at_s in (0.0, 2.0)]
    rounds.pieces += 1
    shown = parts.parts(samples, settings())
    assert shown["learn"].steps_per_s == 5.0
    assert (shown["rounds"].pieces, shown["rounds"].utility) == (2, pytest.approx(-0.04))


def test_strain_adds_inference_and_training_up_and_counts_who_held_play():
    def at(at_s: float):
        return figures(
            1 + int(at_s),
            parts=(
                batches(1000, 10, [0.1], device_s=0.5 * at_s),
                LearnFigures(device_s=0.25 * at_s),
                StoreFigures(commit_lag_ms=500.0, trouble="full"),
            ),
            holds=frozenset({"limiter"}) if at_s > 2 else frozenset(),
        )

    strain = parts.strain(gauge_of(4, at).since(4.0), settings())
    assert strain.is_ready
    assert strain.device_share == pytest.approx(0.75)
    assert strain.training_share == pytest.approx(1 / 3)
    assert strain.limiter_held == pytest.approx(8 / 17)
    assert strain.disk_held == 0.0
    assert (strain.disk_trouble, strain.commit_lag_s) == ("full", 0.5)


def test_strain_tells_how_the_cores_were_used():
    before = Times(0.0, 10.0, 2, {1: Process(1.0, 0.0)})
    after = Times(4.0, 18.0, 2, {1: Process(3.0, 2.0)})
    strain = parts.strain([sample(0.0, figures(), before), sample(4.0, figures(9), after)], settings())
    assert strain.usage is not None
    assert (strain.usage.own, strain.usage.foreign, strain.usage.waiting) == (0.5, 1.5, 0.5)
    assert strain.usage.starved == 0.5
