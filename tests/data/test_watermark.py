"""The mark beside the database."""

import os

import pytest

from asyncplay.data.entries import StorePosition
from asyncplay.data.watermark import FILE, Watermark, loss, read_watermark


def test_the_last_mark_is_read_back(tmp_path):
    mark = Watermark(tmp_path)
    mark.write(StorePosition(10**15, 10**15, 10**17))
    mark.write(StorePosition(7, 6, 50))
    mark.close()

    assert read_watermark(tmp_path) == StorePosition(7, 6, 50)


def test_a_mark_of_which_a_part_was_written_is_an_error_of_the_disk(tmp_path, monkeypatch):
    mark = Watermark(tmp_path)
    monkeypatch.setattr(os, "pwrite", lambda descriptor, line, offset: len(line) - 1)
    with pytest.raises(OSError, match="there is no room for the mark"):
        mark.write(StorePosition(1, 1, 1))
    mark.close()


def test_a_mark_survives_being_opened_again(tmp_path):
    for number in (3, 4):
        mark = Watermark(tmp_path)
        if number == 3:
            mark.write(StorePosition(3, 3, 3))
        mark.close()
    assert read_watermark(tmp_path) == StorePosition(3, 3, 3)


@pytest.mark.parametrize("content", [b"", b"1 2 3", b"x" * 69])
def test_no_mark_or_part_of_one_is_none(tmp_path, content):
    assert read_watermark(tmp_path) is None
    (tmp_path / FILE).write_bytes(content)
    assert read_watermark(tmp_path) is None


def test_any_changed_byte_makes_it_none(tmp_path):
    mark = Watermark(tmp_path)
    mark.write(StorePosition(123, 123, 456))
    mark.close()
    whole = (tmp_path / FILE).read_bytes()
    for place in range(len(whole)):
        (tmp_path / FILE).write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert read_watermark(tmp_path) is None


def test_a_database_behind_its_mark_is_named_with_what_it_lost():
    assert loss(StorePosition(950, 950, 0), StorePosition(1000, 1000, 0)) == (
        "run.sqlite ends with game 950, but game 1,000 had been stored: the database was rolled back or damaged, "
        "and 50 games are lost; they are played again"
    )


def test_a_database_before_its_mark_was_only_killed_before_the_acknowledgement():
    assert loss(StorePosition(1001, 1001, 0), StorePosition(1000, 1000, 0)) is None
    assert loss(StorePosition(1000, 1000, 0), StorePosition(1000, 1000, 0)) is None
    assert loss(StorePosition(5, 5, 0), None) is None
