"""Sets of playing cards as single words, bit suit * 13 + (rank - 2), and how people write them."""

import numpy as np
from numba import int64, uint64

from asyncplay import rng
from asyncplay.errors import AsyncplayError
from asyncplay.games.kernels import helper, kernel

SUITS, RANKS, CARDS = 4, 13, 52
SUIT_CARDS = (1 << RANKS) - 1
DECK = (1 << CARDS) - 1
RANK_LETTERS, SUIT_LETTERS = "23456789TJQKA", "shcd"  # suits in the order of their numbers
EVERY_SECOND, TWO_OF_FOUR = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)  # to count bits
FOUR_OF_EIGHT, EVERY_EIGHTH = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x0101010101010101)


@helper
def suit_cards(suit):
    """All cards of a suit."""
    return np.int64(SUIT_CARDS) << (RANKS * suit)


@helper
def count_cards(cards):
    """How many cards a set has. In this form, and unsigned, LLVM makes one instruction of it."""
    bits = np.uint64(cards)
    bits -= (bits >> np.uint64(1)) & EVERY_SECOND
    bits = (bits & TWO_OF_FOUR) + ((bits >> np.uint64(2)) & TWO_OF_FOUR)
    bits = (bits + (bits >> np.uint64(4))) & FOUR_OF_EIGHT
    return np.int64((bits * EVERY_EIGHTH) >> np.uint64(56))


@helper
def lowest_card(cards):
    """The card with the lowest number in a set that is not empty."""
    return count_cards((cards & -cards) - 1)


@kernel(int64(uint64[::1], int64, int64))
def draw_cards(stream, cards, count):
    """A random set of ``count`` of these cards."""
    drawn, left = 0, count_cards(cards)
    for _ in range(count):
        chosen = cards
        for _ in range(rng.below(stream, left)):
            chosen &= chosen - 1
        chosen &= -chosen
        drawn |= chosen
        cards ^= chosen
        left -= 1
    return drawn


def parse_cards(text: str) -> list[int]:
    """The numbers of cards written like "AsKd", spaces or not; AsyncplayError names what is no card or comes twice."""
    words = text.replace(" ", "")
    pairs = [words[k : k + 2] for k in range(0, len(words), 2)]
    cards = []
    for pair in pairs:
        rank, suit = RANK_LETTERS.find(pair[:1].upper()), SUIT_LETTERS.find(pair[1:].lower())
        if len(pair) != 2 or min(rank, suit) < 0:
            wanted = f"a rank of {RANK_LETTERS} and a suit of {SUIT_LETTERS}"
            raise AsyncplayError(f"{pair!r} of {text!r} is no card, must be {wanted}, like As")
        if (card := RANKS * suit + rank) in cards:
            raise AsyncplayError(f"{pair} comes twice in {text!r}")
        cards.append(card)
    return cards


def card_set(text: str) -> int:
    """The set of the cards that a text lists."""
    return sum(1 << card for card in parse_cards(text))


def card_names(cards: int) -> str:
    """A set of cards as text, the highest ranks first."""
    numbers = sorted((card for card in range(CARDS) if cards >> card & 1), key=lambda card: (-(card % RANKS), card))
    return "".join(RANK_LETTERS[card % RANKS] + SUIT_LETTERS[card // RANKS] for card in numbers)
