"""Rounds with workers made of a few lines: every iteration counted once, the same bits whoever computed what."""

import dataclasses
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from keeping import Nobody

from asyncplay.engine.dispatch import Dispatcher
from asyncplay.engine.ledger import FATAL_DEATHS, Ledger, Piece
from asyncplay.engine.supervise import Member, Phase
from asyncplay.engine.work import Assignment
from asyncplay.errors import WireError
from asyncplay.methods.mccfr.changelog import ChangeLog
from asyncplay.methods.mccfr.messages import Delta, Merged
from asyncplay.methods.mccfr.pieces import Most, RoundWork
from asyncplay.methods.mccfr.round_size import Effort, RoundSize, idle_warning
from asyncplay.methods.mccfr.rounds import Rounds
from asyncplay.solve.deltas import MergedTable
from asyncplay.solve.regret import REGRET, SUM
from asyncplay.wire.codec import HEADER, decode
from asyncplay.wire.messages import Job

OFFSETS = np.array([0, 2, 5, 7, 8, 12, 14], np.int32)
N_INFOSETS, N_ENTRIES = len(OFFSETS) - 1, int(OFFSETS[-1])


def new_table() -> MergedTable:
    return MergedTable(OFFSETS, np.zeros((N_ENTRIES, 2)))


def walk(regrets: np.ndarray, piece: Piece) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What a piece changes: depends on the table it starts from, and on nothing else."""
    infosets = np.array(sorted({unit % N_INFOSETS for unit in range(piece.first, piece.first + piece.size)}), np.int32)
    entries = np.concatenate([np.arange(OFFSETS[infoset], OFFSETS[infoset + 1]) for infoset in infosets])
    return infosets, np.sin(regrets[entries] + piece.first + entries), np.full(len(entries), float(piece.size))


class FakeWorker:
    """Has a table of its own, which it knows only from what it is told."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.regrets = np.zeros(N_ENTRIES)
        self.jobs: list[tuple[int, Piece]] = []
        self.told_infosets = 0

    def send(self, message: Merged, now_s: float) -> None:
        entry = 0
        self.told_infosets += len(message.infosets)
        for infoset in message.infosets:
            k = OFFSETS[infoset + 1] - OFFSETS[infoset]
            self.regrets[OFFSETS[infoset] : OFFSETS[infoset + 1]] = message.regrets[entry : entry + k]
            entry += k

    def deltas(self, piece: Piece) -> list[Delta]:
        """In two parts, as a big one would come."""
        n, (infosets, regrets, sums) = piece.size, walk(self.regrets, piece)
        cut = int(OFFSETS[infosets[0] + 1] - OFFSETS[infosets[0]])
        first = Delta(1, False, 0, 0, 0.0, infosets[:1], regrets[:cut], sums[:cut])
        return [first, Delta(1, True, n, 7 * n, 0.5 * n, infosets[1:], regrets[cut:], sums[cut:])]


class Shop:
    """The dispatcher's part: gives out pieces, hands in what comes back, loses workers."""

    def __init__(self, total: int | None, workers: int, *, is_synchronous: bool, pace: RoundSize = RoundSize()) -> None:  # noqa: B008
        self.table, self.ledger = new_table(), Ledger(total, is_divisible=False)
        self.rounds = Rounds(self.table, self.ledger, pace, workers, is_synchronous)
        self.workers = {number: FakeWorker(number) for number in range(workers)}
        self.n_issued: list[int] = []

    def give(self, number: int) -> bool:
        worker, count = self.workers[number], self.rounds.portion()
        if worker.jobs or not count or (issued := self.ledger.issue(number, count)) is None:
            return False
        worker.jobs.append(issued)
        self.n_issued.append(issued[1].size)
        self.rounds.prepare(worker, issued[1], 0.0)  # type: ignore[arg-type]
        return True

    def finish(self, number: int) -> None:
        worker = self.workers[number]
        job, piece = worker.jobs.pop()
        first, last = worker.deltas(piece)
        assert not self.rounds.take(number, piece, first)
        assert self.rounds.take(number, piece, last)
        self.ledger.finish(number, job)

    def die(self, number: int, *, after_parts: int = 0) -> None:
        worker = self.workers[number]
        if worker.jobs and after_parts:
            piece = worker.jobs[0][1]
            self.rounds.take(number, piece, worker.deltas(piece)[0])
        self.ledger.lose(number)
        self.rounds.gone(number)
        self.workers[number] = FakeWorker(number)

    def run(self, chance: random.Random, *, deaths: int = 0) -> None:
        """Until all is done, in an order that only chance knows."""
        while not self.ledger.is_settled:
            number = chance.choice(list(self.workers))
            if not self.workers[number].jobs:
                self.give(number)
            elif deaths and chance.random() < 0.3:
                deaths -= 1
                self.die(number, after_parts=chance.randrange(2))
            else:
                self.finish(number)


