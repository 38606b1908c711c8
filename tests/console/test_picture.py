"""Screens by their content: what is shown at which size, and what is folded away first."""

import io
from dataclasses import replace

import pytest
from monitor.snapshots import NEURAL, SYNTHETIC, showing
from rich.cells import cell_len
from rich.color import ColorSystem
from rich.console import Console

from asyncplay.console.ink import chart, colours_of, curve, duration, wrap
from asyncplay.console.layout import Chart, grow, share_out
from asyncplay.console.picture import Opened, draw
from asyncplay.methods.mccfr.figures import RoundFigures
from asyncplay.monitor.snapshot import Curve, PinnedEvent, Result, WorkerFigures
from asyncplay.monitor.verdict import Verdict

SIZES = [(80, 24), (100, 30), (140, 45), (200, 60), (40, 10), (20, 5), (1, 1), (300, 100)]
CLOSED = Opened()


def screen(shot=NEURAL, opened=CLOSED, columns=80, rows=24) -> str:
    return "\n".join(draw(shot, opened, columns, rows).texts())


@pytest.mark.parametrize(("columns", "rows"), SIZES)
@pytest.mark.parametrize("shot", [NEURAL, SYNTHETIC])
@pytest.mark.parametrize("opened", [CLOSED, Opened(log=True), Opened(help=True, said="so it is")])
def test_a_picture_has_exactly_the_size_of_the_screen(shot, opened, columns, rows):
    texts = draw(shot, opened, columns, rows).texts()
    assert [cell_len(text) for text in texts] == [columns] * rows


def test_rows_that_were_remembered_or_only_fill_are_shown_where_there_are_some():
    assert "remembered" not in screen()
    shot = showing(NEURAL, replace(NEURAL.parts["batch"], spared_share=0.45))
    assert "device answers 72% remembered 45%" in screen(shot)


def test_80_by_24_shows_every_panel_and_every_figure():
    shown = screen()
    for words in (
        "connect4, self-play  0:12:34  running",
        "device-bound: device busy 97 % of the time; a smaller net (net.blocks)",
        "12.3k rows/s  77% of the device's 16.0k",
        "rows 9.00M         games 5,151",
        "games/min 412      left 0:11:46",
        "timeout auto       max rows 1,024",
        "mean batch 302     queued 64",
        "wait p50 1.50 ms   p95 6.25 ms",
        "a 2.50 ms          b 55.50 us",
        "linger integral won the last trial",
        "rows a batch: 50% in 129-256",
        "128 256 512",
        "version 17         steps 425, 3.50/s",
        "policy loss 1.234  value loss 0.567",
        "replay 250k        age 120k rows",
        "limiter steady",
        "workers 1 of 2 ready",
        " 1 suspect  2,551 games  6,146/s 1 died",
        "strength, version 17, score",
        "vs random 0.975 (0.930 to 1.000) ▲0.075",
        "games 5,140        commit lag 35.5 ms",
        "batch.timeout_ms 2 -> 4: +6.1 % rows/s (+-1.2), wait p50 +0.8 ms",
        "worker 1 died: exit 7; a new one starts in 0.1 s",
        "? help q stop",
    ):
        assert words in shown


def test_140_by_45_has_room_for_a_tall_chart_and_the_reason_of_a_death():
    shown = screen(columns=140, rows=45).splitlines()
    assert [line[:4] for line in shown[4:7]] == [" ▅█ ", "▃██ ", "███ "]
    assert any("1 died: exit 7" in line for line in shown)


TABULAR = replace(
    SYNTHETIC,
    parts={"rounds": RoundFigures(120, 1_500_000, 9_000_000, 936, -0.0556)},
    results=(Result("NashConv", 0.0004, None, None, (), "points"),),
    curves=(Curve("rounds", "utility", (-0.2, -0.06, -0.0556)), Curve("strength", "NashConv", (0.5, 0.02, 0.0004))),
    tunables=NEURAL.tunables[2:],
)


@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (100, 30), (140, 45), (200, 60)])
@pytest.mark.parametrize("shot", [NEURAL, TABULAR])
@pytest.mark.parametrize("log", [(), NEURAL.log, tuple(f"line {number}" for number in range(50))])
def test_less_than_a_fifth_of_the_lines_is_empty(shot, log, columns, rows):
    texts = draw(replace(shot, log=log), Opened(log=rows >= 36), columns, rows).texts()
    assert sum(not text.strip() for text in texts) < rows / 5
    if columns > 100:
        for name in (curve.name for curve in shot.curves):
            assert any(f"{name} " in text and " to " in text for text in texts), name


