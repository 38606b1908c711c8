"""Games are stored before they are counted and acknowledged, whatever becomes of their workers."""

import asyncio
from dataclasses import replace

import numpy as np
import pytest
from keeping import AT_ONCE, NEVER_S, PATIENT, Mouth, Nobody, Rig, acknowledged, jobs_of, make_game, rig, until

from asyncplay.data.store import StoreError, open_read_only
from asyncplay.data.watermark import read_watermark
from asyncplay.data.writer import CommitPolicy
from asyncplay.engine.dispatch import Dispatcher
from asyncplay.engine.recorder import SLICE, RecorderLimits
from asyncplay.engine.supervise import Member, Phase
from asyncplay.engine.work import Assignment
from asyncplay.errors import WireError
from asyncplay.methods.selfplay.arena import Match
from asyncplay.methods.selfplay.messages import Game
from asyncplay.wire.codec import payload_bytes
from asyncplay.wire.messages import Done


async def test_a_game_is_counted_and_acknowledged_once_it_is_stored(tmp_path):
    async with rig(tmp_path) as at:
        member = at.hire()
        at.finish(member, 0)
        at.finish(member, 2)
        await at.until_counted(2)

        assert acknowledged(member) == at.counted == [0, 2]
        assert at.stored() == [0, 2]
        assert read_watermark(tmp_path).games == 2
        assert (at.books.done, at.books.outstanding) == (2, 6)


async def test_a_game_that_is_not_stored_is_neither_counted_nor_acknowledged_nor_replaced(tmp_path):
    """Its unit stays outstanding, so its worker gets no more than it may have: the back-pressure."""
    at = Rig(tmp_path, PATIENT)
    async with at.recorder:
        member = at.hire()
        for unit in range(4):
            at.finish(member, unit)
        await asyncio.sleep(0)

        assert (at.counted, acknowledged(member), at.stored()) == ([], [], [])
        assert (at.books.done, at.books.outstanding, len(jobs_of(member))) == (0, 4, 1)
        assert at.recorder.stats().queued == 4

    assert at.counted == at.stored() == [0, 1, 2, 3]  # the end stores and counts what has come
    assert (at.books.done, at.recorder.stats().queued) == (4, 0)


