"""Who is given work, who is not, and what is said of it once."""

import numpy as np
from keeping import PATIENT, Mouth, Nobody, Rig, jobs_of, rig

from asyncplay.engine.dispatch import Dispatcher
from asyncplay.engine.ledger import Ledger, Piece
from asyncplay.engine.supervise import Member, Phase
from asyncplay.engine.work import Assignment, Work
from asyncplay.wire import codec
from asyncplay.wire.messages import Answer, Ask, Done
from asyncplay.wire.parts import Joiner


def hired(dispatcher: Dispatcher, number: int = 0) -> Member:
    member = Member(number, Phase.READY, 0.0)
    member.link = Mouth()
    dispatcher.ready(member)
    return member


def lone(total: int | None) -> tuple[Dispatcher, Work]:
    """A work whose games nobody keeps, in jobs of four."""
    work = Work(Assignment("synthetic", b"", seed=0, chunk=4, low_water=4), Ledger(total))
    dispatcher = Dispatcher(Nobody())
    dispatcher.add(work)
    return dispatcher, work


def units(member: Member) -> list[int]:
    return [unit for job in jobs_of(member) for unit in range(job.first, job.first + job.count)]


async def test_the_last_report_settles_a_work():
    dispatcher, work = lone(6)
    member = hired(dispatcher)
    for job in jobs_of(member):
        dispatcher.heard(member, Done(job.number, np.arange(job.first, job.first + job.count)), 0.0)
    assert not work.settled.is_set()
    last = jobs_of(member)[-1]
    dispatcher.heard(member, Done(last.number, np.arange(last.first, last.first + last.count)), 0.0)
    assert work.settled.is_set()
    assert units(member) == [0, 1, 2, 3, 4, 5]
    assert not member.has_work


async def test_a_worker_that_leaves_gets_nothing_more():
    dispatcher, _ = lone(None)
    member = hired(dispatcher)
    member.is_leaving = True
    dispatcher.heard(member, Done(jobs_of(member)[0].number, np.arange(4)), 0.0)
    assert units(member) == [0, 1, 2, 3]
    assert not member.has_work


async def test_held_work_is_issued_when_nobody_has_a_reason_to_hold_it_any_more():
    dispatcher, work = lone(None)
    for why in ("disk", "limiter"):
        dispatcher.hold(work, why, True)
    member = hired(dispatcher)
    dispatcher.hold(work, "disk", False)
    assert units(member) == []
    dispatcher.hold(work, "limiter", False)
    assert units(member) == [0, 1, 2, 3]


async def test_a_dead_workers_game_is_counted_and_nothing_is_sent_to_the_grave(tmp_path):
    at = Rig(tmp_path, PATIENT)
    async with at.recorder:
        member = at.hire()
        at.finish(member, 1)
        at.die(member)
    assert at.counted == [1]
    assert len(jobs_of(member)) == 1
    assert at.books.outstanding == 0


async def test_what_is_set_aside_is_told_once(tmp_path):
    async with rig(tmp_path, total=1) as at:
        told: list[Piece] = []
        at.work.quarantined = told.append
        for _ in range(5):
            at.die(at.hire())
        assert [(piece.first, piece.size) for piece in told] == [(0, 1)]


class Postponing(Nobody):
    """An evaluator that is answered for by the test."""

    def submit(self, owner: int, ask: Ask, reply, now_s: float) -> None:
        self.reply = reply


def test_an_answer_longer_than_a_frame_comes_in_parts(monkeypatch):
    monkeypatch.setattr(codec, "PART_BYTES", 10)
    evaluator, member, joiner = Postponing(), Member(0, Phase.READY, 0.0, link=Mouth()), Joiner()
    dispatcher = Dispatcher(evaluator)
    ints = np.zeros(1, np.int32)
    dispatcher.heard(member, Ask(1, 0, 1, 0, np.zeros((1, 4), np.uint8), ints, np.arange(2, dtype=np.int32)), 0.0)

    evaluator.reply(Answer(1, 0, np.ones(1, np.float32), np.zeros((1, 2), np.float32)))

    *early, last = [joiner.take(part) for part in member.link.told]
    assert len(early) > 1
    assert not any(early)
    assert (last.ticket, last.priors.tolist()) == (1, [1.0])
