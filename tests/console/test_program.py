"""The real program on a pseudo-terminal: a run is trained, steered by keys, suspended, watched and ended."""

import contextlib
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from desk import Desk

from asyncplay import cli

pytestmark = pytest.mark.process
SCRIPT = str(Path(sys.executable).with_name("asyncplay"))
LOAD = ["--game.name", "synthetic", "--load.slots", "64", "--workers", "2"]
ENDLESS_THOUGHT = ["--load.law", "constant", "--load.think-ms", "60000"]
BOOKS = re.compile(
    rb"done ([\d,]+) in [\d.]+ s: issued ([\d,]+) = done ([\d,]+)(?: \+ cut short ([\d,]+))? \+ lost ([\d,]+) "
    rb"\+ outstanding 0;"
)


class Trained(Desk):
    """Somebody who trains."""

    def __init__(self, folder: Path, *words: str, **details) -> None:
        self.folder = folder
        super().__init__([SCRIPT, "train", *LOAD, "--run", str(folder), *words], **details)

    def logged(self) -> str:
        return (self.folder / "run.log").read_text()

    def check_it_ended_well(self) -> tuple[int, int, int]:
        """The terminal is as before, and on it stands the summary; return issued, done and lost."""
        self.check_terminal_is_given_back()
        self.until(lambda shown: BOOKS.search(self.raw))
        last_words = self.raw.rpartition(b"\x1b[?1049l")[2]
        assert b"Traceback" not in self.raw
        found = BOOKS.search(last_words)
        assert found is not None
        _, issued, done, cut_short, lost = (int((number or b"0").replace(b",", b"")) for number in found.groups())
        assert issued == done + cut_short + lost
        return issued, done, cut_short + lost


@pytest.fixture
def desks() -> Iterator[contextlib.ExitStack]:
    with contextlib.ExitStack() as stack:
        yield stack


@pytest.fixture
def train(tmp_path, desks) -> Callable[..., Trained]:
    def start(*words: str, **details) -> Trained:
        desk = Trained(tmp_path / "run", *words, **details)
        desks.callback(desk.close)
        return desk

    return start


@pytest.fixture
def watch(desks) -> Callable[[Path], Desk]:
    def start(folder: Path) -> Desk:
        desk = Desk([SCRIPT, "watch", str(folder)])
        desks.callback(desk.close)
        return desk

    return start


def is_running(shown: str) -> bool:
    return "running" in shown.splitlines()[0] and "workers 2 of 2 ready" in shown


def try_every_key(person: Desk) -> None:
    """All but the one that ends it, each with what it must change on the screen."""
    for key, words in (
        ("]", "timeout 2          max rows 1,024"),
        ("]", "timeout 4          max rows 1,024"),
        ("[", "timeout 2          max rows 1,024"),
        ("a", "timeout auto       max rows 1,024"),
        ("+", "max rows 2,048"),
        ("-", "max rows 1,024"),
        ("u", "max rows 2,048"),
        ("W", "workers 3 of 3 ready"),
        ("w", "workers 2 of 2 ready"),
        ("p", "paused"),
        ("p", "running"),
        ("c", "nothing to save"),
        ("l", "log ──"),
        ("?", "batch timeout back to auto"),
    ):
        person.press(key)
        person.until(words)
    person.press("?")
    person.press("l")
    person.until(lambda shown: "rows a batch" in shown and "log ──" not in shown)


def test_every_key_sizes_and_suspending(train):
    """One long visit; the run goes on behind it all, and its books are exact in the end."""
    person = train()
    shown = person.until(is_running)
    assert "synthetic" in shown.splitlines()[0]
    assert "% of simulated " in shown
    try_every_key(person)

    person.resize(40, 10)
    person.until(lambda now: "? help  q stop" in now and "rows/s" in now)
    person.resize(140, 45)
    person.until(lambda now: "? help q stop" in now and "rows a batch" in now)
    person.resize(80, 24)
    person.until(is_running)

    person.press("\x1a")
    assert person.report() == "stopped"
    person.check_terminal_is_given_back()
    person.order("f")
    person.until(lambda now: person.is_alternate and is_running(now))

    person.press("q")
    assert person.report() == "ended 0"
    person.check_it_ended_well()
    assert "died" not in person.logged()


def test_ctrl_c_once_finishes_what_is_under_way(train):
    person = train()
    person.until(is_running)
    person.press("\x03")
    assert person.report() == "ended 130"
    issued, done, lost = person.check_it_ended_well()
    assert (done, lost) == (issued, 0)


def test_ctrl_c_twice_ends_at_once(train):
    person = train(*ENDLESS_THOUGHT)
    person.until("workers 2 of 2 ready")
    person.press("\x03")
    person.until("stopping: finishing what is under way")
    person.press("\x03")
    assert person.report() == "ended 130"
    issued, done, lost = person.check_it_ended_well()
    assert (done, lost) == (0, issued)


def test_a_third_ctrl_c_gives_the_terminal_back_too(train):
    """The workers alone are stopped, by their numbers: they do not leave, and the second Ctrl-C waits for them."""
    person = train(*ENDLESS_THOUGHT)
    person.until("workers 2 of 2 ready")
    pids = re.findall(r"is ready after .* pid (\d+)", person.logged())
    assert len(pids) == 2
    for pid in pids:
        os.kill(int(pid), signal.SIGSTOP)
    person.press("\x03")
    person.until("stopping: finishing what is under way")
    person.press("\x03")
    person.until("stopping now; Ctrl-C again leaves without saving")
    person.press("\x03")
    assert person.report() == "ended 130"
    person.check_terminal_is_given_back()


def test_sigterm_ends_at_once(train):
    person = train(*ENDLESS_THOUGHT)
    person.until("workers 2 of 2 ready")
    person.program().send_signal(signal.SIGTERM)
    assert person.report() == "ended 130"
    person.check_it_ended_well()


def test_a_closed_window_stops_and_saves(train):
    person = train()
    person.until(is_running)
    person.hang_up()
    assert person.report() == "ended 130"
    assert "died" not in person.logged()


def test_a_guest_sees_and_steers_the_run_and_leaves_it_running(train, watch):
    person = train()
    person.until(is_running)
    guest = watch(person.folder)
    guest.until(is_running)
    guest.until("? help q leave")
    guest.press("]")
    guest.until("timeout 2          max rows")
    person.until("timeout 2          max rows")
    guest.press("q")
    assert guest.report() == "ended 0"
    guest.check_terminal_is_given_back()

    other = watch(person.folder)
    other.until(is_running)
    person.press("a")
    other.until("timeout auto       max rows")
    person.press("q")
    assert person.report() == "ended 0"
    assert other.report() == "ended 0"
    other.check_terminal_is_given_back()
    other.until(lambda shown: b"the run has hung up" in other.raw)


def test_a_terminal_that_can_do_nothing_gets_plain_lines(train):
    person = train("--train.units", "500", TERM="dumb")
    assert person.report() == "ended 0"
    person.until("issued 500 = done 500")
    assert b"\x1b" not in person.raw


def test_a_folder_without_a_run_is_one_line(watch, tmp_path):
    guest = watch(tmp_path)
    assert guest.report() == "ended 2"
    guest.until(lambda shown: b"no run goes on here" in guest.raw)
    assert b"\x1b" not in guest.raw
    assert b"Traceback" not in guest.raw


def test_watching_without_a_terminal_is_one_line(tmp_path, capsys):
    assert cli.main(["watch", str(tmp_path)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("asyncplay: watch needs a terminal")
