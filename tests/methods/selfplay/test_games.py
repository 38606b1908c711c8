"""A finished game against what can be known of it without playing it."""

from dataclasses import replace

import numpy as np
import pytest

from asyncplay.methods.selfplay import games
from asyncplay.methods.selfplay.games import GameFacts, record_flaw, result_flaw
from asyncplay.methods.selfplay.messages import Game

NAN, INF, HUGE = np.nan, np.inf, 3e38
FACTS = GameFacts(
    players=3,
    actions=10,
    max_decisions=5,
    is_staged=False,
    is_zero_sum=True,
    most_return=4.0,
    reasons=("rules", "limit"),
    outcome_of=lambda returns: (returns / 4).astype(np.float32),
)
STAGED = FACTS._replace(is_staged=True)
GAME = Game(
    job=1,
    unit=7,
    seed=70,
    reason="rules",
    returns=np.array([4.0, -1.0, -3.0]),
    outcome=np.array([1.0, -0.25, -0.75], np.float32),
    actions=np.array([4, 5, 6, 9], np.int32),
    decisions=np.array([0, 1, 3], np.int32),
    seats=np.array([0, 1, 2], np.int8),
    versions=np.array([5, 5, 6], np.int32),
    features=np.array([[1, -2], [0.5, 4], [5, 6]], np.float32),
    legal=np.array([4, 5, 9, 0, 8, 9], np.int32),
    offsets=np.array([0, 1, 3, 6], np.int32),
    targets=np.array([1, 0.5, 0.5, 0, 1 / 3, 2 / 3], np.float32),
    values=np.array([[1, -0.25, -0.75], [-0.25, -0.75, 1], [-0.75, 1, -0.25]], np.float32),
    states=np.empty((3, 0), np.int64),
)


def flaw(facts: GameFacts = FACTS, **change: object) -> str | None:
    return record_flaw(replace(GAME, **change), facts, seed=70, version=6)


def with_states(words: int, **change: object) -> str | None:
    """The flaw of a game whose rows carry states, by facts that refuse a state with a 7 in it."""
    facts = FACTS._replace(
        state_words=2, turn_flaw=lambda states, offsets, legal: "a 7" if (states == 7).any() else None
    )
    return flaw(facts, states=np.full((3, words), change.pop("word", 0), np.int64), **change)


def test_rows_must_carry_the_states_that_turn_them():
    assert with_states(2) is None
    assert with_states(2, word=7) == "a 7"
    assert with_states(1) == "states of 1 words, wanted are 2"
    assert flaw(states=np.zeros((3, 1), np.int64)) == "states of 1 words, wanted are 0"


def rowless(**change: object) -> dict[str, object]:
    """A game of which no decision was searched in full."""
    ints = np.empty(0, np.int32)
    return {
        "decisions": ints,
        "seats": ints.astype(np.int8),
        "versions": ints,
        "features": np.empty((0, 2), np.float32),
        "legal": ints,
        "offsets": np.zeros(1, np.int32),
        "targets": ints.astype(np.float32),
        "values": np.empty((0, 3), np.float32),
        "states": np.empty((0, 0), np.int64),
        **change,
    }


def with_entry(name: str, value: float, place: object = 0) -> dict[str, object]:
    """One number of an array is another."""
    array = getattr(GAME, name).copy()
    array[place] = value
    return {name: array}


