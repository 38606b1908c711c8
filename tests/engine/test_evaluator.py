"""The queue in front of the device, driven by hand: no loop, no thread, no real time."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asyncplay.config.live import LiveSettings
from asyncplay.config.sections import DeviceSettings
from asyncplay.engine.evaluator import Endpoint, Evaluator
from asyncplay.engine.firing import Arm
from asyncplay.engine.lane import Task
from asyncplay.engine.thinkers import Thinkers
from asyncplay.errors import WireError
from asyncplay.model.backends.sim import SimBackend
from asyncplay.payloads import Estimates, Positions
from asyncplay.wire.checksum import sim_answers
from asyncplay.wire.messages import Answer, Ask

FEATURES, ACTIONS, PLAYERS = 16, 6, 2
FIXED_S, PER_ROW_S = 0.001, 0.00001
FOR_EVER_S = 1000.0
MB = 1 << 20


class Clock:
    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s

    def pass_s(self, seconds: float) -> None:
        self.now_s += seconds


class FixedTuner:
    """Knows what a batch costs and never changes its mind."""

    def __init__(self, arm: Arm) -> None:
        self.arm, self.fixed_s, self.per_row_s = arm, FIXED_S, PER_ROW_S
        self.resets, self.seen, self.pinned = 0, [], []

    def reset(self) -> None:
        self.resets += 1

    def measured(self, rows: int, service_s: float) -> None:
        self.pinned.append((rows, service_s))

    def completed(self, now_s: float, rows: int, service_s: float) -> None:
        self.seen.append((now_s, rows, service_s))


class Device:
    """Answers the checksum of the rows, and remembers the batches it was given."""

    def __init__(self) -> None:
        self.version = 0
        self.batches: list[Positions] = []

    def launch(self, positions: Positions) -> Callable[[], Estimates]:
        self.batches.append(positions)
        answers = Estimates(*sim_answers(positions.features, positions.offsets, PLAYERS), self.version)
        return lambda: answers

    @property
    def sizes(self) -> list[int]:
        return [len(batch.features) for batch in self.batches]


@dataclass
class HandLane:
    """Stands in for the lane: starts and lands a task when the test says so, in order of launch."""

    clock: Clock
    source: Any = None
    in_flight: list[tuple[Task, Any]] = field(default_factory=list)
    wakes: int = 0
    used_s: float = 0.0
    host_s: float = 0.0

    def attach(self, source: Any, *, share: float) -> None:
        self.source = source

    def wake(self) -> None:
        self.wakes += 1

    def now_s(self) -> float:
        return self.clock()

    @property
    def last_finish_s(self) -> float:
        return self.clock()

    def busy_s(self, source: Any) -> float:
        return self.used_s

    @property
    def all_busy_s(self) -> float:
        return self.used_s + 7.0  # a learner has had seven seconds

    def due_in_s(self) -> float:
        return self.source.due_in_s(self.clock(), len(self.in_flight))

    def start(self) -> None:
        task = self.source.start(self.clock())
        self.in_flight.append((task, task.launch()))

    def land(self, service_s: float = 0.002) -> Callable[[], None]:
        """Finish the oldest task; what is returned delivers its answers."""
        task, finish = self.in_flight.pop(0)
        result = finish()
        self.used_s += service_s
        task.landed(result, service_s)
        return lambda: task.deliver(result)

    def turn(self) -> None:
        self.start()
        self.land()()

    def turn_while_due(self) -> None:
        while self.due_in_s() == 0.0:
            self.turn()


class Bench:
    """An evaluator with everything around it in the test's hands."""

    def __init__(
        self, *, arm=Arm.NONE, max_rows=64, timeout_ms=None, max_queued_rows=1000, max_queued_bytes=MB, depth=1
    ) -> None:
        self.clock, self.device, self.tuner = Clock(), Device(), FixedTuner(arm)
        self.lane = HandLane(self.clock)
        self.settings = LiveSettings(timeout_ms=timeout_ms, max_rows=max_rows)
        self.thinkers = Thinkers(0, 0.0)
        self.full_calls: list[bool] = []
        self.answers: list[tuple[int, Answer]] = []
        self.evaluator = Evaluator(
            self.settings,
            self.tuner,
            self.lane,
            hard_cap_s=0.05,
            max_queued_rows=max_queued_rows,
            max_queued_bytes=max_queued_bytes,
            depth=depth,
            thinkers=lambda now_s: self.thinkers,
            on_full=self.full_calls.append,
        )
        self.evaluator.serve(0, Endpoint(FEATURES, ACTIONS, self.device.launch))

    def submit(self, question: Ask, owner: int = 0) -> Ask:
        self.evaluator.submit(owner, question, lambda answer: self.answers.append((owner, answer)), self.clock())
        return question

    def ask(self, rows: int, owner: int = 0, **more: int) -> Ask:
        return self.submit(ask(rows, **more), owner)

    @property
    def tickets(self) -> list[int]:
        return [answer.ticket for _, answer in self.answers]