@given(st.integers(1, 400), st.integers(1, 6), st.booleans(), st.integers(0, 2), st.randoms(use_true_random=False))
def test_every_iteration_is_merged_once_whoever_dies(total, workers, is_synchronous, deaths, chance):
    shop = Shop(total, workers, is_synchronous=is_synchronous)
    shop.run(chance, deaths=deaths)

    stats, books = shop.rounds.stats, shop.ledger.books
    assert (stats.iterations, stats.nodes, books.done) == (total, 7 * total, total)
    assert books.issued == books.done + books.lost
    assert shop.table.values[:, SUM].max() <= total


@given(st.integers(1, 400), st.integers(1, 5), st.randoms(use_true_random=False), st.integers(0, 2))
def test_synchronous_rounds_give_the_same_bits_whatever_the_order_and_whoever_dies(total, workers, chance, deaths):
    calm = Shop(total, workers, is_synchronous=True)
    calm.run(random.Random(0))
    wild = Shop(total, workers, is_synchronous=True)
    wild.run(chance, deaths=deaths)

    np.testing.assert_array_equal(wild.table.values, calm.table.values)


def test_a_worker_knows_the_merged_table_when_its_next_piece_begins():
    shop = Shop(600, 3, is_synchronous=False)
    for turn in range(60):
        number = turn % 3
        if shop.workers[number].jobs:
            shop.finish(number)
        if shop.give(number):
            np.testing.assert_array_equal(shop.workers[number].regrets, shop.table.values[:, REGRET])


def test_regrets_are_divided_by_the_workers_of_the_round_and_sums_are_added():
    shop = Shop(20, 2, is_synchronous=True)
    shop.give(0)
    shop.give(1)
    expected = np.zeros((N_ENTRIES, 2))
    for first in (0, 10):
        infosets, regrets, sums = walk(np.zeros(N_ENTRIES), Piece(first, 10))
        entries = np.concatenate([np.arange(OFFSETS[infoset], OFFSETS[infoset + 1]) for infoset in infosets])
        expected[entries, REGRET] += regrets / 2
        expected[entries, SUM] += sums
    shop.finish(1)
    assert not shop.table.values.any()  # one half of a round is nothing yet
    shop.finish(0)

    np.testing.assert_array_equal(shop.table.values, expected)


def test_asynchronous_regrets_are_divided_by_the_pieces_under_way_when_they_come():
    """Three are out when the first comes, two when the second does, and again three once a worker has another."""
    shop = Shop(None, 3, is_synchronous=False)
    for number in range(3):
        shop.give(number)
    expected = np.zeros((N_ENTRIES, 2))
    for number, divisor in ((1, 3), (0, 2), (2, 3)):
        if number == 2:
            shop.give(0)
            shop.give(1)
        worker = shop.workers[number]
        infosets, regrets, sums = walk(worker.regrets, worker.jobs[0][1])
        entries = np.concatenate([np.arange(OFFSETS[infoset], OFFSETS[infoset + 1]) for infoset in infosets])
        expected[entries, REGRET] += regrets / divisor
        expected[entries, SUM] += sums
        shop.finish(number)
        np.testing.assert_array_equal(shop.table.values, expected)


