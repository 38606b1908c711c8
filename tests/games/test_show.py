"""Every game told to people: actions have names that can be typed, drawings hide what is hidden."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np
import pytest
from games import pig

from asyncplay import games, rng
from asyncplay.errors import AsyncplayError
from asyncplay.games.blob.layout import HANDS as BLOB_HANDS
from asyncplay.games.position import Position
from asyncplay.games.show import NUMBERS, LastAction, legal_actions, parse, show_of
from asyncplay.games.spec import GameSpec

SPECS = {name: games.load(name) for name in games.NAMES if name != "ringrift"} | {
    "kuhn of 4": games.load("kuhn", {"players": 4}),
    "leduc of 3": games.load("leduc", {"players": 3}),
    "dice with 11 faces": games.load("liarsdice", {"faces": 11}),
    "whole game of blob": games.load("blob", {"players": 3, "cards": 3, "whole": True}),
    "holdem of 6": games.load("holdem", {"players": 6, "stacks": "200/30/3/90/57/200"}),
    "ringrift": games.load("ringrift", {"swap": True}),
    "ringrift of 3 on hexagons": games.load("ringrift", {"board": "hex8", "players": 3}),
    "pig": pig.spec(players=3),
}
GAMES, LONGEST, PARSED = 3, 30, 5  # games of a kind, decisions looked at, actions typed in a position
KINDS = pytest.mark.parametrize("name", SPECS)
HIDING = pytest.mark.parametrize("name", [name for name, spec in SPECS.items() if spec.is_hidden])


class Met(NamedTuple):
    """A position of a random game."""

    position: Position
    last: LastAction | None


def met(spec: GameSpec, seed: int) -> Iterator[Met]:
    """All positions of a random game, its end included."""
    choices, position, last = rng.stream(seed, 1), Position.start(spec, seed), None
    while True:
        yield Met(position, last)
        if position.is_over:
            return
        legal = position.legal
        last = LastAction(position.state, position.player, legal[rng.below(choices, len(legal))])
        position = position.after(last.action)


def some(spec: GameSpec) -> Iterator[Met]:
    for seed in range(GAMES):
        yield from islice(met(spec, seed), LONGEST)


def drawings(spec: GameSpec, state: np.ndarray, viewer: int | None, last: LastAction | None) -> list[str]:
    show = show_of(spec)
    return [
        *show.describe(spec, state, viewer),
        show.text(spec, state, viewer, last),
        show.svg(spec, state, viewer, last),
    ]


def read(spec: GameSpec, state: np.ndarray, typed: str) -> int | str:
    """The action, or what is said instead."""
    try:
        return parse(spec, state, typed)
    except AsyncplayError as error:
        return str(error)


@KINDS
def test_every_legal_action_has_a_name_of_its_own_that_can_be_typed(name):
    spec, show, count = SPECS[name], show_of(SPECS[name]), 0
    for position, _ in some(spec):
        legal, state = position.legal, position.state
        names = [show.name(spec, state, action) for action in legal]
        simple = {tuple(re.findall(r"[a-z]+|\d+", word.lower())) for word in names}
        assert len(simple) == len(legal)
        for place in range(0, len(legal), 1 + len(legal) // PARSED):
            assert parse(spec, state, names[place]) == legal[place]
            assert parse(spec, state, f" {names[place].upper()}  ") == legal[place]
            assert parse(spec, state, f"#{legal[place]}") == legal[place]
            count += 1
    assert count > 10


@KINDS
def test_another_spelling_means_its_action_or_is_said_to_mean_several(name):
    spec, show, n_clear = SPECS[name], show_of(SPECS[name]), 0
    for position, _ in islice(some(spec), 30):
        state, legal = position.state, position.legal
        names = {show.name(spec, state, action) for action in legal}
        for action in legal[:: 1 + len(legal) // PARSED]:
            for spelling in show.spellings(spec, state, action):
                if spelling in names:
                    continue
                found = read(spec, state, spelling)
                assert found == action or "may be any of" in str(found)
                n_clear += found == action
    assert n_clear > 10 or show is NUMBERS


@KINDS
def test_what_is_not_legal_is_told_in_one_line_that_lists_what_is(name):
    spec, show = SPECS[name], show_of(SPECS[name])
    position = Position.start(spec, 3)
    first = show.choices(spec, position.state, position.legal)[0]
    for typed in ("nonsense", "", "#99999999", "🂡", "a\nb"):
        with pytest.raises(AsyncplayError, match=r"is not legal here; legal are ") as caught:
            parse(spec, position.state, typed)
        assert first in str(caught.value)
        assert "\n" not in str(caught.value)
        assert len(str(caught.value)) < 400


@KINDS
def test_equal_positions_are_drawn_alike_and_svg_is_xml(name):
    spec = SPECS[name]
    for ours, theirs in islice(zip(met(spec, 5), met(spec, 5), strict=True), 15):
        for viewer in (None, 0):
            drawn = drawings(spec, ours.position.state, viewer, ours.last)
            assert drawn == drawings(spec, theirs.position.state, viewer, theirs.last)
            ElementTree.fromstring(drawn[-1])
            assert max(len(line) for part in drawn[:-1] for line in part.split("\n")) <= 80


@KINDS
def test_the_last_action_shows(name):
    """Without it the same position is drawn differently; a viewer of treasurehunt sees no agent but its own."""
    spec, show, n_seen = SPECS[name], show_of(SPECS[name]), 0
    for position, last in islice(met(spec, 2), 1, 20):
        for viewer in (None, last.player):
            assert show.text(spec, position.state, viewer, last) != show.text(spec, position.state, viewer)
            assert show.svg(spec, position.state, viewer, last) != show.svg(spec, position.state, viewer)
            n_seen += 1
    assert n_seen > 0


@HIDING
def test_nothing_changes_for_a_viewer_when_hidden_cards_are_swapped(name):
    spec, n_moved, stream = SPECS[name], 0, rng.stream(11, 2)
    worlds = np.zeros((3, spec.state_words), np.int64)
    for position, last in islice(some(spec), 60):
        if position.is_over:
            continue
        state = position.state
        for viewer in range(spec.players):
            seen = drawings(spec, state, viewer, last)
            spec.kernels.determinize(spec.rules, state, viewer, stream, worlds)
            imagined = worlds.copy()
            if last is not None:
                spec.kernels.determinize(spec.rules, last.state, viewer, stream, worlds)
            for world, before in zip(imagined, worlds, strict=True):
                n_moved += int((world != state).any())
                other = None if last is None else last._replace(state=before.copy())
                assert drawings(spec, world, viewer, other) == seen
    assert n_moved > 10


def test_one_who_sees_everything_sees_all_cards_and_a_seat_sees_its_own():
    spec = games.load("blob")
    position = Position.start(spec, 5)
    show, state = show_of(spec), position.state
    cards = [int(state[BLOB_HANDS + seat]).bit_count() for seat in range(4)]
    assert show.text(spec, state).count("??") == 0
    assert [show.text(spec, state, viewer).count("??") for viewer in range(4)] == [sum(cards) - own for own in cards]


def test_a_hand_that_folded_or_was_not_called_stays_hidden_at_the_end():
    spec = games.load("holdem", {"players": 3})
    position = Position.start(spec, 1)
    position = position.after(parse(spec, position.state, "raise to 6"))
    folded = position.after(parse(spec, position.state, "fold"))
    alone = folded.after(parse(spec, folded.state, "fold"))
    show = show_of(spec)
    assert alone.is_over
    assert [show.text(spec, alone.state, viewer).count("??") for viewer in range(3)] == [4, 4, 4]
    called = folded.after(parse(spec, folded.state, "call"))
    while not called.is_over:
        called = called.after(parse(spec, called.state, "check"))
    assert [show.text(spec, called.state, viewer).count("??") for viewer in range(3)] == [0, 2, 2]


@pytest.mark.parametrize(
    ("name", "typed", "said"),
    [
        ("tictactoe", ["b2", "1", "3 a"], "X on b2 a3"),
        ("connect4", ["4", "d", "column 4"], "X on d3 d1"),
        ("kuhn", ["p", "bet", "c"], "over: "),
        ("leduc", ["check", "b", "call", "check", "raise", "f"], "paid 3"),
        ("liarsdice", ["1 of 3", "bid 2x2", "doubt"], "bids: 1x3 2x2 liar"),
        ("holdem", ["pot", "c", "check", "bet 4", "raise 8", "all in", "call"], "over: "),
        ("ringrift", ["d4", "d4 d7", "place a1 2"], "stacks: a1 B2, d7 A1"),
        ("treasurehunt", ["north", "d", "w", "right"], "turn 1 of 50"),
    ],
)
def test_games_are_played_by_typing(name, typed, said):
    spec = games.load(name)
    position = Position.start(spec, 1)
    for word in typed:
        position = position.after(parse(spec, position.state, word))
    assert said in "\n".join(show_of(spec).describe(spec, position.state))


def test_the_amounts_of_hold_em_are_one_choice():
    spec = games.load("holdem")
    state = Position.start(spec, 1).state
    choices = show_of(spec).choices(spec, state, legal_actions(spec, state))
    assert choices == ["fold", "call", "raise to 4 .. 200 (all in)"]


def test_a_card_may_be_typed_in_many_ways():
    spec = games.load("blob", {"players": 3, "cards": 13})
    position = Position.start(spec, 4)
    while show_of(spec).name(spec, position.state, position.legal[0]).startswith("bid"):
        position = position.after(position.legal[0])
    state = position.state
    cards = {show_of(spec).name(spec, state, action): action for action in position.legal}
    ten = next(name for name in cards if name.startswith("T"))
    signs = dict(zip("shcd", "♠♥♣♦", strict=True))
    suits = dict(zip("shcd", ("spades", "hearts", "clubs", "diamonds"), strict=True))
    suit = ten[1]
    for typed in (ten, f"10{suit}", f"10 of {suits[suit]}", f"T{signs[suit]}", f"t {suit}", f"{suit}T", f"play {ten}"):
        assert parse(spec, state, typed) == cards[ten]


def test_a_game_that_says_nothing_is_told_in_numbers_of_what_the_viewer_sees():
    spec = pig.spec(players=2)
    position = Position.start(spec, 1)
    assert show_of(spec) is NUMBERS
    assert NUMBERS.name(spec, position.state, position.legal[0]) == str(position.legal[0])
    assert NUMBERS.describe(spec, position.state, 0)[0] == "seat 0 to act"
    assert NUMBERS.describe(spec, position.state)[1].startswith("state: ")
