"""RingRift for people: "place d4 2", "move a1 a4", "capture a1 a3 a5", "skip capture"."""

from collections.abc import Iterable
from textwrap import wrap

from asyncplay.games.ringrift import drawing, layout
from asyncplay.games.ringrift.decisions import NONE, Decision, board_of, describe, read
from asyncplay.games.show import WIDTH, LastAction, Show, State
from asyncplay.games.spec import GameSpec


class RingRiftShow(Show):
    """Decisions in the words of the rules, with cells as the drawings name them; players are A to D."""

    how = "place d4 2, move a1 a4, capture a1 a3 a5, skip; or only the cells"

    def player_name(self, spec: GameSpec, state: State, player: int) -> str:
        """After swap_sides a player has the other letter."""
        return drawing.LETTERS[1 - player if state[layout.SWAPPED] else player]

    def name(self, spec: GameSpec, state: State, action: int) -> str:
        verb, *rest = describe(spec, state, action)
        return " ".join([verb.replace("_", " "), *self._parts(spec, verb, rest)])

    def spellings(self, spec: GameSpec, state: State, action: int) -> Iterable[str]:
        """Without the verb; a capture also without what is captured, one ring without its number."""
        verb, *rest = describe(spec, state, action)
        parts = self._parts(spec, verb, rest)
        if not parts:
            return (verb.split("_")[0], *(("pass",) if verb.startswith("skip") else ()))
        words = [" ".join(parts)]
        if verb == "capture":
            words += [f"capture {parts[0]} {parts[2]}", f"{parts[0]} {parts[2]}"]
        if verb == "place" and rest[1] == 1:
            words += [f"place {parts[0]}", parts[0]]
        return words

    def _parts(self, spec: GameSpec, verb: str, rest: list[object]) -> list[str]:
        """Cells and numbers of a decision; a line is told by its ends, a border by the letter of its player."""
        board = board_of(spec)
        if verb == "line":
            cells = rest[0]
            assert isinstance(cells, tuple), "a line is its cells"
            return [drawing.cell_name(board, cells[0]), drawing.cell_name(board, cells[-1])]
        words = [drawing.cell_name(board, part) if isinstance(part, tuple) else str(part) for part in rest]
        if verb == "claim":
            border = rest[1]
            words[1] = f"border {NONE if border == NONE else drawing.LETTERS[int(str(border)) - 1]}"
        return words

    def describe(self, spec: GameSpec, state: State, viewer: int | None = None) -> list[str]:
        board, position = board_of(spec), read(spec, state)
        lines = drawing.headline(spec, state, position)
        kinds = (("stacks", position.stacks), ("markers", position.markers), ("territory", position.collapsed))
        for what, cells in kinds:
            told = ", ".join(f"{drawing.cell_name(board, cell)} {drawing.letters(position, cell)}" for cell in cells)
            lines += wrap(f"{what}: {told or 'none'}", WIDTH - 1, subsequent_indent="  ")
        return lines

    def text(self, spec: GameSpec, state: State, viewer: int | None = None, last: LastAction | None = None) -> str:
        drawn = drawing.text(spec, state, _decision(spec, last))
        return "\n".join([drawn, *self.last_line(spec, viewer, last)])

    def svg(self, spec: GameSpec, state: State, viewer: int | None = None, last: LastAction | None = None) -> str:
        return drawing.svg(spec, state, _decision(spec, last), self.last_line(spec, viewer, last))


def _decision(spec: GameSpec, last: LastAction | None) -> Decision | None:
    return None if last is None else describe(spec, last.state, last.action)


SHOW = RingRiftShow()