async def test_all_that_is_stored_at_the_end_is_counted_before_the_end(tmp_path, monkeypatch):
    """More than is counted in one go: whoever reads the books after the end finds them complete."""

    async def close(function):
        function()
        await asyncio.sleep(0)  # the writer's last words are heard, and nothing that follows from them

    at, n_games = Rig(tmp_path, PATIENT), 2 * SLICE
    async with at.recorder:
        members = [at.hire(number) for number in range(n_games // 4)]
        for number, member in enumerate(members):
            for unit in range(4 * number, 4 * number + 4):
                at.finish(member, unit)
        assert at.counted == []
        monkeypatch.setattr(asyncio, "to_thread", close)
    assert at.counted == at.stored() == list(range(n_games))
    assert [len(acknowledged(member)) for member in members] == [4] * len(members)
    assert (at.books.done, at.recorder.stats().queued) == (n_games, 0)


async def test_the_worker_of_a_waiting_game_may_die_and_nobody_plays_it_again(tmp_path):
    at = Rig(tmp_path, PATIENT)
    async with at.recorder:
        member = at.hire()
        at.finish(member, 1)
        at.die(member)
        other = at.hire()

        again = [(job.first, job.count) for job in jobs_of(other)]
        assert again == [(0, 1)]  # a suspect unit goes alone; 2 and 3 wait behind it
        assert (at.books.lost, at.books.outstanding) == (3, 2)

    assert at.counted == at.stored() == [1]
    assert acknowledged(member) == []


async def test_a_unit_that_comes_twice_is_stored_and_counted_once(tmp_path):
    """A worker is cut off and comes back with its games, when one of them was stored and one has been issued again."""
    async with rig(tmp_path) as at:
        member = at.hire()
        job = jobs_of(member)[0].number
        at.finish(member, 0)
        await at.until_counted(1)
        at.die(member)
        other = at.hire(1)
        assert [(each.first, each.count) for each in jobs_of(other)] == [(1, 1)]

        back = Member(0, Phase.READY, 0.0)
        back.link = Mouth()
        at.finish(back, 0, job)  # is there already
        at.finish(back, 1, job)  # is not, and is the first of two
        await at.until_counted(2)
        at.finish(other, 1)
        await until(lambda: acknowledged(other) == [1])

        assert at.stored() == at.counted == [0, 1]
        assert acknowledged(back) == [0, 1]
        assert at.recorder.stats().repeats == 2
        assert at.books.done == 2
        assert at.books.issued == at.books.done + at.books.lost + at.books.outstanding


async def test_a_lost_unit_that_comes_late_is_not_issued_again(tmp_path):
    async with rig(tmp_path, total=4) as at:
        member = at.hire()
        job = jobs_of(member)[0].number
        at.die(member)
        back = Member(0, Phase.READY, 0.0)
        back.link = Mouth()
        for unit in range(4):
            at.finish(back, unit, job)
        await at.until_counted(4)

        assert at.work.ledger.is_settled
        assert at.work.settled.is_set()
        assert (at.books.done, at.books.lost, at.books.issued) == (4, 4, 8)
        assert jobs_of(at.hire(1)) == []


async def test_a_game_of_a_unit_that_nobody_was_given_costs_its_sender(tmp_path):
    async with rig(tmp_path) as at:
        member = at.hire()
        for unit in (-1, 4, 10**6):
            with pytest.raises(WireError, match="which it does not have"):
                at.finish(member, unit, job=99)


async def test_a_lost_game_comes_late_from_who_lost_it_and_from_nobody_else(tmp_path):
    """Also while another game of the job waits to be stored, which keeps the job open."""
    at = Rig(tmp_path, PATIENT)
    async with at.recorder:
        member = at.hire()
        job = jobs_of(member)[0].number
        at.finish(member, 1)
        at.die(member)
        stranger, back = Member(1, Phase.READY, 0.0), Member(0, Phase.READY, 0.0)
        for sender, unit in [(stranger, 0), (back, 4), (back, 10**12)]:
            with pytest.raises(WireError, match=f"reports on job {job}, which it does not have"):
                at.finish(sender, unit, job)
        at.finish(back, 0, job)
    assert (at.counted, at.stored()) == ([1, 0], [0, 1])


async def test_a_game_of_another_workers_job_costs_its_sender(tmp_path):
    async with rig(tmp_path) as at:
        first, second = at.hire(0), at.hire(1)
        with pytest.raises(WireError, match="which it does not have"):
            at.finish(second, 0, jobs_of(first)[0].number)
        with pytest.raises(WireError, match="outside its job"):
            at.finish(first, 4, jobs_of(first)[0].number)
        assert (at.books.outstanding, at.stored()) == (8, [])


async def test_games_that_must_come_cannot_be_called_done(tmp_path):
    async with rig(tmp_path) as at:
        member = at.hire()
        job = jobs_of(member)[0].number
        with pytest.raises(WireError, match=f"says that units of job {job} are done, and not what came of them"):
            at.dispatcher.heard(member, Done(job, np.arange(2)), 0.0)
        assert (at.books.done, at.books.outstanding) == (0, 4)


async def test_a_match_is_not_won_by_saying_so():
    dispatcher, match = Dispatcher(Nobody()), Match(Assignment("match", b"", 0, chunk=4, low_water=4), 4, 2)
    dispatcher.add(match.work)
    member = Member(0, Phase.READY, 0.0)
    member.link = Mouth()
    dispatcher.ready(member)
    job = jobs_of(member)[0].number
    wild = replace(make_game(job, 0), returns=np.zeros(1), outcome=np.zeros(1, np.float32))
    for message, why in [
        (Done(job, np.arange(2)), "says that units"),
        (wild, "game 0 of a match has returns of 1 seats"),
    ]:
        with pytest.raises(WireError, match=why):
            dispatcher.heard(member, message, 0.0)
    assert (match.work.ledger.books.done, match.work.ledger.books.outstanding) == (0, 4)


async def test_a_game_that_cannot_be_used_is_not_stored(tmp_path):
    async with rig(tmp_path) as at:

        def refuse(game: Game) -> None:
            raise WireError("game 0 does not fit the network")

        at.work.check = refuse
        member = at.hire()
        with pytest.raises(WireError, match="does not fit"):
            at.finish(member, 0)
        at.die(member)
        assert (at.books.lost, [job.first for job in jobs_of(at.hire())]) == (4, [0])  # it is played again
    assert (at.stored(), at.counted) == ([], [])


async def test_with_a_full_queue_no_new_work_is_issued_until_half_is_stored(tmp_path):
    async with rig(tmp_path, RecorderLimits(CommitPolicy(games=10**6, age_s=NEVER_S), queue_games=4)) as at:
        member = at.hire()
        for unit in range(4):
            at.finish(member, unit)
        assert at.work.holds == {"disk"}
        assert at.recorder.stats().is_holding
        assert jobs_of(at.hire(1)) == []


async def test_with_too_many_bytes_of_games_nobody_is_read_from_until_half_of_them_are_counted(tmp_path):
    each, calls = payload_bytes(make_game(1, 0, 3)), []
    made = Rig(tmp_path, RecorderLimits(CommitPolicy(games=4, age_s=NEVER_S), queue_bytes=3 * each))
    made.recorder._on_full = calls.append
    async with made.recorder:
        member = made.hire()
        for unit in range(3):
            made.finish(member, unit)
        assert (calls, made.recorder.stats().queued_mb * (1 << 20)) == ([], 3 * each)
        made.finish(member, 3)
        assert calls == [True]
        await made.until_counted(4)
        assert calls == [True, False]
        assert made.recorder.stats().queued_mb == 0


async def test_play_pauses_while_the_disk_is_full_and_goes_on_by_itself(tmp_path, caplog):
    async with rig(tmp_path) as at:
        connection = at.store.connection
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages}")
        member = at.hire()
        units = iter(range(10**6))
        async with asyncio.timeout(60):
            while not at.recorder.stats().trouble:  # its last page takes some games
                waiting = at.books.outstanding
                if waiting and at.recorder.stats().queued < waiting:
                    at.finish(member, next(units))
                await asyncio.sleep(0.002)
        n_before = len(at.counted)
        assert "full" in at.recorder.stats().trouble
        assert at.work.holds == {"disk"}
        assert acknowledged(member) == at.stored() == list(range(n_before))
        assert jobs_of(at.hire(1)) == []

        connection.execute("PRAGMA max_page_count = 1000000")
        await at.until_counted(n_before + 1)
        await until(lambda: not at.work.holds)

        assert at.recorder.stats().trouble == ""
        assert "nothing can be stored" in caplog.text
    assert acknowledged(member) == at.stored() == at.counted
    reader = open_read_only(tmp_path)
    kinds = [kind for (kind,) in reader.execute("SELECT kind FROM events")]
    assert kinds == ["trouble", "recovered"]
    reader.close()


async def test_in_lockstep_a_game_is_stored_and_counted_before_the_call_returns(tmp_path):
    async with rig(tmp_path, is_lockstep=True) as at:
        member = at.hire()
        for unit in (2, 0, 1, 3):
            at.finish(member, unit)
            assert at.counted[-1] == unit
            assert sorted(at.counted) == at.stored()
        assert len(jobs_of(member)) == 2  # the first game that was done made room for a job


async def ruined(at: Rig, *, is_waited_for: bool) -> None:
    """A run whose database loses its table of games."""
    async with at.recorder:
        at.store.connection.execute("DROP TABLE games")
        at.finish(at.hire(), 0)
        if is_waited_for:
            await at.recorder.run()


@pytest.mark.parametrize(("limits", "is_waited_for"), [(AT_ONCE, True), (PATIENT, False)])
async def test_an_error_that_is_no_weather_ends_the_run_in_its_middle_or_at_its_end(tmp_path, limits, is_waited_for):
    at = Rig(tmp_path, limits)
    async with asyncio.timeout(60):
        with pytest.raises(StoreError, match=r"run.sqlite cannot be used: no such table: games"):
            await ruined(at, is_waited_for=is_waited_for)
    assert at.counted == []
