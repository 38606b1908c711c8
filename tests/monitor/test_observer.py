"""What is shown of a made-up run: its state, its budget, its settings; and that stopping wakes it first."""

import pytest
from samples import batches, figures, settings, worker

from asyncplay.monitor.gauge import TICK_S
from asyncplay.monitor.log_tail import LogTail
from asyncplay.monitor.monitor import Monitor
from asyncplay.monitor.observer import Subject
from asyncplay.monitor.trial import MOST_S


class Rig:
    """A run of 1,000 rows/s and 10 games/s, on a clock that the test moves."""

    def __init__(self, *, units_wanted: int = 0, budget_s: float = 0.0, begin_s: float = 100.0) -> None:
        self.now_s, self.states = begin_s, ("ready", "ready")
        self.stops: list[bool] = []
        self.notes: list[tuple[str, str]] = []
        self.settings = settings(timeout_ms=2)
        subject = Subject("kuhn", "runs/kuhn", self.figures, self.settings, units_wanted, budget_s)
        self.monitor = Monitor(
            subject,
            LogTail(),
            clock=lambda: self.now_s,
            stop=lambda: self.stops.append(self.settings.is_paused),
            checkpoint=lambda: None,
            note=lambda kind, text, data: self.notes.append((kind, text)),
        )

    def figures(self):
        rows = int(1000 * (self.now_s - 100))
        crew = tuple(worker(number, rows=rows // 2, state=state) for number, state in enumerate(self.states))
        stats = batches(max(rows, 1), 10, [0.002], device_s=0.0)
        return figures(rows, units=rows // 100, workers=crew, parts=(stats,))

    def go(self, seconds: float) -> None:
        for _ in range(round(seconds / TICK_S)):
            self.now_s += TICK_S
            self.monitor.observer.sample()


async def test_a_run_is_shown_even_before_the_first_look():
    shot = await Rig().monitor.look()
    assert (shot.state, shot.throughput.total, shot.verdict.bound) == ("starting", 0, "starting")
    assert (shot.title, shot.folder) == ("kuhn", "runs/kuhn")


async def test_rates_and_settings_are_shown():
    rig = Rig()
    rig.go(10)
    shot = await rig.monitor.look()
    assert (shot.state, shot.elapsed_s) == ("running", 10.0)
    assert shot.throughput.per_s == pytest.approx(1000)
    assert shot.throughput.units_per_min == pytest.approx(600)
    assert [each.rows_per_s for each in shot.workers] == [pytest.approx(500)] * 2
    assert [(each.key, each.value) for each in shot.tunables] == [
        ("batch.timeout_ms", "2"),
        ("batch.max_rows", "1024"),
        ("pool.workers", "2"),
        ("pause", "off"),
    ]
    assert shot.budget is None


@pytest.mark.parametrize(
    ("units_wanted", "budget_s", "unit", "eta_s"),
    [(1000, 0.0, "games", 90.0), (0, 60.0, "s", 50.0), (1000, 60.0, "s", 50.0), (200, 60.0, "games", 10.0)],
)
async def test_the_budget_that_ends_the_run_first_is_shown(units_wanted, budget_s, unit, eta_s):
    rig = Rig(units_wanted=units_wanted, budget_s=budget_s)
    rig.go(10)
    budget = (await rig.monitor.look()).budget
    assert (budget.unit, budget.eta_s) == (unit, pytest.approx(eta_s))


async def test_a_resumed_run_is_foretold_by_what_it_does_now():
    rig = Rig(units_wanted=1000, begin_s=150.0)  # 500 games were there before
    rig.go(10)
    budget = (await rig.monitor.look()).budget
    assert (budget.done, budget.eta_s) == (600, pytest.approx(40.0))


async def test_a_budget_of_games_cannot_be_foretold_before_the_first_game():
    shot = await Rig(units_wanted=1000).monitor.look()
    assert shot.budget is not None
    assert shot.budget.eta_s is None


async def test_a_trial_is_shown_logged_and_kept():
    rig = Rig()
    rig.go(10)
    await rig.monitor.do("set", "batch.timeout_ms=4")
    assert (await rig.monitor.look()).trials == ("timeout 2 -> 4 ms: measuring, 60 s left at most",)
    rig.go(MOST_S)
    (told,) = (await rig.monitor.look()).trials
    assert told.startswith("timeout 2 -> 4 ms: +0.0 % rows/s (+-")
    assert rig.notes == [("trial", told)]


async def test_a_trial_waits_for_workers_on_their_way_and_for_the_end_of_a_pause():
    rig = Rig()
    rig.go(10)
    rig.states = ("ready", "starting")
    await rig.monitor.do("set", "pool.workers=3")
    rig.go(20)
    rig.states = ("ready", "ready")
    await rig.monitor.do("pause")
    rig.go(20)
    assert rig.notes == []
    await rig.monitor.do("pause")
    rig.go(MOST_S)
    assert len(rig.notes) == 1


async def test_a_paused_run_goes_on_when_it_is_stopped():
    rig = Rig()
    rig.go(1)
    await rig.monitor.do("pause")
    assert (await rig.monitor.look()).state == "paused"
    await rig.monitor.do("stop")
    assert rig.stops == [False]
    assert (await rig.monitor.look()).state == "stopping"
