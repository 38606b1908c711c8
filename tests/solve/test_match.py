"""Hands between tables and simple players: legal, paired, and followed as the formula says."""

import numpy as np
import pytest
from games.holdem_table import Hand
from numba import float64, int64, uint16, uint64, void
from solve.test_blueprint import without_cards

from asyncplay import games, rng
from asyncplay.games.cards import card_names
from asyncplay.games.holdem.layout import CALL, FOLD, HISTORY, RAISE_TO
from asyncplay.games.holdem.yardsticks import AGGRESSIVE, ALWAYS_CALL, ALWAYS_FOLD, RANDOM, TIGHT, YARDSTICKS, advise
from asyncplay.games.kernels import kernel
from asyncplay.games.spec import RULES, STATE
from asyncplay.solve.abstraction import match
from asyncplay.solve.abstraction.blueprint import Blueprint
from asyncplay.solve.abstraction.card_buckets import deal
from asyncplay.solve.abstraction.match import (
    DECISIONS,
    NODE,
    OUT_OF_STEP,
    SIDE,
    TRANSLATED,
    VIEW,
    MatchSide,
    SideView,
    decide,
    follow,
    odds_of,
    play_hands,
    start_view,
    table_side,
    translate,
    yardstick_side,
)

EQUITIES = np.full((4, 1), 0.55)
STREAM = uint64[::1]


@kernel(int64(RULES, SIDE, VIEW, STATE, STREAM))
def decide_at(rules, side, view, state, stream):
    return decide(rules, side, view, state, stream)


@kernel(void(RULES, SIDE, VIEW, STATE, int64, STREAM))
def follow_at(rules, side, view, state, action, stream):  # noqa: PLR0917
    follow(rules, side, view, state, action, stream)


@kernel(int64(RULES, SIDE, VIEW, STATE, int64, STREAM))
def translate_at(rules, side, view, state, action, stream):  # noqa: PLR0917
    return translate(rules, side, view, state, action, stream)


@kernel(void(RULES, VIEW))
def start(rules, view):
    start_view(rules, view)


@kernel(void(STREAM, int64[::1], int64[::1], int64[::1]))
def deal_cards(stream, deck, holes, boards):
    boards[0], boards[1], boards[2] = deal(stream, deck, holes)


@kernel(int64(int64, RULES, STATE, float64, STREAM))
def advise_at(kind, rules, state, equity, stream):
    return advise(kind, rules, state, equity, stream)


@kernel(float64(uint16))
def odds_at(bits):
    return odds_of(bits)


def random_side(game: Blueprint, seed: int = 0, *, is_purified: bool = False) -> MatchSide:
    """A table that plays anything."""
    policy = np.random.default_rng(seed).uniform(0.05, 1.0, game.n_entries)
    starts, sizes = game.offsets[:-1], np.diff(game.offsets)
    policy /= np.repeat(np.add.reduceat(policy, starts), sizes)
    return table_side(game, policy.astype(np.float16).view(np.uint16), EQUITIES, is_purified=is_purified)


def yardstick(game: Blueprint, kind: int) -> MatchSide:
    return yardstick_side(kind, game.cards, EQUITIES)


def new_view(players: int = 2) -> SideView:
    return match.new_view(players)


