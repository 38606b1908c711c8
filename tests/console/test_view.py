"""The console on a pseudo-terminal with a pretended run behind it: keys, sizes, suspending, and every way to end."""

import signal
import sys
import termios
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from desk import Desk

pytestmark = pytest.mark.process
PROGRAM = Path(__file__).with_name("program.py")


@pytest.fixture
def desk() -> Iterator[Callable[..., Desk]]:
    desks: list[Desk] = []

    def sit_down(*words: str, loop: str = "uvloop", **details) -> Desk:
        desks.append(Desk([sys.executable, str(PROGRAM), loop, *words], **details))
        return desks[-1]

    yield sit_down
    for each in desks:
        each.close()


@pytest.mark.parametrize("loop", ["uvloop", "asyncio"])
def test_keys_sizes_suspending_and_leaving(desk, loop):
    """One long visit, because the program takes longer to start than all of it."""
    person = desk(loop=loop)
    person.until("device-bound: device busy 97 % of the time")
    assert person.is_alternate
    assert person.is_cursor_hidden
    assert not termios.tcgetattr(person.slave)[3] & termios.ECHO

    person.press("]")
    person.until("did set batch.timeout_ms=2")
    person.press("u")
    person.until("there is nothing to undo")
    person.press("p")  # is never answered; the picture goes on
    shown = person.until("0:00:0")
    person.until(lambda now: now.splitlines()[0] != shown.splitlines()[0])

    person.resize(40, 10)
    person.until(lambda now: "? help  q stop" in now and "learning" not in now)
    person.resize(140, 45)
    person.until(lambda now: "rows a batch" in now and "? help q stop" in now)

    person.press("\x1a")
    assert person.report() == "stopped"
    person.check_terminal_is_given_back()
    person.order("f")
    person.until(lambda now: person.is_alternate and "device-bound" in now)

    person.press("\x03")
    assert person.report() == "ended 0"
    person.check_terminal_is_given_back()
    person.until("goodbye stopped")


def test_panels_are_opened_and_closed_and_q_stops(desk):
    person = desk()
    person.until("device-bound")
    person.press("?")
    person.until("q  stop and save")
    person.press("?")
    person.until("rows a batch")
    person.press("l")
    person.until("12:00:01 INFO worker 1 is ready")
    person.press("l")
    person.until(lambda now: "INFO" not in now)
    person.press("\x0c")
    person.until("device-bound")
    person.press("q")
    assert person.report() == "ended 0"
    person.check_terminal_is_given_back()
    person.until("goodbye stopped")


def test_a_run_sent_to_the_background_goes_on_without_a_picture_until_it_is_back(desk):
    person = desk()
    person.until("device-bound")
    person.press("\x1a")
    assert person.report() == "stopped"
    person.order("b")
    person.program().send_signal(signal.SIGCONT)  # what a shell's fg sends once more
    person.until(lambda now: not person.is_alternate)
    person.program().send_signal(signal.SIGTERM)
    assert person.report() == "ended 0"
    assert person.raw.count(b"\x1b[?1049h") == 1
    person.check_terminal_is_given_back()


def test_an_exception_gives_the_terminal_back_before_it_is_told(desk):
    person = desk()
    person.until("device-bound")
    person.press("c")
    assert person.report() == "ended 1"
    person.check_terminal_is_given_back()
    assert b"the disk has melted" in person.raw.rpartition(b"\x1b[?1049l")[2]


def test_sigterm_gives_the_terminal_back(desk):
    person = desk()
    person.until("device-bound")
    person.program().send_signal(signal.SIGTERM)
    assert person.report() == "ended 0"
    person.check_terminal_is_given_back()


def test_a_closed_window_ends_it(desk):
    person = desk()
    person.until("device-bound")
    person.hang_up()
    assert person.report() == "ended 0"


def test_a_terminal_that_takes_nothing_holds_up_nobody(desk):
    """Ctrl-S stops its output; the run and its keys go on, and so does the end of it all."""
    person = desk()
    person.until("device-bound")
    termios.tcflow(person.slave, termios.TCOOFF)
    person.press("q")
    assert person.report() == "ended 0"
    person.check_terminal_is_given_back()


def test_a_guest_leaves_by_q_and_the_run_goes_on(desk):
    person = desk("watch")
    person.until("? help q leave")
    person.press("?")
    person.until("q  leave; the run goes on")
    person.press("q")
    assert person.report() == "ended 0"
    person.check_terminal_is_given_back()
    person.until("goodbye left")


def test_no_color_leaves_only_the_codes_that_move(desk):
    person = desk(NO_COLOR="1")
    person.until("device-bound")
    assert b"\x1b[0;" not in person.raw
    assert not any(f"\x1b[{code}m".encode() in person.raw for code in (1, 2, 7, 31, 32, 33, 36, "1;33"))
