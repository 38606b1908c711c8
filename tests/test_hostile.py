"""Hostile frames into whole runs: they cost their sender, and nothing else."""

import asyncio
import os
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hostile import DELTA_LIES, Liar, LiarEntry, MixedPool, Tally, Witness, changed, unit_seed
from methods.mccfr.test_tabular import small
from methods.selfplay.test_neural import tiny

from asyncplay import games, rng
from asyncplay.archive.replaying import Referee
from asyncplay.data.reader import read_games, reading
from asyncplay.data.store import record_of
from asyncplay.engine import ledger
from asyncplay.engine.engine import Engine
from asyncplay.engine.ledger import Books
from asyncplay.engine.loop import run_loop
from asyncplay.engine.supervise import Patience
from asyncplay.methods.mccfr.messages import Delta
from asyncplay.methods.mccfr.run import MccfrRun
from asyncplay.methods.roles import ROLES
from asyncplay.methods.selfplay.messages import Game
from asyncplay.methods.selfplay.run import SelfplayRun
from asyncplay.payloads import pack
from asyncplay.pools.local import LocalPool
from asyncplay.wire.codec import HEADER, encode
from asyncplay.wire.messages import Ask, Job

LONG = Patience(backoff_s=0.0, deaths=10**9, window_s=1.0)


@pytest.fixture(autouse=True)
def endless_patience(monkeypatch):
    """Liars kill themselves with other people's units under way: none of these is to blame."""
    monkeypatch.setattr(ledger, "FATAL_DEATHS", 10**9)


async def until(is_true: Callable[[], bool]) -> None:
    while not is_true():  # noqa: ASYNC110
        await asyncio.sleep(0.05)


def check_books(books: Books) -> None:
    assert books.issued == books.done + books.lost
    assert (books.outstanding, books.set_aside) == (0, 0)
    assert books.reissued == books.lost


async def see_through(running: SelfplayRun | MccfrRun, engine: Engine, spent: asyncio.Event) -> None:
    """Until all is said; then the liars leave and what is under way is finished."""
    async with asyncio.TaskGroup() as group:
        group.create_task(running.run())
        await spent.wait()
        engine.supervisor.resize(1)
        engine.drain()


def test_a_liar_knows_the_seeds_of_its_units():
    """Else all its games would be refused for their seeds, and no other check be reached."""
    units = [0, 1, 7, 2**40]
    assert [unit_seed(3, unit) for unit in units] == [rng.derive(3, unit) for unit in units]


class Selfplay:
    """A run of self-play with one honest worker and one that lies."""

    def __init__(self, folder: Path, n_lies: int, n_mutants: int) -> None:
        self.honest = Witness(0, os.getpid(), ROLES)
        self.tally, self._n_lies = Tally(n_lies + n_mutants), n_lies
        self._dice, self._liar = random.Random(5), None
        config = tiny(pool={"kind": "local", "message_mb": "64"}, train={"units": "0"}, store={"durability": "process"})
        self._seed = config.train.seed
        self.run = SelfplayRun(config, folder, lambda line: None)
        self.run.engine.supervisor.pool = MixedPool(self.honest, self.tally, self._body)
        self.run.engine.supervisor.patience = LONG

    def _body(self, job: Job | None) -> bytes | None:
        """Lies first, then mutants; nothing before the honest worker has shown how it is done."""
        if self._liar is None:
            game = next((sent for sent in self.honest.sent if isinstance(sent, Game)), None)
            ask = next((sent for sent in self.honest.sent if isinstance(sent, Ask)), None)
            self._liar = Liar(game, ask, self._seed) if game and ask else None
            return None
        make = self._liar.lie if self.tally.sent < self._n_lies else self._liar.mutant
        return make(self._dice, job)

    def play(self) -> None:
        run_loop(asyncio.wait_for(see_through(self.run, self.run.engine, self.tally.spent), 1000))


def check_selfplay(folder: Path, honest: list[Game], books: Books) -> None:
    """All that the honest worker sent is stored as it was sent, and replays."""
    with reading(folder) as store:
        stored = {game.unit: game for game in read_games(store)}
    assert honest
    for game in honest:
        assert (stored[game.unit].worker, stored[game.unit].seed) == (0, game.seed)
        assert stored[game.unit].record == pack(record_of(game))
    referee = Referee(games.load("tictactoe"))
    assert [referee.flaw(game) for game in stored.values() if game.worker == 0] == [None] * len(honest)
    assert sorted(stored) == list(range(books.done))
    check_books(books)


REASONS = [
    r"Game.job is", r"Game.unit is", r"Game.seed is", r"Ask.slots is", r"Ask.thinking is", r"Ask.spared is",
    "which it does not have", "outside its job", "its unit has", "the reason of its end", "returns of",
    "no finite number", "outcome outside", "not its returns'", "action outside", "in the order of", "a seat outside",
    "a version outside", "do not ascend", "was not legal", "share out 1", "not its outcome", "features of float32",
    "which nobody serves", "an ask of shape", "contradicts itself", "leaves and was not told",
    "a second time", "speaks protocol", "answers ping", "which nobody wants", "not what came of them",
    "is coming, at most", "a part has the bytes", "a part is itself in parts",
]  # fmt: skip