def test_an_asynchronous_round_is_discounted_once_when_its_last_piece_is_out():
    shop, periods = Shop(None, 3, is_synchronous=False), []
    shop.rounds.discount = periods.append
    for number in range(3):
        shop.give(number)
    for turn in range(9):
        shop.finish(turn % 3)
        assert periods == list(range(1, turn // 3 + 2)), "with the first piece that comes back after it"
        shop.give(turn % 3)


def test_idle_workers_are_skipped_and_not_awaited():
    shop = Shop(100, 128, is_synchronous=True, pace=RoundSize(batch=100))
    assert [shop.give(number) for number in range(128)] == [True] * 100 + [False] * 28
    for number in range(100):
        shop.finish(number)

    assert shop.ledger.is_settled
    assert shop.rounds.stats.iterations == 100


def test_a_replaced_worker_is_told_of_every_row_that_ever_changed_and_an_old_one_only_of_the_news():
    shop = Shop(None, 1, is_synchronous=True, pace=RoundSize(batch=1))
    for _ in range(2 * N_INFOSETS):
        shop.give(0)
        shop.finish(0)
    old = shop.workers[0]
    assert old.told_infosets == 2 * N_INFOSETS - 1
    shop.die(0)
    shop.give(0)
    assert shop.workers[0].told_infosets == N_INFOSETS


def test_a_stopped_synchronous_run_finishes_its_round():
    shop = Shop(None, 4, is_synchronous=True)
    shop.give(0)
    assert shop.rounds.owed == 30
    shop.ledger.close(shop.rounds.owed)
    shop.run(random.Random(1))
    assert shop.rounds.stats.iterations == 40


def test_a_run_saved_within_a_round_and_resumed_goes_on_to_the_same_bits():
    whole = Shop(1000, 3, is_synchronous=True)
    whole.run(random.Random(0))

    begun = Shop(1000, 3, is_synchronous=True)
    while begun.rounds.stats.iterations < 300 or not begun.workers[2].jobs:
        for number in begun.workers:
            begun.finish(number) if begun.workers[number].jobs else begun.give(number)
    resumed = Shop(1000, 3, is_synchronous=True)
    resumed.ledger.skip(*begun.rounds.position())
    resumed.table.restore(*begun.table.capture().values())
    resumed.rounds = Rounds(
        resumed.table, resumed.ledger, RoundSize(), 3, True, stats=begun.rounds.stats, latest=begun.rounds.latest
    )
    resumed.run(random.Random(5))

    np.testing.assert_array_equal(resumed.table.values, whole.table.values)
    assert resumed.rounds.stats.iterations == 1000


def test_an_asynchronous_run_resumes_with_the_pieces_that_were_out():
    begun = Shop(1000, 3, is_synchronous=False)
    for number in begun.workers:
        begun.give(number)
    begun.finish(1)
    assert begun.rounds.position() == (30, [(0, 10), (20, 10)])

    resumed = Shop(1000, 3, is_synchronous=False)
    resumed.ledger.skip(*begun.rounds.position())
    resumed.rounds = Rounds(resumed.table, resumed.ledger, RoundSize(), 3, False, stats=begun.rounds.stats)
    resumed.run(random.Random(5))
    assert resumed.rounds.stats.iterations == resumed.ledger.books.done == 1000


def test_a_piece_that_nobody_survives_is_not_awaited():
    shop = Shop(20, 2, is_synchronous=True)
    shop.give(0)
    shop.finish(0)
    for _ in range(FATAL_DEATHS):
        assert shop.give(1)
        shop.die(1, after_parts=1)
    (piece,) = shop.ledger.quarantine
    shop.rounds.quarantined(piece)

    assert shop.ledger.is_settled
    assert shop.rounds.stats.iterations == 10


@pytest.mark.parametrize(
    ("infosets", "n_values", "flaw"),
    [([N_INFOSETS], 1, "a row outside 0 to 5"), ([-1], 1, "a row outside"), ([0, 1], 4, "4 regrets and 4 sums for 5")],
)
def test_changes_of_another_table_cost_their_worker(infosets, n_values, flaw):
    shop = Shop(10, 1, is_synchronous=True)
    shop.give(0)
    values = np.zeros(n_values)
    with pytest.raises(WireError, match=flaw):
        shop.rounds.take(0, Piece(0, 10), Delta(1, True, 10, 0, 0.0, np.array(infosets, np.int32), values, values))


@pytest.mark.parametrize("iterations", [0, 9, 11])
def test_a_piece_with_other_iterations_than_were_asked_for_costs_its_worker(iterations):
    shop = Shop(10, 1, is_synchronous=True)
    shop.give(0)
    nothing = np.empty(0)
    with pytest.raises(WireError, match=f"did {iterations} iterations of 10"):
        shop.rounds.take(0, Piece(0, 10), Delta(1, True, iterations, 0, 0.0, np.empty(0, np.int32), nothing, nothing))
    assert shop.rounds.stats.iterations == 0


def test_the_next_round_is_measured_by_the_first_piece_which_is_the_largest():
    shop = Shop(21, 2, is_synchronous=True, pace=RoundSize(batch=21))
    shop.run(random.Random(0))
    assert shop.n_issued == [11, 10]
    assert (shop.rounds.latest.iterations, shop.rounds.latest.nodes) == (11, 77)


def test_the_first_round_has_ten_iterations_a_worker_and_later_ones_a_tenth_of_all_done():
    pace, latest = RoundSize(), Effort(iterations=100, nodes=1000, n_bytes=1000)
    assert pace.iterations(0, 4, Effort()) == 40
    assert pace.iterations(400, 4, latest) == 40
    assert pace.iterations(4000, 4, latest) == 400


def test_a_round_is_limited_by_nodes_and_by_bytes_of_a_worker():
    latest = Effort(iterations=1000, nodes=20_000, n_bytes=4000)
    assert RoundSize(most_nodes=40_000).iterations(10**9, 3, latest) == 3 * 2000
    assert RoundSize(most_bytes=8_000).iterations(10**9, 3, latest) == 3 * 2000
    assert RoundSize(most_bytes=1).iterations(10**9, 3, latest) == 3 * 10


@given(st.integers(0, 300), st.integers(1, 300))
def test_a_warning_with_a_better_batch_comes_when_workers_must_idle_and_only_then(batch, workers):
    warning = idle_warning(batch, workers)
    assert (warning is not None) == (0 < batch < workers)
    if warning:
        assert f"{workers - batch} of them stay idle; set solve.batch to {workers} or more" in warning


@given(st.lists(st.tuples(st.integers(0, 3), st.lists(st.integers(0, 9), max_size=6))), st.integers(1, 12))
def test_the_journal_forgets_no_change_that_a_worker_was_not_told_of(events, table_infosets):
    """A twin that remembers everything."""
    journal, missed = ChangeLog(table_infosets), {number: set(range(10)) for number in range(3)}
    for number, infosets in events:
        if number == 3:
            journal.note(np.array(infosets, np.int32))
            for known in missed.values():
                known.update(infosets)
        else:
            blocks = journal.catch_up(number)
            told = set(range(10)) if blocks is None else {int(infoset) for block in blocks for infoset in block}
            assert told >= missed[number]
            missed[number] = set()


MOST = Most(regret=10.0, total=5.0, utility=2.0, least_nodes=10, most_nodes=80)


def judged() -> tuple[Rounds, Piece]:
    """Worker 0 has a piece of ten iterations under way."""
    shop = Shop(20, 2, is_synchronous=True)
    shop.rounds.most = lambda piece: MOST
    shop.give(0)
    return shop.rounds, shop.workers[0].jobs[0][1]


def whole(**change: object) -> Delta:
    """Infosets 0 and 3 with their three entries."""
    fields = {
        "job": 1,
        "is_last": True,
        "iterations": 10,
        "nodes": 80,
        "utility": -2.0,
        "infosets": np.array([3, 0], np.int32),
        "regrets": np.array([10.0, -10.0, 0.0]),
        "sums": np.array([0.0, 5.0, 1.0]),
    }
    return Delta(**(fields | change))


def test_changes_at_their_bounds_are_taken():
    rounds, piece = judged()
    assert rounds.take(0, piece, whole())
    rounds, piece = judged()
    assert rounds.take(0, piece, whole(nodes=10))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        *[
            ({"regrets": np.array([0, wild, 0])}, "regrets beyond 10")
            for wild in (np.nan, np.inf, -np.inf, 10.1, -10.1)
        ],
        *[({"sums": np.array([0, wild, 0])}, "sums beyond 5") for wild in (np.nan, np.inf, -np.inf, 5.1)],
        ({"sums": np.array([0, -0.1, 0])}, "a strategy sum that falls"),
        *[({"utility": wild}, "a utility of .*, beyond 2") for wild in (np.nan, np.inf, 2.1, -2.1)],
        ({"nodes": 9}, "9 nodes, wanted 10 to 80"),
        ({"nodes": 2**63 - 1}, "nodes, wanted 10 to 80"),
        ({"iterations": 9}, "did 9 iterations of 10"),
        ({"iterations": 11}, "did 11 iterations of 10"),
        ({"infosets": np.array([3, 6], np.int32)}, "a row outside 0 to 5"),
        ({"infosets": np.array([-1, 0], np.int32)}, "a row outside 0 to 5"),
        ({"infosets": np.array([0, 1], np.int32)}, "3 regrets and 3 sums for 5 entries"),
        ({"infosets": np.array([3, 3, 3], np.int32)}, "a row twice"),
    ],
)
def test_changes_that_no_iterations_can_bring_are_refused(change, why):
    rounds, piece = judged()
    with pytest.raises(WireError, match=why):
        rounds.take(0, piece, whole(**change))
    assert not rounds.table.values.any()


