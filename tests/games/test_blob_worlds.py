"""Worlds of Blob: all that could be, no others, each equally likely."""

from itertools import combinations

import numpy as np
import pytest
from games.blob_twin import DECK, Round, cards_in, count_worlds, number, round_of, unseen, word_of

from asyncplay import games, rng
from asyncplay.games.blob import layout
from asyncplay.games.contract import GuardedGame
from asyncplay.games.spec import GAME_OVER, GameSpec

Deal = tuple[int, ...]  # the other hands as bit sets, by seat
MOST_WORLDS = 4000
SAMPLES_A_WORLD = 60


def all_deals(here: Round, viewer: int) -> set[Deal]:
    """Every way to give the others as many unseen cards as they hold, none of a suit they failed to follow."""
    others, voids, found = [seat for seat in range(here.players) if seat != viewer], here.voids(), set()

    def deal(place: int, left: frozenset[tuple[int, int]], hands: Deal) -> None:
        if place == len(others):
            found.add(hands)
            return
        seat = others[place]
        allowed = sorted(card for card in left if (seat, card[0]) not in voids)
        for hand in combinations(allowed, len(here.hands[seat])):
            deal(place + 1, left - set(hand), (*hands, word_of(set(hand))))

    deal(0, frozenset(unseen(here, viewer)), ())
    return found


def sample(spec: GameSpec, state: np.ndarray, viewer: int, count: int, seed: int) -> list[Deal]:
    worlds = np.empty((count, spec.state_words), np.int64)
    spec.kernels.determinize(spec.rules, state, viewer, rng.stream(seed), worlds)
    others = [seat for seat in range(spec.players) if seat != viewer]
    return [tuple(int(world[layout.HANDS + seat]) for seat in others) for world in worlds]


def assert_evenly_drawn(samples: list[Deal], deals: set[Deal]) -> None:
    """Chi-square over all worlds within 4 of its standard deviations; every sample is one of them."""
    counts = dict.fromkeys(deals, 0)
    for deal in samples:
        counts[deal] += 1
    wanted, freedom = len(samples) / len(deals), len(deals) - 1
    chi_square = sum((count - wanted) ** 2 for count in counts.values()) / wanted
    assert abs(chi_square - freedom) <= 4 * (2 * freedom) ** 0.5


def check_position() -> tuple[GameSpec, np.ndarray, Round]:
    """The one of the rules text: 3 players, 3 cards, hearts, seat 0 leads."""
    tricks = [[(0, 14), (1, 13), (0, 2)], [(2, 5), (2, 6), (3, 9)]]
    hands = [{(0, 14), (3, 9), (0, 5)}, {(1, 13), (2, 5), (0, 6)}, {(0, 2), (2, 6), (3, 2)}]
    spec = games.load("blob", {"players": 3, "cards": 3, "dealer": 2, "trump": "hearts"})
    state = spec.new_state()
    spec.kernels.chance(spec.rules, state, rng.stream(0))
    state[layout.HANDS : layout.HANDS + 3] = [word_of(hand) for hand in hands]
    here = round_of(state, spec.rules)
    for action in [0, 0, 0, *(number(card) for trick in tricks for card in trick)]:
        spec.kernels.play(spec.rules, state, action, spec.new_room())
        here.play(action)
    return spec, state, here


def test_the_check_position_has_1133_worlds():
    _, _, here = check_position()

    assert count_worlds(here, 2) == 1133
    assert len(all_deals(here, 2)) == 1133


def test_the_worlds_of_the_check_position_are_drawn_evenly():
    spec, state, here = check_position()
    deals = all_deals(here, 2)

    assert_evenly_drawn(sample(spec, state, 2, SAMPLES_A_WORLD * len(deals), 1), deals)


@pytest.mark.parametrize(
    "options", [{"players": 4, "cards": 3}, {"players": 5, "cards": 2}, {"players": 3, "cards": 4}]
)
def test_small_positions_with_two_bound_opponents_are_drawn_evenly(options):
    """Found in random play: the first four of each table with few enough worlds."""
    tested = 0
    for spec, state, here in positions(options):
        viewer = here.mover()
        bound = {seat for seat, _ in here.voids() if seat != viewer and here.hands[seat]}
        if len(bound) < 2 or not 1 < count_worlds(here, viewer) <= MOST_WORLDS:
            continue
        deals = all_deals(here, viewer)
        assert len(deals) == count_worlds(here, viewer)
        assert_evenly_drawn(sample(spec, state, viewer, SAMPLES_A_WORLD * len(deals), tested), deals)
        tested += 1
        if tested == 4:
            return
    pytest.fail("random play led to no such position")


def positions(options: dict[str, int]):
    """The positions of random rounds, beside their twins."""
    desk = GuardedGame(games.load("blob", options))
    for seed in range(3000):
        choices = rng.stream(seed, 1)
        desk.reset(seed)
        desk.settle()
        here = round_of(desk.state, desk.rules)
        while here.mover() is not None:
            yield desk.spec, desk.state.copy(), here
            action = here.legal()[rng.below(choices, len(here.legal()))]
            desk.play(action)
            here.play(action)
        assert desk.settle() == GAME_OVER


@pytest.mark.parametrize(
    "options", [{"players": 8, "cards": 6}, {"players": 3, "cards": 13}, {"players": 6, "cards": 8}]
)
def test_big_positions_keep_to_what_was_seen(options):
    """Every opponent has as many cards as it holds, of unseen ones alone, none of a suit it failed to follow."""
    for (spec, state, here), _ in zip(positions(options), range(150), strict=False):
        viewer = here.mover()
        others = [seat for seat in range(here.players) if seat != viewer]
        for deal in sample(spec, state, viewer, 3, 0):
            hands = [cards_in(word) for word in deal]
            assert [len(hand) for hand in hands] == [len(here.hands[seat]) for seat in others]
            assert len(set().union(*hands)) == sum(map(len, hands))
            assert set().union(*hands) <= unseen(here, viewer)
            assert not here.voids() & {
                (seat, suit) for seat, hand in zip(others, hands, strict=True) for suit, _ in hand
            }


def test_hidden_cards_do_not_change_the_worlds():
    """Other hands are exchanged for those of a possible world: the same draws follow."""
    for (spec, state, here), seed in zip(positions({"players": 4, "cards": 5}), range(200), strict=False):
        viewer, swapped = here.mover(), np.empty((1, spec.state_words), np.int64)
        spec.kernels.determinize(spec.rules, state, viewer, rng.stream(seed, 7), swapped)
        assert sample(spec, state, viewer, 2, seed) == sample(spec, swapped[0], viewer, 2, seed)


def test_with_no_void_seen_cards_are_spread_evenly():
    """First bid, 3 players, 1 card: each of the 51 unseen cards is as often with either opponent."""
    spec = games.load("blob", {"players": 3, "cards": 1})
    state = spec.new_state()
    spec.kernels.chance(spec.rules, state, rng.stream(5))
    viewer = int(state[layout.TURN])
    deals = sample(spec, state, viewer, 51 * 50 * 20, 3)
    left = [card for card in DECK if card not in cards_in(state[layout.HANDS + viewer])]
    assert_evenly_drawn(deals, {(word_of({one}), word_of({other})) for one in left for other in left if one != other})