_random = np.random.default_rng(5)
_tickets = iter(range(1, 1 << 40))


def ask(rows: int, *, model: int = 0, slots: int = 0) -> Ask:
    """Random rows, each with one to all of the actions."""
    counts = _random.integers(1, ACTIONS + 1, rows)
    legal = [np.sort(_random.permutation(ACTIONS)[:count]) for count in counts]
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    features = _random.integers(0, 256, (rows, FEATURES), np.uint8)
    actions = np.concatenate(legal).astype(np.int32) if rows else np.empty(0, np.int32)
    return Ask(next(_tickets), model, slots or max(rows, 1), 0, features, actions, offsets)


def check_answer(question: Ask, answer: Answer) -> None:
    priors, values = sim_answers(question.features, question.offsets, PLAYERS)
    assert answer.ticket == question.ticket
    np.testing.assert_array_equal(answer.priors, priors)
    np.testing.assert_array_equal(answer.values, values)


def test_rows_go_out_in_the_order_of_their_arrival():
    bench = Bench(max_rows=7)
    asks = [bench.ask(rows, owner) for owner, rows in enumerate((3, 9, 1, 5, 2))]
    bench.lane.turn_while_due()

    assert bench.device.sizes == [7, 7, 6]
    sent = np.concatenate([batch.features for batch in bench.device.batches])
    np.testing.assert_array_equal(sent, np.concatenate([question.features for question in asks]))
    legal = np.concatenate([batch.legal for batch in bench.device.batches])
    np.testing.assert_array_equal(legal, np.concatenate([question.legal for question in asks]))


def test_a_batch_is_laid_out_as_one_block_of_positions():
    bench = Bench()
    asks = [bench.ask(3), bench.ask(2)]
    bench.lane.turn()

    (batch,) = bench.device.batches
    widths = np.concatenate([np.diff(question.offsets) for question in asks])
    assert batch.offsets.dtype == np.int32
    np.testing.assert_array_equal(batch.offsets, np.concatenate([[0], np.cumsum(widths)]))


def test_answers_to_mixed_requests_belong_to_their_rows():
    bench = Bench()
    asks = [bench.ask(rows, owner) for owner, rows in enumerate((1, 4, 2, 8))]
    bench.lane.turn()

    assert [owner for owner, _ in bench.answers] == [0, 1, 2, 3]
    for question, (_, answer) in zip(asks, bench.answers, strict=True):
        check_answer(question, answer)


def test_a_request_larger_than_a_batch_is_cut_and_answered_once_and_whole():
    bench = Bench(max_rows=10)
    big, small = bench.ask(25, owner=1), bench.ask(1, owner=2)
    bench.lane.turn()
    bench.lane.turn()
    assert bench.answers == []

    bench.lane.turn()
    assert bench.device.sizes == [10, 10, 6]
    assert bench.tickets == [big.ticket, small.ticket]
    check_answer(big, bench.answers[0][1])
    check_answer(small, bench.answers[1][1])


def test_a_cut_answer_carries_the_oldest_version_that_took_part():
    bench = Bench(max_rows=10)
    bench.device.version = 4
    question = bench.ask(15)
    bench.lane.turn()
    bench.device.version = 5
    bench.lane.turn()

    assert [answer.version for _, answer in bench.answers] == [4]
    check_answer(question, bench.answers[0][1])


