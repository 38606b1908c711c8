"""What the small games of dealt.py share: one card or die a seat, and perhaps one turned up for all."""

from collections.abc import Collection

from asyncplay.games.cards import RANK_LETTERS
from asyncplay.games.dealt import HANDS, NOT_DEALT, PLAYERS
from asyncplay.games.show import State
from asyncplay.games.show.svg import HIDDEN
from asyncplay.games.show.tables import TableLine, seat_label
from asyncplay.games.spec import GameSpec

KING = RANK_LETTERS.index("K")


def rank_name(rank: int, n_ranks: int) -> str:
    """Ranks end with the king: J Q K of three."""
    return RANK_LETTERS[KING + 1 - n_ranks + rank]


def seat_lines(
    spec: GameSpec, state: State, viewer: int | None, *, names: list[str], shown: Collection[int], notes: list[str]
) -> list[TableLine]:
    """A line for each seat. ``names``: of all values; ``shown``: the seats whose hand everybody sees."""
    lines = []
    for seat, note in enumerate(notes):
        value = int(state[HANDS + seat])
        is_seen = viewer is None or seat == viewer or seat in shown
        cards = () if value == NOT_DEALT else (names[value] if is_seen else HIDDEN,)
        lines.append(TableLine(seat_label(seat, viewer), cards, note, seat))
    return lines


def upcard_name(state: State, rules: State, names: list[str]) -> str | None:
    """Of the card turned up for all."""
    value = int(state[HANDS + int(rules[PLAYERS])])
    return None if value == NOT_DEALT else names[value]
