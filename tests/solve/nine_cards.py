"""Hold'em with nine cards: aces, kings and queens of three suits. Small enough to be flattened.

Bets are made before and on the flop only, so that what a bucket forgets of earlier streets is nothing: its blueprint
with a bucket for every hand is the same game as the flattened one, infoset by infoset.
"""

from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations, permutations

import numpy as np
from numba import int32, int64

from asyncplay import games
from asyncplay.config.tables import AbstractionSettings
from asyncplay.games.cards import CARDS, RANKS, card_set
from asyncplay.games.holdem.canonical import index_boards
from asyncplay.games.holdem.layout import (
    BOARD,
    CARDS_IN_PLAY,
    DECISIONS,
    FLOP,
    HANDS,
    HISTORY,
    PREFLOP,
    RIVER,
    STREET,
    TURN,
)
from asyncplay.games.kernels import Kernels, kernel, ready
from asyncplay.games.spec import RULES, STATE, GameSpec
from asyncplay.solve.abstraction.betting_tree import compile_tree
from asyncplay.solve.abstraction.blueprint import Blueprint, make_blueprint
from asyncplay.solve.abstraction.bucket_file import class_of, number_of
from asyncplay.solve.abstraction.card_buckets import card_buckets
from asyncplay.solve.abstraction.menus import MOST_ACTIONS, considered, menu_table
from asyncplay.solve.abstraction.sizing import MENU_KEYS
from asyncplay.solve.flat import FlatGame
from asyncplay.solve.flatten import flatten

NINE = card_set("AsKsQsAhKhQhAcKcQc")
MENUS = AbstractionSettings(**dict.fromkeys(MENU_KEYS, "-") | dict.fromkeys(MENU_KEYS[:4], "1"))  # preflop and flop
BUCKET_BITS = 12


@kernel(int64(RULES, int64[:, :, :, ::1], STATE, int32[::1]))
def list_considered(rules, menus, state, actions):
    return considered(rules, menus, state, actions)


def cards_of(cards: int) -> list[int]:
    return [card for card in range(CARDS) if cards >> card & 1]


def sets_of(cards: int, size: int) -> list[int]:
    return [sum(1 << card for card in chosen) for chosen in combinations(cards_of(cards), size)]


