"""What a game declares about its options, and what is made of values that are given."""

from importlib import import_module
from inspect import signature

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asyncplay import games
from asyncplay.errors import AsyncplayError
from asyncplay.games.options import By, GameOption, as_text, check, parse, settle, unknown

BOARD = (
    GameOption("board", str, "small", "Which board.", choices=("small", "large")),
    GameOption("players", int, 2, "Seats.", within=(2, 4)),
    GameOption("rings", int, By({"small": 18, "large": 48}.get, ("board",)), "Of each player.", within=(1, 60)),
    GameOption(
        "stack",
        float,
        100.0,
        "In blinds.",
        within=By(lambda board, players: (10.0 * players, 250.0 if board == "small" else 50.0), ("board", "players")),
    ),
    GameOption(
        "opening",
        str,
        "none",
        "How it begins.",
        choices=By(lambda players: ("none", "swap") if players == 2 else ("none",), ("players",)),
    ),
)


@pytest.mark.parametrize("name", games.NAMES)
def test_a_game_takes_exactly_the_options_that_it_declares(name):
    """The default of an option stands in its declaration alone."""
    parameters = signature(import_module(f"asyncplay.games.{name}").spec).parameters
    assert list(parameters) == [option.name for option in games.declared(name)]
    assert all(parameter.default is parameter.empty for parameter in parameters.values())


@pytest.mark.parametrize("name", games.NAMES)
def test_what_is_declared_is_complete(name):
    known: set[str] = set()
    for option in games.declared(name):
        parts = (option.within is not None, option.choices is not None, bool(option.form))
        is_switch = option.kind is bool and not any(parts)
        assert sum((*parts, is_switch)) == 1, "it has a range, choices or a form, or is a switch"
        assert option.within is None or option.kind in (int, float)
        assert not option.form or option.kind is str
        for part in (option.within, option.choices, option.default):
            assert not isinstance(part, By) or set(part.names) <= known, "it follows from what is listed before"
        assert option.meaning.endswith(".")
        assert "\n" not in option.meaning
        known.add(option.name)


@st.composite
def choices_of_a_game(draw: st.DrawFn) -> tuple[str, dict[str, object]]:
    """A game and a value for each of its options, all within what is declared."""
    name = draw(st.sampled_from(games.NAMES))
    chosen: dict[str, object] = {}
    for option in games.declared(name):
        if option.within is not None:
            least, most = settle(option.within, chosen)
            chosen[option.name] = draw(st.integers(least, most))
        elif option.form:
            chosen[option.name] = option.default
        else:
            chosen[option.name] = draw(st.sampled_from(settle(option.choices, chosen) or (False, True)))
    return name, chosen


@given(choices_of_a_game())
def test_every_value_within_the_declared_ones_makes_a_game_and_survives_being_typed(case):
    name, chosen = case
    words = [f"{key}={as_text(value)}" for key, value in chosen.items()]
    assert games.parse_options(name, words) == chosen
    spec = games.load(name, chosen)
    assert spec.players == chosen.get("players", 2)
    assert spec.max_legal <= spec.actions


@given(choices_of_a_game(), st.data())
def test_a_number_just_outside_its_range_is_refused(case, data):
    name, chosen = case
    numbers = [option for option in games.declared(name) if option.within is not None]
    if numbers:
        option = data.draw(st.sampled_from(numbers))
        least, most = settle(option.within, chosen)
        chosen[option.name] = data.draw(st.sampled_from((least - 1, most + 1)))
        with pytest.raises(AsyncplayError, match=rf"^option {option.name} of {name} is {chosen[option.name]}, must be"):
            games.load(name, chosen)


def test_defaults_fill_what_is_left_out():
    assert check("boards", BOARD, {"stack": 30}) == {
        "board": "small",
        "players": 2,
        "rings": 18,
        "stack": 30.0,
        "opening": "none",
    }


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"board": "large"}, "option stack of boards is 100.0 by default, must be a number from 20.0 to 50.0"),
        (
            {"stack": 9.5, "players": 3},
            "option stack of boards is 9.5, must be a number from 30.0 to 250.0 with board=",
        ),
        (
            {"stack": float("nan")},
            "option stack of boards is nan, must be a number from 20.0 to 250.0 with board=small",
        ),
        ({"stack": 10**400}, "option stack of boards is 0x"),
        (
            {"players": -(16**5000)},
            "option players of boards is -0x1000000000000000000000000000000000..., must be a whole",
        ),
        ({"stack": True}, "option stack of boards is true, must be a number from"),
        ({"stack": "10"}, "option stack of boards is 10, must be a number from"),
        ({"players": True}, "option players of boards is true, must be a whole number from 2 to 4"),
        ({"players": 2.0}, "option players of boards is 2.0, must be a whole number from 2 to 4"),
        ({"players": "2"}, "option players of boards is 2, must be a whole number from 2 to 4"),
        ({"board": 3}, "option board of boards is 3, must be one of small, large"),
        ({"opening": "swap", "players": 3}, "option opening of boards is swap, must be one of none with players=3"),
        (
            {"bord": "small"},
            "'bord' is no option of boards, did you mean 'board'? known are board, players, rings, stack",
        ),
    ],
)
def test_a_value_that_cannot_be_is_told_with_what_is_wanted(options, told):
    with pytest.raises(AsyncplayError) as caught:
        check("boards", BOARD, options)
    assert str(caught.value).startswith(told)


def test_what_follows_from_other_options_follows_from_those_given():
    assert check("boards", BOARD, {"board": "large", "stack": 20})["rings"] == 48
    assert check("boards", BOARD, {"opening": "swap"})["opening"] == "swap"


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("stack=1e2", 100.0),
        ("stack=30", 30.0),
        ("stack=inf", "inf"),
        ("stack=nan", "nan"),
        ("stack=1_0", "1_0"),
        ("players=+3", "+3"),
        ("players=-3", -3),
        ("players=3.0", "3.0"),
        ("players=³", "³"),
        ("board=", ""),
        ("board=a=b", "a=b"),
    ],
)
def test_a_text_becomes_a_value_of_the_type_or_stays_text(word, value):
    (found,) = parse("boards", BOARD, [word]).values()
    assert (type(found), found) == (type(value), value)


def test_dashes_and_underscores_are_the_same():
    declared = (GameOption("gem_rate", float, 0.5, "Gems.", within=(0.0, 1.0)),)
    assert parse("hunt", declared, ["gem-rate=0.25", "gem_rate=0.25"]) == {"gem_rate": 0.25}


def test_an_unknown_name_is_shortened_and_suggested():
    assert unknown("game", "b" * 5000, ["blob", "kuhn"]).startswith(f"'{'b' * 37}...' is no game, did you mean 'blob'?")
