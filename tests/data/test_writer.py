"""The writer: transactions by count and by time, trouble waited out, nothing dropped."""

import queue
import sqlite3
import threading
import time
from collections.abc import Sequence
from types import SimpleNamespace

import pytest
from entry_cases import make_game

from asyncplay.data import writer as writer_module
from asyncplay.data.entries import EventEntry, GameEntry, Note, Written
from asyncplay.data.store import Store, StoreError, open_read_only, open_store, read_kept
from asyncplay.data.watermark import Watermark, read_watermark
from asyncplay.data.writer import CommitPolicy, InlineWriter, ThreadedWriter, is_transient

META = {"game": "none"}
NEVER_S = 3600.0
WAIT_S = 60.0


class Ears:
    """Hears what the writer says, whatever thread it speaks from."""

    def __init__(self) -> None:
        self.words: queue.Queue[tuple[str, object]] = queue.Queue()

    def committed(self, written: Written, seconds: float) -> None:
        self.words.put(("committed", written))

    def trouble(self, why: str) -> None:
        self.words.put(("trouble", why))

    def failed(self, error: BaseException) -> None:
        self.words.put(("failed", error))

    def next(self, kind: str) -> object:
        said, what = self.words.get(timeout=WAIT_S)
        assert said == kind, f"{said} {what}"
        return what


class Desk:
    """A writer with its store."""

    def __init__(self, folder, pace: CommitPolicy) -> None:
        self.folder, self.ears = folder, Ears()
        self.store = open_store(folder, META, "process")
        self.writer = ThreadedWriter(self.store, Watermark(folder), self.ears, pace)

    def until_it_waits(self) -> None:
        """Until the thread has gone to sleep; it is the only one that waits for a change."""
        deadline_s = time.monotonic() + WAIT_S
        while not self.writer._changed._waiters:
            assert time.monotonic() < deadline_s, "the writer does not come to rest"
            time.sleep(0.001)

    def kept(self) -> int:
        reader = open_read_only(self.folder)
        try:
            return read_kept(reader).games
        finally:
            reader.close()


@pytest.fixture
def desk(tmp_path):
    made: list[Desk] = []

    def make(pace: CommitPolicy) -> Desk:
        made.append(Desk(tmp_path, pace))
        return made[0]

    yield make
    for each in made:
        each.writer.close()


def test_a_transaction_ends_with_the_count(desk):
    """Age never comes: 3 games go to disk together, and the fourth stays."""
    at = desk(CommitPolicy(games=3, age_s=NEVER_S))
    for unit in range(4):
        at.writer.add(make_game(unit))

    written = at.ears.next("committed")

    assert len(written.is_new) in (3, 4)  # the fourth may have come before the thread woke
    assert at.kept() == written.kept.games == len(written.is_new)
    assert read_watermark(at.folder) == written.kept


def test_the_game_that_makes_the_count_wakes_a_writer_that_waits_for_the_age(desk):
    at = desk(CommitPolicy(games=3, age_s=NEVER_S))
    at.until_it_waits()
    at.writer.add(make_game(0))
    at.until_it_waits()
    at.writer.add(make_game(1))
    at.writer.add(make_game(2))
    assert at.ears.next("committed").is_new == [True] * 3


def test_the_age_is_that_of_the_oldest_however_many_come_behind_it(desk, monkeypatch):
    """Games that come one by one, each within the age, must not put off the commit for ever."""
    now_s = 1000.0
    monkeypatch.setattr(writer_module, "time", SimpleNamespace(monotonic=lambda: now_s, perf_counter=lambda: now_s))
    at = desk(CommitPolicy(games=10**6, age_s=NEVER_S))
    assert at.writer._due_in_s() is None
    for unit in range(3):
        at.writer.add(make_game(unit))
        at.writer.note(EventEntry(1.0, "kind", "text"))
        assert at.writer._due_in_s() == NEVER_S - 100.0 * unit
        now_s += 100.0


@pytest.mark.parametrize("kind", ["threaded", "inline"])
def test_the_mark_is_written_before_anybody_is_told(kind, tmp_path):
    """Else a kill in between would leave an acknowledged game that no mark vouches for."""
    marks: list[object] = []
    ears, store = Ears(), open_store(tmp_path, META, "process")
    ears.committed = lambda written, seconds: marks.append((written.kept, read_watermark(tmp_path)))
    if kind == "inline":
        writer = InlineWriter(store, Watermark(tmp_path), ears, lambda step: step())
    else:
        writer = ThreadedWriter(store, Watermark(tmp_path), ears, CommitPolicy(games=1, age_s=0.0))
    for unit in range(3):
        writer.add(make_game(unit))
    writer.close()
    assert marks
    assert all(kept == mark for kept, mark in marks)