def test_the_simulated_device_answers_after_its_time_and_what_was_asked():
    bench, slept = Bench(), []
    speed = DeviceSettings(sim_device_ms=0.6, sim_host_ms=0.0, sim_rows_per_s=300_000)
    backend = SimBackend(speed, PLAYERS, clock=bench.clock, sleep=slept.append)
    bench.evaluator.serve(0, Endpoint(FEATURES, ACTIONS, backend.launch))
    asks = [bench.ask(20), bench.ask(10)]
    bench.lane.turn()

    assert slept == [pytest.approx(0.0006 + 30 / 300_000)]
    for question, (_, answer) in zip(asks, bench.answers, strict=True):
        check_answer(question, answer)


def test_a_batch_asks_only_one_model_and_the_longest_waiting_goes_first():
    bench, other = Bench(), Device()
    bench.evaluator.serve(3, Endpoint(FEATURES, ACTIONS, other.launch))
    for rows, model in ((2, 3), (4, 0), (1, 3), (5, 0)):
        bench.ask(rows, model=model)
        bench.clock.pass_s(0.001)
    bench.lane.turn_while_due()

    assert other.sizes == [3]
    assert bench.device.sizes == [9]
    assert len(bench.answers) == 4
    assert [answer.values.shape[0] for _, answer in bench.answers] == [2, 1, 4, 5]


def test_a_replaced_endpoint_answers_from_the_next_batch_on():
    bench, successor = Bench(), Device()
    bench.ask(1)
    bench.lane.start()
    bench.evaluator.serve(0, Endpoint(FEATURES, ACTIONS, successor.launch))
    bench.lane.land()()
    bench.ask(2)
    bench.lane.turn()

    assert (bench.device.sizes, successor.sizes) == ([1], [2])


def test_the_rows_of_a_dead_worker_are_dropped_and_its_reply_is_never_called():
    bench = Bench()
    dead, alive = bench.ask(5, owner=1), bench.ask(3, owner=2)
    bench.ask(4, owner=1)
    bench.evaluator.forget(1)
    assert bench.evaluator.stats().queued_rows == 3

    bench.lane.turn_while_due()
    assert bench.device.sizes == [3]
    assert bench.tickets == [alive.ticket]
    assert dead.ticket not in bench.tickets


def test_a_worker_that_dies_halfway_through_its_request_gets_nothing_and_leaves_nothing():
    bench = Bench(max_rows=10)
    bench.ask(25, owner=1)
    bench.lane.start()
    bench.evaluator.forget(1)
    bench.lane.land()()

    assert bench.answers == []
    assert bench.evaluator.stats().queued_rows == 0
    assert bench.lane.due_in_s() == math.inf


def test_forgetting_a_stranger_changes_nothing():
    bench = Bench()
    bench.evaluator.forget(9)
    bench.ask(5, owner=1)
    bench.evaluator.forget(9)
    assert bench.evaluator.stats().queued_rows == 5


def test_an_empty_queue_is_never_due():
    assert Bench().lane.due_in_s() == math.inf


def test_a_busy_device_is_not_asked_for_more_than_its_depth():
    bench = Bench()
    bench.ask(64)
    bench.lane.start()
    bench.ask(64)
    assert bench.lane.due_in_s() == math.inf
    bench.lane.land()
    assert bench.lane.due_in_s() == 0.0


def test_the_second_of_two_batches_leaves_twice_as_early_as_a_launch_takes_before_the_first_is_done():
    """100 rows take 1 ms + 100 * 10 us, a launch .4 ms; the next batch shall leave .8 ms earlier."""
    bench = Bench(depth=2, max_rows=100)
    bench.lane.host_s = 0.0004
    bench.ask(100)
    bench.lane.start()
    bench.ask(10)
    assert bench.lane.due_in_s() == pytest.approx(0.0012)
    bench.clock.pass_s(0.0012)
    assert bench.lane.due_in_s() == 0.0
    bench.lane.start()
    bench.ask(10)
    assert bench.lane.due_in_s() == math.inf


def test_a_pinned_batch_goes_when_it_is_full_or_its_time_is_over_whoever_thinks():
    bench = Bench(timeout_ms=5, max_rows=10)
    bench.ask(3)
    assert bench.lane.due_in_s() == pytest.approx(0.005)
    bench.clock.pass_s(0.003)
    bench.ask(3)
    assert bench.lane.due_in_s() == pytest.approx(0.002)  # the oldest row's time counts
    bench.thinkers = Thinkers(50, FOR_EVER_S)
    assert bench.lane.due_in_s() == pytest.approx(0.002)
    bench.clock.pass_s(0.002)
    assert bench.lane.due_in_s() == 0.0
    bench.lane.turn()
    assert bench.device.sizes == [6]

    bench.ask(9)
    assert bench.lane.due_in_s() == pytest.approx(0.005)
    bench.ask(1)
    assert bench.lane.due_in_s() == 0.0


