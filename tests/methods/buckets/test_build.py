"""Building files of buckets: the same file whoever builds it and however often it is interrupted."""

import asyncio
import signal
import subprocess
import sys
import time
from itertools import permutations

import numpy as np
import pytest

from asyncplay.cli import main
from asyncplay.config.loading import load
from asyncplay.config.sections import Config
from asyncplay.errors import AsyncplayError, WireError
from asyncplay.games.cards import RANKS, SUIT_CARDS, card_set
from asyncplay.methods.buckets import build as building
from asyncplay.methods.buckets.messages import BoardsResult
from asyncplay.solve.abstraction.bucket_file import MEAN, WEIGHT, BucketFile

INLINE = load(None, {"pool": {"kind": "inline"}})
COUNTS = (5, 8, 8, 6)
COMMAND = [sys.executable, "-m", "asyncplay", "buckets", "build"]


@pytest.fixture
def small(monkeypatch):
    """Samples that a test can cluster in a moment."""
    monkeypatch.setattr(building, "SAMPLE_BOARDS", {1: 12, 2: 24})


def made(path, progress=lambda done, total: None, counts=COUNTS, config: Config = INLINE, seed=0) -> str:
    return building.build(path, building.plan(24, counts, seed), config, progress)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A file of the deck of 24 cards."""
    path = tmp_path_factory.mktemp("buckets") / "nines.buckets"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(building, "SAMPLE_BOARDS", {1: 12, 2: 24})
        made(path)
    return path


def cancel_all() -> None:
    """End the build that is under way, as Ctrl-C does."""
    for task in asyncio.all_tasks():
        if "_watched" in repr(task.get_coro()):
            task.cancel()


def renamed(cards: int, suits: tuple[int, ...]) -> int:
    return sum(((cards >> (RANKS * suit)) & SUIT_CARDS) << (RANKS * to) for suit, to in enumerate(suits))


def test_a_file_carries_its_sha256_and_its_parameters(built):
    file = BucketFile(built)
    file.verify()
    assert (file.parameters.deck, file.parameters.buckets, file.parameters.seed) == (24, COUNTS, 0)
    assert not building.part_folder(built).exists()


def test_hands_that_differ_only_by_suits_share_a_bucket(built):
    file = BucketFile(built)
    for hand, board in (("AsKs", ""), ("AsKd", "9sTsJd"), ("QsQd", "9sTsJdJh"), ("9c9h", "AsKsQsTdTh")):
        hole, turned = card_set(hand), card_set(board)
        found = {file.bucket(renamed(hole, suits), renamed(turned, suits)) for suits in permutations(range(4))}
        assert len(found) == 1


def test_every_hand_is_counted_once_and_wins_half_on_average(built):
    """276 pairs of 24 cards; 22 choose 3, 4 and 5 boards beside each; equities are rounded to one in 4095."""
    for stats, n_boards in zip(BucketFile(built).stats, (1, 1540, 7315, 26334), strict=True):
        weights = stats[:, WEIGHT]
        assert weights.sum() in (276 * n_boards, 276 * 1540)  # classes are counted on the flop
        assert (weights * stats[:, MEAN]).sum() / weights.sum() == pytest.approx(0.5, abs=1e-3)
        used = stats[weights > 0, MEAN]
        assert (np.diff(used) > -0.05).all()  # by the distribution, hence nearly by equity


def test_the_nuts_are_in_the_best_bucket_and_the_worst_hand_in_the_last(built):
    file = BucketFile(built)
    assert file.bucket(card_set("AsKs"), card_set("QsJsTs9h9d")) == COUNTS[3] - 1
    assert file.bucket(card_set("9sTd"), card_set("AsAdAhQcKh")) == 0


def test_a_build_that_fails_in_between_goes_on_to_the_same_file(small, built, tmp_path):
    """Once while boards are ranked, once while buckets are found; no unit is done twice."""
    path, seen = tmp_path / "again.buckets", list[int]()

    def note(done: int, total: int) -> None:
        seen.append(done)
        if len(seen) in (5, 40):
            cancel_all()

    for _ in range(2):
        with pytest.raises(asyncio.CancelledError):
            made(path, note)
        assert not path.exists()
    made(path, note)
    assert seen == list(range(1, len(seen) + 1))
    assert path.read_bytes() == built.read_bytes()


def test_what_is_left_of_other_parameters_is_refused(small, tmp_path):
    path = tmp_path / "one.buckets"
    with pytest.raises(asyncio.CancelledError):
        made(path, lambda done, total: cancel_all())
    with pytest.raises(AsyncplayError, match="is left of a build with other parameters; remove it"):
        made(path, counts=(5, 8, 8, 7))


def test_a_folder_without_its_data_is_begun_anew_and_a_damaged_state_is_one_line(small, built, tmp_path):
    path = tmp_path / "torn.buckets"
    folder = building.part_folder(path)
    with pytest.raises(asyncio.CancelledError):
        made(path, lambda done, total: cancel_all())
    (folder / building.STATE).write_bytes(b"no archive")
    with pytest.raises(AsyncplayError, match=r"state.npz is damaged .*; remove"):
        made(path)
    (folder / building.DRAFT).unlink()
    made(path)
    assert path.read_bytes() == built.read_bytes()


def test_another_seed_gives_another_file_and_lossless_is_a_bucket_for_each_class(small, built, tmp_path):
    path = tmp_path / "other.buckets"
    made(path, counts=(169, 8, 8, 6), seed=1)
    file, first = BucketFile(path), BucketFile(built)
    assert (file.tables[2] != first.tables[2]).any()
    assert (file.stats[0][:, WEIGHT] > 0).sum() == 36  # of six ranks
    assert (file.bucket(card_set("KsKd"), 0), file.bucket(card_set("AsAd"), 0)) == (
        35,
        34,
    )  # kings are in all straights


def test_damage_is_one_line(built, tmp_path, capsys):
    whole = built.read_bytes()
    path = tmp_path / "damaged.buckets"
    path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    BucketFile(path)
    assert main(["buckets", "show", str(path), "--verify"]) == 2
    path.write_bytes(whole[:-1])
    assert main(["buckets", "show", str(path)]) == 2
    path.write_bytes(b"[" * 100_000)
    assert main(["buckets", "show", str(path)]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert ["SHA-256" in lines[0], "bytes instead of" in lines[1], "is no file of buckets" in lines[2]] == [True] * 3
    assert len(lines) == 3


def test_a_hand_is_explained_on_every_street_of_its_board(built, capsys):
    assert main(["buckets", "show", str(built), "--hand", "AsKs", "--board", "QsJsTs9h"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines[-3:]] == ["preflop", "flop QsJsTs", "turn QsJsTs9h"]
    assert lines[-1].startswith(f"turn QsJsTs9h: bucket {COUNTS[2] - 1}, equity 0.9")


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--hand", "As"], "--hand is As, must be two cards"),
        (["--hand", "AsKs", "--board", "AsQdJd"], "As is in the hand and on the board"),
        (["--hand", "AsKs", "--board", "Qd"], "--board is Qd, must be three to five cards"),
        (["--hand", "As2s"], "2s is in no deck of 24 cards"),
        (["--board", "AsQdJd"], "a board alone is in no bucket"),
    ],
)
def test_cards_that_cannot_be_are_one_line(built, words, complaint, capsys):
    assert main(["buckets", "show", str(built), *words]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert complaint in line


def test_a_file_that_is_there_is_not_built_again(built, capsys):
    assert main(["buckets", "build", "5/8/8/6", "--deck", "24", "--out", str(built)]) == 2
    assert "exists; remove it" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("data", "totals", "flaw"),
    [(b"", 0, "another size"), (b"\x00" * 2 * 128 * 1081, 1, "another size"), (b"\x7f" * 2 * 128 * 1081, 0, "range")],
)
def test_a_result_that_cannot_be_costs_its_worker(tmp_path, data, totals, flaw):
    building.part_folder(tmp_path / "a").mkdir()
    build = building.Build(tmp_path / "a", building.plan(24, COUNTS, 0), INLINE, lambda done, total: None)
    check = build._checker("rank", build._batches(3))
    with pytest.raises(WireError, match=flaw):
        check(BoardsResult(1, 0, data, np.zeros(totals, np.int64)))


@pytest.mark.slow
@pytest.mark.process
def test_a_build_that_is_killed_goes_on_to_the_same_file(tmp_path):
    """Two workers, killed as soon as something was saved, against one worker in peace."""
    words = [*COMMAND, "5/8/8/6", "--deck", "24", "--out"]
    path, state = tmp_path / "killed.buckets", tmp_path / "killed.buckets.part" / building.STATE
    process = subprocess.Popen([*words, str(path), "--workers", "2"], stderr=subprocess.DEVNULL)
    while not state.exists() and process.poll() is None:
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not path.exists()
    subprocess.run([*words, str(path), "--workers", "2"], check=True, capture_output=True)
    subprocess.run([*words, str(tmp_path / "one.buckets"), "--workers", "1"], check=True, capture_output=True)
    assert path.read_bytes() == (tmp_path / "one.buckets").read_bytes()


@pytest.mark.exhaustive
@pytest.mark.process
@pytest.mark.timeout(3000)
def test_classes_of_the_full_deck_have_the_equities_that_every_table_has(tmp_path):
    """Against one random hand, over all boards; the least bucket is that of 32o, the largest that of aces."""
    path = tmp_path / "lossless.buckets"
    building.build(path, building.plan(52, (169, 40, 40, 32), 0), Config(), lambda done, total: None)
    file = BucketFile(path)
    file.verify()
    known = {"AsAd": 0.8520, "KsKd": 0.8240, "AsKs": 0.6704, "2s2d": 0.5033, "7s2d": 0.3458, "3s2d": 0.3230}
    found = {hand: float(file.stats[0][file.bucket(card_set(hand), 0), MEAN]) for hand in known}
    assert found == pytest.approx(known, abs=5e-4)
    assert (file.bucket(card_set("3s2d"), 0), file.bucket(card_set("AsAd"), 0)) == (0, 168)
    assert all((stats[:, WEIGHT] > 0).all() for stats in file.stats)
