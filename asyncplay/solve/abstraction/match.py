"""Hands of real hold'em between tables, or between a table and a simple player, as one kernel.

A table knows its own betting tree only. What others do in the real game is followed there: a raise that the tree does
not have becomes one of its two neighbours by pseudo-harmonic translation (Ganzfried and Sandholm 2013), which draws the
smaller one, A, for a bet of x pots below B with odds (B - x)(1 + A) / ((B - A)(1 + x)). What the table then does, it
does in the real game with the same part of the real pot. Where its tree has no decision while the real game asks for
one (its bet was all-in in the tree and is not really), it is out of step: it checks or calls.

Every deal is played once with the hero in each seat, the rival in all others, with the same random numbers: a table
against itself wins exactly nothing.
"""

from typing import NamedTuple

import numpy as np
from numba import float64, int64, typeof
from numpy.typing import NDArray

from asyncplay import rng
from asyncplay.games.holdem.betting import all_in, begin_betting, bet, least_raise, may_raise, reset, to_call
from asyncplay.games.holdem.layout import (
    BOARD,
    CALL,
    FLOP,
    FOLD,
    HANDS,
    HISTORY,
    LARGEST,
    MOVER,
    PLAYERS,
    RAISE_TO,
    RIVER,
    STREET,
    STREETS,
    TURN,
    pot_of,
)
from asyncplay.games.holdem.payout import returns
from asyncplay.games.holdem.yardsticks import advise
from asyncplay.games.kernels import helper, kernel, ready
from asyncplay.games.spec import CHANCE_TURN, GAME_OVER, GameSpec
from asyncplay.solve.abstraction.betting_tree import BETTING_NODE
from asyncplay.solve.abstraction.blueprint import Array, Blueprint
from asyncplay.solve.abstraction.card_buckets import CardBuckets, Dealt, deal, empty_buckets, look_up, new_deal

TABLE = 0  # a kind of player beside those of yardsticks.py
NOTHING = -1
NODE, CHOSEN = 0, 1
DECISIONS, TRANSLATED, OUT_OF_STEP = range(3)
CHUNK_DEALS = 20_000  # of a call: between two the process can be interrupted
HALF_UNIT = 2.0**-25  # of a float16's bits: (1024 + mantissa) << exponent


class MatchSide(NamedTuple):
    """Who plays."""

    kind: int  # TABLE, or one of yardsticks.py
    is_purified: int  # 1: of a table's actions always the most likely
    nodes: Array  # BETTING_NODE[N], of a table
    actions: Array  # int32[N]
    policy: Array  # uint16[E], the odds of each entry as the bits of a float16
    cards: CardBuckets
    equities: Array  # float64[4, k], mean equity of each bucket, by street


class SideView(NamedTuple):
    """What a side has before it."""

    dealt: Dealt  # the deal in its own buckets
    state: Array  # int64[HISTORY], the betting as its tree sees it
    place: Array  # int64[2]: NODE, and the child that was CHOSEN for the decision under way
    counts: Array  # int64[3]: a table's decisions, bets that were translated, decisions out of step


class MatchTable(NamedTuple):
    """Where a match is played."""

    rules: Array
    state: Array  # int64[HISTORY], the real betting
    gains: Array  # float64[P]
    streams: Array  # uint64[2, 4]: the one in use, and as it was after the deal


def table_side(game: Blueprint, policy: Array, equities: Array, *, is_purified: bool = False) -> MatchSide:
    return MatchSide(TABLE, int(is_purified), game.tree.nodes, game.tree.actions, policy, game.cards, equities)


def yardstick_side(kind: int, cards: CardBuckets, equities: Array) -> MatchSide:
    """A simple player, who knows its equity by these buckets."""
    nothing = np.zeros(1, BETTING_NODE), np.zeros(1, np.int32), np.zeros(1, np.uint16)
    return MatchSide(kind, 0, *nothing, cards, equities)


class PlayedHands(NamedTuple):
    """What came of a match."""

    gains: NDArray[np.float64]  # of each deal: what the hero won in chips, the mean over its seats
    hero: NDArray[np.int64]  # counts, see SideView
    rival: NDArray[np.int64]


