"""What can be changed in a run: ranges, words, and who is told."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asyncplay.config.live import TUNABLES, LiveSettings
from asyncplay.errors import ConfigError

TIMEOUT, MAX_ROWS = "batch.timeout_ms", "batch.max_rows"


def settings() -> LiveSettings:
    return LiveSettings(timeout_ms=None, max_rows=1024)


def test_live_settings_are_those_that_are_declared_so_and_the_pause():
    """Their range is that of the file's bounds, unless the declaration narrows it."""
    ranges = {key: (tunable.lowest, tunable.highest) for key, tunable in TUNABLES.items()}
    assert ranges == {
        "batch.timeout_ms": (0, 10_000),
        "batch.max_rows": (1, 1 << 20),
        "device.placement": (0, 0),
        "learn.samples_per_insert": (0.01, 1000),
        "pool.workers": (1, 1024),
        "pause": (0, 1),
    }
    assert [key for key, tunable in TUNABLES.items() if not tunable.is_whole] == [
        "learn.samples_per_insert",
        "batch.timeout_ms",
        "device.placement",
    ]
    assert {key: dict(tunable.words) for key, tunable in TUNABLES.items() if tunable.words} == {
        "batch.timeout_ms": {"auto": None},
        "device.placement": {"auto": 0, "coordinator": 1, "workers": 2},
        "pause": {"on": 1, "off": 0},
    }


def test_values_come_back_in_the_units_their_readers_need():
    live = settings()
    assert (live.pinned_s, live.max_rows) == (None, 1024)
    live.change(TIMEOUT, "2.5")
    live.change(MAX_ROWS, "64")
    assert (live.pinned_s, live.max_rows) == (0.0025, 64)
    live.change(TIMEOUT, "0")
    assert live.pinned_s == 0.0
    live.change(TIMEOUT, "auto")
    assert live.pinned_s is None


def test_the_pace_of_training_can_be_changed_only_where_something_learns():
    live = LiveSettings(timeout_ms=None, max_rows=1024, samples_per_insert=4.0)
    live.change("learn.samples_per_insert", "2.5")
    assert live.samples_per_insert == 2.5
    with pytest.raises(ConfigError, match=r"learn.samples_per_insert is 0, wanted a number from 0.01 to 1000$"):
        live.change("learn.samples_per_insert", "0")
    with pytest.raises(ConfigError, match=r"learn.samples_per_insert cannot be changed in a run; what can: batch"):
        settings().change("learn.samples_per_insert", "2.5")


def test_a_run_without_a_network_has_no_batches_to_change():
    live = LiveSettings(timeout_ms=None, max_rows=1024, workers=2, asks=False)
    assert [tunable.key for tunable in live.tunables()] == ["pool.workers", "pause"]
    assert (live.pinned_s, live.max_rows, live.show(TIMEOUT)) == (None, 1024, "auto")
    with pytest.raises(
        ConfigError, match=r"batch.timeout_ms cannot be changed in a run; what can: pool.workers, pause"
    ):
        live.change(TIMEOUT, "2")


@pytest.mark.parametrize("text", ["0", "0.001", "9999.999", "10000", "auto"])
def test_a_timeout_within_its_range_is_taken(text):
    live = settings()
    live.change(TIMEOUT, text)
    assert live.show(TIMEOUT) == text


@pytest.mark.parametrize("text", ["1", "1e3", "1048576"])
def test_a_batch_size_within_its_range_is_taken(text):
    live = settings()
    live.change(MAX_ROWS, text)
    assert live.max_rows == float(text)
    assert type(live.max_rows) is int


@pytest.mark.parametrize("text", ["-0.1", "10000.1", "inf", "nan", "", "soon", "AUTO", "1,5"])
def test_a_timeout_outside_its_range_is_refused_and_nothing_changes(text):
    live, calls = settings(), []
    live.listen(lambda: calls.append(1))
    with pytest.raises(ConfigError, match=r"batch.timeout_ms is .*, wanted a number from 0 to 10000 or auto$"):
        live.change(TIMEOUT, text)
    assert (live.pinned_s, calls) == (None, [])


