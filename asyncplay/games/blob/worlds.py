"""Worlds: where the cards that a player does not see could be.

Every opponent holds as many cards as it has not played yet, and none of a suit it failed to follow. All
divisions of the unseen cards that keep to this are equally likely, and are drawn without trial and error.
Opponents with the same voids form a group, which together holds so many cards of its allowed suits. A plan says
how many cards of each suit every group but the last one gets; it stands for

    product over those groups of C(n_0, x_0) C(n_1, x_1) C(n_2, x_2) C(n_3, x_3)  times  C(m, h)

worlds, n_s being the cards of suit s left when the group draws, x_s those it gets, m the allowed cards left for
the last group, which takes any h of them. A plan is drawn in proportion to that, then random cards of each suit for
the groups, then the hands within a group; opponents without a void draw from what is left.

A group has a void, hence at most three suits, the last of which takes what the others leave: a group's part of a
plan is a number below 14 * 14, and a whole plan is a number too. There are never many: after t tricks there are
at most t void suits, and the group with the most cards comes last, where it costs nothing. Counts of suits and of
groups are words with a byte each.
"""

from typing import NamedTuple

import numpy as np

from asyncplay import rng
from asyncplay.games import spec as contract
from asyncplay.games.blob.layout import (
    BINOMIAL_ROW,
    BINOMIALS,
    HANDS,
    N_TABLE,
    N_TRICKS,
    PLAYED,
    PLAYERS,
    SIZE,
    STATE_WORDS,
    TURN,
    VOIDS,
    byte_of,
)
from asyncplay.games.cards import DECK, SUITS, count_cards, draw_cards, suit_cards
from asyncplay.games.kernels import helper, kernel

ALL_SUITS = 15
NO_SHARE = np.int64(-1)


class Groups(NamedTuple):
    """The opponents with voids, by what they may hold."""

    suits: int  # a byte a group: bit set of the suits it may hold
    held: int  # a byte a group: its cards
    n_groups: int
    unseen: int  # a byte a suit: unseen cards


@kernel(contract.DETERMINIZE)
def determinize(rules, state, viewer, stream, worlds):
    """Deal the unseen cards anew in each world; nothing but the other hands differs."""
    groups, n_worlds = find_groups(rules, state, viewer), 0.0
    if groups.n_groups > 1:
        for plan in range(count_plans(groups)):
            n_worlds += worlds_of(rules, groups, plan)
    for number in range(len(worlds)):
        world = worlds[number]
        for word in range(STATE_WORDS):
            world[word] = state[word]
        deal_world(rules, world, viewer, stream, groups, draw_plan(rules, stream, groups, n_worlds))


@helper
def find_groups(rules, state, viewer):
    """Group the opponents with voids; the group with the most cards is the last."""
    suits, held, count, largest = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    for pattern in range(ALL_SUITS):
        cards = np.int64(0)
        for seat in range(rules[PLAYERS]):
            if seat != viewer and allowed_suits(state, seat) == pattern:
                cards += cards_held(rules, state, seat)
        if cards > 0:
            suits |= pattern << (8 * count)
            held |= cards << (8 * count)
            largest = count if cards > byte_of(held, largest) else largest
            count += 1
    last = max(count - 1, 0)
    unseen = suit_counts(DECK & ~(state[PLAYED] | state[HANDS + viewer]))
    return Groups(swap_bytes(suits, largest, last), swap_bytes(held, largest, last), count, unseen)


@helper
def allowed_suits(state, seat):
    """Bit set of the suits that a seat may hold."""
    return ~(state[VOIDS] >> (4 * seat)) & ALL_SUITS


@helper
def cards_held(rules, state, seat):
    """How many cards a seat holds; the tricks alone determine it."""
    leader = (state[TURN] - state[N_TABLE]) % rules[PLAYERS]
    has_played = (seat - leader) % rules[PLAYERS] < state[N_TABLE]
    return state[SIZE] - state[N_TRICKS] - has_played


@helper
def swap_bytes(word, one, other):
    """Exchange two bytes."""
    difference = byte_of(word, one) ^ byte_of(word, other)
    return word ^ (difference << (8 * one)) ^ (difference << (8 * other)) if one != other else word


@helper
def suit_counts(cards):
    """How many cards of each suit a set has, a byte a suit."""
    counts = np.int64(0)
    for suit in range(SUITS):
        counts |= count_cards(cards & suit_cards(suit)) << (8 * suit)
    return counts


@helper
def count_plans(groups):
    """How many numbers stand for a plan, or for none."""
    total = np.int64(1)
    for group in range(groups.n_groups - 1):
        total *= count_shares(groups, group)
    return total


