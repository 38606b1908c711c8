import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asyncplay.engine.ledger import FATAL_DEATHS, Ledger, chunks, shares
from asyncplay.errors import WireError


@given(st.integers(0, 10_000), st.integers(1, 300))
def test_shares_lose_nothing_and_differ_by_one_at_most(total, workers):
    parts = shares(total, workers)
    assert len(parts) == workers
    assert sum(parts) == total
    assert max(parts) - min(parts) <= 1
    assert parts == sorted(parts, reverse=True)


@given(st.integers(0, 1000), st.integers(0, 1000), st.integers(1, 50))
def test_chunks_cover_every_unit_once(first, count, size):
    units = [unit for start, length in chunks(first, count, size) for unit in range(start, start + length)]
    assert units == list(range(first, first + count))


class Shop:
    """Workers that take jobs, finish some units in any order and die; finished ones may wait to be stored."""

    def __init__(self, ledger: Ledger, n_workers: int) -> None:
        self.ledger = ledger
        self.jobs: list[dict[int, list[int]]] = [{} for _ in range(n_workers)]
        self.finished: list[int] = []
        self.waiting: list[tuple[int, int]] = []  # job and unit that came back and are not settled

    def take(self, worker: int, count: int) -> None:
        if (job := self.ledger.issue(worker, count)) is not None:
            number, piece = job
            self.jobs[worker][number] = list(range(piece.first, piece.first + piece.size))

    def finish(self, worker: int, count: int, order: int) -> None:
        for number, units in list(self.jobs[worker].items()):
            chosen = [units.pop((order * 7) % len(units)) for _ in range(min(count, len(units)))]
            self.ledger.done(worker, number, np.array(chosen, np.int64))
            self.finished += chosen
            if not units:
                del self.jobs[worker][number]

    def hand_in(self, worker: int, count: int) -> None:
        for number, units in list(self.jobs[worker].items()):
            chosen = [units.pop() for _ in range(min(count, len(units)))]
            self.ledger.receive(worker, number, np.array(chosen, np.int64))
            self.waiting += [(number, unit) for unit in chosen]
            if not units:
                del self.jobs[worker][number]

    def store(self, count: int) -> None:
        for _ in range(min(count, len(self.waiting))):
            job, unit = self.waiting.pop(0)
            self.ledger.settle(job, 1)
            self.finished.append(unit)

    def die(self, worker: int, is_blamed: bool) -> None:
        self.ledger.lose(worker, is_blamed=is_blamed)
        self.jobs[worker].clear()

    def check(self) -> None:
        under_way = sum(len(units) for jobs in self.jobs for units in jobs.values())
        assert self.ledger.books.outstanding == under_way + len(self.waiting)
        assert self.ledger.books.done == len(self.finished)


MOVES = st.lists(
    st.tuples(
        st.sampled_from(["take", "finish", "hand in", "store", "die", "leave"]), st.integers(0, 3), st.integers(1, 20)
    ),
    max_size=120,
)


@given(st.integers(0, 200), MOVES)
def test_after_any_mix_of_deaths_every_unit_is_done_once_or_set_aside_after_three_deaths(total, moves):
    shop = Shop(Ledger(total), 4)
    for move, worker, number in moves:
        match move:
            case "take":
                shop.take(worker, number)
            case "finish":
                shop.finish(worker, number, number)
            case "hand in":
                shop.hand_in(worker, number)
            case "store":
                shop.store(number)
            case "die":
                shop.die(worker, is_blamed=True)
            case "leave":
                shop.die(worker, is_blamed=False)
        shop.check()
    for _ in range(10_000):
        if shop.ledger.is_settled:
            break
        shop.store(100)
        for worker in range(4):
            shop.take(worker, 7)
            shop.finish(worker, 100, 3)
    aside = [unit for piece in shop.ledger.quarantine for unit in range(piece.first, piece.first + piece.size)]
    assert shop.ledger.is_settled
    assert sorted(shop.finished + aside) == list(range(total))
    assert all(piece.deaths == FATAL_DEATHS for piece in shop.ledger.quarantine)
    books = shop.ledger.books
    assert books.issued == books.done + books.lost
    assert books.reissued + books.set_aside == books.lost


def test_without_deaths_issued_is_done():
    shop = Shop(Ledger(1000), 3)
    for turn in range(1000):
        shop.take(turn % 3, 10)
        shop.finish(turn % 3, 3, turn)
    assert (shop.ledger.books.issued, shop.ledger.books.done, shop.ledger.books.lost) == (1000, 1000, 0)


def test_a_poisonous_unit_alone_is_set_aside_among_sixty_four():
    """64 in flight, then pieces of 8, then single units: three deaths, one unit."""
    ledger, poison, deaths = Ledger(64), 37, 0
    while not ledger.is_settled:
        job, piece = ledger.issue(0, 64)
        units = range(piece.first, piece.first + piece.size)
        if poison in units:
            deaths += 1
            ledger.lose(0)
        else:
            ledger.done(0, job, np.array(units, np.int64))
    assert [(piece.first, piece.size) for piece in ledger.quarantine] == [(poison, 1)]
    assert (deaths, ledger.books.done) == (3, 63)