def test_a_curve_goes_from_the_lowest_value_to_the_highest():
    assert curve([1.0, 2.0], 4, 1) == ["▁▁██"]
    assert curve([1.0, 3.0, 2.0, 2.0], 2, 1) == ["▄▄"]
    assert curve([-3.0, -2.0], 2, 2) == [" █", "▁█"]
    assert curve([1000.0, 10.0, 0.1], 3, 1) == ["█▅▁"]
    assert curve([5.0], 2, 1) == ["▄▄"]
    assert curve([], 2, 2) == ["", ""]


def test_charts_share_the_lines_that_are_left_and_none_is_drawn_below_its_least():
    low, tall = Chart(list, 0, tall=0, least=3), Chart(list, 0, tall=4, least=1, most=2)
    assert grow([low, None, tall], 0) == [0, 0, 0]
    assert grow([low, None, tall], 2) == [0, 0, 2]
    assert grow([low, None, tall], 4) == [3, 0, 1]
    assert grow([low, None, tall], 20) == [18, 0, 2]


def test_the_change_of_a_strength_is_told_and_a_result_of_another_version_named():
    older = Result("vs rules", 0.5, -0.25, 1.25, (6.0, 5.5), "points", "version 20")
    newer = Result("vs random", 2.5, 1.5, 3.5, (6.0, 5.5), "points", "version 33")
    shot = replace(SYNTHETIC, results=(older, newer), curves=(Curve("strength", "vs random", (1.0, 3.0, 2.5)),))
    shown = screen(shot, columns=120)
    assert "strength, version 33, points" in shown
    assert "vs random +2.50 (+1.50 to +3.50) ▼0.50" in shown
    assert "vs rules +0.50 (-0.25 to +1.25) version 20" in shown


def test_40_by_10_keeps_the_verdict_the_throughput_and_the_last_error():
    shown = screen(columns=40, rows=10)
    assert "device-bound: device busy 97 % of the" in shown
    assert "12.3k rows/s  77% of the device's 16.0k" in shown
    assert "worker 1 died: exit 7" in shown
    assert "? help" in shown
    assert "learning" not in shown
    assert "rows a batch" not in shown


def test_without_a_learner_or_a_store_their_panels_are_not_there():
    shown = screen(SYNTHETIC)
    assert "timeout auto" in shown
    assert [words for words in ("learning", "store", "strength", "changes", "left") if words in shown] == []


def test_points_above_the_others_have_a_sign_and_a_line_for_the_seats():
    points = Result("vs rules", 0.5, -0.25, 1.25, (6.0, 5.54, 4.46, 5.0))
    shown = screen(replace(SYNTHETIC, results=(points,)))
    assert "vs rules +0.50 (-0.25 to +1.25)" in shown
    assert "by seat 6.0 5.5 4.5 5.0" in shown


def test_a_simulated_device_is_called_so():
    shot = replace(SYNTHETIC, throughput=replace(SYNTHETIC.throughput, is_simulated=True))
    assert "77% of simulated 16.0k" in screen(shot)


def test_a_tabular_run_shows_its_rounds():
    shown = screen(TABULAR)
    assert "pieces 120         iterations 1.50M" in shown
    assert "nodes 9.00M        infosets 936" in shown
    assert "utility -0.0556" in shown
    assert "NashConv 0.0004 ▼0.0196" in shown
    assert "timeout" not in shown
    assert "wW workers u undo" in shown


def test_workers_in_trouble_are_folded_away_last():
    crowd = tuple(WorkerFigures(number, "ready", 1, 10, 5.0, 0, "") for number in range(64))
    shot = replace(NEURAL, workers=(*crowd, WorkerFigures(64, "suspect", 2, 3, 0.0, 0, "")))
    shown = screen(shot)
    assert "workers 64 of 65 ready" in shown
    assert "64 suspect" in shown
    assert "63 ready" not in shown