def test_what_comes_of_an_unfinished_piece_is_no_more_than_the_table():
    """Six parts of the one infoset with one action are as many infosets as there are; a seventh is refused."""
    rounds, piece = judged()
    part = whole(is_last=False, iterations=0, nodes=0, utility=0.0, infosets=np.array([3], np.int32))
    part = dataclasses.replace(part, regrets=np.zeros(1), sums=np.zeros(1))
    for _ in range(N_INFOSETS):
        assert not rounds.take(0, piece, part)
    with pytest.raises(WireError, match="7 of 6 rows"):
        rounds.take(0, piece, part)


def test_a_row_that_comes_in_two_parts_is_refused():
    rounds, piece = judged()
    part = whole(is_last=False, iterations=0, nodes=0, utility=0.0)
    assert not rounds.take(0, piece, part)
    with pytest.raises(WireError, match="a row twice"):
        rounds.take(0, piece, whole())


async def test_closed_the_work_still_owes_the_rest_of_its_round():
    shop = Shop(None, 3, is_synchronous=True, pace=RoundSize(batch=30))
    shop.give(0)
    work = RoundWork(Assignment("traverse", b"", seed=0, chunk=0, low_water=0), shop.rounds)

    work.close()

    assert work.ledger.left == 20
    assert not work.settled.is_set()


