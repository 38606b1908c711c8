"""What a position of hold'em looks like in memory, and how to read it.

Seats are positions: seat 0 is the first left of the button, seat P-1 the button, so betting after the flop goes in
ascending order, and "the first left of the button" is the lowest seat. Heads-up the button, seat 1, has the small
blind. Amounts are whole chips; what a seat put in on this street is its bet, what it put in during the hand is paid.
"""

from asyncplay.games.cards import CARDS, DECK, RANKS, SUITS
from asyncplay.games.kernels import helper

MAX_PLAYERS, HOLE_CARDS, BOARD_CARDS = 6, 2, 5
PREFLOP, FLOP, TURN, RIVER = range(4)
STREETS = 4

# rules
PLAYERS, SMALL_BLIND, BIG_BLIND, CARDS_IN_PLAY, ACTIONS, STACKS = range(6)  # CARDS_IN_PLAY: the deck, a set
RULES_WORDS = STACKS + MAX_PLAYERS

# state
HANDS = 0  # a word a seat: its hole cards, a set
BOARD = MAX_PLAYERS  # a word a street: the cards it turned up, a set; none before the flop
N_DEALT = BOARD + STREETS  # cards dealt so far: the hands seat by seat, then the board
STREET, MOVER = N_DEALT + 1, N_DEALT + 2  # MOVER: who decides, CHANCE_TURN or GAME_OVER
LARGEST = MOVER + 1  # the largest bet of this street, B of the rules
RAISE = LARGEST + 1  # the largest raise of this street, r of the rules
N_RAISES = RAISE + 1  # of this street, bets included
FOLDED, ACTED = N_RAISES + 1, N_RAISES + 2  # sets of seats: out of the hand; have decided on this street
BETS = ACTED + 1  # a word a seat: put in on this street
PAID = BETS + MAX_PLAYERS  # a word a seat: put in during the hand, this street included
DECISIONS = PAID + MAX_PLAYERS
HISTORY = DECISIONS + 1  # a word a decision: its action

FOLD, CALL, RAISE_TO = 0, 1, 1  # to raise to T is action RAISE_TO + T


@helper
def is_in(state, seat):
    """Say whether a seat has not folded."""
    return (state[FOLDED] >> seat) & 1 == 0


@helper
def count_in(rules, state):
    """How many seats have not folded."""
    count = 0
    for seat in range(rules[PLAYERS]):
        count += is_in(state, seat)
    return count


@helper
def behind(rules, state, seat):
    """The chips that a seat still has."""
    return rules[STACKS + seat] - state[PAID + seat]


@helper
def pot_of(rules, state):
    """All chips put in."""
    pot = 0
    for seat in range(rules[PLAYERS]):
        pot += state[PAID + seat]
    return pot


@helper
def board_of(state):
    """The cards turned up so far."""
    return state[BOARD + FLOP] | state[BOARD + TURN] | state[BOARD + RIVER]


def deck_of(n_cards: int) -> int:
    """The set of the highest ranks of all suits that makes so many cards."""
    missing = (CARDS - n_cards) // SUITS
    low_ranks = sum(((1 << missing) - 1) << (RANKS * suit) for suit in range(SUITS))
    return DECK & ~low_ranks
