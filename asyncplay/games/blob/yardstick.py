"""The rule-based player of Blob: a fixed yardstick, without chance and without memory.

Worth is in hundredths of a trick. Cards are compared by one number: worth, then rank, then card number.
"""

from asyncplay.games import spec as contract
from asyncplay.games.blob.layout import (
    BIDDING,
    BIDS,
    HANDS,
    N_TABLE,
    NO_TRUMP,
    PHASE,
    PLAYERS,
    SIZE,
    TABLE,
    TRICKS,
    TRUMP,
    TURN,
    best_on_table,
    byte_of,
    followers,
    forbidden_bid,
    is_taken_by,
)
from asyncplay.games.cards import RANKS, lowest_card
from asyncplay.games.kernels import helper, kernel

ACE, KING, QUEEN, JACK, TEN = 12, 11, 10, 9, 8


@kernel(contract.ADVISE)
def advise(rules, state, room):
    """What the rule-based player does for the seat to move; it looks at no other hand."""
    if state[PHASE] == BIDDING:
        return advise_bid(rules, state)
    hand = state[HANDS + state[TURN]]
    need = byte_of(state[BIDS], state[TURN]) - 1 - byte_of(state[TRICKS], state[TURN])
    if state[N_TABLE] == 0:
        return extreme(hand, state[TRUMP], need > 0)
    cards = followers(hand, byte_of(state[TABLE], 0) // RANKS)
    is_last = state[N_TABLE] == rules[PLAYERS] - 1
    winners = winning(state, cards)
    if need > 0:
        return extreme(winners, state[TRUMP], not is_last) if winners else extreme(cards, state[TRUMP], False)
    losers = cards & ~winners
    return extreme(losers, state[TRUMP], True) if losers else extreme(cards, state[TRUMP], is_last)


@helper
def advise_bid(rules, state):
    """The worth of all cards, rounded; one less where that is forbidden, or one more at 0."""
    worth, hand = 0, state[HANDS + state[TURN]]
    while hand:
        worth += worth_of(lowest_card(hand), state[TRUMP])
        hand &= hand - 1
    bid = min((worth + 50) // 100, state[SIZE])
    if bid == forbidden_bid(rules, state):
        return bid - 1 if bid > 0 else bid + 1
    return bid


@helper
def worth_of(card, trump):
    """What a card promises, in hundredths of a trick."""
    rank = card % RANKS
    if trump == NO_TRUMP:
        return 80 if rank == ACE else 50 if rank == KING else 25 if rank == QUEEN else 10 if rank == JACK else 0
    if card // RANKS != trump:
        return 70 if rank == ACE else 40 if rank == KING else 20 if rank == QUEEN else 0
    if rank >= QUEEN:
        return 100 if rank == ACE else 85 if rank == KING else 70
    return 55 if rank == JACK else 45 if rank == TEN else 30


@helper
def winning(state, cards):
    """Those cards that would take the trick as it stands."""
    best, _ = best_on_table(state)
    winners, left = cards & 0, cards
    while left:
        if is_taken_by(lowest_card(left), best, state[TRUMP]):
            winners |= left & -left
        left &= left - 1
    return winners


@helper
def extreme(cards, trump, wants_highest):
    """The highest or the lowest card of a set."""
    chosen, best = -1, 0
    while cards:
        card = lowest_card(cards)
        order = 10_000 * worth_of(card, trump) + 100 * (card % RANKS) + card
        if chosen < 0 or (order > best) == wants_highest:
            chosen, best = card, order
        cards &= cards - 1
    return chosen
