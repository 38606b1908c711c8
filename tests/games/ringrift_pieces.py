"""What lies on a board of RingRift and what may be done with it: sections 2 and 3 of the rules text, without turns.

Players are the numbers 1 to 4. A stack is a list of rings, bottom to top, each the number of its colour.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from games.ringrift_board import Board, Cell, in_order, opposite, shifted

Stack = list[int]
NO_BORDER = "none"


class Region(NamedTuple):
    """A candidate of 3.8."""

    cells: frozenset[Cell]
    border: int | str  # a colour or NO_BORDER
    border_markers: frozenset[Cell]

    @property
    def lowest(self) -> Cell:
        return min(self.cells, key=in_order)


def cap_height(stack: Stack) -> int:
    """Section 2: rings of the controller's colour, counted from the top until another colour comes."""
    height = 0
    while height < len(stack) and stack[-1 - height] == stack[-1]:
        height += 1
    return height


@dataclass
class Pieces:
    """Section 2: each cell is in at most one of the three."""

    board: Board
    stacks: dict[Cell, Stack] = field(default_factory=dict)
    markers: dict[Cell, int] = field(default_factory=dict)
    collapsed: dict[Cell, int] = field(default_factory=dict)

    def is_empty(self, cell: Cell) -> bool:
        return cell not in self.stacks and cell not in self.markers and cell not in self.collapsed

    def is_blocked(self, cell: Cell) -> bool:
        """Neither passed nor landed on by a moving stack; markers block nothing."""
        return cell in self.stacks or cell in self.collapsed

    def controlled(self, player: int) -> list[Cell]:
        """The stacks whose top ring is the player's, in cell order."""
        return [cell for cell in sorted(self.stacks, key=in_order) if self.stacks[cell][-1] == player]

    def with_buried(self, player: int) -> list[Cell]:
        """The stacks, of any controller, that hold a ring of the player below their top ring, in cell order."""
        return [cell for cell in sorted(self.stacks, key=in_order) if player in self.stacks[cell][:-1]]

    def active(self) -> set[int]:
        """3.8: colours with a ring anywhere on the board, buried ones included."""
        return {ring for stack in self.stacks.values() for ring in stack}

    def has_ring(self, player: int) -> bool:
        return player in self.active()

    def markers_of(self, player: int) -> list[Cell]:
        return [cell for cell in sorted(self.markers, key=in_order) if self.markers[cell] == player]

    def territory(self, player: int) -> int:
        return list(self.collapsed.values()).count(player)

    # 3.1 Placement

    def placements(self, player: int, hand: int) -> Iterator[tuple[Cell, int]]:
        """Each (cell, number) whose stack could then move or capture."""
        for cell in self.board.cells:
            if self.is_empty(cell):
                most = min(3, hand)
            elif cell in self.stacks:
                most = min(1, hand)
            else:
                most = 0
            for number in range(1, most + 1):
                if self._would_move(cell, [player] * number):
                    yield cell, number

    def _would_move(self, cell: Cell, rings: Stack) -> bool:
        """No-dead-placement: put the rings there, look, take them off again."""
        before = self.stacks.get(cell)
        self.stacks[cell] = (before or []) + rings
        can_move = self.can_move(cell)
        if before is None:
            del self.stacks[cell]
        else:
            self.stacks[cell] = before
        return can_move

    def can_move(self, cell: Cell) -> bool:
        """Whether the stack there has a legal move or capture."""
        return any(True for _ in self.moves(cell)) or any(True for _ in self.captures(cell))

    # 3.2 Movement

    def moves(self, start: Cell) -> Iterator[Cell]:
        """The cells where the stack may land: at least its height away, nothing in between but markers."""
        height = len(self.stacks[start])
        for ray in self.board.rays[start]:
            for distance, landing in enumerate(ray, 1):
                if self.is_blocked(landing):
                    break
                if distance >= height:
                    yield landing

    # 3.3 Overtaking capture

    def captures(self, start: Cell) -> Iterator[tuple[Cell, Cell]]:
        """Each (target, landing): the first stack on a ray, if the cap suffices, and a cell beyond it."""
        mover = self.stacks[start]
        for ray in self.board.rays[start]:
            target = next((cell for cell in ray if self.is_blocked(cell)), None)
            if target is None or target in self.collapsed:
                continue
            if cap_height(mover) < cap_height(self.stacks[target]):
                continue
            steps_to_target = ray.index(target) + 1
            for distance, landing in enumerate(ray[steps_to_target:], steps_to_target + 1):
                if self.is_blocked(landing):
                    break
                if distance >= len(mover):
                    yield target, landing

    # 3.6 Recovery

    def is_recovery_eligible(self, player: int) -> bool:
        return not self.controlled(player) and bool(self.markers_of(player)) and bool(self.with_buried(player))

    def slides(self, player: int) -> list[tuple[Cell, Cell]]:
        """Each own marker with each empty cell beside it."""
        return [
            (marker, cell)
            for marker in self.markers_of(player)
            for cell in self.board.neighbours[marker]
            if self.is_empty(cell)
        ]

    def strikes(self, player: int) -> list[tuple[Cell, Cell]]:
        """Each own marker with each stack beside it."""
        return [
            (marker, cell)
            for marker in self.markers_of(player)
            for cell in self.board.neighbours[marker]
            if cell in self.stacks
        ]

    def is_line_forming(self, slide: tuple[Cell, Cell], length: int) -> bool:
        """Whether the marker lies in an eligible line of its owner once it has been slid."""
        marker, destination = slide
        player = self.markers.pop(marker)
        self.markers[destination] = player
        lines = self.lines(player, length)
        del self.markers[destination]
        self.markers[marker] = player
        return any(destination in line for line in lines)

    # 3.7 Lines

    def lines(self, player: int, length: int) -> list[list[Cell]]:
        """Maximal runs of at least ``length`` of the player's markers, each in its axis' direction."""
        found = []
        for axis in self.board.axes:
            for start in self.markers_of(player):
                if self.markers.get(shifted(start, opposite(axis))) == player:
                    continue  # the run began earlier
                line = [start]
                while self.markers.get(beyond := shifted(line[-1], axis)) == player:
                    line.append(beyond)
                if len(line) >= length:
                    found.append(line)
        return found

    # 3.8 Territory

    def candidates(self) -> list[Region]:
        """All candidate regions: of border "none", then of every marker colour on the board."""
        found = [Region(cells, NO_BORDER, frozenset()) for cells in self._components(set(self.collapsed))]
        for colour in sorted(set(self.markers.values())):
            border = set(self.markers_of(colour))
            for cells in self._components(set(self.collapsed) | border):
                touching = border & {cell for inner in cells for cell in self.board.adjacent[inner]}
                if touching:
                    corners = border & {cell for inner in cells for cell in self.board.diagonal[inner]}
                    found.append(Region(cells, colour, frozenset(touching | corners)))
        return found

    def _components(self, walls: set[Cell]) -> list[frozenset[Cell]]:
        """The parts into which the walls divide the other cells, by territory adjacency."""
        unseen = [cell for cell in self.board.cells if cell not in walls]
        seen: set[Cell] = set()
        parts = []
        for first in unseen:
            if first in seen:
                continue
            seen.add(first)
            part = [first]
            for cell in part:  # grows while it is walked
                for beside in self.board.adjacent[cell]:
                    if beside not in walls and beside not in seen:
                        seen.add(beside)
                        part.append(beside)
            parts.append(frozenset(part))
        return parts

    def claimable(self, player: int, *, by_extraction: bool) -> list[Region]:
        """The candidates that satisfy both conditions of 3.8 for the player."""
        payers = self.with_buried(player) if by_extraction else self.controlled(player)
        if not payers:
            return []
        active = self.active()
        return [
            region
            for region in self.candidates()
            if {stack[-1] for cell, stack in self.stacks.items() if cell in region.cells} < active
            and any(cell not in region.cells for cell in payers)
        ]