def play_hands(spec: GameSpec, hero: MatchSide, rival: MatchSide, seed: int, n_deals: int) -> PlayedHands:
    """Play so many deals, each once with the hero in each seat."""
    views = [new_view(spec.players) for _ in range(2)]
    streams = np.zeros((2, rng.STREAM_WORDS), np.uint64)
    table = MatchTable(spec.rules, np.zeros(HISTORY, np.int64), np.zeros(spec.players), streams)
    gains = np.zeros(n_deals)
    for first in range(0, n_deals, CHUNK_DEALS):
        ready(play_deals)(table, hero, rival, *views, seed, first, gains[first : first + CHUNK_DEALS])
    return PlayedHands(gains, *(view.counts for view in views))


def new_view(players: int) -> SideView:
    state, place, counts = np.zeros(HISTORY, np.int64), np.zeros(2, np.int64), np.zeros(3, np.int64)
    return SideView(new_deal(players), state, place, counts)


SIDE = typeof(yardstick_side(TABLE, empty_buckets(), np.zeros((STREETS, 1))))
VIEW = typeof(new_view(1))
_TABLE = typeof(MatchTable(np.zeros(1, np.int64), np.zeros(1, np.int64), np.zeros(1), np.zeros((1, 1), np.uint64)))


@kernel(int64(_TABLE, SIDE, SIDE, VIEW, VIEW, int64, int64, float64[::1]))
def play_deals(table, hero, rival, hero_view, rival_view, seed, first, gains):  # noqa: PLR0917
    """Play a deal for each entry of ``gains``, from number ``first`` on; return how many hands that were."""
    players, stream, after_deal = table.rules[PLAYERS], table.streams[0], table.streams[1]
    for number in range(len(gains)):
        rng.plant(stream, seed, first + number)
        flop, turn, river = deal(stream, hero.cards.deck, hero_view.dealt.holes)
        for seat in range(players):
            rival_view.dealt.holes[seat] = hero_view.dealt.holes[seat]
        look_up(hero.cards, hero_view.dealt, flop, turn, river)
        look_up(rival.cards, rival_view.dealt, flop, turn, river)
        for word in range(len(stream)):
            after_deal[word] = stream[word]
        total = 0.0
        for seat in range(players):
            for word in range(len(stream)):
                stream[word] = after_deal[word]
            begin(table, hero_view, flop, turn, river)
            start_view(table.rules, hero_view)
            start_view(table.rules, rival_view)
            play_hand(table, hero, rival, hero_view, rival_view, seat, stream)
            total += table.gains[seat]
        gains[number] = total / players
    return len(gains) * players


@helper
def begin(table, view, flop, turn, river):
    """The blinds are in; the cards lie ready for the showdown, and nobody looks at them before."""
    state = table.state
    reset(table.rules, state)
    for seat in range(table.rules[PLAYERS]):
        state[HANDS + seat] = view.dealt.holes[seat]
    state[BOARD + FLOP], state[BOARD + TURN], state[BOARD + RIVER] = flop, turn & ~flop, river & ~turn


@helper
def start_view(rules, view):
    """At the root of its tree."""
    reset(rules, view.state)
    lead_on(rules, view.state)
    view.place[NODE], view.place[CHOSEN] = 0, NOTHING


@helper
def lead_on(rules, state):
    """Go through chance turns to the next decision or the end: cards are not dealt one by one."""
    while state[MOVER] == CHANCE_TURN:
        begin_betting(rules, state)


@helper
def play_hand(table, hero, rival, hero_view, rival_view, hero_seat, stream):  # noqa: PLR0917
    """One hand to its end, and what everybody gained."""
    rules, state = table.rules, table.state
    lead_on(rules, state)
    while state[MOVER] != GAME_OVER:
        if state[MOVER] == hero_seat:
            action = decide(rules, hero, hero_view, state, stream)
        else:
            action = decide(rules, rival, rival_view, state, stream)
        follow(rules, hero, hero_view, state, action, stream)
        follow(rules, rival, rival_view, state, action, stream)
        bet(rules, state, action)
        lead_on(rules, state)
    returns(rules, state, table.gains)


@helper
def is_in_step(view, state):
    """Whether the tree waits for the same seat on the same street as the real game."""
    return view.state[MOVER] == state[MOVER] and view.state[STREET] == state[STREET]


