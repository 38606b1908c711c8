"""Blob against its rules text, a slow twin and open_spiel."""

import numpy as np
import pyspiel
import pytest
from games.blob_twin import CLUBS, DIAMONDS, HEARTS, NO_TRUMP, SPADES, Round, number, round_of, word_of

from asyncplay import games, rng
from asyncplay.errors import AsyncplayError
from asyncplay.games.blob import layout, round_sizes
from asyncplay.games.contract import GuardedGame
from asyncplay.games.spec import CHANCE_TURN, GAME_OVER, GameSpec

TABLES = [
    {"players": 3, "cards": 13},
    {"players": 4, "cards": 5},
    {"players": 5, "cards": 3},
    {"players": 8, "cards": 6},
]
CHECK_HANDS = [{(SPADES, 2), (HEARTS, 3)}, {(HEARTS, 14), (CLUBS, 13)}, {(DIAMONDS, 2), (SPADES, 14)}]


def dealt(hands: list[set[tuple[int, int]]], *, dealer: int, trump: str) -> tuple[GameSpec, np.ndarray]:
    """A single round with these hands, before the first bid."""
    spec = games.load("blob", {"players": len(hands), "cards": len(hands[0]), "dealer": dealer, "trump": trump})
    state = spec.new_state()
    spec.kernels.chance(spec.rules, state, rng.stream(0))
    for seat, hand in enumerate(hands):
        state[layout.HANDS + seat] = word_of(hand)
    return spec, state


def play(spec: GameSpec, state: np.ndarray, *actions: int) -> None:
    for action in actions:
        spec.kernels.play(spec.rules, state, action, spec.new_room())


def features_of(spec: GameSpec, state: np.ndarray, viewer: int) -> np.ndarray:
    features = np.empty(spec.features, np.float32)
    spec.kernels.encode(spec.rules, state, viewer, features, spec.new_room())
    return features


def legal_of(spec: GameSpec, state: np.ndarray) -> list[int]:
    actions = np.empty(spec.max_legal, np.int32)
    return actions[: spec.kernels.legal(spec.rules, state, actions, spec.new_room())].tolist()


def test_the_check_vector_of_the_rules():
    spec, state = dealt(CHECK_HANDS, dealer=1, trump="hearts")
    play(spec, state, 1, 0)
    assert features_of(spec, state, 1)[201] == 0.5
    play(spec, state, 2, number((DIAMONDS, 2)), number((SPADES, 2)))

    wanted = {25: 1, 37: 1, 52: 0.25, 91: 0.125, 104: 1, 143: 1, 156: 1, 157: 0.5, 172: 1, 174: 2 / 13, 177: 3 / 8}
    wanted |= {179: 1, 184: 1, 186: 2 / 13, 188: 5 / 9, 189: -1, 190: 2 / 3, 191: 1 / 13, 193: 1 / 13, 194: 1 / 13}
    wanted |= {197: 1, 198: 0.5, 200: 1, 201: -1}
    features = features_of(spec, state, 1)
    assert np.flatnonzero(features).tolist() == sorted(wanted)
    np.testing.assert_allclose(features[sorted(wanted)], [wanted[index] for index in sorted(wanted)], rtol=1e-6)


def test_the_dealer_must_not_make_the_bids_add_up():
    """One card, bids 0 and 1: not 0, so 1. Five cards, the others bid 6: no restriction."""
    spec, state = dealt([{(SPADES, 2)}, {(SPADES, 3)}, {(SPADES, 4)}], dealer=2, trump="none")
    play(spec, state, 0, 1)
    assert legal_of(spec, state) == [1]

    hands = [{(suit, rank) for rank in range(2, 7)} for suit in range(3)]
    spec, state = dealt(hands, dealer=2, trump="none")
    play(spec, state, 3, 3)
    assert legal_of(spec, state) == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("table", TABLES, ids=lambda table: f"{table['players']} players")
def test_random_play_agrees_with_the_twin(table, whole):
    """Mover, legal actions, what every seat sees at every moment, what the yardstick advises, points."""
    desk = GuardedGame(games.load("blob", table | {"whole": whole}))
    for seed in range(1 if whole else 4):
        choices, points = rng.stream(seed, 1), np.zeros(table["players"])
        desk.reset(seed)
        while desk.settle() != GAME_OVER:
            twin = round_of(desk.state, desk.rules)
            if whole:
                twin.totals = points.tolist()
            play_round(desk, twin, choices)
            points += twin.scores()
        np.testing.assert_array_equal(desk.returns(), points)


def play_round(desk: GuardedGame, twin: Round, choices: np.ndarray) -> None:
    kernels = desk.spec.kernels
    while (mover := twin.mover()) is not None:
        assert kernels.to_move(desk.rules, desk.state) == mover
        assert desk.legal().tolist() == twin.legal()
        assert desk.spec.advise(desk.rules, desk.state, desk.room) == twin.advise()
        compare_views(desk, twin)
        action = twin.legal()[rng.below(choices, len(twin.legal()))]
        desk.play(action)
        twin.play(action)
    compare_views(desk, twin)


def compare_views(desk: GuardedGame, twin: Round) -> None:
    for viewer in range(twin.players):
        np.testing.assert_allclose(desk.encode(viewer), twin.encode(viewer), rtol=0, atol=1e-6)


