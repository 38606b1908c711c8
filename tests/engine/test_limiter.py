import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asyncplay.engine.limiter import LEAST_SHARE, Balance, Limiter, RowCounts, SampleRatio, balance, shares

PACE = SampleRatio(ratio=4.0, batch_rows=10, band_rows=20, minimum_rows=100)

paces = st.builds(
    lambda ratio, batch, slack, minimum: SampleRatio(ratio, batch, batch + slack, minimum),
    st.floats(0.1, 20),
    st.integers(1, 64),
    st.integers(0, 64),
    st.integers(1, 200),
)
turns = st.lists(st.tuples(st.booleans(), st.integers(1, 50)), max_size=300)


@given(paces, turns)
def test_the_ratio_stays_in_its_band_under_any_interleaving(pace, wishes):
    """Whoever wants a turn gets it only if the limiter lets it; games that end bring up to 50 rows."""
    limiter = Limiter(pace)
    for wants_to_sample, rows in wishes:
        if wants_to_sample and limiter.can_sample:
            limiter.count_sampled()
        elif not wants_to_sample and not limiter.is_play_ahead:
            limiter.count_inserted(rows)
        inserted, sampled = limiter.state()
        assert sampled <= pace.ratio * inserted + pace.band_rows
        assert sampled >= pace.ratio * (inserted - pace.minimum_rows - 50) - pace.band_rows


@given(paces, turns)
def test_both_sides_never_wait_at_once(pace, wishes):
    limiter = Limiter(pace)
    for wants_to_sample, rows in wishes:
        if wants_to_sample and limiter.can_sample:
            limiter.count_sampled()
        else:
            limiter.count_inserted(rows)  # even while new games are held
        assert limiter.can_sample or not limiter.is_play_ahead


@pytest.mark.parametrize(
    ("inserted", "sampled", "wanted"),
    [
        (0, 0, Balance.FILLING),
        (99, 0, Balance.FILLING),
        (100, 0, Balance.STEADY),
        (100, 410, Balance.STEADY),  # 410 + 10 <= 4 * 100 + 20
        (100, 411, Balance.TRAINING_AHEAD),
        (105, 0, Balance.STEADY),  # 4 * (105 - 100) <= 0 + 20
        (106, 0, Balance.PLAY_AHEAD),
        (106, 10, Balance.STEADY),
    ],
)
def test_the_balance_turns_at_the_edges_of_the_band(inserted, sampled, wanted):
    assert balance(PACE, RowCounts(inserted, sampled)) is wanted


@given(paces, st.integers(0, 500), st.integers(0, 5000))
def test_shares_add_up_to_one_and_nobody_gets_nothing(pace, inserted, sampled):
    inference, training = shares(pace, RowCounts(inserted, sampled))
    assert inference + training == pytest.approx(1)
    assert min(inference, training) >= LEAST_SHARE - 1e-12


@given(paces, st.integers(0, 500), st.integers(0, 5000), st.integers(1, 50))
def test_rows_inserted_give_training_more_and_rows_sampled_less(pace, inserted, sampled, more):
    before = shares(pace, RowCounts(inserted, sampled)).training
    assert shares(pace, RowCounts(inserted + more, sampled)).training >= before
    assert shares(pace, RowCounts(inserted, sampled + more)).training <= before


def test_the_share_of_training_is_its_place_in_the_band():
    """From -20 (ahead) to 4 * 100 + 20 (behind): half-way at 200."""
    assert shares(PACE, RowCounts(100, 200)).training == pytest.approx(0.5)
    assert shares(PACE, RowCounts(100, 310)).training == pytest.approx(0.25)
    assert shares(PACE, RowCounts(100, 420)).training == LEAST_SHARE
    assert shares(PACE, RowCounts(1000, 0)).training == 1 - LEAST_SHARE


def test_listeners_hear_of_changes_and_of_nothing_else():
    limiter, heard = Limiter(PACE), []
    limiter.listen(lambda: heard.append(limiter.balance))
    for _ in range(13):
        limiter.count_inserted(10)
    while limiter.can_sample:
        limiter.count_sampled()
    assert heard == [Balance.STEADY, Balance.PLAY_AHEAD, Balance.STEADY, Balance.TRAINING_AHEAD]


async def test_a_waiter_goes_on_with_the_row_that_was_missing():
    limiter = Limiter(PACE)
    waiter = asyncio.ensure_future(limiter.until_can_sample())
    limiter.count_inserted(99)
    for _ in range(5):
        await asyncio.sleep(0)
    assert not waiter.done()

    limiter.count_inserted(1)
    await waiter


async def test_of_many_waiters_only_as_many_sample_as_there_are_rows_for():
    """Each checks and counts with no pause in between: 4 * 100 + 20 sampled rows make 42 batches."""
    limiter, done = Limiter(PACE), []

    async def sampler(name: int) -> None:
        while True:
            await limiter.until_can_sample()
            if limiter.can_sample:
                limiter.count_sampled()
                done.append(name)

    samplers = [asyncio.ensure_future(sampler(name)) for name in range(3)]
    limiter.count_inserted(100)
    for _ in range(200):
        await asyncio.sleep(0)
    for task in samplers:
        task.cancel()
    await asyncio.gather(*samplers, return_exceptions=True)
    assert len(done) == 42


def test_a_restored_limiter_goes_on_where_the_other_stopped():
    limiter = Limiter(PACE)
    limiter.count_inserted(150)
    limiter.count_sampled()
    other = Limiter(PACE)
    other.restore(limiter.state())
    assert other.state() == limiter.state() == (150, 10)
    assert other.balance is limiter.balance is Balance.PLAY_AHEAD


def batches_allowed(limiter: Limiter, inserted: int) -> int:
    """How many can be drawn after so many more rows, until there is none."""
    limiter.count_inserted(inserted)
    count = 0
    while limiter.can_sample:
        limiter.count_sampled()
        count += 1
    return count


def test_another_ratio_counts_for_the_rows_that_come_under_it():
    """Also after a resume: what came before is neither charged again nor forgiven."""
    pace = SampleRatio(ratio=4.0, batch_rows=10, band_rows=20)
    limiter = Limiter(pace)
    assert batches_allowed(limiter, 1000) == 400 + 2
    limiter.retune(8.0)
    assert [batches_allowed(limiter, rows) for rows in (0, 10)] == [0, 8]
    limiter.retune(0.5)
    assert [batches_allowed(limiter, rows) for rows in (0, 40)] == [0, 2]

    resumed = Limiter(pace.after(limiter.ratio_state()))
    resumed.restore(limiter.state())
    assert [batches_allowed(resumed, rows) for rows in (0, 10)] == [0, 4]