@pytest.mark.parametrize("arm", Arm)
def test_auto_fires_at_once_when_nobody_thinks(arm):
    bench = Bench(arm=arm)
    bench.ask(3)
    assert bench.lane.due_in_s() == 0.0


def test_auto_waits_for_thinkers_as_its_arm_says_and_no_longer_than_they_live():
    bench = Bench(arm=Arm.ALL)
    bench.thinkers = Thinkers(4, 0.5)
    bench.ask(2)
    assert bench.lane.due_in_s() == pytest.approx(4 * FIXED_S)
    bench.thinkers = Thinkers(4, 0.0007)
    assert bench.lane.due_in_s() == pytest.approx(0.0007)
    bench.thinkers = Thinkers(200, FOR_EVER_S)
    assert bench.lane.due_in_s() == pytest.approx(0.05)  # the hard cap


def test_waiting_is_counted_in_rows_times_seconds_since_the_device_fell_idle():
    """INTEGRAL: 4 ms in all; 2 rows for 1 ms and 6 for .25 ms leave .5 ms, shared by 6 rows."""
    bench = Bench(arm=Arm.INTEGRAL)
    bench.thinkers = Thinkers(9, FOR_EVER_S)
    bench.ask(2)
    assert bench.lane.due_in_s() == pytest.approx(0.004 / 2)
    bench.clock.pass_s(0.001)
    bench.ask(4)
    bench.clock.pass_s(0.00025)
    assert bench.lane.due_in_s() == pytest.approx(0.0005 / 6)


def test_slots_whose_answer_is_not_on_its_way_yet_still_count_as_thinking():
    """Between landing and delivery nobody else knows that they are about to think."""
    bench = Bench(arm=Arm.ALL)
    bench.ask(8, slots=8)
    bench.lane.start()
    bench.ask(1)
    deliver = bench.lane.land()
    assert bench.lane.due_in_s() == pytest.approx(8 * FIXED_S)
    deliver()
    assert bench.lane.due_in_s() == 0.0


def test_half_of_a_crowd_goes_first():
    bench = Bench(arm=Arm.HALF)
    for _ in range(10):
        bench.ask(1)
    bench.lane.turn_while_due()
    assert bench.device.sizes == [5, 3, 1, 1]


def test_a_changed_timeout_counts_from_the_next_question_and_auto_comes_back():
    bench = Bench(arm=Arm.ALL)
    bench.thinkers = Thinkers(3, FOR_EVER_S)
    bench.ask(1)
    wakes = bench.lane.wakes
    assert bench.lane.due_in_s() == pytest.approx(0.003)

    bench.settings.change("batch.timeout_ms", "20")
    assert bench.lane.due_in_s() == pytest.approx(0.020)
    assert bench.evaluator.stats().linger == "pinned"
    bench.settings.change("batch.timeout_ms", "0")
    assert bench.lane.due_in_s() == 0.0
    bench.settings.change("batch.timeout_ms", "auto")
    assert bench.lane.due_in_s() == pytest.approx(0.003)
    assert bench.evaluator.stats().linger == "all"
    assert (bench.lane.wakes - wakes, bench.tuner.resets) == (3, 3)


def test_a_changed_batch_size_counts_from_the_next_batch_on():
    bench = Bench(timeout_ms=10_000, max_rows=64)
    bench.ask(9)
    assert bench.lane.due_in_s() == pytest.approx(10.0)
    bench.settings.change("batch.max_rows", "4")
    bench.lane.turn_while_due()
    assert bench.device.sizes == [4, 4]
    assert bench.lane.due_in_s() == pytest.approx(10.0)


