"""The last tricks of a round of which all cards are known: every line of play, by depth-first search.

Cards of a hand are neighbours if no card between them is in a hand or is winning the trick. They lead to the same
result, so one is tried for all of them and counts as many times.

A row of ``room`` belongs to each decision on the line that is being followed; the last row has the hands. What the
best cards so far have brought stands, added up by seat, in the same row of ``values``.
"""

from asyncplay.games import spec as contract
from asyncplay.games.blob.layout import (
    DECISIONS,
    HANDS,
    N_TABLE,
    PHASE,
    PLAYERS,
    PLAYING,
    SIZE,
    TABLE,
    TRICKS,
    TRUMP,
    TURN,
    best_on_table,
    byte_of,
    followers,
    is_taken_by,
    score_of,
    total_of,
)
from asyncplay.games.blob.turns import next_seat
from asyncplay.games.cards import RANKS, lowest_card
from asyncplay.games.kernels import helper, kernel

# a decision: its seat, cards not tried yet, the one being tried and how many it stands for, how many are best;
# the trick before it: cards on the table, led suit, the card that is winning and its seat, tricks won so far
SEAT, UNTRIED, TRIED, N_ALIKE, N_BEST, ON_TABLE, LED, BEST, TAKER, WON = range(10)
HELD = 8  # behind the hands: the cards of all of them
EQUAL = 1e-9  # values that differ by less are the same: means of the same numbers, added in another order


@kernel(contract.ENDING)
def ending(rules, state, most, room, values):
    """Works out the last cards of a round; bids are never worked out."""
    if state[PHASE] != PLAYING or rules[PLAYERS] * (state[SIZE] + 1) - state[DECISIONS] > most:
        return 0
    lay_out(rules, state, room)
    depth = 0
    while depth >= 0:
        if room[depth, UNTRIED]:
            if play_next(rules, state, room, depth, values[depth + 1]):
                take_back(rules, room, depth, values)
            else:
                depth += 1
        else:
            if room[depth, N_BEST] > 1:  # from the sum over the best cards to their mean
                share = 1.0 / room[depth, N_BEST]
                for seat in range(rules[PLAYERS]):
                    values[depth, seat] *= share
            depth -= 1
            if depth >= 0:
                take_back(rules, room, depth, values)
    return 1


@helper
def lay_out(rules, state, room):
    """The hands into the last row, the trick on the table and the first decision into the first."""
    hands = room[len(room) - 1]
    hands[HELD] = 0
    for seat in range(rules[PLAYERS]):
        hands[seat] = state[HANDS + seat]
        hands[HELD] |= hands[seat]
    first, n_table = room[0], state[N_TABLE]
    first[ON_TABLE], first[LED] = n_table, byte_of(state[TABLE], 0) // RANKS
    best, place = best_on_table(state)
    first[BEST], first[TAKER] = best, (state[TURN] - n_table + place) % rules[PLAYERS]
    first[WON] = state[TRICKS]
    open_decision(room, 0, state[TURN])


@helper
def open_decision(room, depth, seat):
    """List the cards that a player may play."""
    here, hand = room[depth], room[len(room) - 1, seat]
    here[SEAT] = seat
    here[N_BEST] = 0
    here[UNTRIED] = followers(hand, here[LED]) if here[ON_TABLE] else hand


@helper
def choose_next(here, held):
    """Take the next card and its neighbours from those untried; return the highest of them."""
    live = held | (1 << here[BEST] if here[ON_TABLE] else 0)
    here[N_ALIKE] = 0
    while True:
        card = here[UNTRIED] & -here[UNTRIED]
        here[UNTRIED] ^= card
        here[N_ALIKE] += 1
        above = here[UNTRIED] & -here[UNTRIED]
        between = (above - 1) ^ ((card << 1) - 1)
        if above == 0 or live & between or lowest_card(above) // RANKS != lowest_card(card) // RANKS:
            return card


@helper
def play_next(rules, state, room, depth, gains):
    """Play the next card. Return 1 if the round is decided by it, with what it brought in ``gains``; else 0."""
    here, after, hands = room[depth], room[depth + 1], room[len(room) - 1]
    seat, played = here[SEAT], choose_next(here, hands[HELD])
    here[TRIED] = played
    hands[seat] ^= played
    hands[HELD] ^= played
    card = lowest_card(played)
    is_taken = here[ON_TABLE] == 0 or is_taken_by(card, here[BEST], state[TRUMP])
    best, taker = (card, seat) if is_taken else (here[BEST], here[TAKER])
    if here[ON_TABLE] + 1 < rules[PLAYERS]:
        after[ON_TABLE], after[BEST], after[TAKER], after[WON] = here[ON_TABLE] + 1, best, taker, here[WON]
        after[LED] = here[LED] if here[ON_TABLE] else card // RANKS
        open_decision(room, depth + 1, next_seat(rules, seat))
        return 0
    won = here[WON] + (1 << (8 * taker))
    if hands[taker] & (hands[taker] - 1):
        after[ON_TABLE], after[WON] = 0, won
        open_decision(room, depth + 1, taker)
        return 0
    won = last_trick(rules, state, hands, taker, won)
    for k in range(rules[PLAYERS]):  # as ``returns`` will count
        gains[k] = total_of(state, k) + score_of(state, won, k)
    return 1


@helper
def last_trick(rules, state, hands, leader, won):
    """Tricks won after the last one, which plays itself: every seat has one card left, or none has."""
    if hands[leader] == 0:
        return won
    best, taker, seat = lowest_card(hands[leader]), leader, leader
    for _ in range(rules[PLAYERS] - 1):
        seat = next_seat(rules, seat)
        card = lowest_card(hands[seat])
        if is_taken_by(card, best, state[TRUMP]):
            best, taker = card, seat
    return won + (1 << (8 * taker))


@helper
def take_back(rules, room, depth, values):
    """Take the card being tried back, and compare what it brought with the best."""
    here, hands, best, gains = room[depth], room[len(room) - 1], values[depth], values[depth + 1]
    seat, n_alike = here[SEAT], here[N_ALIKE]
    hands[seat] |= here[TRIED]
    hands[HELD] |= here[TRIED]
    gain = gains[seat] * here[N_BEST] - best[seat] if here[N_BEST] else 1.0
    if gain < -EQUAL:
        return
    is_better = gain > EQUAL
    here[N_BEST] = n_alike + (0 if is_better else here[N_BEST])
    for k in range(rules[PLAYERS]):
        best[k] = n_alike * gains[k] + (0.0 if is_better else best[k])