def renamed(cards: int, suits: tuple[int, ...]) -> int:
    return sum(1 << (suits[card // RANKS] * RANKS + card % RANKS) for card in cards_of(cards))


@cache
def deals() -> tuple[list[tuple[int, int]], np.ndarray]:
    """Both pairs of hole cards but for the names of suits, and how likely they are."""
    counts: dict[tuple[int, int], int] = {}
    for one in sets_of(NINE, 2):
        for other in sets_of(NINE & ~one, 2):
            alike = [(renamed(one, suits), renamed(other, suits)) for suits in permutations(range(3))]
            counts[min(alike)] = counts.get(min(alike), 0) + 1
    odds = np.array(list(counts.values()), float)
    return list(counts), odds / odds.sum()


@dataclass
class NineCards:
    """The same game twice."""

    spec: GameSpec
    blueprint: Blueprint
    flat: FlatGame
    entries: np.ndarray  # int64[E], of each entry of ``flat`` that of the blueprint; -1 where nothing is decided


@cache
def hand_numbers(street: int) -> dict[tuple[int, int], int]:
    """Of all hole cards and boards of a street, as a bucket file numbers them."""
    if street == PREFLOP:
        return {(hole, 0): ready(class_of)(hole) for hole in sets_of(NINE, 2)}
    index = index_boards(NINE, street)
    return {
        (hole, board): ready(number_of)(index.choose, index.numbers, index.n_pairs, hole, board)
        for board in sets_of(NINE, 2 + street)
        for hole in sets_of(NINE & ~board, 2)
    }


@cache
def nine_spec() -> GameSpec:
    plain = games.load("holdem", {"stack": 6})
    rules = plain.rules.copy()
    rules[CARDS_IN_PLAY] = NINE
    return replace(plain, rules=rules)


@cache
def buckets_of_hands(dtype: type = np.uint16) -> list[np.ndarray]:
    """By street: a bucket for every hand before and on the flop, one for all later."""
    tables = []
    for street in (PREFLOP, FLOP, TURN, RIVER):
        known = sorted(set(hand_numbers(street).values())) if street in (PREFLOP, FLOP) else []
        tables.append(np.zeros(169 if street == PREFLOP else index_boards(NINE, street).n_hands, dtype))
        tables[-1][known] = np.arange(len(known))
    return tables


@cache
def nine_blueprint(dtype: type = np.uint16) -> Blueprint:
    tables = buckets_of_hands(dtype)
    tree = compile_tree(nine_spec(), menu_table(MENUS), [int(table.max()) + 1 for table in tables])
    return make_blueprint(tree, card_buckets(NINE, tables), "every hand")


@cache
def nine_cards() -> NineCards:
    spec, blueprint, tables = nine_spec(), nine_blueprint(), buckets_of_hands()
    buckets = [
        {view: int(tables[street][number]) for view, number in hand_numbers(street).items()}
        for street in (PREFLOP, FLOP)
    ]
    flat = flatten(replace(spec, max_outcomes=len(deals()[0]), kernels=as_kernels(spec, blueprint, buckets)))
    return NineCards(spec, blueprint, flat, entries_of(flat, blueprint))


def as_kernels(spec: GameSpec, blueprint: Blueprint, buckets: list[dict[tuple[int, int], int]]) -> Kernels:
    """The rules with the menus' actions and the buckets' infosets, in plain Python."""
    own, menus, nodes, tree = spec.kernels, menu_table(MENUS), blueprint.tree.nodes, blueprint.tree

    def legal(rules, state, actions, room):
        found = np.zeros(MOST_ACTIONS, np.int32)
        n = list_considered(rules, menus, state, found)
        actions[:n] = found[:n]
        return n

    def outcomes(rules, state, numbers, odds):
        """Whole hands and flops at once. Turn and river are what is left, in any order: nobody bets there."""
        chances = deals()[1] if state[STREET] == PREFLOP else np.full(10 if state[STREET] == FLOP else 1, 1.0)
        chances = chances / chances.sum()
        numbers[: len(chances)], odds[: len(chances)] = np.arange(len(chances)), chances
        return len(chances)

    def happen(rules, state, number):
        left = NINE & ~sum(int(cards) for cards in (*state[HANDS : HANDS + 2], *state[BOARD + FLOP : BOARD + 4]))
        if state[STREET] == PREFLOP:
            cards = [card for hole in deals()[0][number] for card in cards_of(hole)]
        else:
            cards = cards_of(sets_of(left, 3)[number]) if state[STREET] == FLOP else cards_of(left)[:1]
        for card in cards:
            own.happen(rules, state, card)

    def key(rules, state, viewer):
        node = 0
        for action in state[HISTORY : HISTORY + state[DECISIONS]].tolist():
            first, n = int(nodes["first"][node]), int(nodes["n"][node])
            node = first + tree.actions[first : first + n].tolist().index(action)
        street = min(int(state[STREET]), FLOP)
        flop = int(state[BOARD + FLOP])
        return node << BUCKET_BITS | buckets[street][int(state[HANDS + viewer]), flop if street == FLOP else 0]

    return replace(own, legal=legal, outcomes=outcomes, happen=happen, key=key)


def entries_of(flat: FlatGame, blueprint: Blueprint) -> np.ndarray:
    entries, nodes = np.full(flat.n_entries, -1), blueprint.tree.nodes
    for infoset, key in enumerate(flat.keys.tolist()):
        node, bucket = nodes[key >> BUCKET_BITS], key & ((1 << BUCKET_BITS) - 1)
        first, end = flat.offsets[infoset : infoset + 2]
        if node["street"] <= FLOP:
            assert end - first == node["n"]
            entries[first:end] = int(node["base"]) + bucket * int(node["n"]) + np.arange(end - first)
    return entries
