"""What a person may do to a run, and what is refused."""

import pytest
from samples import figures, sample, settings

from asyncplay.errors import ConfigError
from asyncplay.monitor.gauge import TICK_S, Gauge
from asyncplay.monitor.steering import Steering, parse_changes
from asyncplay.monitor.trial import Trials


class Rig:
    def __init__(self) -> None:
        self.settings, self.gauge, self.done = settings(timeout_ms=2), Gauge(), []
        self.trials = Trials(self.gauge, self.settings)
        self.steering = Steering(
            self.settings,
            self.trials,
            clock=lambda: self.gauge.last.at_s,
            checkpoint=lambda: self.done.append("checkpoint"),
            stop=lambda: self.done.append("stop"),
        )
        for tick in range(40):
            self.gauge.add(sample(tick * TICK_S, figures(10 * tick)))


async def test_a_change_is_made_and_opens_a_trial():
    rig = Rig()
    assert (
        await rig.steering.do("set", "batch.timeout_ms=4 batch.max_rows=64") == "timeout 2 -> 4 ms, max rows 1024 -> 64"
    )
    assert (rig.settings.pinned_s, rig.settings.max_rows) == (0.004, 64)
    assert [trial.change for trial in rig.trials.all()] == ["timeout 2 -> 4 ms, max rows 1024 -> 64"]


def test_undo_takes_changes_back_one_by_one():
    rig = Rig()
    rig.steering.act("set", "batch.timeout_ms=4")
    rig.steering.act("set", "batch.timeout_ms=auto pool.workers=3")
    assert rig.steering.act("undo").text == "timeout auto -> 4 ms, workers 3 -> 2"
    assert (rig.settings.show("batch.timeout_ms"), rig.settings.workers) == ("4", 2)
    assert rig.steering.act("undo").text == "timeout 4 -> 2 ms"
    with pytest.raises(ConfigError, match="nothing to undo"):
        rig.steering.act("undo")


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("", "nothing to set; wanted KEY=VALUE"),
        ("batch.timeout_ms", "'batch.timeout_ms' is no KEY=VALUE"),
        ("=4", "'=4' is no KEY=VALUE"),
        ("batch.timeout_ms=", "'batch.timeout_ms=' is no KEY=VALUE"),
        ("batch.timeout_ms=soon", "batch.timeout_ms is 'soon', wanted a number from 0 to 10000 or auto"),
        ("net.blocks=3", "net.blocks cannot be changed in a run; what can: batch.timeout_ms"),
        ("batch.max_rows=7 batch.timeout_ms=-1", "batch.timeout_ms is -1, wanted"),
    ],
)
def test_a_bad_change_is_refused_and_nothing_changes(words, complaint):
    rig = Rig()
    with pytest.raises(ConfigError, match=complaint):
        rig.steering.act("set", words)
    assert (rig.settings.pinned_s, rig.settings.max_rows, rig.trials.all()) == (0.002, 1024, [])
    with pytest.raises(ConfigError, match="nothing to undo"):
        rig.steering.act("undo")


def test_what_is_so_already_opens_no_trial():
    rig = Rig()
    outcome = rig.steering.act("set", "batch.timeout_ms=2")
    assert (outcome.text, outcome.trial) == ("batch.timeout_ms is 2 already", None)


def test_a_pause_is_no_trial_and_the_same_key_ends_it():
    rig = Rig()
    assert rig.steering.act("pause") == ("paused", None)
    assert rig.settings.is_paused
    assert rig.steering.act("pause").text == "going on"
    assert rig.steering.act("set", "pause=on") == ("pause off -> on", None)
    assert rig.trials.all() == []


def test_the_other_verbs_reach_the_run():
    rig = Rig()
    rig.steering.act("checkpoint")
    rig.steering.act("stop")
    assert rig.done == ["checkpoint", "stop"]


def test_an_unknown_verb_and_an_argument_too_many_are_refused():
    rig = Rig()
    with pytest.raises(
        ConfigError, match=r"'dance' is nothing one can do to a run; what can be done: set, undo, pause"
    ):
        rig.steering.act("dance")
    with pytest.raises(ConfigError, match="stop takes nothing, but 'now' came with it"):
        rig.steering.act("stop", "now")
    assert rig.done == []


def test_changes_may_have_equals_signs_in_their_values():
    assert parse_changes(["a=b=c"]) == {"a": "b=c"}