def test_a_full_queue_says_so_once_and_is_relieved_at_half():
    bench = Bench(max_queued_rows=10, max_rows=1)
    bench.ask(6)
    bench.ask(4)
    assert bench.full_calls == []
    bench.ask(1)
    bench.ask(5)
    assert bench.full_calls == [True]
    for _ in range(10):
        bench.lane.turn()
    assert (bench.full_calls, bench.evaluator.stats().queued_rows) == ([True], 6)
    bench.lane.turn()
    assert (bench.full_calls, bench.evaluator.stats().queued_rows) == ([True, False], 5)
    bench.ask(5)
    assert bench.full_calls == [True, False]
    bench.ask(1)
    assert bench.full_calls == [True, False, True]


def test_a_queue_with_too_many_bytes_says_so_and_is_relieved_when_half_of_them_are_in_batches():
    """A request is held until its last row is in a batch."""
    bench = Bench(max_rows=2, max_queued_bytes=4000)
    asks = [bench.submit(ask(4)) for _ in range(3)]
    each = [one.features.nbytes + one.legal.nbytes + one.offsets.nbytes for one in asks]
    assert (bench.full_calls, bench.evaluator.stats().queued_mb * MB) == ([], sum(each))
    bench = Bench(max_rows=2, max_queued_bytes=sum(each) - 1)
    for one in asks:
        bench.submit(one)
    assert bench.full_calls == [True]
    for _ in range(3):
        bench.lane.turn()
    assert bench.full_calls == [True]
    bench.lane.turn()
    assert bench.full_calls == [True, False]
    assert bench.evaluator.stats().queued_mb * MB == each[2]


def test_nobody_is_waited_for_while_nobody_is_read_from():
    """Else a full queue would wait for workers that cannot be heard, in lockstep for ever."""
    bench = Bench(arm=Arm.ALL, max_queued_bytes=100)
    bench.thinkers = Thinkers(4, FOR_EVER_S)
    bench.ask(8)
    assert bench.full_calls == [True]
    assert bench.lane.due_in_s() == 0.0


def test_answers_that_a_cache_had_no_room_for_are_counted():
    bench = Bench()
    for uncached in (3, 0, 4):
        bench.submit(replace(ask(1), uncached=uncached))
    assert bench.evaluator.stats().uncached_rows == 7


def test_the_death_of_who_filled_the_queue_relieves_it():
    bench = Bench(max_queued_rows=10)
    bench.ask(2, owner=1)
    bench.ask(30, owner=2)
    bench.evaluator.forget(2)
    assert bench.full_calls == [True, False]


def broken(**changes: Any) -> Ask:
    return replace(ask(2), **changes)


def with_action(action: int) -> Ask:
    return broken(legal=np.array([0, action], np.int32), offsets=np.array([0, 1, 2], np.int32))


def flooded() -> Ask:
    """Two rows with more actions than there are."""
    return broken(legal=np.zeros(13, np.int32), offsets=np.array([0, 12, 13], np.int32))


@pytest.mark.parametrize(
    ("question", "complaint"),
    [
        (broken(model=7), "an ask for model 7, which nobody serves"),
        (broken(features=np.zeros((2, 15), np.uint8)), "an ask of shape (2, 15), wanted rows of 16 features"),
        (broken(features=np.zeros((2, 0), np.uint8)), "an ask of shape (2, 0), wanted rows of 16 features"),
        (ask(0), "an ask of shape (0, 16), wanted rows of 16 features"),
        (broken(features=np.zeros((2, 16), np.float32)), "an ask with features of float32, wanted uint8"),
        (flooded(), "an ask for 13 actions, 6 for each row are all that there are"),
        (with_action(6), "an ask for an action outside the 6 that there are"),
        (with_action(-1), "an ask for an action outside the 6 that there are"),
        (with_action(-(2**31)), "an ask for an action outside the 6 that there are"),
        (with_action(2**31 - 1), "an ask for an action outside the 6 that there are"),
    ],
)
def test_rows_that_no_model_takes_are_refused_and_leave_no_trace(question, complaint):
    bench = Bench()
    with pytest.raises(WireError) as caught:
        bench.submit(question)
    assert str(caught.value) == complaint
    assert bench.evaluator.stats().queued_rows == 0
    assert bench.lane.due_in_s() == math.inf


def test_the_highest_action_is_taken():
    bench = Bench()
    bench.submit(with_action(5))
    bench.lane.turn()
    assert len(bench.answers) == 1