def played_slowly(
    options: dict[str, object], hero: MatchSide, rival: MatchSide, seed: int, n_deals: int
) -> list[float]:
    """The same match, decision by decision in the real game; every action must be legal there."""
    spec, gains = games.load("holdem", options), []
    for number in range(n_deals):
        after_deal, holes, boards = rng.stream(seed, number), np.zeros(spec.players, np.int64), np.zeros(3, np.int64)
        deal_cards(after_deal, hero.cards.deck, holes, boards)
        cards = "".join(card_names(int(held)) for held in holes)
        flop, turn, river = boards.tolist()
        cards += card_names(flop) + card_names(turn & ~flop) + card_names(river & ~turn)
        total = 0.0
        for seat in range(spec.players):
            hand, stream, views = (
                Hand(cards, **options),
                after_deal.copy(),
                (new_view(spec.players), new_view(spec.players)),
            )
            for view in views:
                start(spec.rules, view)
            while not hand.is_over:
                who = 0 if hand.mover == seat else 1
                action = decide_at(spec.rules, (hero, rival)[who], views[who], hand.state, stream)
                for side, view in zip((hero, rival), views, strict=True):
                    follow_at(spec.rules, side, view, hand.state, action, stream)
                hand.play(action)
            total += hand.net[seat]
        gains.append(total / spec.players)
    return gains


TWO = {"stack": 60, "deck": 24}
THREE = {"players": 3, "stacks": "30/17/24", "deck": 24}


@pytest.mark.parametrize(
    ("options", "menu", "rival"),
    [(TWO, "0.5 1", RANDOM), (TWO, "0.75", AGGRESSIVE), (TWO, "1 | -", RANDOM), (THREE, "1", RANDOM)],
)
def test_the_kernel_plays_as_the_real_game_does_step_by_step(options, menu, rival):
    game = without_cards(menu, **options)
    hero, other = random_side(game), yardstick(game, rival)
    played = play_hands(games.load("holdem", options), hero, other, 5, 60)

    assert played.gains.tolist() == played_slowly(options, hero, other, 5, 60)
    assert played.hero[DECISIONS] > 100
    assert played.hero[TRANSLATED] > 10


def test_tables_of_different_menus_play_each_other_legally():
    one, other = random_side(without_cards("0.33 1", **TWO)), random_side(without_cards("0.75", **TWO), 1)
    played = play_hands(games.load("holdem", TWO), one, other, 3, 60)
    assert played.gains.tolist() == played_slowly(TWO, one, other, 3, 60)
    assert played.hero[OUT_OF_STEP] < 0.1 * played.hero[DECISIONS]


@pytest.mark.parametrize("options", [TWO, THREE])
def test_a_table_against_itself_wins_exactly_nothing(options):
    """By symmetry, deal by deal: from every seat the same hand is played."""
    game = without_cards("0.5 1", **options)
    played = play_hands(games.load("holdem", options), random_side(game), random_side(game), 7, 500)
    assert not played.gains.any()
    assert played.hero[TRANSLATED] == played.hero[OUT_OF_STEP] == 0


def test_calls_and_folds_win_what_is_counted_by_hand():
    """As big blind the caller gets the small blind, 1; as small blind it calls, and 2 chips go to the better hand."""
    game = without_cards("1", **TWO)
    sides = yardstick(game, ALWAYS_CALL), yardstick(game, ALWAYS_FOLD)
    gains = play_hands(games.load("holdem", TWO), *sides, 1, 2_000).gains
    assert set(gains.tolist()) == {1.5, 0.5, -0.5}
    assert gains.mean() == pytest.approx(0.5, abs=0.1)


def at_the_button(menu: str) -> tuple[Hand, MatchSide, SideView]:
    """Pot 3, 1 to call: a pot raise is to 6, all-in to 200."""
    hand = Hand(deck=24)
    view = new_view()
    start(hand.rules, view)
    return hand, random_side(without_cards(menu)), view


@pytest.mark.parametrize(
    ("menu", "amount", "odds"),
    [
        ("1", 14, (49.5 - 3) * (1 + 1) / ((49.5 - 1) * (1 + 3))),
        ("0.5 1", 5, (1 - 0.75) * (1 + 0.5) / ((1 - 0.5) * (1 + 0.75))),
        ("1 2", 9, (2 - 1.75) * (1 + 1) / ((2 - 1) * (1 + 1.75))),
    ],
)
def test_a_bet_between_two_sizes_becomes_either_with_pseudo_harmonic_odds(menu, amount, odds):
    """Sizes in pots of 4 after the call: to 6 is 1, to 5 .75, to 14 3, to 9 1.75, all-in 49.5."""
    hand, side, view = at_the_button(menu)
    stream, n = rng.stream(1), 4_000
    found = [translate_at(hand.rules, side, view, hand.state, RAISE_TO + amount, stream) for _ in range(n)]
    smaller = min(found)
    assert set(found) == {smaller, smaller + 1}
    assert found.count(smaller) / n == pytest.approx(odds, abs=5 * (odds * (1 - odds) / n) ** 0.5)