def test_a_game_that_can_be_is_let_through():
    assert flaw() is None
    assert flaw(**rowless()) is None
    assert flaw(STAGED, values=np.full((3, 3), -1, np.float32)) is None
    assert flaw(reason="limit", actions=np.array([4, 5, 6, 9, 0], np.int32)) is None


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"seed": 71}, "seed 71, its unit has 70"),
        ({"returns": np.zeros(2)}, "returns of 2 seats, there are 3"),
        ({"returns": np.zeros(0)}, "returns of 0 seats"),
        *[(with_entry("returns", wild), "no finite number") for wild in (NAN, INF, -INF)],
        *[(with_entry("outcome", wild), "an outcome outside -1 to 1") for wild in (NAN, INF, HUGE, -1.01, 1.01)],
        (with_entry("outcome", 0.5), "an outcome that is not its returns'"),
        ({"returns": np.array([1e300, -1e300, 0])}, "a return beyond 4"),
        ({"returns": np.array([4.01, -1.01, -3])}, "a return beyond 4"),
        ({"returns": np.array([4.0, -1.0, -2.9])}, "do not add up to 0"),
        ({"actions": np.empty(0, np.int32)}, "0 decisions, a game has 1 to 5"),
        ({"actions": np.zeros(6, np.int32)}, "6 decisions, a game has 1 to 5"),
        ({"reason": "boredom"}, "'boredom' for the reason of its end, known are rules, limit"),
        ({"reason": "x" * 10**6}, f"'{'x' * 20}' for the reason"),
        *[(with_entry("actions", wild, 2), "an action outside the 10") for wild in (10, -1, 2**31 - 1)],
        *[(with_entry("decisions", wild), "rows that are not in the order") for wild in (1, 2, 4, -1)],
        (with_entry("decisions", 4, 2), "in the order of its 4 decisions"),
        *[(with_entry("seats", wild), "a seat outside its 3") for wild in (3, -1, 127)],
        *[(with_entry("versions", wild), "a version outside 0 to 6") for wild in (7, -1, 2**31 - 1)],
        (with_entry("legal", 4, 1), "a decision that was not legal"),
        (with_entry("actions", 3, 1), "a decision that was not legal"),
        (with_entry("legal", 9, 1), "legal actions that do not ascend"),
        (with_entry("legal", 8, 3), "legal actions that do not ascend"),
        *[(with_entry("targets", wild, 1), "does not share out 1") for wild in (NAN, INF, -INF, HUGE, 0.51, -0.5)],
        ({"targets": np.array([1, 1.5, -0.5, 0, 0, 1], np.float32)}, "does not share out 1"),
        ({"targets": np.array([1, 0, 0, 0, 0, 1], np.float32)}, "does not share out 1"),
        *[
            (with_entry("features", wild, (1, 1)), "a feature that is no number")
            for wild in (NAN, INF, -INF, HUGE, 101)
        ],
        *[(with_entry("values", wild, (2, 1)), "values that are not its outcome") for wild in (NAN, INF, HUGE, -0.25)],
        ({"values": np.roll(GAME.values, 1, axis=1)}, "values that are not its outcome"),
        (rowless(actions=np.array([4, 10], np.int32)), "an action outside the 10"),
    ],
)
def test_what_cannot_be_is_named(change, why):
    assert why in (flaw(**change) or "")


@pytest.mark.parametrize("wild", [NAN, INF, -INF, HUGE, 1.01, -1.01])
def test_a_value_of_a_stage_lies_between_losing_and_winning(wild):
    assert flaw(STAGED, **with_entry("values", wild)) == "a value outside -1 to 1"


def test_returns_need_not_add_up_where_the_rules_do_not_say_so():
    change = {"returns": np.array([4.0, 0.0, -3.0]), "outcome": np.array([1, 0, -0.75], np.float32)}
    assert flaw(STAGED._replace(is_zero_sum=False), **change) is None


def test_a_match_looks_at_the_result_alone():
    assert result_flaw(replace(GAME, seed=1, actions=GAME.actions[:0]), 3) is None
    assert result_flaw(GAME, 2) == "returns of 3 seats, there are 2"


def test_a_record_that_the_store_could_not_read_again_is_refused(monkeypatch):
    """Zeros of a policy are not stored: 16 bytes of head, 4 actions, 3 rows and 5 entries are 111 bytes at most."""
    monkeypatch.setattr(games, "MOST_VALUE_BYTES", 111)
    assert flaw() is None
    monkeypatch.setattr(games, "MOST_VALUE_BYTES", 110)
    assert "a record of up to 111 bytes, the store takes 110" in str(flaw())