def test_a_transaction_ends_with_the_age_of_its_oldest_game(desk):
    at = desk(CommitPolicy(games=10**6, age_s=0.01))
    at.writer.add(make_game(1))
    assert at.ears.next("committed").is_new == [True]


def test_games_come_out_in_the_order_they_went_in_with_their_repeats_marked(desk):
    at = desk(CommitPolicy(games=1, age_s=NEVER_S))
    for unit in (5, 3, 5, 4):
        at.writer.add(make_game(unit))
    flags: list[bool] = []
    while len(flags) < 4:
        flags += at.ears.next("committed").is_new

    assert flags == [True, True, False, True]
    assert list(at.store.connection.execute("SELECT unit FROM games ORDER BY number")) == [(5,), (3,), (4,)]


def test_what_is_left_is_stored_at_the_end(tmp_path):
    at = Desk(tmp_path, CommitPolicy(games=10**6, age_s=NEVER_S))
    for unit in range(5):
        at.writer.add(make_game(unit))
    at.writer.note(EventEntry(1.0, "stop", "the end"))

    at.writer.close()

    reader = open_read_only(tmp_path)
    assert reader.execute("SELECT count(*) FROM games").fetchone() == (5,)
    assert reader.execute("SELECT kind FROM events").fetchall() == [("stop",)]
    reader.close()


def test_a_full_disk_is_waited_out_and_no_game_is_dropped(desk):
    """SQLite may use no page more than it has; the first games wait until it may, the later ones behind them."""
    at = desk(CommitPolicy(games=1, age_s=NEVER_S, retry_s=0.02))
    pages = at.store.connection.execute("PRAGMA page_count").fetchone()[0]
    at.store.connection.execute(f"PRAGMA max_page_count = {pages}")
    for unit in range(3):
        at.writer.add(make_game(unit, rows=2000))
    assert "full" in at.ears.next("trouble")
    assert "full" in at.ears.next("trouble")
    assert (at.kept(), read_watermark(at.folder)) == (0, None)

    at.store.connection.execute("PRAGMA max_page_count = 1000000")

    while (said := at.ears.words.get(timeout=WAIT_S))[0] == "trouble" and said[1]:
        pass  # tries that failed before there was room
    assert said == ("trouble", "")
    n_stored = 0
    while n_stored < 3:
        n_stored += len(at.ears.next("committed").is_new)
    assert at.kept() == 3


def test_what_is_given_up_nobody_was_told_of(tmp_path):
    at = Desk(tmp_path, CommitPolicy(games=1, age_s=NEVER_S, retry_s=NEVER_S))
    pages = at.store.connection.execute("PRAGMA page_count").fetchone()[0]
    at.store.connection.execute(f"PRAGMA max_page_count = {pages}")
    at.writer.add(make_game(1, rows=2000))
    at.ears.next("trouble")

    at.writer.give_up()
    at.writer.close()

    assert at.ears.words.empty()
    assert (at.kept(), read_watermark(tmp_path)) == (0, None)


class Broken(Store):
    """Finds out that its file is damaged."""

    def write(self, games: Sequence[GameEntry], notes: Sequence[Note]) -> Written:
        error = sqlite3.DatabaseError("database disk image is malformed")
        error.sqlite_errorname = "SQLITE_CORRUPT"
        raise error


def test_a_damaged_database_ends_the_writer_with_the_cure(desk):
    at = desk(CommitPolicy(games=1, age_s=NEVER_S))
    at.store.__class__ = Broken
    at.writer.add(make_game(1))

    error = at.ears.next("failed")

    assert isinstance(error, StoreError)
    assert "run.sqlite is damaged (database disk image is malformed)" in str(error)
    assert "verify --repair" in str(error)


def test_only_what_may_pass_is_waited_out():
    assert is_transient(OSError(28, "No space left on device"))
    for name, may_pass in [("SQLITE_FULL", True), ("SQLITE_IOERR_FSYNC", True), ("SQLITE_CORRUPT", False), ("", False)]:
        error = sqlite3.OperationalError("why")
        error.sqlite_errorname = name
        assert is_transient(error) is may_pass


def test_the_inline_writer_stores_each_game_before_it_returns(tmp_path):
    ears, store = Ears(), open_store(tmp_path, META, "process")
    writer = InlineWriter(store, Watermark(tmp_path), ears, lambda step: step())
    before = threading.active_count()
    writer.note(EventEntry(1.0, "start", "hello"))

    for unit in (4, 4, 5):
        writer.add(make_game(unit))
        assert read_watermark(tmp_path) == store.kept == read_kept(store.connection)

    assert [ears.next("committed").is_new for _ in range(3)] == [[True], [False], [True]]
    assert store.connection.execute("SELECT text FROM events").fetchall() == [("hello",)]
    assert threading.active_count() == before
    writer.close()