@helper
def count_shares(groups, group):
    """How many numbers ``share_of`` takes."""
    pattern, total = byte_of(groups.suits, group), np.int64(1)
    for suit in range(SUITS):
        if (pattern >> suit) & 1 and pattern >> (suit + 1):
            total *= most_of(groups, group, suit) + 1
    return total


@helper
def most_of(groups, group, suit):
    """Most cards of a suit that a group could have."""
    return min(byte_of(groups.unseen, suit), byte_of(groups.held, group))


@helper
def share_of(groups, group, number, left):
    """Cards of each suit, a byte a suit, that a group gets of what is left; NO_SHARE if it cannot be so."""
    pattern, share, wanted = byte_of(groups.suits, group), np.int64(0), byte_of(groups.held, group)
    for suit in range(SUITS):
        if (pattern >> suit) & 1:
            base = most_of(groups, group, suit) + 1
            taken = number % base if pattern >> (suit + 1) else wanted
            if taken > wanted or taken > byte_of(left, suit):
                return NO_SHARE
            share |= taken << (8 * suit)
            wanted -= taken
            number //= base
    return share


@helper
def worlds_of(rules, groups, plan):
    """How many worlds a plan stands for, without the factor of the opponents that have no void: it is constant."""
    left, product = groups.unseen, 1.0
    for group in range(groups.n_groups - 1):
        base = count_shares(groups, group)
        share = share_of(groups, group, plan % base, left)
        if share == NO_SHARE:
            return 0.0
        for suit in range(SUITS):
            product *= binomial(rules, byte_of(left, suit), byte_of(share, suit))
        left -= share
        plan //= base
    if groups.n_groups > 0:
        last = groups.n_groups - 1
        product *= binomial(rules, count_allowed(byte_of(groups.suits, last), left), byte_of(groups.held, last))
    return product


@helper
def binomial(rules, n, k):
    """C(n, k), 0 where k is more than n."""
    return rules[BINOMIALS + BINOMIAL_ROW * n + k]


@helper
def count_allowed(pattern, counts):
    """How many of the counted cards are of these suits."""
    total = np.int64(0)
    for suit in range(SUITS):
        total += byte_of(counts, suit) if (pattern >> suit) & 1 else 0
    return total


@helper
def draw_plan(rules, stream, groups, n_worlds):
    """A plan in proportion to its worlds; with one group or none there is nothing to plan."""
    drawn = np.int64(0)
    if groups.n_groups < 2:
        return drawn
    left = rng.uniform(stream) * n_worlds
    for plan in range(count_plans(groups)):
        weight = worlds_of(rules, groups, plan)
        if weight > 0.0:
            drawn = np.int64(plan)
            left -= weight
            if left < 0.0:
                break
    return drawn


@helper
def deal_world(rules, world, viewer, stream, groups, plan):  # noqa: PLR0917
    """Give every opponent cards that it could hold."""
    unseen = DECK & ~(world[PLAYED] | world[HANDS + viewer])
    for group in range(groups.n_groups):
        base, is_last = count_shares(groups, group), group == groups.n_groups - 1
        if is_last:
            cards = draw_cards(stream, unseen & all_of(byte_of(groups.suits, group)), byte_of(groups.held, group))
        else:
            cards = draw_share(stream, unseen, share_of(groups, group, plan % base, suit_counts(unseen)))
        plan //= base
        unseen &= ~cards
        deal_among(rules, world, viewer, stream, byte_of(groups.suits, group), cards)
    deal_among(rules, world, viewer, stream, ALL_SUITS, unseen)


@helper
def all_of(pattern):
    """All cards of some suits."""
    cards = np.int64(0)
    for suit in range(SUITS):
        cards |= suit_cards(suit) if (pattern >> suit) & 1 else 0
    return cards


@helper
def draw_share(stream, unseen, share):
    """Random cards, so many of each suit."""
    cards = np.int64(0)
    for suit in range(SUITS):
        cards |= draw_cards(stream, unseen & suit_cards(suit), byte_of(share, suit))
    return cards


@helper
def deal_among(rules, world, viewer, stream, pattern, cards):  # noqa: PLR0917
    """Deal random cards of a set to the opponents that may hold exactly these suits."""
    for seat in range(rules[PLAYERS]):
        if seat != viewer and allowed_suits(world, seat) == pattern:
            world[HANDS + seat] = draw_cards(stream, cards, cards_held(rules, world, seat))
            cards &= ~world[HANDS + seat]
