"""A snapshot goes over the socket and is the same on the other side."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from snapshots import NEURAL, SYNTHETIC

from asyncplay.errors import WireError
from asyncplay.monitor.snapshot import Snapshot
from asyncplay.monitor.verdict import Verdict


@pytest.mark.parametrize("snapshot", [NEURAL, SYNTHETIC])
def test_a_snapshot_survives_the_socket(snapshot):
    assert Snapshot.from_json(snapshot.to_json()) == snapshot


def test_it_is_one_line():
    assert "\n" not in replace(NEURAL, log=("first\nsecond",)).to_json()


def spoil(name: str, value: object) -> str:
    return json.dumps(json.loads(NEURAL.to_json()) | {name: value})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[",
        "[]",
        "7",
        "null",
        "[" * 100_000,
        spoil("pid", "12"),
        spoil("pid", True),
        spoil("workers", [1]),
        spoil("workers", None),
        spoil("verdict", None),
        spoil("batch", {}),
        spoil("log", "no list"),
    ],
)
def test_what_is_no_snapshot_is_refused(text):
    with pytest.raises(WireError, match="a snapshot that cannot be read"):
        Snapshot.from_json(text)


@given(st.binary(max_size=200))
def test_random_bytes_are_refused(data):
    with pytest.raises(WireError):
        Snapshot.from_json(data)


@pytest.mark.parametrize(
    ("verdict", "line"),
    [
        (Verdict("device-bound", "busy 97 %", "fewer blocks"), "device-bound: busy 97 %; fewer blocks"),
        (Verdict("starting", "", ""), "starting"),
        (Verdict("paused", "", "resume"), "paused: resume"),
    ],
)
def test_a_verdict_is_one_line(verdict, line):
    assert str(verdict) == line
