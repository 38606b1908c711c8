"""Pieces of a tabular run: the iterations cut into what workers are given, and the books of what comes back.

Where all workers change one table in place (solve/abstraction/shared_table.py) that is all: a worker tells what its
piece took and what the first player earned, nothing is merged, nobody is told anything and nobody waits. A piece whose
worker dies is issued again; what the dead one had changed stays. Rounds (rounds.py) merge what workers changed.
"""

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from asyncplay.engine.bounds import is_within
from asyncplay.engine.ledger import Ledger, Piece, shares
from asyncplay.engine.supervise import Member
from asyncplay.engine.work import Assignment, Desk, Work, unwanted
from asyncplay.errors import WireError
from asyncplay.methods.mccfr.figures import RoundFigures
from asyncplay.methods.mccfr.messages import Delta, Merged
from asyncplay.methods.mccfr.round_size import Effort, RoundSize
from asyncplay.wire.messages import JobResult, Message

ROLE = "traverse"


class CountedTable(Protocol):
    """A table as far as pieces know it."""

    n_infosets: int
    n_known: int  # infosets that were ever changed


class Addressee(Protocol):
    """A worker, as far as it is told things."""

    number: int

    def send(self, message: Message, now_s: float) -> None: ...


class WholePiece(NamedTuple):
    """A piece that is back."""

    piece: Piece
    parts: list[Delta]

    @property
    def effort(self) -> Effort:
        return Effort(self.parts[-1].iterations, sum(part.nodes for part in self.parts), sum(map(payload, self.parts)))


class Most(NamedTuple):
    """How far the iterations of a piece can go."""

    regret: float = math.inf  # change of an entry, either way
    total: float = math.inf  # change of an entry's strategy sum
    utility: float = math.inf  # of all iterations, either way
    least_nodes: int = 0
    most_nodes: float = math.inf

    def flaw(self, delta: Delta) -> str | None:
        """Say why no iterations of the piece can have brought this."""
        if not (is_within(delta.regrets, self.regret) and is_within(delta.sums, self.total)):
            return f"regrets beyond {self.regret:g} or strategy sums beyond {self.total:g}"
        if delta.sums.min(initial=0.0) < 0.0:
            return "a strategy sum that falls"
        if not abs(delta.utility) <= self.utility:
            return f"a utility of {delta.utility:g}, beyond {self.utility:g}"
        if delta.is_last and not self.least_nodes <= delta.nodes <= self.most_nodes:
            return f"{delta.nodes} nodes, wanted {self.least_nodes} to {self.most_nodes:g}"
        return None


def payload(message: Delta | Merged) -> int:
    """Bytes of a message's arrays."""
    sums = message.sums.nbytes if isinstance(message, Delta) else 0
    return int(message.infosets.nbytes + message.regrets.nbytes + sums)


