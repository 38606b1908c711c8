"""Lines for people and for programs, and when they are wanted."""

import io
import json
import sys
from dataclasses import replace

import pytest
from snapshots import NEURAL, SYNTHETIC, showing

from asyncplay.methods.mccfr.figures import RoundFigures
from asyncplay.monitor import plain
from asyncplay.monitor.metrics import metrics
from asyncplay.monitor.snapshot import Result


def test_a_line_tells_all_that_matters_of_self_play():
    assert plain.line(NEURAL) == (
        "games 5,151  games/min 412  rows/s 12,346  of limit 0.77  mean batch 302  wait p50 1.50 ms  linger integral  "
        "version 17  loss 1.234+0.567  replay 250,000 x4.0  steady  vs random 0.975  vs version 12 0.61  "
        "device-bound: device busy 97 % of the time; a smaller net (net.blocks)"
    )


def test_a_line_tells_where_rows_came_from_unless_all_are_first_leaves():
    shot = showing(NEURAL, replace(NEURAL.parts["batch"], extra_share=0.012, spared_share=0.45))
    assert "linger integral  extra leaves 1.2%  remembered 45.0%  version 17" in plain.line(shot)
    assert metrics(shot)["batch/extra_share"] == 0.012
    assert metrics(shot)["batch/spared_share"] == 0.45


def test_a_synthetic_load_says_that_its_device_is_simulated():
    flow = replace(SYNTHETIC.throughput, unit="rows", is_simulated=True)
    line = plain.line(replace(SYNTHETIC, throughput=flow))
    assert line.startswith("rows 5,151  rows/s 12,346  of simulated limit 0.77  mean batch 302")


def test_trouble_of_the_disk_is_on_the_line():
    assert "store: disk full" in plain.line(showing(NEURAL, replace(NEURAL.parts["store"], trouble="disk full")))


def test_a_tabular_run_has_infosets_instead_of_batches():
    flow = replace(NEURAL.throughput, name="nodes", unit="iterations", limit_per_s=None)
    shot = replace(NEURAL, throughput=flow, results=(), parts={"rounds": RoundFigures(3, 90, 400, 288, -0.05)})
    assert plain.line(shot).startswith(
        "iterations 5,151  iterations/min 412  nodes/s 12,346  infosets 288  device-bound"
    )


@pytest.mark.parametrize("shot", [NEURAL, SYNTHETIC])
def test_no_line_has_an_escape_code(shot):
    for line in (plain.line(shot), plain.json_line(shot)):
        assert line.isprintable()


def test_a_line_for_programs_has_the_metrics_under_their_names():
    facts = json.loads(plain.json_line(NEURAL))
    assert facts["state"] == "running"
    assert facts["verdict"].startswith("device-bound: ")
    assert {name: facts[name] for name in metrics(NEURAL)} == metrics(NEURAL)


def test_metrics_have_the_names_of_the_snapshot():
    found = metrics(NEURAL)
    assert found["throughput/rows_per_s"] == 12_345.6
    assert found["throughput/of_limit"] == pytest.approx(0.7716)
    assert found["throughput/games_per_min"] == 412.3
    assert found["throughput/games_done"] == 5_151
    assert found["batch/mean_rows"] == 301.5
    assert found["learn/policy_loss"] == 1.234
    assert found["store/commit_lag_ms"] == 35.5
    assert found["workers/ready"] == 1
    assert found["workers/restarts"] == 1
    assert found["strength/vs random"] == 0.975
    earlier = metrics(replace(SYNTHETIC, results=(Result("vs version 12", 0.61, 0.5, 0.72),)))
    assert earlier["strength/vs earlier version"] == 0.61
    assert all(isinstance(value, int | float) for value in found.values())
    assert not any(name.startswith(("learn/", "store/")) for name in metrics(SYNTHETIC))


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("environment", "options", "wanted"),
    [
        ({"TERM": "xterm"}, {}, True),
        ({"TERM": "xterm", "CI": ""}, {}, True),
        ({"TERM": "xterm", "NO_COLOR": "1"}, {}, True),
        ({"TERM": "xterm", "CI": "true"}, {}, False),
        ({"TERM": "dumb"}, {}, False),
        ({}, {}, False),
        ({"TERM": "xterm"}, {"headless": True}, False),
        ({"TERM": "xterm"}, {"json_lines": True}, False),
    ],
)
def test_the_console_is_for_a_person_at_a_terminal_that_can_do_it(environment, options, wanted, monkeypatch):
    for name in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(sys, name, Terminal())
    assert plain.wants_console(environment, **{"headless": False, "json_lines": False} | options) is wanted
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    assert plain.wants_console(environment, headless=False, json_lines=False) is False
