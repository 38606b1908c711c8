"""Blob for people: bids are "bid 2", cards Ks, Td, 4h."""

from collections.abc import Iterable

from asyncplay.games.blob.layout import (
    BIDDING,
    BIDS,
    DEALER,
    HANDS,
    N_ROUNDS,
    N_TABLE,
    NO_TRUMP,
    PHASE,
    PLAYING,
    ROUND,
    SCORING,
    SIZE,
    TABLE,
    TRICKS,
    TRUMP,
    TURN,
)
from asyncplay.games.cards import CARDS, RANK_LETTERS, RANKS, SUIT_LETTERS
from asyncplay.games.show import LastAction, State, returns_of
from asyncplay.games.show.svg import HIDDEN
from asyncplay.games.show.tables import TableLine, TableShow, seat_label
from asyncplay.games.spec import GameSpec

SUIT_NAMES = ("spades", "hearts", "clubs", "diamonds", "no")
STAGES = {BIDDING: "bidding", PLAYING: "playing"}


class BlobShow(TableShow):
    """Other hands are as many backs as they have cards."""

    how = "bid 2, or 2, while all bid; then a card such as Ks, 10h or T♥"

    def name(self, spec: GameSpec, state: State, action: int) -> str:
        return f"bid {action}" if state[PHASE] == BIDDING else card_name(action)

    def spellings(self, spec: GameSpec, state: State, action: int) -> Iterable[str]:
        if state[PHASE] == BIDDING:
            return (str(action),)
        rank, suit = RANK_LETTERS[action % RANKS], SUIT_LETTERS[action // RANKS]
        ten = (f"10{suit}", f"10 of {SUIT_NAMES[action // RANKS]}") if rank == "T" else ()
        long = f"{rank} of {SUIT_NAMES[action // RANKS]}"
        return f"play {rank}{suit}", f"{suit}{rank}", f"{rank} {suit}", long, *ten

    def caption(self, spec: GameSpec, state: State) -> list[str]:
        stage = STAGES.get(int(state[PHASE]), "the round is over")
        rounds = f"round {state[ROUND] + 1} of {spec.rules[N_ROUNDS]}, " if spec.rules[N_ROUNDS] > 1 else ""
        trump = f"{SUIT_NAMES[int(state[TRUMP])]} {'trump' if state[TRUMP] == NO_TRUMP else 'are trump'}"
        return [f"{rounds}{state[SIZE]} cards, {trump}, seat {state[DEALER]} deals: {stage}"]

    def places(self, spec: GameSpec, state: State, viewer: int | None, last: LastAction | None) -> list[TableLine]:
        lines = [_trick(spec, state, last)]
        points = returns_of(spec, state)
        for seat in range(spec.players):
            cards = cards_of(int(state[HANDS + seat]))
            names = tuple(map(card_name, cards)) if viewer in (None, seat) else (HIDDEN,) * len(cards)
            bid, tricks = _byte(state, BIDS, seat), _byte(state, TRICKS, seat)
            note = f"bid {bid - 1}, took {tricks}" if bid else "no bid yet"
            if spec.rules[N_ROUNDS] > 1:
                note += f", {points[seat]:g} points"
            lines.append(TableLine(seat_label(seat, viewer), names, note, seat))
        return lines


def _trick(spec: GameSpec, state: State, last: LastAction | None) -> TableLine:
    """The cards on the table; right after its last card the whole trick."""
    if last is not None and last.state[PHASE] == PLAYING and state[N_TABLE] == 0:
        cards = (*_table(last.state), card_name(last.action))
        first = (last.player + 1) % spec.players
        taker = f", seat {state[TURN]} took it" if state[PHASE] in (PLAYING, SCORING) else ""
        return TableLine("last trick", cards, f"seat {first} led{taker}")
    cards = _table(state)
    first = (int(state[TURN]) - len(cards)) % spec.players
    return TableLine("table", cards, f"seat {first} led" if cards else "empty")


def _table(state: State) -> tuple[str, ...]:
    return tuple(card_name(_byte(state, TABLE, place)) for place in range(int(state[N_TABLE])))


def _byte(state: State, word: int, place: int) -> int:
    return int(state[word]) >> (8 * place) & 0xFF


def card_name(card: int) -> str:
    return RANK_LETTERS[card % RANKS] + SUIT_LETTERS[card // RANKS]


def cards_of(cards: int) -> list[int]:
    """Suit by suit, the highest first."""
    numbers = (card for card in range(CARDS) if cards >> card & 1)
    return sorted(numbers, key=lambda card: (card // RANKS, -(card % RANKS)))


SHOW = BlobShow()
