"""What each key asks for: the next value of a setting, or a verb."""

from dataclasses import replace

import pyte
import pytest
from monitor.snapshots import NEURAL

from asyncplay.console.keys import KEYS, Request, known, request
from asyncplay.console.terminal import ENTER, difference, keys_in
from asyncplay.monitor.snapshot import Tuned


def shot(**values: str):
    keys = {"timeout": "batch.timeout_ms", "rows": "batch.max_rows", "workers": "pool.workers"}
    keys |= {"placement": "device.placement"}
    return replace(NEURAL, tunables=tuple(Tuned(keys[name], value, 0, 9, (), "") for name, value in values.items()))


@pytest.mark.parametrize(
    ("key", "before", "after"),
    [
        ("[", "auto", "2"), ("]", "auto", "2"), ("]", "2", "4"), ("[", "2", "1"), ("[", "0.25", "0"), ("[", "0", "0"),
        ("]", "0", "0.25"), ("]", "0.25", "0.5"), ("a", "4", "auto"), ("a", "auto", "auto"),
    ],
)  # fmt: skip
def test_the_timeout_doubles_and_halves_and_goes_back_to_auto(key, before, after):
    assert request(key, shot(timeout=before)) == Request("set", f"batch.timeout_ms={after}")


@pytest.mark.parametrize(
    ("key", "before", "after"),
    [("+", 1024, 2048), ("=", 1000, 1024), ("-", 1024, 512), ("_", 1000, 512), ("-", 2, 1), ("-", 1, 1), ("+", 1, 2)],
)
def test_max_rows_goes_by_powers_of_two(key, before, after):
    assert request(key, shot(rows=str(before))) == Request("set", f"batch.max_rows={after}")


def test_workers_go_one_by_one_and_never_to_none():
    assert request("W", shot(workers="2")) == Request("set", "pool.workers=3")
    assert request("w", shot(workers="2")) == Request("set", "pool.workers=1")
    assert request("w", shot(workers="1")) == Request("set", "pool.workers=1")


@pytest.mark.parametrize(("here", "wanted"), [("coordinator", "workers"), ("workers", "coordinator"), ("", "workers")])
def test_the_placement_goes_to_the_other_place(here, wanted):
    """Also where it was chosen by measurement and the setting says auto."""
    batch = replace(NEURAL.parts["batch"], placement=here)
    now = replace(shot(placement="auto"), parts=NEURAL.parts | {"batch": batch})
    assert request("d", now) == Request("set", f"device.placement={wanted}")
    assert request("d", shot(timeout="auto")) is None


def test_the_verbs_have_a_key_each():
    assert [request(key, shot()) for key in "upc"] == [Request("undo"), Request("pause"), Request("checkpoint")]


@pytest.mark.parametrize("key", "[]a-+dwWxyz \n\x1b")
def test_a_key_without_meaning_here_asks_for_nothing(key):
    assert request(key, shot()) is None


def test_arrows_and_function_keys_are_no_keys_of_ours():
    assert keys_in(b"\x1b[A") == ""
    assert keys_in(b"]]") == "]]"
    assert keys_in(b"l\x1b[A") == "l"
    assert keys_in("\xe9".encode()) == "\xe9"
    assert keys_in(b"\xff") == ""


def test_only_lines_that_changed_are_written():
    assert difference(["one", "two"], ["one", "TWO"]) == "\x1b[2;1H\x1b[KTWO\x1b[0m"
    assert difference(["one"], ["one"]) == ""
    whole = difference(["one"], ["one", "two"])
    assert whole.startswith("\x1b[2J\x1b[1;1H\x1b[Kone")


@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (100, 30), (140, 45), (200, 60)])
def test_a_terminal_shows_every_column_of_every_line(columns, rows):
    """After the last cell of a line the cursor stays on it: what is cleared then is that cell."""
    screen = pyte.Screen(columns, rows)
    lines = [f"{number:<{columns - 1}}|" for number in range(rows)]
    pyte.ByteStream(screen).feed(ENTER + difference([], lines).encode())
    assert screen.display == lines
    pyte.ByteStream(screen).feed(difference(lines, lines[::-1]).encode())
    assert screen.display == lines[::-1]


def test_keys_of_settings_that_a_run_does_not_have_are_not_known():
    assert [key.keys for key in known(shot(workers="2"))] == ["w W", "u", "p", "c", "l", "?"]
    assert [key.keys for key in known(shot(timeout="auto"))] == ["[ ]", "a", "u", "p", "c", "l", "?"]


def test_all_keys_are_named_on_a_line_of_80_columns():
    assert len(" ".join([*(key.hint for key in KEYS if key.hint), "q", "leave"])) <= 80