@dataclass(slots=True, eq=False)
class Pieces:
    """Cuts iterations into pieces and counts what comes back.

    Lifetime: the run's. Order: pieces are issued in the order of their iterations and count as they come; synchronous
    ones when all of a round are there. Limit: a worker has one piece under way. End: once the ledger is closed no round
    is begun; the synchronous one under way is finished, otherwise the pieces that are out.
    """

    table: CountedTable
    ledger: Ledger
    size: RoundSize
    workers: int
    is_synchronous: bool
    discount: Callable[[int], None] | None = None  # of the whole table, by number; workers do the same to theirs
    most: Callable[[Piece], Most] = lambda piece: Most()  # what a piece can bring
    on_merged: Callable[[], None] = lambda: None
    stats: RoundFigures = field(default_factory=RoundFigures)
    latest: Effort = field(default_factory=Effort)
    period: int = 0  # discounts so far
    _shares: deque[int] = field(init=False, default_factory=deque)  # sizes of pieces not issued yet
    _frontier: int = field(init=False)  # the first iteration that was never issued
    _out: dict[int, Piece] = field(init=False, default_factory=dict)  # by first iteration: issued, not merged
    _arriving: dict[int, list[Delta]] = field(init=False, default_factory=dict)  # by worker: parts so far
    _back: list[WholePiece] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        self._frontier = self.ledger.next_unit

    @property
    def owed(self) -> int:
        """Iterations of the round under way that were not issued yet."""
        return sum(self._shares) if self.is_synchronous else 0

    @property
    def is_over(self) -> bool:
        """Whether nothing is under way: all who are idle can begin the next round."""
        return not self._out

    def portion(self) -> int:
        """Return how many iterations an idle worker may be given now, 0 for none; begin a round where one is due."""
        if self.ledger.returned is not None:
            return self.ledger.returned.size
        if not self._shares and not (self.is_synchronous and self._out):
            size = self.size.iterations(self.stats.iterations, self.workers, self.latest)
            left = self.ledger.left
            size = size if left is None else min(size, left)
            self._shares.extend(share for share in shares(size, self.workers) if share)
        return self._shares[0] if self._shares else 0

    def prepare(self, worker: Addressee, piece: Piece, now_s: float) -> None:
        """Before a piece goes out: note it, and tell the worker what it must know."""
        if piece.first >= self._frontier:
            self._shares.popleft()
            self._frontier = piece.first + piece.size
        self._out[piece.first] = piece
        self._bring_up_to_date(worker, now_s)

    def take(self, worker: int, piece: Piece, delta: Delta) -> bool:
        """Take a part of what a piece brought; return whether it was the last. WireError if it cannot be."""
        parts = self._arriving.setdefault(worker, [])
        parts.append(delta)
        if flaw := self._flaw(parts) or self.most(piece).flaw(delta):
            raise WireError(f"worker {worker} sent changes that are none of this table: {flaw}")
        if not delta.is_last:
            return False
        if delta.iterations != piece.size:
            raise WireError(f"worker {worker} did {delta.iterations} iterations of {piece.size}")
        self._back.append(WholePiece(piece, self._arriving.pop(worker)))
        self._merge_if_due()
        return True

    def gone(self, worker: int) -> None:
        """Forget a worker and what it sent of a piece that is not whole."""
        self._arriving.pop(worker, None)

    def position(self) -> tuple[int, list[tuple[int, int]]]:
        """Where a run resumed from the table as it is goes on: an iteration, and (first, count) owed before it."""
        if self.is_synchronous:
            return min(self._out, default=self._frontier), []  # the round under way begins anew
        return self._frontier, [(piece.first, piece.size) for piece in self._out.values()]

    def quarantined(self, piece: Piece) -> None:
        """Wait no longer for a piece that killed every worker."""
        del self._out[piece.first]
        self._merge_if_due()

    def _merge_if_due(self) -> None:
        """Use and count what is back, in the order of its iterations, and discount the table at the end of a round."""
        is_due = len(self._back) == len(self._out) and not self._shares
        if not self._back or not (is_due or not self.is_synchronous):
            return
        pieces, self._back = sorted(self._back, key=lambda whole: whole.piece.first), []
        self._merge(pieces, len(self._out))
        stats = self.stats
        for whole in pieces:
            del self._out[whole.piece.first]
            iterations, nodes, n_bytes = whole.effort.iterations, whole.effort.nodes, whole.effort.n_bytes
            stats.iterations += iterations
            stats.nodes += nodes
            stats.bytes_in += n_bytes
            stats.rows_in += sum(len(part.infosets) for part in whole.parts)
            stats.pieces += 1
            stats.utilities.append((sum(part.utility for part in whole.parts) / iterations, iterations))
        stats.infosets, stats.visited = self.table.n_known, self.table.n_known / self.table.n_infosets
        self.latest = pieces[0].effort
        if self.discount is not None and not self._shares:
            self.period += 1
            self.discount(self.period)
        self.on_merged()

    def _bring_up_to_date(self, worker: Addressee, now_s: float) -> None:
        """Nothing: the worker sees the table itself."""

    def _flaw(self, parts: list[Delta]) -> str | None:
        """Say why the latest part cannot be of this table."""
        return "rows of a table that is changed in place" if len(parts[-1].infosets) else None

    def _merge(self, pieces: list[WholePiece], workers: int) -> None:
        """Nothing: the table has it already."""


class RoundWork(Work):
    """Iterations in rounds: a worker has one piece under way and sends what it changed, in one or more parts."""

    def __init__(self, assignment: Assignment, rounds: Pieces) -> None:
        super().__init__(assignment, rounds.ledger)
        self._rounds = rounds

    def portion(self, worker: int) -> int:
        return 0 if self.ledger.outstanding(worker) else self._rounds.portion()

    def prepare(self, member: Member, piece: Piece, now_s: float) -> None:
        self._rounds.prepare(member, piece, now_s)

    def take(self, desk: Desk, member: Member, result: JobResult) -> None:
        if not isinstance(result, Delta):
            raise unwanted(member, result)
        is_whole = self._rounds.take(member.number, self.ledger.piece(member.number, result.job), result)
        member.rows += result.nodes
        if is_whole:
            member.units += result.iterations
            self.ledger.finish(member.number, result.job)
            desk.forget_if_closed(self, result.job)
            member.has_work = False
            if self._rounds.is_over:
                desk.fill_all()
            else:  # whoever else is idle was offered all there is
                desk.fill(member)

    def worker_lost(self, member: Member, *, is_blamed: bool) -> None:
        self._rounds.gone(member.number)
        super().worker_lost(member, is_blamed=is_blamed)

    def quarantined(self, piece: Piece) -> None:
        self._rounds.quarantined(piece)

    def close(self) -> None:
        """The round under way is finished first."""
        self.ledger.close(self._rounds.owed)
        self.check_settled()
