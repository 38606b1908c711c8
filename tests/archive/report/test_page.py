"""The page of a run: every plot is there, in a real browser too, and nothing is fetched from elsewhere."""

import html
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from archive.stored import START_S, make_run

from asyncplay import cli
from asyncplay.archive.report.gather import gather, strengths_of
from asyncplay.data.entries import EventEntry, MetricsEntry, Note

PLOTS = ("throughput", "work", "batches", "loss", "solving", "visited", "strength", "seats", "ends", "trials")
OTHERS = ("seat-loss", "seat-r2", "seat-wins", "episode-reward", "agent-reward", "network-loss")  # not in this run
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
patient = pytest.mark.timeout(300)
needs_browser = pytest.mark.skipif(BROWSER is None, reason="no Chromium here: apt-get install chromium")


def figures(second: int) -> Note:
    names = ["throughput/rows_per_s", "throughput/games_per_min", "batch/mean_rows", "learn/value_loss"]
    names += ["rounds/utility", "rounds/visited"]
    return MetricsEntry(START_S + second, {name: float(second) for name in names})


def arena(second: int, against: str, score: float) -> Note:
    data = f'{{"against": "{against}", "score": {score}, "low": {score - 0.1}, "high": {score + 0.1}, "version": 3}}'
    return EventEntry(START_S + second, "arena", f"version 3 against {against}", data)


TRIAL = '{"state": "done", "gain": 0.061, "doubt": 0.012, "change": "timeout 2 -> 4 ms"}'


@pytest.fixture
def run(tmp_path) -> Path:
    """A run with something to draw in every plot; its words try to be markup."""
    store = make_run(tmp_path / "run", range(60))
    notes = [figures(second) for second in range(0, 300, 5)]
    notes += [arena(100, "random", 0.6), arena(200, "random", 0.9), arena(200, "version 2", 0.7)]
    notes += [EventEntry(START_S + 150, "trial", "timeout 2 -> 4 ms: +6.1 % rows/s (+-1.2)", TRIAL)]
    notes += [EventEntry(START_S + 160, "trouble", "<script>alert(1)</script>")]
    store.write([], notes)
    store.close()
    return tmp_path / "run"


def drawn(page: str) -> dict[str, str]:
    return dict(re.findall(r'<svg id="plot-([\w-]+)"[^>]*data-drawn="(\w+)"', page))


def test_a_page_has_every_plot_and_asks_nobody_for_anything(run, capsys):
    assert cli.main(["report", str(run)]) == 0
    assert capsys.readouterr().err == f"report: {run / 'report.html'}\n"
    page = (run / "report.html").read_text()
    assert drawn(page) == dict.fromkeys(PLOTS, "yes") | dict.fromkeys(OTHERS, "no")
    assert "tictactoe: 60 games" in page
    assert "timeout 2 -&gt; 4 ms: +6.1 % rows/s (+-1.2)" in page
    assert "<script" not in page
    assert re.findall(r'(?:src|href)="(?!data:)|url\(', page) == []
    assert "://" not in page


def test_a_run_that_has_hardly_begun_has_a_page_too(tmp_path):
    make_run(tmp_path / "run", []).close()
    assert cli.main(["report", str(tmp_path / "run"), "--out", str(tmp_path / "page.html")]) == 0
    page = (tmp_path / "page.html").read_text()
    assert drawn(page) == {**dict.fromkeys((*PLOTS, *OTHERS), "no"), "loss": "yes"}
    assert "no setting was changed while it ran" in page


def test_a_strength_is_drawn_where_it_was_measured_and_not_where_it_was_only_recorded(tmp_path):
    store = make_run(tmp_path / "run", [])
    worth = [0.9, 0.9, 0.9, 0.4, 0.4, 0.01, 0.01]
    store.write(
        [], [MetricsEntry(START_S + second, {"strength/NashConv": value}) for second, value in enumerate(worth)]
    )
    store.close()
    marks = strengths_of(gather(tmp_path / "run"))
    assert [(mark.name, mark.time_s, mark.value) for mark in marks] == [
        ("NashConv", 0.0, 0.9),
        ("NashConv", 3.0, 0.4),
        ("NashConv", 5.0, 0.01),
    ]


def test_a_page_that_cannot_be_written_is_one_line(run, capsys):
    assert cli.main(["report", str(run), "--out", str(run / "no" / "where.html")]) == 2
    assert capsys.readouterr().err == (
        f"asyncplay: --out {run}/no/where.html: cannot be written: No such file or directory\n"
    )


def browse(page: Path, profile: Path) -> tuple[str, list[str]]:
    """What a browser made of a page, and what it logged about it."""
    assert BROWSER is not None
    quiet = ("--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-breakpad")
    options = (*quiet, "--headless=new", "--no-sandbox", f"--user-data-dir={profile}", "--enable-logging=stderr")
    command = [BROWSER, *options, "--dump-dom", page.as_uri()]
    home = {**os.environ, "HOME": str(profile)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=250, check=True, env=home)
    return done.stdout, [line for line in done.stderr.splitlines() if ":CONSOLE" in line]


@needs_browser
@patient
@pytest.mark.process
def test_a_browser_shows_every_plot_and_has_nothing_to_complain_of(run, tmp_path):
    cli.main(["report", str(run)])
    shown, logged = browse(run / "report.html", tmp_path / "profile")
    assert logged == []
    assert drawn(shown) == dict.fromkeys(PLOTS, "yes") | dict.fromkeys(OTHERS, "no")
    assert html.escape("<script>alert(1)</script>") in shown


@needs_browser
@patient
@pytest.mark.process
def test_a_page_that_asked_for_something_would_be_refused_and_noticed(run, tmp_path):
    """The check above can fail: a picture from elsewhere, put into the page, is told of in the browser's log."""
    cli.main(["report", str(run)])
    page = run / "report.html"
    page.write_text(page.read_text().replace("<main>", '<img src="http://127.0.0.1:9/picture.png"><main>'))
    _, logged = browse(page, tmp_path / "profile")
    assert any("Content Security Policy" in line for line in logged)
