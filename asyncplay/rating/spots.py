"""What a blueprint does at a spot, a decision of its betting tree: by hand before the flop, by bucket later."""

from collections import Counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from asyncplay.errors import AsyncplayError
from asyncplay.games.cards import CARDS, RANK_LETTERS, RANKS, card_names, parse_cards
from asyncplay.games.holdem.canonical import BOARD_SIZES, index_boards
from asyncplay.games.holdem.layout import CALL, CARDS_IN_PLAY, FOLD, PREFLOP, RAISE_TO
from asyncplay.games.kernels import ready
from asyncplay.games.spec import GAME_OVER
from asyncplay.rating.hands import Contender
from asyncplay.solve.abstraction.bucket_file import MEAN, class_of, number_of
from asyncplay.solve.abstraction.menus import STREET_NAMES

CHECK = "check"  # how a call of nothing is written too


class SpotRow(NamedTuple):
    """Some hands that are played alike."""

    name: str  # AKs, a bucket's number, or two cards
    hands: int  # pairs of cards
    equity: float  # the mean of their bucket
    odds: list[float]  # of each action


class Spot(NamedTuple):
    """A decision."""

    street: int
    seat: int
    actions: list[str]  # fold, call, or an amount to raise to
    is_all_in: bool  # whether the last of them is
    rows: list[SpotRow]

    def frequencies(self) -> list[float]:
        """How often each action is taken, over all hands alike."""
        weights = np.array([row.hands for row in self.rows], float)
        means: list[float] = (weights @ np.array([row.odds for row in self.rows]) / weights.sum()).tolist()
        return means

    def as_facts(self) -> dict[str, Any]:
        facts = {"street": STREET_NAMES[self.street], "seat": self.seat, "actions": self.actions}
        return facts | {"frequencies": self.frequencies(), "rows": [row._asdict() for row in self.rows]}


def find_spot(contender: Contender, *, history: str, board: str, hand: str | None) -> Spot:
    """The spot after a history on a board; of one hand alone if there is one. AsyncplayError says what cannot be."""
    node = _follow(contender, history)
    at, tree = contender.game.tree.nodes[node], contender.game.tree
    street, n, base = int(at["street"]), int(at["n"]), int(at["base"])
    turned = _board(contender, board, street)
    bits = contender.policy.odds[base : base + n * tree.sizes.buckets[street]]
    odds = np.asarray(bits).view(np.float16).astype(float).reshape(-1, n)
    rows = _rows(contender, street, turned, odds) if hand is None else [_one(contender, hand, turned, odds)]
    most = int(tree.actions[int(at["first"]) + n - 1])
    return Spot(street, int(at["mover"]), _names(contender, node), most > CALL, rows)


def _names(contender: Contender, node: int) -> list[str]:
    """The actions of a decision."""
    tree = contender.game.tree
    first, n = int(tree.nodes["first"][node]), int(tree.nodes["n"][node])
    words = {FOLD: "fold", CALL: "call"}
    return [words.get(action, str(action - RAISE_TO)) for action in tree.actions[first : first + n].tolist()]


def _follow(contender: Contender, history: str) -> int:
    """The decision that a history leads to."""
    nodes, node = contender.game.tree.nodes, 0
    for word in history.replace(",", " ").split():
        names = _names(contender, node)
        action = "call" if word == CHECK else word
        if action not in names:
            raise AsyncplayError(f"--history: {word!r} is not in the betting tree, which has {', '.join(names)} there")
        node = int(nodes["first"][node]) + names.index(action)
        if nodes["mover"][node] == GAME_OVER:
            raise AsyncplayError(f"--history: after {word!r} there is nothing left to decide")
    return node


def _cards(contender: Contender, option: str, text: str) -> list[int]:
    cards, deck = parse_cards(text), int(contender.spec.rules[CARDS_IN_PLAY])
    if missing := [card for card in cards if not deck >> card & 1]:
        raise AsyncplayError(f"{option}: {card_names(1 << missing[0])} is in no deck of {deck.bit_count()} cards")
    return cards


def _board(contender: Contender, text: str, street: int) -> int:
    cards = _cards(contender, "--board", text)
    if len(cards) != BOARD_SIZES[street]:
        wanted = f"{BOARD_SIZES[street]} cards, as the history leads to the {STREET_NAMES[street]}"
        raise AsyncplayError(f"--board is {text or 'empty'}, must be {wanted}")
    return sum(1 << card for card in cards)


def _one(contender: Contender, hand: str, board: int, odds: NDArray[np.float64]) -> SpotRow:
    hole = sum(1 << card for card in _cards(contender, "--hand", hand))
    if hole.bit_count() != 2 or hole & board:
        raise AsyncplayError(f"--hand is {hand}, must be two cards that are not on the board, like AsKd")
    bucket = contender.file.bucket(hole, board)
    street = BOARD_SIZES.index(board.bit_count())
    return SpotRow(card_names(hole), 1, float(contender.file.stats[street][bucket, MEAN]), odds[bucket].tolist())


def _rows(contender: Contender, street: int, board: int, odds: NDArray[np.float64]) -> list[SpotRow]:
    """A row for each class before the flop, later for each bucket that some hand is in."""
    pairs = [
        1 << high | 1 << low
        for high in range(CARDS)
        for low in range(high)
        if (1 << high | 1 << low) & ~(int(contender.spec.rules[CARDS_IN_PLAY]) & ~board) == 0
    ]
    table, stats = contender.file.tables[street], contender.file.stats[street]
    if street == PREFLOP:
        counts = Counter(ready(class_of)(pair) for pair in pairs)
        keys = {number: (class_name(number), int(table[number])) for number in sorted(counts, reverse=True)}
    else:
        index = index_boards(int(contender.spec.rules[CARDS_IN_PLAY]), street)
        numbers = (ready(number_of)(index.choose, index.numbers, index.n_pairs, pair, board) for pair in pairs)
        counts = Counter(int(table[number]) for number in numbers)
        keys = {bucket: (f"{bucket}", bucket) for bucket in sorted(counts)}
    return [
        SpotRow(name, counts[key], float(stats[bucket, MEAN]), odds[bucket].tolist())
        for key, (name, bucket) in keys.items()
    ]


def class_name(number: int) -> str:
    """AA, AKs, AKo and so on."""
    row, column = divmod(number, RANKS)
    high, low = RANK_LETTERS[max(row, column)], RANK_LETTERS[min(row, column)]
    return f"{high}{low}" if row == column else f"{high}{low}{'s' if column > row else 'o'}"


def as_lines(spot: Spot) -> list[str]:
    """Who decides and how often it does what; later than before the flop also a line for each row."""
    taken = ", ".join(f"{action} {share:.1%}" for action, share in zip(spot.actions, spot.frequencies(), strict=True))
    lines = [f"{STREET_NAMES[spot.street]}, seat {spot.seat}: {taken}"]
    if spot.street != PREFLOP or len(spot.rows) == 1:
        heads = "".join(f"{action:>8}" for action in spot.actions)
        lines.append(f"{'bucket' if len(spot.rows) > 1 else 'hand':>8}{'hands':>8}{'equity':>8}{heads}")
        for row in spot.rows:
            odds = "".join(f"{share:8.1%}" for share in row.odds)
            lines.append(f"{row.name:>8}{row.hands:>8}{row.equity:>8.3f}{odds}")
    return lines
