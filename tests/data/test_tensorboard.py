"""Event files against TensorBoard's own reader."""

import errno
import math
import os
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tensorboard.backend.event_processing.event_file_loader import RawEventFileLoader
from tensorboard.compat.proto.event_pb2 import Event

from asyncplay.data.tensorboard import FOLDER, EventFile, crc32c, record


def read(run) -> list[Event]:
    """All events of all files, oldest file first."""
    files = sorted((run / FOLDER).iterdir())
    return [Event.FromString(raw) for path in files for raw in RawEventFileLoader(str(path)).Load()]


def test_castagnolis_checksum():
    """The check value of CRC-32C, and two of RFC 3720."""
    assert crc32c(b"123456789") == 0xE3069283
    assert crc32c(bytes(32)) == 0x8A9136AA
    assert crc32c(b"\xff" * 32) == 0x62A8AB43


def test_what_is_written_is_read_by_tensorboard(tmp_path):
    file = EventFile(tmp_path)
    file.write(1000.25, 7, {"learn/policy_loss": 1.5, "throughput/rows_per_s": 123456.0})
    file.write(1005.5, 2**40, {"learn/policy_loss": math.nan})
    head, first, second = read(tmp_path)
    file.close()
    assert head.file_version == "brain.Event:2"
    assert (first.wall_time, first.step) == (1000.25, 7)
    assert {value.tag: value.simple_value for value in first.summary.value} == {
        "learn/policy_loss": 1.5,
        "throughput/rows_per_s": 123456.0,
    }
    assert second.step == 2**40
    assert math.isnan(second.summary.value[0].simple_value)


def test_a_resumed_run_adds_a_file_and_loses_nothing(tmp_path):
    for step in (1, 2):
        file = EventFile(tmp_path)
        file.write(float(step), step, {"x": step})
        file.close()
    assert [event.step for event in read(tmp_path) if event.summary.value] == [1, 2]


def test_an_event_cut_short_costs_only_itself(tmp_path):
    file = EventFile(tmp_path)
    for step in range(3):
        file.write(float(step), step, {"x": 1.0})
    file.close()
    (path,) = (tmp_path / FOLDER).iterdir()
    path.write_bytes(path.read_bytes()[:-3])
    assert [event.step for event in read(tmp_path) if event.summary.value] == [0, 1]


def test_a_full_disk_costs_events_and_nothing_else(tmp_path, monkeypatch, caplog):
    """Half of an event gets there, then none of one; what comes when there is room again is read."""
    file, pwrite, room = EventFile(tmp_path), os.pwrite, [20, 0]

    def full(descriptor: int, data: bytes, place: int) -> int:
        fitting = room.pop(0)
        if fitting == 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        return pwrite(descriptor, data[:fitting], place)

    monkeypatch.setattr(os, "pwrite", full)
    file.write(1.0, 1, {"x": 1.0})
    file.write(2.0, 2, {"x": 1.0})
    monkeypatch.undo()
    file.write(3.0, 3, {"x": 1.0})
    file.close()
    assert [event.step for event in read(tmp_path)] == [0, 3]
    assert caplog.text.count("are left out: No space left on device") == 1


@given(st.binary(max_size=300))
def test_a_record_is_its_length_and_its_data_between_checksums(data):
    whole = record(data)
    assert struct.unpack("<Q", whole[:8]) == (len(data),)
    assert whole[12:-4] == data
    assert len(whole) == len(data) + 16


@pytest.mark.parametrize("value", [1e39, -1e39])
def test_a_value_too_large_for_its_format_is_infinite(value, tmp_path):
    file = EventFile(tmp_path)
    file.write(1.0, 1, {"x": value})
    file.close()
    assert math.isinf(read(tmp_path)[1].summary.value[0].simple_value)


def test_a_file_that_cannot_be_made_is_made_with_a_later_event(tmp_path, caplog):
    obstacle = tmp_path / "tensorboard"
    obstacle.write_text("no folder")
    file = EventFile(tmp_path)
    file.write(1.0, 1, {"left out": 1.0})
    obstacle.unlink()
    file.write(2.0, 2, {"there": 2.0})
    file.close()

    (path,) = obstacle.iterdir()
    data = path.read_bytes()
    assert b"brain.Event:2" in data
    assert b"there" in data
    assert b"left out" not in data
    assert caplog.text.count("cannot be written and are left out") == 1
