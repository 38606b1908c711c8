"""What is named as the bottleneck, figure by figure, and what hides what."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from asyncplay.monitor.cpu import Usage
from asyncplay.monitor.verdict import Strain, judge

CROWDED = Usage(cores=2, own=0.8, foreign=1.2, waiting=1.6)
ALONE = Usage(cores=2, own=1.9, foreign=0.05, waiting=0.3)
SPARE = Usage(cores=2, own=0.3, foreign=0.1, waiting=0.0)


@pytest.mark.parametrize(
    ("strain", "bound", "figure", "cure"),
    [
        (Strain(is_paused=True), "paused", "", "pause=off"),
        (Strain(is_ready=False), "starting", "", ""),
        (Strain(disk_held=0.9, commit_lag_s=2.5), "disk-bound", "disk 90% of the time", "store.durability"),
        (Strain(disk_trouble="no space left"), "disk-bound", "no space left", "play goes on"),
        (Strain(limiter_held=0.8), "limiter-bound", "80% of the time", "learn.samples_per_insert"),
        (Strain(device_share=0.97), "device-bound", "device busy 97% of the time", "net.width"),
        (Strain(device="sim", device_share=0.97), "device-bound", "simulated device busy 97%", "net.width"),
        (Strain(device_share=0.97, training_share=0.7), "device-bound", "70% with training", "samples_per_insert"),
        (Strain(device_share=0.97, fixed_share=0.8), "device-bound", "97%", "more search.games"),
        (Strain(device_share=0.97, fixed_share=0.8, is_cut=True), "device-bound", "97%", "more batch.max_rows"),
        (Strain(device_share=0.4, usage=CROWDED), "oversubscribed", "1.2 of 2 cores, we get 33% of ours", "doctor"),
        (Strain(device_share=0.1, timeout="50", wait_p50_ms=48.0), "timer-bound", "48.0 ms", "batch.timeout_ms=auto"),
        (Strain(device_share=0.2, usage=ALONE), "worker-bound", "20% of the time, the run uses 1.9 of 2", "more cores"),
        (Strain(device_share=0.2, usage=SPARE), "worker-bound", "0.3 of 2 cores", "more pool.workers"),
        (Strain(usage=ALONE), "worker-bound", "the run uses 1.9 of 2 cores", "more cores"),
        (Strain(), "worker-bound", "", "more pool.workers"),
        (
            Strain(device_share=0.6, worker_wait=0.53, usage=Usage(2, 1.5, 0.1, 0.1)),
            "waiting between processes",
            "workers wait 53% of the time, device busy 60% of the time, the run uses 1.5 of 2 cores",
            "batch.timeout_ms=0",
        ),
        (Strain(is_local=True, device_share=0.97, usage=ALONE), "core-bound", "network takes 97%", "net.width"),
        (Strain(is_local=True, device_share=0.3, usage=ALONE), "core-bound", "1.9 of 2 cores", "search.simulations"),
        (
            Strain(is_local=True, device_share=1.2, training_share=0.5, usage=ALONE),
            "core-bound",
            "the network takes 60% of the workers' time",
            "net.width",
        ),
        (Strain(is_local=True, device_share=0.97, usage=CROWDED), "oversubscribed", "1.2 of 2 cores", "doctor"),
        (Strain(is_local=True, device_share=0.97, usage=SPARE), "worker-bound", "0.3 of 2 cores", "pool.workers"),
        (Strain(device_share=0.6, worker_wait=0.53, usage=ALONE), "worker-bound", "1.9 of 2 cores", "more cores"),
        (Strain(device_share=0.6, worker_wait=0.3, usage=SPARE), "worker-bound", "0.3 of 2 cores", "search.games"),
    ],
)
def test_each_bottleneck_is_named_with_its_figure_and_its_cure(strain, bound, figure, cure):
    verdict = judge(strain)
    assert verdict.bound == bound
    assert figure in verdict.figure
    assert cure in verdict.cure


@pytest.mark.parametrize(
    ("below", "at", "bound"),
    [
        (Strain(device_share=0.84), Strain(device_share=0.85), "device-bound"),
        (Strain(device="gpu", device_share=0.84), Strain(device="gpu", device_share=0.85), "device-bound"),
        (Strain(disk_held=0.29), Strain(disk_held=0.3), "disk-bound"),
        (Strain(limiter_held=0.29), Strain(limiter_held=0.3), "limiter-bound"),
        (Strain(usage=Usage(4, 1.0, 0.99, 1.0)), Strain(usage=Usage(4, 1.0, 1.0, 1.0)), "oversubscribed"),
        (Strain(usage=Usage(4, 2.0, 2.0, 0.49)), Strain(usage=Usage(4, 2.0, 2.0, 0.5)), "oversubscribed"),
        (Strain(usage=Usage(4, 0.2, 2.0, 0.29)), Strain(usage=Usage(4, 0.2, 2.0, 0.3)), "oversubscribed"),
        (
            Strain(device_share=0.51, timeout="50", wait_p50_ms=25.0),
            Strain(device_share=0.5, timeout="50", wait_p50_ms=25.0),
            "timer-bound",
        ),
        (
            Strain(device_share=0.5, timeout="50", wait_p50_ms=24.0),
            Strain(device_share=0.5, timeout="50", wait_p50_ms=25.0),
            "timer-bound",
        ),
    ],
)
def test_where_each_verdict_begins(below, at, bound):
    assert (judge(below).bound, judge(at).bound) == ("worker-bound", bound)


def test_where_each_cure_begins():
    busy = Strain(device_share=0.9)
    assert "net.width" in judge(busy._replace(training_share=0.6)).cure
    assert "samples_per_insert" in judge(busy._replace(training_share=0.61)).cure
    assert "net.width" in judge(busy._replace(fixed_share=0.4)).cure
    assert "search.games" in judge(busy._replace(fixed_share=0.41)).cure
    assert "more pool.workers" in judge(Strain(usage=Usage(2, 1.59, 0.0, 0.0))).cure
    assert "more cores" in judge(Strain(usage=Usage(2, 1.61, 0.0, 0.0))).cure


def test_a_slow_disk_hides_the_limiter_and_the_limiter_the_device():
    everything = Strain(disk_held=0.4, limiter_held=1.0, device="sim", device_share=1.0, usage=CROWDED)
    assert judge(everything).bound == "disk-bound"
    assert judge(everything._replace(disk_held=0.1)).bound == "limiter-bound"
    assert judge(everything._replace(disk_held=0.1, limiter_held=0.1)).bound == "device-bound"


def test_others_slow_a_device_on_our_cores_but_not_one_with_its_own():
    crowded = Strain(device_share=0.99, usage=CROWDED)
    assert judge(crowded).bound == "oversubscribed"
    assert judge(crowded._replace(device="gpu")).bound == "device-bound"
    assert judge(crowded._replace(device="gpu", device_share=0.5)).bound == "oversubscribed"


@pytest.mark.parametrize(
    "usage",
    [
        Usage(cores=2, own=0.1, foreign=1.9, waiting=0.1),  # we hardly want a core
        Usage(cores=2, own=0.9, foreign=1.0, waiting=0.1),  # we get what we want
        Usage(cores=8, own=4.0, foreign=1.0, waiting=4.0),  # our own processes stand in each other's way
    ],
)
def test_others_are_blamed_only_where_they_take_what_we_want(usage):
    assert judge(Strain(device_share=0.5, usage=usage)).bound == "worker-bound"


def test_a_pinned_timeout_is_blamed_only_where_queries_wait_for_it():
    assert judge(Strain(device_share=0.1, timeout="50", wait_p50_ms=3.0)).bound == "worker-bound"
    assert judge(Strain(device_share=0.7, timeout="50", wait_p50_ms=48.0)).bound == "worker-bound"
    assert judge(Strain(device_share=0.1, timeout="0", wait_p50_ms=0.0)).bound == "worker-bound"


shares = st.floats(0, 1)


@given(
    st.builds(
        Strain,
        is_paused=st.booleans(),
        is_ready=st.booleans(),
        disk_held=shares,
        limiter_held=shares,
        device=st.sampled_from(["cpu", "gpu", "sim"]),
        device_share=st.none() | shares,
        training_share=shares,
        timeout=st.sampled_from(["auto", "0", "2.5"]),
        usage=st.none() | st.builds(Usage, st.integers(1, 64), *[st.floats(0, 64)] * 3),
    )
)
@example(Strain(disk_trouble="two\nlines"))
def test_there_is_always_a_verdict_in_one_line(strain):
    line = str(judge(strain))
    assert line
    assert "\n" not in line
