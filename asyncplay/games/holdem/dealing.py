"""The cards of hold'em: chance deals one at a time, the hands seat by seat, then the board."""

from asyncplay import rng
from asyncplay.games import spec as contract
from asyncplay.games.cards import count_cards, draw_cards, lowest_card
from asyncplay.games.holdem.betting import begin_betting
from asyncplay.games.holdem.layout import (
    BOARD,
    CARDS_IN_PLAY,
    HANDS,
    HOLE_CARDS,
    N_DEALT,
    PLAYERS,
    PREFLOP,
    STREET,
    board_of,
)
from asyncplay.games.kernels import helper, kernel


@helper
def undealt(rules, state):
    """The cards that are still in the deck."""
    cards = rules[CARDS_IN_PLAY] & ~board_of(state)
    for seat in range(rules[PLAYERS]):
        cards &= ~state[HANDS + seat]
    return cards


@kernel(contract.OUTCOMES)
def outcomes(rules, state, numbers, odds):
    """Every card of the deck, equally likely."""
    cards, count = undealt(rules, state), 0
    while cards:
        numbers[count] = lowest_card(cards)
        count += 1
        cards &= cards - 1
    for k in range(count):
        odds[k] = 1.0 / count
    return count


@kernel(contract.HAPPEN)
def happen(rules, state, card):
    """Deal a card to its place; with the last of its street the betting begins."""
    street, n_hole_cards = state[STREET], HOLE_CARDS * rules[PLAYERS]
    if street == PREFLOP:
        state[HANDS + state[N_DEALT] // HOLE_CARDS] |= 1 << card
    else:
        state[BOARD + street] |= 1 << card
    state[N_DEALT] += 1
    n_wanted = n_hole_cards if street == PREFLOP else n_hole_cards + 2 + street
    if state[N_DEALT] == n_wanted:
        begin_betting(rules, state)


@kernel(contract.CHANCE)
def chance(rules, state, stream):
    """One of the cards of the deck."""
    cards = undealt(rules, state)
    for _ in range(rng.below(stream, count_cards(cards))):
        cards &= cards - 1
    happen(rules, state, lowest_card(cards))


@kernel(contract.DETERMINIZE)
def determinize(rules, state, viewer, stream, worlds):
    """The others hold any cards that the viewer does not see, also those who have folded."""
    for number in range(len(worlds)):
        world = worlds[number]
        for word in range(len(state)):
            world[word] = state[word]
        unseen = rules[CARDS_IN_PLAY] & ~(board_of(state) | state[HANDS + viewer])
        for seat in range(rules[PLAYERS]):
            if seat != viewer:
                world[HANDS + seat] = draw_cards(stream, unseen, count_cards(state[HANDS + seat]))
                unseen &= ~world[HANDS + seat]
