"""A store that was cut, torn or written over: nothing crashes, nothing comes back altered, every loss is named."""

import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from stored import make_run, random_game

from asyncplay import games
from asyncplay.archive.verify import Verified, as_ranges, repair, repair_lines, verify
from asyncplay.data import lock
from asyncplay.data.reader import StoredGame, integrity, read_games, reading
from asyncplay.data.store import FILE, StoreError, open_store
from asyncplay.data.watermark import Watermark, read_watermark
from asyncplay.errors import AsyncplayError

UNITS = range(60)
PAGE = 4096


def ignore(done: int, total: int) -> None:
    """Nobody watches."""


def games_of(folder: Path) -> dict[int, StoredGame]:
    with reading(folder) as connection:
        return {game.number: game for game in read_games(connection)}


@pytest.fixture(scope="module")
def logged(tmp_path_factory) -> Path:
    """A run folder as a killed run leaves it: most games are in the log only."""
    folder = tmp_path_factory.mktemp("logged") / "run"
    alive = folder.with_name("alive")
    store = make_run(alive, UNITS)
    shutil.copytree(alive, folder)
    store.close()
    return folder


@pytest.fixture(scope="module")
def settled(tmp_path_factory) -> Path:
    """A run folder as a run leaves it that ended well: one file."""
    folder = tmp_path_factory.mktemp("settled") / "run"
    make_run(folder, UNITS).close()
    assert not (folder / f"{FILE}-wal").exists()
    return folder


def copy_of(folder: Path, target: Path) -> Path:
    for path in folder.iterdir():
        if not path.name.endswith("-shm"):
            shutil.copyfile(path, target / path.name)
    return target


def numbers_of(ranges: list[range]) -> list[int]:
    return [number for found in ranges for number in found]


