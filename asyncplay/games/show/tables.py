"""Games of cards and dice: lines with what lies before each seat and on the table."""

from typing import NamedTuple

from asyncplay.games.show import LastAction, Show, State, svg
from asyncplay.games.show.svg import HIDDEN
from asyncplay.games.spec import GAME_OVER, GameSpec

ACTS, ACTED = ">", "*"
"""Signs before the line of the seat that is to act and of the one that acted last."""


class TableLine(NamedTuple):
    """What lies in one place."""

    label: str
    cards: tuple[str, ...] = ()  # names; HIDDEN: its back
    note: str = ""
    seat: int | None = None  # whose place it is; None: nobody's


class TableShow(Show):
    """A game that says what lies where as its viewer sees it."""

    def caption(self, spec: GameSpec, state: State) -> list[str]:
        """What all know."""
        return []

    def places(self, spec: GameSpec, state: State, viewer: int | None, last: LastAction | None) -> list[TableLine]:
        raise NotImplementedError

    def describe(self, spec: GameSpec, state: State, viewer: int | None = None) -> list[str]:
        lines = [self.turn_line(spec, state), *self.caption(spec, state)]
        for label, cards, note, _ in self.places(spec, state, viewer, None):
            known = [card for card in cards if card != HIDDEN]
            n_hidden = len(cards) - len(known)
            told = [" ".join(known)] if known else []
            told += [f"{n_hidden} hidden"] if n_hidden else []
            told += [note] if note else []
            lines.append(f"{label}: {', '.join(told) or 'nothing'}")
        return lines

    def text(self, spec: GameSpec, state: State, viewer: int | None = None, last: LastAction | None = None) -> str:
        places = self.places(spec, state, viewer, last)
        wide = max(len(line.label) for line in places)
        dealt = max(sum(len(card) + 3 for card in line.cards) for line in places)
        lines = [self.turn_line(spec, state), *self.caption(spec, state)]
        for line in places:
            cards = " ".join(f"[{card}]" for card in line.cards)
            lines.append(
                f"{_sign(spec, state, line, last)} {line.label:<{wide}}  {cards:<{dealt}} {line.note}".rstrip()
            )
        return "\n".join([*lines, *self.last_line(spec, viewer, last)])

    def svg(self, spec: GameSpec, state: State, viewer: int | None = None, last: LastAction | None = None) -> str:
        places = self.places(spec, state, viewer, last)
        head = [self.turn_line(spec, state), *self.caption(spec, state), *self.last_line(spec, viewer, last)]
        wide = 24 + 7.5 * max(len(line.label) for line in places)
        dealt = max(len(line.cards) for line in places) * svg.CARD_STEP
        parts, y = svg.written(head), svg.LINE * (len(head) + 0.5)
        for line in places:
            parts.append(svg.label(svg.MARGIN, y + 27, f"{_sign(spec, state, line, last)} {line.label}"))
            parts += [svg.card(wide + k * svg.CARD_STEP, y, card) for k, card in enumerate(line.cards)]
            if line.note:
                parts.append(svg.label(wide + dealt + 8, y + 27, line.note))
            y += svg.CARD_HEIGHT + 6
        longest = max(len(line.note) for line in places)
        width = max(wide + dealt + 8 + 7.5 * longest, 7.5 * max(map(len, head)) + svg.MARGIN)
        return svg.document(width + svg.MARGIN, y + svg.MARGIN, parts)


def _sign(spec: GameSpec, state: State, line: TableLine, last: LastAction | None) -> str:
    if line.seat is None:
        return " "
    if line.seat == spec.kernels.to_move(spec.rules, state):
        return ACTS
    return ACTED if last is not None and line.seat == last.player else " "


def is_over(spec: GameSpec, state: State) -> bool:
    return bool(spec.kernels.to_move(spec.rules, state) == GAME_OVER)


def seat_label(seat: int, viewer: int | None) -> str:
    return f"seat {seat} (you)" if seat == viewer else f"seat {seat}"