def test_lost_units_come_back_even_while_new_work_never_ends():
    ledger = Ledger(None)
    ledger.issue(0, 4)
    ledger.lose(0)
    seen: set[int] = set()
    under_way: dict[int, list] = {1: [], 2: []}
    for turn in range(40):
        worker = 1 + turn % 2
        if (job := ledger.issue(worker, 4)) is not None:
            under_way[worker].append(job)
        if len(under_way[worker]) > 1 or (under_way[worker] and turn > 10):
            number, piece = under_way[worker].pop(0)
            units = np.arange(piece.first, piece.first + piece.size)
            ledger.done(worker, number, units)
            seen |= set(units.tolist())
    assert {0, 1, 2, 3} <= seen


def test_a_worker_with_suspect_units_gets_nothing_beside_them():
    """If it dies too, they are to blame and not what it had besides."""
    ledger = Ledger(None)
    ledger.issue(0, 1)
    ledger.lose(0)
    job, suspect = ledger.issue(1, 4)
    assert (suspect.first, suspect.size, suspect.deaths) == (0, 1, 1)
    assert ledger.issue(1, 4) is None
    assert ledger.issue(2, 4)[1].first == 1
    ledger.finish(1, job)
    assert ledger.issue(1, 4)[1].first == 5


def test_while_suspect_units_wait_one_busy_worker_is_let_run_dry_and_another_if_it_leaves():
    ledger = Ledger(None)
    for worker in range(3):
        ledger.issue(worker, 4)
    ledger.lose(0)
    assert ledger.issue(1, 4) is None
    assert ledger.issue(2, 4)[1].first == 12
    ledger.lose(1, is_blamed=False)
    assert ledger.issue(2, 4) is None


def test_the_fence_is_reached_when_what_was_lost_before_it_has_come_back():
    ledger = Ledger(None)
    ledger.set_barrier(4)
    ledger.issue(0, 9)
    assert not ledger.is_at_barrier
    ledger.lose(0, is_blamed=False)
    assert not ledger.is_at_barrier
    job, piece = ledger.issue(1, 9)
    assert (piece.first, piece.size) == (0, 4)
    ledger.finish(1, job)
    assert ledger.is_at_barrier
    assert ledger.issue(1, 9) is None


def test_a_work_that_cannot_be_divided_comes_back_whole():
    ledger = Ledger(100, is_divisible=False)
    ledger.issue(0, 60)
    ledger.lose(0)
    assert ledger.issue(1, 10)[1][:2] == (0, 60)


def test_reports_that_cannot_be_true_are_refused():
    ledger = Ledger(10)
    job, _ = ledger.issue(0, 10)
    ledger.done(0, job, np.array([1, 2]))
    for worker, number, units in [
        (1, job, [3]),
        (0, job + 1, [3]),
        (0, job, [10]),
        (0, job, [2]),
        (0, job, [4, 4]),
    ]:
        with pytest.raises(WireError):
            ledger.done(worker, number, np.array(units))


@given(st.sets(st.integers(0, 60)), st.none() | st.integers(0, 80), st.integers(1, 7))
def test_a_restored_ledger_issues_exactly_what_is_missing(done, total, count):
    ledger = Ledger(total)
    ledger.restore(np.array(sorted(done), np.int64))
    assert ledger.books.issued == ledger.books.done == len(done)
    goal = 70 if total is None else total

    issued: list[int] = []
    while ledger.has_work and (not issued or issued[-1] < goal):
        job = ledger.issue(0, count)
        assert job is not None
        number, piece = job
        assert piece.size <= count
        issued += range(piece.first, piece.first + piece.size)
        ledger.finish(0, number)

    assert len(issued) == len(set(issued))
    assert not done & set(issued)
    assert set(range(goal)) <= done | set(issued)
    if total is not None:
        assert set(issued) == set(range(total)) - done
        assert ledger.is_settled


def test_a_run_that_is_asked_for_less_than_it_has_done_has_nothing_left():
    ledger = Ledger(5)
    ledger.restore(np.arange(8))
    assert (ledger.left, ledger.has_work, ledger.is_settled) == (0, False, True)


def test_a_unit_found_in_the_middle_of_a_lost_piece_is_not_issued_again():
    ledger = Ledger(9)
    ledger.issue(0, 9)
    ledger.lose(0, is_blamed=False)
    ledger.find(4)
    pieces = [ledger.issue(1, 9)[1] for _ in range(2)]
    assert [(piece.first, piece.size) for piece in pieces] == [(0, 4), (5, 4)]
    assert (ledger.books.issued, ledger.books.done, ledger.books.lost, ledger.books.outstanding) == (18, 1, 9, 8)
    assert ledger.books.reissued == ledger.books.lost


def test_a_unit_that_was_done_elsewhere_counts_as_lost_and_is_not_issued_again():
    ledger = Ledger(2)
    job, _ = ledger.issue(0, 2)
    ledger.receive(0, job, np.array([0, 1]))
    ledger.settle(job, 1, is_new=False)
    ledger.settle(job, 1)
    assert ledger.is_settled
    assert (ledger.books.done, ledger.books.lost) == (1, 1)


def test_what_is_under_way_when_the_run_ends_is_cut_short_and_not_lost():
    ledger = Ledger(None)
    job, _ = ledger.issue(0, 4)
    ledger.issue(1, 4)
    ledger.lose(1)
    ledger.done(0, job, np.array([1]))
    ledger.end()
    ledger.lose(0, is_blamed=False)
    books = ledger.books
    assert (books.issued, books.done, books.cut_short, books.lost, books.outstanding) == (8, 1, 3, 4, 0)