@helper
def decide(rules, side, view, state, stream):
    """The action of the seat to move."""
    bucket = view.dealt.buckets[state[MOVER], state[STREET]]
    if side.kind != TABLE:
        return np.int64(advise(side.kind, rules, state, side.equities[state[STREET], bucket], stream))
    view.counts[DECISIONS] += 1
    if not is_in_step(view, state):
        view.counts[OUT_OF_STEP] += 1
        return np.int64(CALL)
    at = side.nodes[view.place[NODE]]
    view.place[CHOSEN] = draw_child(side, at, at.base + bucket * at.n, stream)
    return realise(rules, view.state, state, np.int64(side.actions[np.int64(at.first) + view.place[CHOSEN]]))


@helper
def draw_child(side, at, first, stream):
    """A child of a decision by its policy, or the most likely one."""
    n, total, best = np.int64(at.n), 0.0, np.int64(0)
    for k in range(n):
        total += odds_of(side.policy[first + k])
        if odds_of(side.policy[first + k]) > odds_of(side.policy[first + best]):
            best = k
    spot = rng.uniform(stream) * total
    if side.is_purified:
        return best
    for k in range(n):
        spot -= odds_of(side.policy[first + k])
        if spot < 0.0:
            return k
    return best


@helper
def odds_of(bits):
    """The value of a float16 that is not below 0."""
    exponent, mantissa = np.int64(bits) >> 10, np.int64(bits) & 1023
    return float((1024 + mantissa) << exponent if exponent else mantissa << 1) * HALF_UNIT


@helper
def realise(rules, own, state, action):
    """What an action of the tree, at its position ``own``, is in the real game."""
    if action == FOLD and to_call(state) > 0:
        return np.int64(FOLD)
    if action <= CALL or not may_raise(rules, state):
        return np.int64(CALL)
    amount, most = action - RAISE_TO, all_in(rules, state)
    if amount == all_in(rules, own):
        return RAISE_TO + most
    part, whole = amount - own[LARGEST], pot_of(rules, own) + to_call(own)
    raised = (part * (pot_of(rules, state) + to_call(state)) + whole // 2) // whole
    return RAISE_TO + min(max(state[LARGEST] + raised, least_raise(rules, state)), most)


@helper
def follow(rules, side, view, state, action, stream):  # noqa: PLR0917
    """Do in the tree what is about to be done in the real game."""
    if side.kind != TABLE or not is_in_step(view, state):
        return
    at, child = side.nodes[view.place[NODE]], view.place[CHOSEN]
    if child == NOTHING:
        child = translate(rules, side, view, state, action, stream)
    view.place[NODE], view.place[CHOSEN] = np.int64(at.first) + child, NOTHING
    bet(rules, view.state, np.int64(side.actions[view.place[NODE]]))
    lead_on(rules, view.state)


@helper
def translate(rules, side, view, state, action, stream):  # noqa: PLR0917
    """The child of the tree's decision that stands for an action of the real game."""
    at, own = side.nodes[view.place[NODE]], view.state
    first = np.int64(at.first)
    call = 1 if side.actions[first] == FOLD else 0
    if action <= CALL:
        return np.int64(0 if action == FOLD else call)
    if call + 1 == at.n:  # the tree does not raise here
        view.counts[TRANSLATED] += 1
        return np.int64(call)
    if action - RAISE_TO == all_in(rules, state):
        return np.int64(at.n - 1)
    size = (action - RAISE_TO - state[LARGEST]) / (pot_of(rules, state) + to_call(state))
    pot, k, smaller, larger = pot_of(rules, own) + to_call(own), call, 0.0, -1.0
    while larger < size and k + 1 < at.n:
        k += 1
        smaller, larger = larger, (side.actions[first + k] - RAISE_TO - own[LARGEST]) / pot
    if larger == size:
        return np.int64(k)
    view.counts[TRANSLATED] += 1
    if k == call + 1 or larger < size:
        return np.int64(k)
    return np.int64(k - 1 if rng.uniform(stream) < odds_of_smaller(smaller, larger, size) else k)


@helper
def odds_of_smaller(smaller, larger, size):
    """How likely a bet between two sizes, in pots, is taken for the smaller one."""
    return (larger - size) * (1.0 + smaller) / ((larger - smaller) * (1.0 + size))