def selfplay(folder: Path, n_lies: int, n_mutants: int) -> Tally:
    hostile = Selfplay(folder, n_lies, n_mutants)
    hostile.play()
    tally, books = hostile.tally, hostile.run.engine.ledger.books
    honest = [sent for sent in hostile.honest.sent if isinstance(sent, Game)]
    check_selfplay(folder, honest, books)
    assert tally.sent == n_lies + n_mutants
    assert tally.accepted < n_mutants / 2
    assert len(tally.reasons) == tally.sent - tally.accepted >= n_lies  # every lie was noticed
    return tally


def test_lies_and_changed_frames_cost_a_self_playing_run_nothing(tmp_path):
    tally = selfplay(tmp_path, 1000, 1000)
    missed = {reason for reason in REASONS if not any(reason in found for found in tally.reasons)}
    assert missed == set(), "some checks were never reached"


@pytest.mark.exhaustive
@pytest.mark.timeout(1800)
def test_20_000_lies_and_changed_frames_cost_a_self_playing_run_nothing(tmp_path):
    selfplay(tmp_path, 10_000, 10_000)


class Solving:
    """A solving run with one honest worker and one that lies about what its pieces changed."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.honest, self.tally = Witness(0, os.getpid(), ROLES), Tally(10**9)
        self._dice = random.Random(6)
        self.run = MccfrRun(small(units=6000, workers=4), folder, lambda line: None)
        self.run.engine.supervisor.pool = MixedPool(self.honest, self.tally, self._body)
        self.run.engine.supervisor.patience = LONG

    def _body(self, job: Job | None) -> bytes | None:
        """The honest worker's last piece, as the liar's own, with something changed."""
        known = [sent for sent in self.honest.sent if isinstance(sent, Delta)]
        if not known or job is None:
            return None
        delta = replace(known[-1], job=job.number, iterations=job.count)
        return encode(changed(self._dice, delta, DELTA_LIES))[HEADER.size :]


DELTA_REASONS = [
    "Delta.job is", "Delta.iterations is", "Delta.nodes is", "iterations of", "a utility of", "nodes, wanted",
    "a row outside", "regrets beyond", "that falls", "differ in length", "sums for", "a part before the last",
]  # fmt: skip


def test_lies_about_a_table_leave_it_as_it_would_have_been_to_the_bit(tmp_path):
    hostile = Solving(tmp_path / "hostile")
    run_loop(asyncio.wait_for(hostile.run.run(), 200))
    (tmp_path / "calm").mkdir()
    calm = MccfrRun(small(units=6000, workers=4), tmp_path / "calm", lambda line: None)
    run_loop(asyncio.wait_for(calm.run(), 200))

    tally = hostile.tally
    assert tally.accepted == 0
    missed = {reason for reason in DELTA_REASONS if not any(reason in found for found in tally.reasons)}
    assert missed == set(), f"some checks were never reached by {tally.sent} lies"
    check_books(hostile.run.engine.ledger.books)
    assert hostile.run.rounds.stats.iterations == 6000
    np.testing.assert_array_equal(hostile.run.table.values, calm.table.values)


def lied_to_through_pipes(folder: Path, n_frames: int) -> None:
    """Real processes; the liar's leave one after another, each at its first frame that is refused."""
    teacher = Witness(0, os.getpid(), ROLES)
    config = tiny(pool={"kind": "local", "message_mb": "64"}, train={"units": "0"}, store={"durability": "process"})
    (folder / "lesson").mkdir()
    lesson = SelfplayRun(tiny(pool={"workers": "1"}, train={"units": "40"}), folder / "lesson", lambda line: None)
    lesson.engine.supervisor.pool = MixedPool(teacher, Tally(0), lambda job: None)
    run_loop(asyncio.wait_for(lesson.run(), 200))
    game, ask = (next(sent for sent in teacher.sent if isinstance(sent, kind)) for kind in (Game, Ask))
    (folder / "count").write_text("0")
    bodies = [encode(message)[HEADER.size :] for message in (game, ask)]
    run = SelfplayRun(config, folder, lambda line: None)
    run.engine.supervisor.pool = LocalPool(LiarEntry(folder / "count", n_frames, *bodies, config.train.seed))
    run.engine.supervisor.patience = LONG
    counted: dict[int, Game] = {}
    take = run.engine.work.finished
    run.engine.work.finished = lambda played: (counted.update({played.unit: played}), take(played))[1]

    async def main() -> None:
        spent = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            group.create_task(see_through(run, run.engine, spent))
            await until(lambda: int((folder / "count").read_text()) == n_frames and len(counted) >= 200)
            spent.set()

    run_loop(asyncio.wait_for(main(), 1000))
    with reading(folder) as store:
        by_honest = {stored.unit for stored in read_games(store) if stored.worker == 0}
    check_selfplay(folder, [played for played in counted.values() if played.unit in by_honest], run.engine.ledger.books)
    deaths = sum(worker.restarts for worker in run.engine.supervisor.stats())
    assert deaths >= n_frames // 2


@pytest.mark.process
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    "n_frames", [pytest.param(40, marks=pytest.mark.slow), pytest.param(300, marks=pytest.mark.exhaustive)]
)
def test_lies_through_pipes_cost_only_the_processes_that_send_them(n_frames, tmp_path):
    lied_to_through_pipes(tmp_path, n_frames)
