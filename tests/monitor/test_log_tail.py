"""What the log keeps for whoever looks."""

import logging

from asyncplay.monitor.log_tail import LogTail
from asyncplay.monitor.snapshot import LOG_LINES


def logger(journal: LogTail) -> logging.Logger:
    speaker = logging.Logger("speaker", logging.DEBUG)
    speaker.addHandler(journal)
    return speaker


def test_the_last_warning_is_pinned_and_later_chatter_does_not_unpin_it():
    journal = LogTail()
    speaker = logger(journal)
    speaker.warning("worker %d died: %s", 3, "exit 7\nand a trace")
    speaker.info("worker 3 is ready")
    assert journal.event is not None
    assert (journal.event.text, journal.event.is_error) == ("worker 3 died: exit 7", False)
    speaker.error("the disk is full")
    assert (journal.event.text, journal.event.is_error) == ("the disk is full", True)
    journal.note("arena: 0.9")
    assert (journal.event.text, journal.event.is_error) == ("arena: 0.9", False)


def test_only_the_latest_lines_are_kept_each_on_one_line():
    journal = LogTail()
    speaker = logger(journal)
    for turn in range(3 * LOG_LINES):
        speaker.info("line %d\nmore", turn)
    speaker.debug("nobody wants to know")
    lines = journal.lines()
    assert len(lines) == LOG_LINES
    assert lines[-1].endswith(f" INFO line {3 * LOG_LINES - 1}")
