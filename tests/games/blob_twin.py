"""Blob once more, in plain Python beside the rules text: lists, sets and tuples, nothing packed.

A card is (suit, rank), suits 0..3 = spades, hearts, clubs, diamonds, ranks 2..14.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from itertools import permutations, product
from math import comb, prod

import numpy as np

from asyncplay.games.blob import layout

Card = tuple[int, int]
DECK = [(suit, rank) for suit in range(4) for rank in range(2, 15)]
SPADES, HEARTS, CLUBS, DIAMONDS, NO_TRUMP = range(5)


def number(card: Card) -> int:
    return card[0] * 13 + card[1] - 2


def cards_in(word: int) -> set[Card]:
    """The cards of a bit set."""
    return {card for card in DECK if int(word) >> number(card) & 1}


def word_of(cards: set[Card]) -> int:
    return sum(1 << number(card) for card in cards)


@dataclass
class Round:
    """One round; ``hands`` shrink as cards are played."""

    hands: list[set[Card]]
    dealer: int
    trump: int
    totals: list[int] | None = None  # of a whole game, with its round number and start size
    number: int = 0
    start: int = 0
    bids: dict[int, int] = field(default_factory=dict)
    tricks: list[list[tuple[int, Card]]] = field(default_factory=lambda: [[]])
    won: list[int] = field(default_factory=list)  # the winner of each finished trick

    def __post_init__(self) -> None:
        self.players, self.size = len(self.hands), len(self.hands[0])

    @property
    def table(self) -> list[tuple[int, Card]]:
        return self.tricks[-1]

    @property
    def phase(self) -> str:
        if len(self.bids) < self.players:
            return "bidding"
        return "playing" if len(self.won) < self.size else "scoring"

    def mover(self) -> int | None:
        if self.phase == "bidding":
            return (self.dealer + 1 + len(self.bids)) % self.players
        if self.phase == "scoring":
            return None
        leader = self.won[-1] if self.won else (self.dealer + 1) % self.players
        return (leader + len(self.table)) % self.players

    def forbidden(self) -> int | None:
        if self.phase != "bidding" or self.mover() != self.dealer:
            return None
        left = self.size - sum(self.bids.values())
        return left if 0 <= left <= self.size else None

    def legal(self) -> list[int]:
        if self.phase == "bidding":
            return [bid for bid in range(self.size + 1) if bid != self.forbidden()]
        return sorted(number(card) for card in self.playable())

    def playable(self) -> set[Card]:
        hand = self.hands[self.mover()]
        following = {card for card in hand if self.table and card[0] == self.table[0][1][0]}
        return following or hand

    def play(self, action: int) -> None:
        seat = self.mover()
        if self.phase == "bidding":
            self.bids[seat] = action
            return
        card = DECK[action]
        self.hands[seat] = self.hands[seat] - {card}
        self.table.append((seat, card))
        if len(self.table) == self.players:
            self.won.append(max(self.table, key=lambda played: self.strength(played[1]))[0])
            self.tricks.append([])

    def strength(self, card: Card) -> tuple[bool, bool, int]:
        return card[0] == self.trump, card[0] == self.table[0][1][0], card[1]

    def scores(self) -> list[int]:
        won = [self.won.count(seat) for seat in range(self.players)]
        return [10 + self.bids[seat] if won[seat] == self.bids[seat] else 0 for seat in range(self.players)]

    def played(self) -> list[tuple[int, Card]]:
        return [one for trick in self.tricks for one in trick]

    def voids(self) -> set[tuple[int, int]]:
        """(seat, suit) of everybody who failed to follow."""
        return {(seat, trick[0][1][0]) for trick in self.tricks for seat, card in trick if card[0] != trick[0][1][0]}

    def encode(self, viewer: int) -> np.ndarray:
        """The table of the rules text, entry by entry."""
        players, size, hand = self.players, self.size, self.hands[viewer]
        seats = [(viewer + k) % players for k in range(players)]
        features = np.zeros(256)
        for card in hand:
            features[number(card)] = 1
        for k, (_, card) in enumerate(self.table, 1):
            features[52 + number(card)] = k / 8
        for _, card in self.played():
            features[104 + number(card)] = 1
        features[156 : 156 + players] = [self.bids[seat] / size if seat in self.bids else -1 for seat in seats]
        features[164 : 164 + players] = [self.won.count(seat) / size for seat in seats]
        features[172], features[173] = features[156], features[164]
        features[174], features[175] = size / 13, len(self.won) / size
        features[176], features[177] = (viewer - self.dealer) % players / players, players / 8
        if self.trump != NO_TRUMP:
            features[178 + self.trump] = 1
        features[182] = viewer == self.dealer and self.phase == "bidding"
        features[183 + ["bidding", "playing", "scoring"].index(self.phase)] = 1
        features[186] = len(hand) / 13
        features[187] = len([card for seat, card in self.played() if seat == viewer]) / 13
        features[188] = (len(self.bids) + len(self.played())) / (players * (size + 1))
        if viewer in self.bids:
            features[189] = (self.won.count(viewer) - self.bids[viewer]) / size
        features[190] = len(self.table) / players
        trumps = [rank for suit, rank in hand if suit == self.trump]
        features[191] = len(trumps) / 13
        for suit in range(4):
            ranks = [rank for other, rank in hand if other == suit]
            features[192 + suit] = len(ranks) / 13
            features[196 + suit] = 1 if 14 in ranks else 0.5 if 13 in ranks else 0
        features[200] = sum(trumps) / len(trumps) / 14 if trumps else 0
        forbidden = self.forbidden() if viewer == self.dealer else None
        features[201] = -1 if forbidden is None else forbidden / size
        if self.totals is not None:
            self.encode_game(seats, features)
        return features.astype(np.float32)

    def encode_game(self, seats: list[int], features: np.ndarray) -> None:
        sizes, here = game_sizes(self.players, self.start), self.number
        rounds = len(sizes)
        most = sum(10 + size for size in sizes)
        features[202 : 202 + self.players] = [self.totals[seat] / most for seat in seats]
        features[210], features[211] = here / rounds, (rounds - 1 - here) / rounds
        features[212] = sizes[here + 1 :].count(1) / (self.players + 1)
        features[213] = 0 if here < self.start else 0.5 if here < self.start + self.players else 1
        before = sizes[:here][::-1][:15]
        features[214 : 214 + len(before)] = [size / self.start for size in before]
        features[229], features[230] = self.players / 8, self.start / 8

    def advise(self) -> int:
        """The rule-based player."""
        seat = self.mover()
        if self.phase == "bidding":
            worth = sum((self.worth(card) for card in self.hands[seat]), Fraction(0))
            bid = min(int(worth + Fraction(1, 2)), self.size)
            if bid == self.forbidden():
                bid = bid - 1 if bid else 1
            return bid
        ordered = sorted(self.playable(), key=lambda card: (self.worth(card), card[1], number(card)))
        need, is_last = self.bids[seat] - self.won.count(seat), len(self.table) == self.players - 1
        if not self.table:
            return number(ordered[-1] if need > 0 else ordered[0])
        best = max(self.strength(card) for _, card in self.table)
        winners = [card for card in ordered if self.strength(card) > best]
        losers = [card for card in ordered if card not in winners]
        if need > 0:
            return number((winners[0] if is_last else winners[-1]) if winners else ordered[0])
        if losers:
            return number(losers[-1])
        return number(ordered[-1] if is_last else ordered[0])

    def worth(self, card: Card) -> Fraction:
        suit, rank = card
        if self.trump == NO_TRUMP:
            table = {14: "0.8", 13: "0.5", 12: "0.25", 11: "0.1"}
        elif suit == self.trump:
            table = {14: "1", 13: "0.85", 12: "0.7", 11: "0.55", 10: "0.45"}
        else:
            table = {14: "0.7", 13: "0.4", 12: "0.2"}
        return Fraction(table.get(rank, "0.3" if suit == self.trump else "0"))


def game_sizes(players: int, start: int) -> list[int]:
    down = list(range(start, 0, -1))
    return down + [1] * players + down[:-1][::-1]


def round_of(state: np.ndarray, rules: np.ndarray) -> Round:
    """The round that a fresh deal of the kernels begins."""
    players = int(rules[layout.PLAYERS])
    hands = [cards_in(state[layout.HANDS + seat]) for seat in range(players)]
    begun = Round(hands, int(state[layout.DEALER]), int(state[layout.TRUMP]))
    if rules[layout.IS_WHOLE]:
        begun.totals, begun.number = [0] * players, int(state[layout.ROUND])
        begun.start = int(rules[layout.START_SIZE])
    return begun


def unseen(here: Round, viewer: int) -> set[Card]:
    return set(DECK) - here.hands[viewer] - {card for _, card in here.played()}


def count_worlds(here: Round, viewer: int) -> int:
    """N of the rules text: bound opponents one after another, then the ways to deal the rest."""
    voids = here.voids()
    others = [seat for seat in range(here.players) if seat != viewer]
    bound = [seat for seat in others if any((seat, suit) in voids for suit in range(4))]
    counts = [len([card for card in unseen(here, viewer) if card[0] == suit]) for suit in range(4)]

    def ways(k: int, left: tuple[int, ...]) -> int:
        if k == len(bound):
            return deal_rest(sum(left), [len(here.hands[seat]) for seat in others if seat not in bound])
        seat, total = bound[k], 0
        limits = [0 if (seat, suit) in voids else left[suit] for suit in range(4)]
        for share in product(*(range(limit + 1) for limit in limits)):
            if sum(share) == len(here.hands[seat]):
                rest = tuple(a - b for a, b in zip(left, share, strict=True))
                total += prod(map(comb, left, share)) * ways(k + 1, rest)
        return total

    return ways(0, tuple(counts))


def deal_rest(n_cards: int, sizes: list[int]) -> int:
    ways = 1
    for size in sizes:
        ways *= comb(n_cards, size)
        n_cards -= size
    return ways


def turned(state: np.ndarray, y: int) -> np.ndarray:
    """The position with suit s in the place of suit ORDER[y][s], orders counted as itertools does."""
    order = [*list(permutations(range(4)))[y], NO_TRUMP]
    after = state.copy()
    for word in [*range(layout.HANDS, layout.HANDS + layout.MAX_PLAYERS), layout.PLAYED]:
        after[word] = word_of({(order[suit], rank) for suit, rank in cards_in(state[word])})
    voids = [bit for bit in range(4 * layout.MAX_PLAYERS) if int(state[layout.VOIDS]) >> bit & 1]
    after[layout.VOIDS] = sum(1 << (bit // 4 * 4 + order[bit % 4]) for bit in voids)
    table = int(state[layout.TABLE]).to_bytes(8, "little")[: state[layout.N_TABLE]]
    after[layout.TABLE] = int.from_bytes(bytes(order[card // 13] * 13 + card % 13 for card in table), "little")
    after[layout.TRUMP] = order[state[layout.TRUMP]]
    return after
