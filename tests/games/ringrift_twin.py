"""RingRift once more, in plain Python beside its rules text, paragraph by paragraph; nothing of the package is used.

Sections 1 and 2 and the legality of each decision are in ringrift_board and ringrift_pieces; turns, effects, endings
and ranks are here. Seats are the numbers 1 to 4, as in the rules text; tuples indexed by seat have None first.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from games.ringrift_board import Cell, board_of, elimination_threshold, in_order
from games.ringrift_pieces import Pieces, cap_height

Decision = tuple[Any, ...]  # its kind, then what identifies it (3.0)

PLACEMENT, MOVEMENT, CAPTURE, CHAIN = "ring_placement", "movement", "capture", "chain_capture"
RECOVERY_LINE, RECOVERY_COST = "recovery_line", "recovery_cost"
LINES, LINE_COST = "line_processing", "line_cost"
TERRITORY, TERRITORY_COST = "territory_processing", "territory_cost"
FORCED, OVER = "forced_elimination", "game_over"

NEXT_PHASE = {
    PLACEMENT: MOVEMENT,
    MOVEMENT: LINES,
    CAPTURE: LINES,
    CHAIN: LINES,
    RECOVERY_LINE: LINES,
    RECOVERY_COST: LINES,
    LINES: TERRITORY,
    LINE_COST: LINES,
    TERRITORY: FORCED,
    TERRITORY_COST: TERRITORY,
}
"""Section 3: where a turn goes on from a phase that offers nothing (more), or whose skip was taken."""


@dataclass(frozen=True)
class Options:
    """What may be chosen before a game; None takes the number of the rules text."""

    board: str = "square8"
    players: int = 2
    rings: int | None = None  # of each player
    swap: bool = False
    strike: bool = False
    rounds: int = 3  # of last-player-standing
    max_moves: int | None = None


@dataclass(frozen=True)
class Outcome:
    """A finished game; ``ranks`` and ``values`` by seat, the first seat first."""

    reason: str
    winner: int | None
    ranks: tuple[int, ...] | None
    values: tuple[float, ...]


class Game:
    """A game in progress: ``legal`` lists the decisions of ``player``, ``play`` takes one of them."""

    def __init__(self, options: Options) -> None:
        """Section 2: all rings in hand, the board empty, player 1 starts."""
        self.options = options
        self.board = board_of(options.board)
        self.rings = options.rings or self.board.rings
        self.limit = options.max_moves or self.board.move_limit(options.players)
        self.line_length = self.board.line_length(options.players)
        self.seats = range(1, options.players + 1)
        self.pieces = Pieces(self.board)
        self.hand = dict.fromkeys(self.seats, self.rings)
        self.credit = dict.fromkeys(self.seats, 0)  # rings eliminated, by the player who caused it
        self.lost = dict.fromkeys(self.seats, 0)  # rings eliminated, by colour
        self.gone: dict[int, int] = {}  # the turn at whose end a player first had no ring left
        self.n_decisions, self.turn = 0, 0
        self.holder: int | None = None  # of the last-player-standing count
        self.count = 0
        self.may_swap = options.swap and options.players == 2
        self.outcome: Outcome | None = None
        self.begin_turn(1)

    # Section 3: turns and phases

    def begin_turn(self, player: int) -> None:
        """Start a turn with the pieces as they lie."""
        self._start_turn(player)
        self._advance()

    def _start_turn(self, player: int) -> None:
        self.player, self.phase = player, PLACEMENT
        self.turn += 1
        self.is_changed = False  # whether the turn has changed anything on the board (3.5)
        self.is_recovery_turn = False
        self.mover: Cell | None = None  # the stack placed, moved or chaining in this turn
        self.slid: Cell | None = None  # where the marker of a line-forming slide lies
        self._check_standing()

    def _advance(self) -> None:
        """3.0: pass the phases that offer nothing, until a decision is due or the game is over."""
        self._legal: list[Decision] = []
        while self.outcome is None:
            self._legal = self._offers()
            if self._legal:
                return
            if self.phase == FORCED:
                self._end_turn()
            else:
                self.phase = NEXT_PHASE[self.phase]
        self.phase = OVER

    def legal(self) -> list[Decision]:
        """Every legal decision once; none when the game is over."""
        return list(self._legal)

    def _offers(self) -> list[Decision]:
        """What the present phase offers; empty if it is to be passed."""
        offers: dict[str, Callable[[], list[Decision]]] = {
            PLACEMENT: self._placement_offers,
            MOVEMENT: self._movement_offers,
            CAPTURE: self._capture_offers,
            CHAIN: self._segments_of_mover,
            RECOVERY_LINE: self._recovery_line_offers,
            RECOVERY_COST: self._extraction_offers,
            LINES: self._line_offers,
            LINE_COST: self._line_cost_offers,
            TERRITORY: self._territory_offers,
            TERRITORY_COST: self._territory_cost_offers,
            FORCED: self._forced_offers,
        }
        return offers[self.phase]()

    def play(self, decision: Decision) -> None:
        """3.0: one decision, its effects, and everything automatic up to the next one."""
        assert decision in self._legal, f"{decision} is not legal in {self.phase}"
        kind, *what = decision
        self.n_decisions += 1
        if kind == "swap_sides":
            self._swap()
        elif kind.startswith("skip_"):
            self.phase = NEXT_PHASE[self.phase]
        else:
            effects: dict[str, Callable[..., None]] = {
                "place": self._place,
                "move": self._move,
                "capture": self._capture,
                "slide": self._slide,
                "strike": self._strike,
                "line": self._collapse_line,
                "pay_ring": self._pay_ring,
                "pay_cap": self._pay_cap,
                "extract": self._extract,
                "claim": self._claim,
                "eliminate": self._eliminate_cap,
            }
            effects[kind](*what)
            self.is_changed = True
        if self.player == 2:
            self.may_swap = False
        self._advance()
        if self.outcome is None and self.n_decisions >= self.limit:
            self._stop_at_limit()

    # 3.1 Placement

    def _placement_offers(self) -> list[Decision]:
        placements: list[Decision] = [("place", *placement) for placement in self._placements(self.player)]
        if not placements:
            return []
        if self.may_swap and self.player == 2:
            placements.append(("swap_sides",))
        if self._can_move(self.player) or self.pieces.is_recovery_eligible(self.player):
            placements.append(("skip_placement",))
        return placements

    def _placements(self, player: int) -> list[tuple[Cell, int]]:
        return list(self.pieces.placements(player, self.hand[player]))

    def _can_move(self, player: int) -> bool:
        """Whether a stack that the player controls has a legal move or capture."""
        return any(self.pieces.can_move(cell) for cell in self.pieces.controlled(player))

    def _place(self, cell: Cell, number: int) -> None:
        self.hand[self.player] -= number
        self.pieces.stacks.setdefault(cell, []).extend([self.player] * number)
        self.mover = cell
        self.phase = MOVEMENT

    # 3.2 Movement

    def _movement_offers(self) -> list[Decision]:
        """Moves and captures of all controlled stacks, of the placed one alone after a placement, or recovery."""
        stacks = self.pieces.controlled(self.player) if self.mover is None else [self.mover]
        if not stacks:
            return self._recovery_offers()
        moves: list[Decision] = [("move", cell, landing) for cell in stacks for landing in self.pieces.moves(cell)]
        return moves + [segment for cell in stacks for segment in self._segments(cell)]

    def _segments(self, cell: Cell) -> list[Decision]:
        return [("capture", cell, *segment) for segment in self.pieces.captures(cell)]

    def _move(self, start: Cell, landing: Cell) -> None:
        self._travel(start, landing, target=None)
        self.phase = CAPTURE

    def _travel(self, start: Cell, landing: Cell, *, target: Cell | None) -> None:
        """The effects of 3.2 and 3.3, in their order."""
        pieces, player = self.pieces, self.player
        stack = pieces.stacks.pop(start)
        pieces.markers[start] = player
        for cell in self.board.between(start, landing):
            if pieces.markers.get(cell) == player:
                del pieces.markers[cell]
                pieces.collapsed[cell] = player
            elif cell in pieces.markers:
                pieces.markers[cell] = player
        if target is not None:
            stack.insert(0, pieces.stacks[target].pop())
            if not pieces.stacks[target]:
                del pieces.stacks[target]
        pieces.stacks[landing] = stack
        self.mover = landing
        if landing in pieces.markers:
            del pieces.markers[landing]
            self._eliminate_from_top(landing, 1)

    def _eliminate_from_top(self, cell: Cell, number: int) -> None:
        """Rings leave the game to the credit of the player whose turn it is; an emptied stack vanishes."""
        for _ in range(number):
            self._credit(self.pieces.stacks[cell].pop())
        if not self.pieces.stacks[cell]:
            del self.pieces.stacks[cell]

    def _credit(self, ring: int) -> None:
        self.credit[self.player] += 1
        self.lost[ring] += 1

    def _capture_offers(self) -> list[Decision]:
        """After a plain move: a capture by the moved stack, or none."""
        segments = self._segments_of_mover()
        return [*segments, ("skip_capture",)] if segments else []

    def _segments_of_mover(self) -> list[Decision]:
        """Captures by the moved stack, if it is still there and still the player's; 3.4 offers just these."""
        assert self.mover is not None, "a stack has moved"
        return self._segments(self.mover) if self.mover in self.pieces.controlled(self.player) else []

    # 3.3 Overtaking capture, 3.4 Chain capture

    def _capture(self, start: Cell, target: Cell, landing: Cell) -> None:
        self._travel(start, landing, target=target)
        self.phase = CHAIN

    # 3.5 Forced elimination

    def _forced_offers(self) -> list[Decision]:
        if self.is_changed:
            return []
        return [("eliminate", cell) for cell in self.pieces.controlled(self.player)]

    def _eliminate_cap(self, cell: Cell) -> None:
        self._eliminate_from_top(cell, cap_height(self.pieces.stacks[cell]))

    # 3.6 Recovery

    def _recovery_offers(self) -> list[Decision]:
        """(a) line mode, else (b) and (b2); (c) beside either."""
        pieces, player = self.pieces, self.player
        if not pieces.is_recovery_eligible(player):
            return []
        slides = pieces.slides(player)
        forming = [slide for slide in slides if pieces.is_line_forming(slide, self.line_length)]
        offers: list[Decision] = [("slide", *slide) for slide in forming or slides]
        if not forming and self.options.strike:
            offers += [("strike", *strike) for strike in pieces.strikes(player)]
        return [*offers, ("skip_recovery",)] if offers else []

    def _slide(self, marker: Cell, destination: Cell) -> None:
        is_line_forming = self.pieces.is_line_forming((marker, destination), self.line_length)
        self.pieces.markers[destination] = self.pieces.markers.pop(marker)
        self.is_recovery_turn = True
        if is_line_forming:
            self.slid, self.phase = destination, RECOVERY_LINE
        else:
            self.phase = RECOVERY_COST

    def _strike(self, marker: Cell, stack: Cell) -> None:
        del self.pieces.markers[marker]
        self._eliminate_from_top(stack, 1)
        self.is_recovery_turn = True
        self.phase = RECOVERY_COST

    def _recovery_line_offers(self) -> list[Decision]:
        """The choices of 3.7, of the lines through the slid marker."""
        lines = self.pieces.lines(self.player, self.line_length)
        return self._choices([line for line in lines if self.slid in line])

    def _extraction_offers(self) -> list[Decision]:
        """The recovery cost: any stack with a buried ring of the player; waived if there is none."""
        return [("extract", cell) for cell in self.pieces.with_buried(self.player)]

    def _extract(self, cell: Cell) -> None:
        """The player's bottommost ring leaves the stack; this also pays for a claim in a recovery turn."""
        self.pieces.stacks[cell].remove(self.player)
        self._credit(self.player)
        self.phase = NEXT_PHASE[self.phase]

    # 3.7 Line processing

    def _line_offers(self) -> list[Decision]:
        return self._choices(self.pieces.lines(self.player, self.line_length))

    def _choices(self, lines: list[list[Cell]]) -> list[Decision]:
        """All of a line, or any contiguous K of a longer one."""
        parts = [
            line[first : first + self.line_length]
            for line in lines
            if len(line) > self.line_length
            for first in range(len(line) - self.line_length + 1)
        ]
        return [("line", tuple(sorted(cells, key=in_order))) for cells in lines + parts]

    def _collapse_line(self, cells: tuple[Cell, ...]) -> None:
        """The cost is due for a whole line; it is waived by its phase if nothing can pay."""
        is_whole = any(set(cells) == set(line) for line in self.pieces.lines(self.player, self.line_length))
        for cell in cells:
            del self.pieces.markers[cell]
            self.pieces.collapsed[cell] = self.player
        if not is_whole:
            self.phase = LINES
        else:
            self.phase = RECOVERY_COST if self.phase == RECOVERY_LINE else LINE_COST

    def _line_cost_offers(self) -> list[Decision]:
        return [("pay_ring", cell) for cell in self.pieces.controlled(self.player)]

    def _pay_ring(self, cell: Cell) -> None:
        self._eliminate_from_top(cell, 1)
        self.phase = NEXT_PHASE[self.phase]

    # 3.8 Territory processing

    def _territory_offers(self) -> list[Decision]:
        regions = self.pieces.claimable(self.player, by_extraction=self.is_recovery_turn)
        claims: list[Decision] = [("claim", region.lowest, region.border) for region in regions]
        return [*claims, ("skip_territory",)] if claims else []

    def _claim(self, lowest: Cell, border: int | str) -> None:
        regions = self.pieces.claimable(self.player, by_extraction=self.is_recovery_turn)
        region = next(region for region in regions if (region.lowest, region.border) == (lowest, border))
        for cell in region.cells:
            for ring in self.pieces.stacks.pop(cell, []):
                self._credit(ring)
        for cell in region.cells | region.border_markers:
            self.pieces.markers.pop(cell, None)
            self.pieces.collapsed[cell] = self.player
        self.phase = TERRITORY_COST

    def _territory_cost_offers(self) -> list[Decision]:
        if self.is_recovery_turn:
            return self._extraction_offers()
        return [("pay_cap", cell) for cell in self.pieces.controlled(self.player)]

    def _pay_cap(self, cell: Cell) -> None:
        self._eliminate_cap(cell)
        self.phase = NEXT_PHASE[self.phase]

    # Section 4: end of game

    def _end_turn(self) -> None:
        """Checks 1, 2, 3 and 5 in this order, then the next seat that has a ring."""
        for player in self.seats:
            if not self._has_ring(player):
                self.gone.setdefault(player, self.turn)
        for check in (
            self._check_elimination,
            self._check_territory,
            self._check_early_standing,
            self._check_stalemate,
        ):
            check()
            if self.outcome is not None:
                return
        following = [(self.player + step - 1) % len(self.seats) + 1 for step in self.seats]
        self._start_turn(next(player for player in following if self._has_ring(player)))

    def _has_ring(self, player: int) -> bool:
        """In hand or on the board; a player without one is permanently eliminated."""
        return self.hand[player] > 0 or self.pieces.has_ring(player)

    def _check_elimination(self) -> None:
        """1. Ring elimination."""
        threshold = elimination_threshold(self.rings, len(self.seats))
        for player in self.seats:
            if self.credit[player] >= threshold:
                self._win(player, "ring_elimination")
                return

    def _check_territory(self) -> None:
        """2. Territory."""
        for player in self.seats:
            own = self.pieces.territory(player)
            others = len(self.pieces.collapsed) - own
            if own >= self.board.territory_minimum(len(self.seats)) and own > others:
                self._win(player, "territory")

    def _check_early_standing(self) -> None:
        """3. Early last-player-standing."""
        controllers = [player for player in self.seats if self.pieces.controlled(player)]
        if len(controllers) == 1:
            others = [player for player in self.seats if player != controllers[0]]
            if not any(self._has_ring(player) for player in others):
                self._win(controllers[0], "early_last_player_standing")

    def _check_standing(self) -> None:
        """4. Last-player-standing, when a turn starts."""
        if self.has_real_action(self.player):
            if self.holder == self.player:
                self.count += 1
            else:
                self.holder, self.count = self.player, 0
            others = [player for player in self.seats if player != self.player]
            if self.count >= self.options.rounds and not any(map(self.has_real_action, others)):
                self._win(self.player, "last_player_standing")
        elif self.holder == self.player:
            self.holder, self.count = None, 0

    def has_real_action(self, player: int) -> bool:
        """A legal placement, move or capture if its turn started here."""
        return self._can_move(player) or self._can_place(player)

    def _can_place(self, player: int) -> bool:
        return any(True for _ in self.pieces.placements(player, self.hand[player]))

    def _check_stalemate(self) -> None:
        """5. Global stalemate: rings in hand become credit of their owner, then the winner is found."""
        if self.pieces.stacks or any(map(self._can_place, self.seats)):
            return
        for player in self.seats:
            self.credit[player] += self.hand[player]
            self.lost[player] += self.hand[player]
            self.hand[player] = 0
        best = max(self.seats, key=lambda player: (*self._standing(player), player == self.player, -player))
        self._win(best, "stalemate")

    def _standing(self, player: int) -> tuple[int, int, int]:
        return self.pieces.territory(player), self.credit[player], len(self.pieces.markers_of(player))

    def _win(self, winner: int, reason: str) -> None:
        """Final ranks: the winner, then the others by their standing and by how long they had rings."""
        never = self.turn + 1
        merits = {player: (*self._standing(player), self.gone.get(player, never)) for player in self.seats}
        losers = [player for player in self.seats if player != winner]
        ranks = {player: 2 + sum(merits[other] > merits[player] for other in losers) for player in losers}
        ranks[winner] = 1
        by_seat = tuple(ranks[player] for player in self.seats)
        values = tuple(1 - 2 * (rank - 1) / (len(self.seats) - 1) for rank in by_seat)
        self.outcome = Outcome(reason, winner, by_seat, values)

    # Section 5: swap

    def _swap(self) -> None:
        """The agents exchange seats; on the board and in the turn nothing changes, and the offer is gone."""
        self.may_swap = False

    # Section 6: termination

    def measure(self) -> int:
        """S: markers, collapsed cells and eliminated rings."""
        return len(self.pieces.markers) + len(self.pieces.collapsed) + sum(self.lost.values())

    # Section 7: move limits

    def _stop_at_limit(self) -> None:
        self.outcome = Outcome("max_moves", None, None, (0.0,) * len(self.seats))
        self._legal, self.phase = [], OVER