def refreshed(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder


def test_a_sound_store_is_sound(logged, settled, tmp_path):
    assert verify(copy_of(logged, tmp_path), ignore) == Verified(60, [])
    assert verify(settled, ignore) == Verified(60, [])


def test_games_that_come_while_a_run_is_checked_are_no_damage(tmp_path):
    """The store and its mark go on between the first look and the last."""
    store, mark, spec = make_run(tmp_path, range(20)), Watermark(tmp_path), games.load("tictactoe")

    def play_on(done: int, total: int) -> None:
        mark.write(store.write([random_game(spec, 100 + done)], []).kept)

    with lock.hold(tmp_path):
        assert verify(tmp_path, play_on) == Verified(20, [])
    assert read_watermark(tmp_path).games == 41
    assert verify(tmp_path, ignore) == Verified(41, [])
    mark.close()
    store.close()


def test_a_log_cut_at_200_places_loses_whole_commits_and_every_loss_is_named(logged, tmp_path):
    """Six commits of ten games: what is left is a whole number of them, and the mark tells how many are gone."""
    dice, length = random.Random(4), (logged / f"{FILE}-wal").stat().st_size
    before, seen = games_of(copy_of(logged, refreshed(tmp_path / "whole"))), set()
    for _ in range(200):
        folder = copy_of(logged, refreshed(tmp_path / "cut"))
        with (folder / f"{FILE}-wal").open("r+b") as log:
            log.truncate(dice.randrange(length))
        found = verify(folder, ignore)
        seen.add(found.sound)
        if found.sound < 60:
            assert len(found.flaws) == 1
            assert_loss_is_named(found, lost=60 - found.sound)
        if found.sound:
            after = games_of(folder)
            assert after == {number: before[number] for number in range(1, found.sound + 1)}
    assert seen == {0, 10, 20, 30, 40, 50}


def assert_loss_is_named(found: Verified, lost: int) -> None:
    (flaw,) = found.flaws
    has_no_table = "no such table" in flaw or "not of a run" in flaw
    assert has_no_table or f"{lost} games are lost" in flaw


def test_a_cut_log_is_no_obstacle_for_a_run_that_goes_on(logged, tmp_path):
    dice, length = random.Random(5), (logged / f"{FILE}-wal").stat().st_size
    for _ in range(20):
        folder = copy_of(logged, refreshed(tmp_path / "cut"))
        with (folder / f"{FILE}-wal").open("r+b") as log:
            log.truncate(dice.randrange(length))
        with closing(open_store(folder, {"game": "tictactoe"})) as store:
            assert store.kept.games % 10 == 0
            assert integrity(store.connection) == []


def harm(path: Path, dice: random.Random) -> None:
    """Flip a bit, blank a page, or put another page or noise in its place."""
    data = bytearray(path.read_bytes())
    n_pages = len(data) // PAGE
    page = dice.randrange(n_pages) * PAGE
    match dice.randrange(4):
        case 0:
            data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
        case 1:
            data[page : page + PAGE] = bytes(PAGE)
        case 2:
            other = dice.randrange(n_pages) * PAGE
            data[page : page + PAGE] = data[other : other + PAGE]
        case 3:
            data[page : page + PAGE] = dice.randbytes(PAGE)
    path.write_bytes(data)


def test_100_kinds_of_harm_to_the_pages_are_noticed_or_changed_nothing_and_repaired_as_far_as_possible(
    settled, tmp_path
):
    before = games_of(settled)
    noticed = saved_games = 0
    for seed in range(100):
        folder = copy_of(settled, refreshed(tmp_path / "harmed"))
        harm(folder / FILE, random.Random(seed))
        found = verify(folder, ignore)
        if not found.flaws:
            assert games_of(folder) == before
            continue
        noticed += 1
        saved = repair(folder)
        after = games_of(folder)
        assert after == {number: before[number] for number in after}
        assert numbers_of(saved.lost) == [number for number in before if number not in after]
        assert saved.quarantined == []
        assert verify(folder, ignore).flaws in ([], [f"missing: number {as_ranges(saved.lost)}"])
        saved_games += saved.games
    assert noticed > 50
    assert saved_games / noticed > 0.7 * len(UNITS)


def test_a_repair_names_the_loss_keeps_the_old_file_and_lets_the_run_go_on(settled, tmp_path):
    folder = copy_of(settled, tmp_path)
    data = bytearray((folder / FILE).read_bytes())
    leaves = [
        start for start in range(PAGE, len(data), PAGE) if data[start] == 0x0D and b"rules" in data[start:][:PAGE]
    ]
    data[leaves[1] : leaves[1] + PAGE] = bytes(PAGE)
    (folder / FILE).write_bytes(data)

    saved = repair(folder)

    n_lost = len(numbers_of(saved.lost))
    assert 0 < n_lost < 60
    assert saved.games == 60 - n_lost
    assert saved.old.read_bytes() == data
    assert f"lost {n_lost} games: number {as_ranges(saved.lost)}; a resumed run plays them again" in repair_lines(saved)
    assert saved.notes == {"versions": 2, "events": 1, "metrics": 20}
    with closing(open_store(folder, {"game": "tictactoe", "seed": "0"})) as store:
        assert integrity(store.connection) == []
        assert store.kept == read_watermark(folder)
        assert len(store.units()) == saved.games


def test_a_file_that_is_no_database_at_all_loses_everything_and_says_so(settled, tmp_path):
    folder = copy_of(settled, tmp_path)
    (folder / FILE).write_bytes(b"not a database at all" * 1000)
    with pytest.raises(StoreError, match=r"is damaged .* verify --repair` saves what it can"):
        games_of(folder)
    saved = repair(folder)
    assert (saved.games, saved.lost) == (0, [range(1, 61)])
    assert "lost 60 games: number 1-60; a resumed run plays them again" in repair_lines(saved)
    assert games_of(folder) == {}
    with closing(open_store(folder, {"game": "tictactoe", "seed": "0", "players": "2"})) as store:
        assert store.kept.games == 0


def test_games_in_the_log_are_saved_behind_a_torn_frame_too(logged, tmp_path):
    """SQLite stops at the first frame that is torn; the games behind it are whole all the same."""
    folder = copy_of(logged, refreshed(tmp_path / "torn"))
    data = bytearray((folder / f"{FILE}-wal").read_bytes())
    n_frames = (len(data) - 32) // (PAGE + 24)
    middle = 32 + n_frames // 2 * (PAGE + 24)
    data[middle + 8] ^= 0xFF  # the frame's salt: as if it belonged to another log
    (folder / f"{FILE}-wal").write_bytes(data)
    assert 0 < verify(folder, ignore).sound < 60
    assert repair(folder).games == 60
    assert verify(folder, ignore) == Verified(60, [])


def test_nothing_is_repaired_under_a_run_that_goes_on(settled, tmp_path):
    folder = copy_of(settled, tmp_path)
    with lock.hold(folder), pytest.raises(AsyncplayError, match="is in use by process"):
        repair(folder)
    assert not any("damaged" in path.name for path in folder.iterdir())


def test_damage_is_told_by_sqlite_only_where_it_can(settled, tmp_path):
    """A bit inside a policy: SQLite finds nothing, the checksum does."""
    folder = copy_of(settled, tmp_path)
    with sqlite3.connect(folder / FILE) as connection:
        (record,) = connection.execute("SELECT record FROM games WHERE number = 7").fetchone()
    data = (folder / FILE).read_bytes()
    assert data.count(record) == 1
    place = data.index(record) + len(record) - 1
    (folder / FILE).write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
    with reading(folder) as connection:
        assert integrity(connection) == []
    assert verify(folder, ignore) == Verified(
        59, ["game 7: its checksum is wrong: the file has changed since it was written"]
    )


def test_numbers_are_told_briefly():
    assert as_ranges([range(1, 4), range(7, 8), range(9, 11)]) == "1-3, 7, 9-10"
    assert as_ranges([]) == ""
    assert as_ranges(range(number, number + 1) for number in range(1000)).endswith("198, 199, ...")
