"""The log of a run on a disk that takes nothing."""

import logging
from pathlib import Path

import pytest

from asyncplay.rundir.log import LogFile


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_a_log_on_a_full_disk_loses_lines_without_a_word(capsys):
    handler = LogFile("/dev/full")
    handler.emit(logging.LogRecord("asyncplay", logging.INFO, "", 0, "hello", (), None))
    handler.emit(logging.LogRecord("asyncplay", logging.INFO, "", 0, "hello %d", ("you",), None))
    handler.close()

    said = capsys.readouterr().err
    assert "No space left" not in said
    assert "TypeError" in said  # a mistake of ours is still told