@pytest.mark.parametrize("text", ["0", "-1", "1048577", "1.5", "inf", "nan", "auto", "many"])
def test_a_batch_size_outside_its_range_is_refused_and_nothing_changes(text):
    live = settings()
    with pytest.raises(ConfigError, match=r"batch.max_rows is .*, wanted a whole number from 1 to 1048576$"):
        live.change(MAX_ROWS, text)
    assert live.max_rows == 1024


def test_what_cannot_be_changed_says_what_can():
    for attempt in (lambda: settings().change("pool.workers", "3"), lambda: settings().show("pool.workers")):
        with pytest.raises(ConfigError) as caught:
            attempt()
        assert str(caught.value) == (
            "pool.workers cannot be changed in a run; what can: batch.timeout_ms, batch.max_rows, pause"
        )


def test_workers_can_be_changed_where_their_number_is_known():
    live = LiveSettings(timeout_ms=None, max_rows=1, workers=2)
    assert live.workers == 2
    live.change("pool.workers", "3")
    assert (live.workers, live.show("pool.workers")) == (3, "3")
    with pytest.raises(ConfigError, match=r"pool.workers is 0, wanted a whole number from 1 to 1024$"):
        live.change("pool.workers", "0")


def test_more_workers_than_memory_has_room_for_are_refused():
    live = LiveSettings(timeout_ms=None, max_rows=1, workers=2, worker_bytes=100 << 20, free_bytes=lambda: 350 << 20)
    wanted = r"^pool.workers is 6: 4 more would need 400 MB of memory, 350 MB are free; 5 would fit$"
    for attempt in (live.check, live.change):
        with pytest.raises(ConfigError, match=wanted):
            attempt("pool.workers", "6")
    assert live.workers == 2
    live.change("pool.workers", "5")
    live.change("pool.workers", "1")
    assert live.workers == 1


def test_a_setting_that_is_spelled_wrong_suggests_the_nearest():
    with pytest.raises(ConfigError, match=r"; did you mean batch.max_rows\?$"):
        settings().change("batch.max_row", "7")


def test_a_pause_is_on_or_off():
    live = settings()
    assert (live.is_paused, live.show("pause")) == (False, "off")
    live.change("pause", "on")
    assert (live.is_paused, live.show("pause")) == (True, "on")
    with pytest.raises(ConfigError, match=r"pause is 'maybe', wanted a whole number from 0 to 1 or on or off$"):
        live.check("pause", "maybe")


def test_a_check_changes_nothing():
    live = settings()
    live.check(MAX_ROWS, "7")
    assert live.max_rows == 1024


def test_everybody_who_listens_is_told_after_the_change():
    live, seen = settings(), []
    live.listen(lambda: seen.append(("first", live.max_rows)))
    live.listen(lambda: seen.append(("second", live.max_rows)))
    live.change(MAX_ROWS, "7")
    assert seen == [("first", 7), ("second", 7)]


@given(st.integers(1, 1 << 20), st.floats(0, 10_000))
def test_what_is_shown_can_be_typed_in_again(max_rows, timeout_ms):
    live, again = LiveSettings(timeout_ms=timeout_ms, max_rows=max_rows), settings()
    for tunable in live.tunables():
        again.change(tunable.key, live.show(tunable.key))
    assert (again.max_rows, again.pinned_s) == (live.max_rows, live.pinned_s)


def test_a_placement_is_a_word_and_nothing_else():
    live = LiveSettings(timeout_ms=None, max_rows=1024, placement="auto")
    assert (live.placement, live.show("device.placement")) == ("auto", "auto")
    live.change("device.placement", "workers")
    assert (live.placement, live.show("device.placement")) == ("workers", "workers")
    live.pretend({"device.placement": "coordinator"})
    assert (live.placement, live.show("device.placement")) == ("coordinator", "workers")
    for wrong in ("gpu", "1", "", "Workers"):
        with pytest.raises(ConfigError, match="wanted auto or coordinator or workers"):
            live.change("device.placement", wrong)
    assert settings().placement == "coordinator"
    with pytest.raises(ConfigError, match=r"device\.placement cannot be changed"):
        settings().change("device.placement", "workers")