def test_the_log_panel_shows_the_latest_lines_and_help_every_key():
    shot = replace(NEURAL, log=tuple(f"line {number}" for number in range(50)))
    assert "line 49" not in screen(shot)
    assert "line 49" in screen(shot, Opened(log=True))
    helped = screen(shot, Opened(help=True))
    for words in ("a: time of a batch", "b: time", "linger: what", "lag: versions", "limiter: who", "score: 1 is won"):
        assert words in helped
    for keys in ("[ ]  batch timeout", "a  batch timeout back", "- +  max rows", "w W  workers", "u  undo", "p  pause"):
        assert keys in helped
    for keys in ("c  checkpoint", "l  log panel", "?  this help", "q  stop and save"):
        assert keys in helped
    assert "q  leave; the run goes on" in screen(shot, Opened(help=True, is_owner=False))


def test_the_answer_to_a_key_hides_an_event_but_never_an_error():
    fine = replace(NEURAL, event=PinnedEvent(0.0, "version 18 is out", False))
    assert "version 18 is out" in screen(fine)
    assert "version 18 is out" not in screen(fine, Opened(said="paused"))
    both = screen(NEURAL, Opened(said="paused"))
    assert "worker 1 died" in both
    assert "\npaused" in both


def test_a_long_verdict_takes_two_lines_and_then_an_ellipsis():
    shot = replace(NEURAL, verdict=Verdict("worker-bound", "word " * 40, "more workers"))
    shown = screen(shot, columns=40, rows=10).splitlines()
    assert shown[1].startswith("worker-bound: word")
    assert shown[2].rstrip().endswith("…")
    assert shown[3].startswith("throughput")


def test_without_colours_there_is_no_escape_code():
    frame = draw(NEURAL, CLOSED, 80, 24)
    assert "\x1b" not in "".join(frame.encode(None))
    assert "\x1b" in "".join(frame.encode(ColorSystem.STANDARD))
    assert frame.encode(None) == frame.texts()


def test_colours_are_those_of_the_terminal_and_none_with_no_color():
    assert colours_of({"TERM": "xterm-256color"}) is ColorSystem.EIGHT_BIT
    assert colours_of({"TERM": "xterm", "COLORTERM": "truecolor"}) is ColorSystem.TRUECOLOR
    assert colours_of({"TERM": "xterm-256color", "NO_COLOR": "1"}) is None
    assert colours_of({"TERM": "dumb"}) is None


def test_rich_prints_a_picture_as_it_is():
    console = Console(file=io.StringIO(), width=80, height=24, record=True)
    frame = draw(NEURAL, CLOSED, 80, 24)
    console.print(frame, end="")
    assert console.export_text(styles=False).splitlines() == frame.texts()


def test_a_chart_reaches_from_nothing_to_the_highest_value():
    assert chart([0, 1, 4, 8], 10, 1) == ["▁▁▄█"]
    assert chart([0, 0], 10, 1) == ["▁▁"]
    assert chart([], 10, 2) == ["", ""]
    assert chart([1, 2, 3], 2, 1) == ["▆█"]
    assert chart([4, 8], 2, 2) == [" █", "██"]


def test_rare_batch_sizes_at_either_end_are_left_out_of_the_picture():
    sizes = ((1, 0.005 / 2), (4, 0.3), (16, 0.695), (32, 0.005 / 2))
    shown = screen(showing(NEURAL, replace(NEURAL.parts["batch"], histogram=sizes))).splitlines()
    (labels,) = [number for number, text in enumerate(shown) if text.startswith(" 4   8  16")]
    assert [text[:16] for text in shown[labels - 3 : labels + 1]] == [
        "        ███     ",
        "▃▃▃     ███     ",
        "███ ▁▁▁ ███     ",
        " 4   8  16      ",
    ]


def test_words_wrap_at_blanks():
    assert wrap("one two three four", 8, 2) == ["one two", "three f…"]
    assert wrap("one two", 80, 2) == ["one two"]


def test_a_duration_is_read_at_a_glance():
    assert duration(3_723.9) == "1:02:03"


def test_room_goes_by_rank_first_the_least_of_each_then_the_rest():
    wants = [(2, 3, 8), (1, 2, 4), (3, 2, 9)]
    assert share_out(wants, 21) == [8, 4, 9]
    assert share_out(wants, 10) == [4, 4, 2]
    assert share_out(wants, 6) == [3, 3, 0]
    assert share_out(wants, 4) == [0, 2, 2]
    assert share_out(wants, 1) == [0, 0, 0]
