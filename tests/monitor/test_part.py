"""A figure is declared once: whatever shows it follows from that."""

import ast
import inspect
import json
from dataclasses import dataclass, replace
from typing import Annotated

import pytest
from snapshots import NEURAL, showing

from asyncplay.console.picture import Opened, draw
from asyncplay.monitor import part, plain
from asyncplay.monitor.metrics import metrics
from asyncplay.monitor.part import PARTS, Figure, Part, Plot, count, per_s, plots, ranked
from asyncplay.monitor.snapshot import Snapshot


@pytest.mark.parametrize("kind", ranked())
def test_every_figure_has_a_unit_and_a_line_of_meaning(kind):
    """A text needs no unit."""
    (body,) = ast.parse(inspect.getsource(kind)).body
    below = {
        field.target.id: text.value.value
        for field, text in zip(body.body, body.body[1:], strict=False)
        if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr)
    }
    for name, figure in kind.FIGURES.items():
        assert figure.unit or figure.kind in ("text", "note", "alarm"), name
        assert below[name].endswith("."), name


def test_the_parts_are_known_in_the_order_in_which_they_are_shown():
    assert [kind.NAME for kind in ranked()] == ["batch", "learn", "population", "rounds", "workers", "ends", "store"]


@pytest.fixture
def thermal(monkeypatch) -> Part:
    """A part that no other code knows."""
    heat = Plot("heat", "Heat", "this device has no sensor")
    monkeypatch.setattr(part, "PARTS", dict(PARTS))

    @dataclass(frozen=True, slots=True)
    class ThermalFigures(Part):
        NAME, TITLE, RANK = "thermal", "heat", 4

        hottest_c: Annotated[
            float, Figure("gauge", "C", "hottest", "{:.1f} C".format, line="heat {:.1f} C", plot=heat)
        ] = 0.0
        throttles: Annotated[int, Figure("counter", "times", "throttled", count, hides_zero=True)] = 0
        sensor: Annotated[str, Figure("text", "")] = ""
        readings: int = 0

    return ThermalFigures(81.25, 0, "die", 7)


def test_a_new_figure_needs_no_more_than_its_declaration(thermal):
    shot = showing(NEURAL, thermal)
    assert metrics(shot).items() >= {"thermal/hottest_c": 81.25, "thermal/throttles": 0.0}.items()
    assert json.loads(plain.json_line(shot))["thermal/hottest_c"] == 81.25
    assert "steady  heat 81.2 C  vs random" in plain.line(shot)
    assert [(plot.title, units) for plot, units in plots().items()] == [
        ("Batch sizes", {"batch/mean_rows": "rows"}),
        ("Loss", {"learn/policy_loss": "nats", "learn/value_loss": "squares"}),
        ("Value loss by seat, from the player to move", {f"learn/seat_losses_{seat}": "squares" for seat in range(8)}),
        ("Explained share of the value's variance by seat", {f"learn/seat_r2_{seat}": "share" for seat in range(8)}),
        ("Reward of an episode", {"population/reward": "points"}),
        ("Reward of an episode by agent", {f"population/agent_rewards_{agent}": "points" for agent in range(8)}),
        ("Quantile loss by network", {f"population/losses_{network}": "points" for network in range(8)}),
        ("Utility of the first player, and regret", {"rounds/utility": "points", "rounds/regret": "points"}),
        ("Share of the table that was visited", {"rounds/visited": "share"}),
        ("Heat", {"thermal/hottest_c": "C"}),
        ("Share of games won by seat", {f"ends/seat_wins_{seat}": "share" for seat in range(8)}),
    ]
    facts = json.loads(shot.to_json())
    assert facts["thermal"] == {"hottest_c": 81.25, "throttles": 0, "sensor": "die"}
    assert Snapshot.from_json(shot.to_json()) == showing(NEURAL, replace(thermal, readings=0))
    shown = "\n".join(draw(shot, Opened(), 140, 45).texts())
    assert "heat ───" in shown
    assert "hottest 81.2 C" in shown
    assert "throttled" not in shown


def test_each_entry_of_a_tuple_of_gauges_is_a_metric():
    learn = replace(NEURAL.parts["learn"], seat_losses=(0.5, 0.75), seat_r2=(0.25, -0.125))
    shot = showing(NEURAL, learn)
    assert metrics(shot).items() >= {"learn/seat_losses_1": 0.75, "learn/seat_r2_0": 0.25}.items()
    assert "learn/seat_r2_2" not in metrics(shot)
    assert json.loads(plain.json_line(shot))["learn/seat_r2_1"] == -0.125
    assert Snapshot.from_json(shot.to_json()).parts["learn"] == learn
    assert "value R2 by seat 0.25 -0.12" in "\n".join(draw(shot, Opened(), 140, 60).texts())


def test_a_part_that_a_run_has_not_got_is_null_on_the_socket():
    facts = json.loads(NEURAL.to_json())
    assert facts["rounds"] is None
    known = ["throughput", "batch", "learn", "population", "rounds", "workers", "ends", "store", "results"]
    assert list(facts)[6:15] == known


def test_a_rate_is_never_negative_nor_of_no_time():
    assert (per_s(10, 30, 4.0), per_s(30, 10, 4.0), per_s(0, 10, 0.0)) == (5.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"), (0.5, "0.50"), (3.14159, "3.14"), (42.25, "42.2"), (999.6, "1,000"), (9_999, "9,999"),
        (12_345, "12.3k"), (123_456, "123k"), (4_567_890, "4.57M"), (9e9, "9.00G"), (-12_345, "-12.3k"),
    ],
)  # fmt: skip
def test_a_count_is_short(value, text):
    assert count(value) == text