class Scribe:
    """A link that keeps the jobs it is told of."""

    def __init__(self) -> None:
        self.jobs: list[Job] = []

    def send(self, frame: bytes) -> None:
        if isinstance(message := decode(frame[HEADER.size :]), Job):
            self.jobs.append(message)


class CountingWork(RoundWork):
    """Counts how often a worker is looked at."""

    looks = 0

    def portion(self, worker: int) -> int:
        self.looks += 1
        return super().portion(worker)


@pytest.mark.parametrize("is_synchronous", [True, False])
def test_the_work_of_a_round_is_linear_in_its_workers(is_synchronous):
    """A finished piece refills its worker; only the last one of a round has all of them looked at."""
    n_rounds, looks = 3, {}
    for n_workers in (10, 40, 160):
        rounds = Rounds(new_table(), Ledger(None, is_divisible=False), RoundSize(), n_workers, is_synchronous)
        work = CountingWork(Assignment("traverse", b"", 0, chunk=0, low_water=0), rounds)
        dispatcher = Dispatcher(Nobody())
        dispatcher.add(work)
        members = [Member(number, Phase.READY, 0.0, link=Scribe()) for number in range(n_workers)]
        for member in members:
            dispatcher.ready(member)
        work.looks = 0
        for _ in range(n_rounds):
            for member, job in [(member, member.link.jobs[-1]) for member in members]:
                infosets, regrets, sums = walk(np.zeros(N_ENTRIES), Piece(job.first, job.count))
                n = job.count
                dispatcher.heard(member, Delta(job.number, True, n, n, 0.0, infosets, regrets, sums), 0.0)
        assert rounds.stats.pieces == n_rounds * n_workers
        assert all(len(member.link.jobs) == n_rounds + 1 for member in members)
        looks[n_workers] = work.looks
    assert all(looks[n_workers] <= 3 * n_rounds * n_workers for n_workers in looks)