def test_a_game_of_five_from_seven_cards_has_eighteen_rounds():
    """And trump goes round by the number of the round, the dealer by the seat."""
    spec = games.load("blob", {"players": 5, "cards": 7, "whole": True})
    assert round_sizes(5, 7) == [7, 6, 5, 4, 3, 2, 1, 1, 1, 1, 1, 1, 2, 3, 4, 5, 6, 7]
    desk, seen = GuardedGame(spec), []
    desk.reset(3)
    while spec.kernels.to_move(spec.rules, desk.state) != GAME_OVER:
        if spec.kernels.to_move(spec.rules, desk.state) == CHANCE_TURN:
            desk.settle()
            seen.append(tuple(int(desk.state[word]) for word in (layout.SIZE, layout.TRUMP, layout.DEALER)))
        desk.play(int(desk.legal()[-1]))
    assert seen == [(size, number % 5, number % 5) for number, size in enumerate(round_sizes(5, 7))]
    assert spec.max_decisions == sum(5 * (size + 1) for size in round_sizes(5, 7))


def test_a_third_of_the_decisions_is_forced():
    """36.4 % with 4 players, 5 cards and random play; 2,000 rounds leave a doubt of .9 % at four deviations."""
    spec = games.load("blob")
    actions, choices, happens = np.empty(spec.max_legal, np.int32), rng.stream(1), rng.stream(2)
    forced = decisions = 0
    for _ in range(2000):
        state = spec.new_state()
        spec.kernels.chance(spec.rules, state, happens)
        for _ in range(spec.max_decisions):
            count = spec.kernels.legal(spec.rules, state, actions, spec.new_room())
            forced += count == 1
            decisions += 1
            spec.kernels.play(spec.rules, state, actions[rng.below(choices, count)], spec.new_room())
    assert decisions == 2000 * 24
    assert forced / decisions == pytest.approx(0.364, abs=0.009)


def test_dealer_and_trump_of_a_single_round_are_drawn_evenly_unless_set():
    """Chi-square with 3 and 4 degrees of freedom: 16.3 and 18.5 are exceeded once in a thousand."""
    spec, happens = games.load("blob"), rng.stream(4)
    dealers, trumps = np.zeros(4), np.zeros(5)
    for _ in range(2000):
        state = spec.new_state()
        spec.kernels.chance(spec.rules, state, happens)
        dealers[state[layout.DEALER]] += 1
        trumps[state[layout.TRUMP]] += 1
    assert ((dealers - 500) ** 2 / 500).sum() < 16.3
    assert ((trumps - 400) ** 2 / 400).sum() < 18.5


@pytest.mark.parametrize("players", [3, 5, 7])
def test_tricks_agree_with_open_spiel(players):
    """oh_hell has the same tricks: bids and their restriction, who may play what, who wins, who made the bid.

    Its trump is that of a card turned up, its cards are numbered rank by rank, its score counts every trick.
    """
    theirs_game = pyspiel.load_game(f"oh_hell(players={players},num_tricks_fixed=5)")
    for seed in range(40):
        choices, theirs = rng.stream(seed, players), theirs_game.new_initial_state()
        ours = GuardedGame(games.load("blob", {"players": players, "cards": 5}))
        ours.reset(seed)
        ours.settle()
        ours.state[layout.TRUMP] = ours.state[layout.TRUMP] % NO_TRUMP
        deal_the_same(ours, theirs)
        while not theirs.is_terminal():
            assert theirs.current_player() == ours.settle()
            is_bid = ours.state[layout.PHASE] == layout.BIDDING
            known = {to_theirs(int(action), is_bid=is_bid): int(action) for action in ours.legal()}
            assert theirs.legal_actions() == sorted(known)
            action = theirs.legal_actions()[rng.below(choices, len(known))]
            ours.play(known[action])
            theirs.apply_action(action)
        assert ours.settle() == GAME_OVER
        won = [layout.byte_of.py_func(int(ours.state[layout.TRICKS]), seat) for seat in range(players)]
        points = [won[seat] + (10 if gain else 0) for seat, gain in enumerate(ours.returns())]
        assert theirs.returns() == points


def to_theirs(action: int, *, is_bid: bool) -> int:
    """Suits of oh_hell are clubs, diamonds, spades, hearts."""
    suit, rank = divmod(action, 13)
    return 52 + action if is_bid else rank * 4 + {CLUBS: 0, DIAMONDS: 1, SPADES: 2, HEARTS: 3}[suit]


def deal_the_same(ours: GuardedGame, theirs: pyspiel.State) -> None:
    players, state = ours.spec.players, ours.state
    theirs.apply_action(int(state[layout.SIZE]))
    theirs.apply_action(int(state[layout.DEALER]))
    hands = [[card for card in range(52) if int(state[seat]) >> card & 1] for seat in range(players)]
    for turn in range(5 * players):
        theirs.apply_action(to_theirs(hands[turn % players][turn // players], is_bid=False))
    dealt_cards = {card for hand in hands for card in hand}
    suit = int(state[layout.TRUMP])
    turned = next(card for card in range(13 * suit, 13 * suit + 13) if card not in dealt_cards)
    theirs.apply_action(to_theirs(turned, is_bid=False))


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"players": 2}, "players of blob is 2, must be a whole number from 3 to 8"),
        ({"players": 8, "cards": 7}, "cards of blob is 7, must be a whole number from 1 to 6 with players=8"),
        ({"cards": 2.5}, "cards of blob is 2.5, must be a whole number"),
        ({"dealer": 4}, "dealer of blob is 4, must be a whole number from -1 to 3 with players=4"),
        ({"trump": "stars"}, "trump of blob is stars, must be one of any, spades"),
    ],
)
def test_options_out_of_range_are_named(options, complaint):
    with pytest.raises(AsyncplayError, match=complaint):
        games.load("blob", options)