@pytest.mark.parametrize(
    ("action", "child"),
    [(FOLD, 0), (CALL, 1), (RAISE_TO + 4, 2), (RAISE_TO + 6, 2), (RAISE_TO + 10, 3), (RAISE_TO + 200, 4)],
)
def test_what_the_tree_has_and_what_lies_outside_is_always_taken_for_the_same(action, child):
    """Menu: 6, 10 and all-in. 4, below the smallest, is taken for it."""
    hand, side, view = at_the_button("1 2")
    stream = rng.stream(2)
    found = {translate_at(hand.rules, side, view, hand.state, action, stream) for _ in range(50)}
    assert found == {child}


def test_a_purified_table_always_takes_its_most_likely_action():
    hand, side, view = at_the_button("1 2")
    pure, stream = side._replace(is_purified=1), rng.stream(3)
    drawn = {decide_at(hand.rules, side, view, hand.state, stream) for _ in range(100)}
    chosen = {decide_at(hand.rules, pure, view, hand.state, stream) for _ in range(100)}
    best = int(side.policy[:5].view(np.float16).argmax())
    assert len(drawn) == 5
    assert chosen == {int(side.actions[side.nodes["first"][0] + best])}
    assert view.place[NODE] == 0


def test_half_floats_are_read_as_numpy_reads_them():
    bits = np.arange(np.float16(1.0).view(np.uint16) + 1, dtype=np.uint16)
    assert [odds_at(each) for each in bits] == bits.view(np.float16).astype(float).tolist()


@pytest.mark.parametrize(
    ("kind", "equity", "acts", "wanted"),
    [
        (ALWAYS_FOLD, 1.0, (), {FOLD}),
        (ALWAYS_FOLD, 1.0, ("call",), {CALL}),
        (ALWAYS_CALL, 0.0, (150,), {CALL}),
        (TIGHT, 0.59, (), {FOLD}),
        (TIGHT, 0.61, (), {CALL}),
        (TIGHT, 0.71, (), {RAISE_TO + 6}),
        (TIGHT, 0.59, ("call",), {CALL}),
        (TIGHT, 0.71, (200,), {CALL}),
        (AGGRESSIVE, 0.34, (), {FOLD, RAISE_TO + 6}),
        (AGGRESSIVE, 0.36, (), {CALL, RAISE_TO + 6}),
        (AGGRESSIVE, 0.51, (), {RAISE_TO + 6}),
        (AGGRESSIVE, 0.51, (150,), {RAISE_TO + 200}),
        (RANDOM, 0.5, (), {FOLD, CALL, *range(RAISE_TO + 4, RAISE_TO + 201)}),
        (RANDOM, 0.5, (200,), {FOLD, CALL}),
    ],
)
def test_simple_players_do_what_their_page_says(kind, equity, acts, wanted):
    hand, stream = Hand().act(*acts), rng.stream(1)
    found = {advise_at(kind, hand.rules, hand.state, equity, stream) for _ in range(6_000)}
    assert found == wanted
    assert found <= set(hand.legal)


def test_every_simple_player_has_a_name_of_its_own():
    assert sorted(YARDSTICKS.values()) == [RANDOM, ALWAYS_CALL, ALWAYS_FOLD, TIGHT, AGGRESSIVE]
    assert new_view().state.shape == (HISTORY,)