def test_statistics_count_rows_batches_waits_and_device_seconds():
    bench = Bench(max_rows=4)
    bench.ask(6)
    bench.clock.pass_s(0.010)
    bench.ask(3)
    for _ in range(3):
        bench.lane.turn()
    stats = bench.evaluator.stats()

    assert (stats.rows, stats.batches, stats.queued_rows) == (9, 3, 0)
    assert stats.device_s == pytest.approx(0.006)
    assert stats.batch_rows.quantile(1.0) == pytest.approx(4.0)
    assert 0.010 <= stats.wait_s.quantile(1.0) <= 0.012
    assert (stats.fixed_s, stats.per_row_s, stats.linger) == (FIXED_S, PER_ROW_S, "none")


def test_the_tuner_sees_a_clock_that_stands_still_while_others_use_the_device():
    bench = Bench()
    bench.ask(6)
    bench.lane.turn()
    assert bench.tuner.seen == [(pytest.approx(100.0 - 7.0), 6, 0.002)]


submits = st.tuples(st.just("submit"), st.integers(0, 3), st.integers(0, 1), st.integers(1, 20))
steps = st.one_of(submits, submits, st.just(("start",)), st.just(("land",)))


@given(st.lists(steps, max_size=60), st.integers(1, 16), st.sampled_from(Arm), st.sampled_from([1, 2]))
def test_any_interleaving_answers_every_row_exactly_once_and_each_owner_in_order(script, max_rows, arm, depth):
    bench, other = Bench(max_rows=max_rows, arm=arm, depth=depth), Device()
    bench.evaluator.serve(1, Endpoint(FEATURES, ACTIONS, other.launch))
    asked: dict[tuple[int, int], list[Ask]] = {}
    for step, *details in script:
        bench.clock.pass_s(0.0001)
        if step == "submit":
            owner, model, rows = details
            asked.setdefault((owner, model), []).append(bench.ask(rows, owner, model=model))
        elif step == "start" and len(bench.lane.in_flight) < depth and bench.evaluator.stats().queued_rows:
            bench.lane.start()
        elif step == "land" and bench.lane.in_flight:
            bench.lane.land()()
    while bench.lane.in_flight:
        bench.lane.land()()
    while bench.evaluator.stats().queued_rows:
        bench.lane.turn()

    for (owner, _), asks in asked.items():
        tickets = {question.ticket: question for question in asks}
        mine = [answer for who, answer in bench.answers if who == owner and answer.ticket in tickets]
        assert [answer.ticket for answer in mine] == list(tickets)
        for answer in mine:
            check_answer(tickets[answer.ticket], answer)
    n_rows = sum(len(question.features) for asks in asked.values() for question in asks)
    assert sum(bench.device.sizes) + sum(other.sizes) == n_rows == bench.evaluator.stats().rows
    assert len(bench.answers) == sum(map(len, asked.values()))
    assert max(bench.device.sizes + other.sizes, default=0) <= max_rows


@pytest.mark.parametrize("wild", [np.nan, np.inf, -np.inf, 3e38, 101])
def test_a_feature_that_no_encoding_gives_is_refused(wild):
    bench = Bench()
    bench.evaluator.serve(0, Endpoint(FEATURES, ACTIONS, bench.device.launch, dtype=np.float32))
    features = np.ones((2, FEATURES), np.float32)
    bench.evaluator.submit(0, broken(features=features.copy()), lambda answer: None, 0.0)
    features[1, 3] = wild
    with pytest.raises(WireError, match="a feature that is no number from -100 to 100"):
        bench.evaluator.submit(0, broken(features=features), lambda answer: None, 0.0)


def test_batches_of_a_pinned_timeout_teach_the_tuner_no_arms_and_a_trial_does_not_reset_it():
    """They were gathered by a timer: as windows of an arm they would tell lies about it."""
    bench = Bench(timeout_ms=0.0)
    bench.ask(4)
    bench.lane.turn()
    assert (bench.tuner.seen, bench.tuner.pinned) == ([], [(4, 0.002)])
    before = bench.tuner.resets
    bench.settings.pretend({})
    bench.settings.pretend({"batch.timeout_ms": "auto"})
    bench.ask(4)
    bench.lane.turn()
    assert (len(bench.tuner.seen), bench.tuner.resets) == (1, before)
    bench.settings.pretend(None)
    assert bench.tuner.resets == before + 1
