"""The rules of Blob: deals, bids, tricks and points. Layout and words are in layout.py."""

from asyncplay import rng
from asyncplay.games import spec as contract
from asyncplay.games.blob.layout import (
    ANY,
    BIDDING,
    BIDS,
    DEALER,
    DEALING,
    DECISIONS,
    FIXED_DEALER,
    FIXED_TRUMP,
    HANDS,
    IS_WHOLE,
    MAX_PLAYERS,
    N_ROUNDS,
    N_TABLE,
    N_TRICKS,
    NO_TRUMP,
    PHASE,
    PLAYED,
    PLAYERS,
    PLAYING,
    ROUND,
    SCORING,
    SIZE,
    STATE_WORDS,
    TABLE,
    TOTALS,
    TRICKS,
    TRUMP,
    TURN,
    VOIDS,
    best_on_table,
    byte_of,
    followers,
    forbidden_bid,
    round_size,
    score_of,
    total_of,
)
from asyncplay.games.cards import DECK, RANKS, SUITS, draw_cards, lowest_card
from asyncplay.games.kernels import helper, kernel
from asyncplay.games.spec import CHANCE_TURN, GAME_OVER

TRUMPS = SUITS + 1  # no trump included


@kernel(contract.RESET)
def reset(rules, state):
    """Nothing dealt yet."""
    for word in range(STATE_WORDS):
        state[word] = 0
    state[PHASE] = DEALING
    state[SIZE] = round_size(rules, 0)


@kernel(contract.TO_MOVE)
def to_move(rules, state):
    """A deal is a chance turn; a single round is over when its tricks are."""
    if state[PHASE] in (BIDDING, PLAYING):
        return state[TURN]
    is_last = state[PHASE] == SCORING and state[ROUND] + 1 >= rules[N_ROUNDS]
    return GAME_OVER if is_last else CHANCE_TURN


@kernel(contract.LEGAL)
def legal(rules, state, actions, room):
    """Bids 0 .. cards dealt but the dealer's forbidden one; cards that follow suit, or any if none does."""
    count = 0
    if state[PHASE] == BIDDING:
        forbidden = forbidden_bid(rules, state)
        for bid in range(state[SIZE] + 1):
            actions[count] = bid
            count += bid != forbidden
    elif state[PHASE] == PLAYING:
        cards = state[HANDS + state[TURN]]
        if state[N_TABLE] > 0:
            cards = followers(cards, byte_of(state[TABLE], 0) // RANKS)
        while cards:
            actions[count] = lowest_card(cards)
            count += 1
            cards &= cards - 1
    return count


@kernel(contract.PLAY)
def play(rules, state, action, room):
    """Bid, or play a card; the last card of a trick clears the table."""
    state[DECISIONS] += 1
    if state[PHASE] == BIDDING:
        state[BIDS] |= (action + 1) << (8 * state[TURN])
        if state[TURN] == state[DEALER]:
            state[PHASE] = PLAYING
        state[TURN] = next_seat(rules, state[TURN])
        return
    seat = state[TURN]
    if state[N_TABLE] > 0:  # a seat that does not follow shows a void
        led = byte_of(state[TABLE], 0) // RANKS
        state[VOIDS] |= (action // RANKS != led) << (4 * seat + led)
    state[HANDS + seat] &= ~(1 << action)
    state[PLAYED] |= 1 << action
    state[TABLE] |= action << (8 * state[N_TABLE])
    state[N_TABLE] += 1
    if state[N_TABLE] == rules[PLAYERS]:
        finish_trick(rules, state)
    else:
        state[TURN] = next_seat(rules, state[TURN])


@helper
def next_seat(rules, seat):
    """The seat to the left."""
    return seat + 1 if seat + 1 < rules[PLAYERS] else 0


@helper
def finish_trick(rules, state):
    """The winner takes it and leads the next; after the last one come the points."""
    _, place = best_on_table(state)
    winner = (next_seat(rules, state[TURN]) + place) % rules[PLAYERS]
    state[TRICKS] += 1 << (8 * winner)
    state[N_TRICKS] += 1
    state[TABLE] = 0
    state[N_TABLE] = 0
    state[TURN] = winner
    if state[N_TRICKS] == state[SIZE]:
        state[PHASE] = SCORING


@kernel(contract.CHANCE)
def chance(rules, state, stream):
    """Count the points of a finished round, then deal the next one.

    In a whole game trump goes by the round's number; of a single round the options may fix dealer and trump.
    """
    if state[PHASE] == SCORING:
        for seat in range(rules[PLAYERS]):
            state[TOTALS + (seat >> 2)] += score_of(state, state[TRICKS], seat) << (16 * (seat & 3))
        state[ROUND] += 1
        state[DEALER] = next_seat(rules, state[DEALER])
    for word in range(PLAYED, N_TRICKS + 1):
        state[word] = 0
    for seat in range(MAX_PLAYERS):
        state[HANDS + seat] = 0
    state[PHASE] = BIDDING
    state[DECISIONS] = 0
    state[SIZE] = round_size(rules, state[ROUND])
    state[TRUMP] = state[ROUND] % TRUMPS
    if not rules[IS_WHOLE]:
        state[DEALER] = rng.below(stream, rules[PLAYERS]) if rules[FIXED_DEALER] == ANY else rules[FIXED_DEALER]
        state[TRUMP] = rng.below(stream, NO_TRUMP + 1) if rules[FIXED_TRUMP] == ANY else rules[FIXED_TRUMP]
    state[TURN] = next_seat(rules, state[DEALER])
    deck = DECK
    for seat in range(rules[PLAYERS]):
        state[HANDS + seat] = draw_cards(stream, deck, state[SIZE])
        deck &= ~state[HANDS + seat]


@kernel(contract.RETURNS)
def returns(rules, state, gains):
    """Points of all finished rounds."""
    is_scored = state[PHASE] == SCORING
    for seat in range(rules[PLAYERS]):
        gains[seat] = total_of(state, seat) + (score_of(state, state[TRICKS], seat) if is_scored else 0)
