"""How long something takes, told while it goes on."""

import pytest

from asyncplay.monitor import countdown as module
from asyncplay.monitor.countdown import countdown, told


@pytest.mark.parametrize(
    ("done", "total", "elapsed_s", "line"),
    [
        (0, 0, 4.0, "compiling: 4 s so far"),
        (0, 185, 4.0, "compiling: 4 s so far"),
        (74, 185, 8.0, "compiling: 40%, about 12 s left"),
        (1, 200, 1.0, "compiling: 0%, about 3 min left"),
        (199, 200, 1.0, "compiling: 100%, about 1 s left"),
    ],
)
def test_the_time_left_follows_from_what_is_done(done, total, elapsed_s, line):
    assert told("compiling", done, total, elapsed_s) == line


def test_lines_come_while_the_work_goes_on_and_end_with_it(monkeypatch):
    monkeypatch.setattr(module, "FIRST_S", 0.001)
    monkeypatch.setattr(module, "EVERY_S", 0.001)
    said: list[str] = []
    with countdown("counting", said.append) as progress:
        progress(1, 2)
        while len(said) < 3:
            pass
    n_said = len(said)
    assert said[-1].startswith("counting: 50%, about ")
    assert len(said) == n_said


def test_what_is_quick_says_nothing():
    said: list[str] = []
    with countdown("counting", said.append):
        pass
    assert said == []
