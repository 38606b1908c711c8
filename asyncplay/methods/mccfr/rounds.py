"""Rounds of a tabular run: the iterations cut into pieces, what comes back merged, the workers brought up to date.

A piece is computed from the merged table its worker was last told of, and a worker that sent its changes undoes
them: so it does not matter who computes a piece, when, or how often. Synchronous rounds merge when all pieces of a
round are back, in the order of their iterations, and the same run gives the same bits whatever the workers'
timing. Asynchronous rounds merge each piece as it comes, and nobody waits for the slowest.
"""

import math
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from asyncplay.engine.bounds import is_within
from asyncplay.engine.ledger import Ledger, Piece
from asyncplay.engine.split import shares
from asyncplay.errors import WireError
from asyncplay.methods.mccfr.changelog import ChangeLog
from asyncplay.methods.mccfr.messages import Delta, Merged
from asyncplay.methods.mccfr.round_size import Effort, RoundSize
from asyncplay.stats import RoundStats
from asyncplay.wire.messages import Message

ROLE = "traverse"

Rows = NDArray[np.int32]
Doubles = NDArray[np.float64]


class RoundTable(Protocol):
    """The merged table."""

    n_rows: int
    n_known: int  # rows that were ever changed

    def flaw(self, rows: Rows, regrets: Doubles, sums: Doubles) -> str | None:
        """Say why these changes cannot be of this table."""

    def merge(self, rows: Rows, regrets: Doubles, sums: Doubles, workers: int) -> None:
        """Add the sums, and the regrets divided by the workers that started from the same table."""

    def union(self, blocks: Sequence[Rows]) -> Rows:
        """Each row that is in some block, once."""

    def known(self) -> Rows: ...

    def regrets(self, rows: Rows) -> Doubles: ...

    def parts(self, rows: Rows) -> list[tuple[int, int]]:
        """Cut rows into stretches that fit into a frame."""


class Addressee(Protocol):
    """A worker, as far as it is told things."""

    number: int

    def send(self, message: Message, now_s: float) -> None: ...


class _Whole(NamedTuple):
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
    return int(message.rows.nbytes + message.regrets.nbytes + sums)


@dataclass(slots=True, eq=False)
class Rounds:
    """The plan of a tabular work.

    Lifetime: the run's. Order: see above. Limit: a worker has one piece under way, of which it sends each row once.
    End: once the ledger is closed no round is begun; the one under way is finished, or in asynchronous mode the pieces
    that are out.
    """

    table: RoundTable
    ledger: Ledger
    pace: RoundSize
    workers: int
    is_synchronous: bool
    discount: Callable[[int], None] | None = None  # of the whole table, by number; workers do the same to theirs
    most: Callable[[Piece], Most] = lambda piece: Most()  # what a piece can bring
    on_merged: Callable[[], None] = lambda: None
    stats: RoundStats = field(default_factory=RoundStats)
    latest: Effort = field(default_factory=Effort)
    period: int = 0  # discounts so far
    _shares: deque[int] = field(init=False, default_factory=deque)  # sizes of pieces not issued yet
    _frontier: int = field(init=False)  # the first iteration that was never issued
    _out: dict[int, Piece] = field(init=False, default_factory=dict)  # by first iteration: issued, not merged
    _arriving: dict[int, list[Delta]] = field(init=False, default_factory=dict)  # by worker: parts so far
    _back: list[_Whole] = field(init=False, default_factory=list)
    _journal: ChangeLog = field(init=False)

    def __post_init__(self) -> None:
        self._frontier = self.ledger.next_unit
        self._journal = ChangeLog(self.table.n_rows)

    @property
    def owed(self) -> int:
        """Iterations of the round under way that were not issued yet."""
        return sum(self._shares) if self.is_synchronous else 0

    def portion(self) -> int:
        """Return how many iterations an idle worker may be given now, 0 for none."""
        if self.ledger.returned is not None:
            return self.ledger.returned.size
        if not self._shares and not (self.is_synchronous and self._out):
            self._begin_round()
        return self._shares[0] if self._shares else 0

    def prepare(self, worker: Addressee, piece: Piece, now_s: float) -> None:
        """Before a piece goes out: tell the worker what changed since it was last told."""
        if piece.first >= self._frontier:
            self._shares.popleft()
            self._frontier = piece.first + piece.size
        self._out[piece.first] = piece
        for message in self._news(worker.number):
            self.stats.bytes_out += payload(message)
            self.stats.rows_out += len(message.rows)
            worker.send(message, now_s)

    def take(self, worker: int, piece: Piece, delta: Delta) -> bool:
        """Take a part of a piece's changes; return whether it was the last. WireError if it cannot be."""
        parts = self._arriving.setdefault(worker, [])
        parts.append(delta)
        if flaw := self._flaw(piece, parts):
            raise WireError(f"worker {worker} sent changes that are none of this table: {flaw}")
        if not delta.is_last:
            return False
        if delta.iterations != piece.size:
            raise WireError(f"worker {worker} did {delta.iterations} iterations of {piece.size}")
        self._back.append(_Whole(piece, self._arriving.pop(worker)))
        self._merge_if_due()
        return True

    def gone(self, worker: int) -> None:
        """Forget a worker and whatever it sent of a piece that is not whole."""
        self._arriving.pop(worker, None)
        self._journal.leave(worker)

    def whereabouts(self) -> tuple[int, list[tuple[int, int]]]:
        """Where a run resumed from the table as it is goes on: an iteration, and (first, count) owed before it."""
        if self.is_synchronous:
            return min(self._out, default=self._frontier), []  # the round under way begins anew
        return self._frontier, [(piece.first, piece.size) for piece in self._out.values()]

    def aside(self, piece: Piece) -> None:
        """Wait no longer for a piece that nobody survived."""
        del self._out[piece.first]
        self._merge_if_due()

    def _flaw(self, piece: Piece, parts: list[Delta]) -> str | None:
        """Say why the last of these parts of a piece cannot be."""
        delta, n_rows = parts[-1], sum(len(part.rows) for part in parts)
        if flaw := self.table.flaw(delta.rows, delta.regrets, delta.sums):
            return flaw
        if n_rows > self.table.n_rows:
            return f"{n_rows} of {self.table.n_rows} rows"
        if delta.is_last and len(self.table.union([part.rows for part in parts])) < n_rows:
            return "a row twice"
        return self.most(piece).flaw(delta)

    def _begin_round(self) -> None:
        size = self.pace.iterations(self.stats.iterations, self.workers, self.latest)
        left = self.ledger.left
        size = size if left is None else min(size, left)
        self._shares.extend(share for share in shares(size, self.workers) if share)

    def _merge_if_due(self) -> None:
        is_due = len(self._back) == len(self._out) and not self._shares
        if self._back and (is_due or not self.is_synchronous):
            pieces = sorted(self._back, key=lambda whole: whole.piece.first)
            self._back = []
            self._merge(pieces, len(self._out))
            self._discount_if_over()
            self.on_merged()

    def _discount_if_over(self) -> None:
        """At the end of each round; asynchronous ones end with the last piece that is given out."""
        if self.discount is not None and not self._shares:
            self.period += 1
            self.discount(self.period)

    def _merge(self, pieces: Sequence[_Whole], workers: int) -> None:
        """Regrets divided by the workers of the round: plain sums of changes made side by side overshoot."""
        for whole in pieces:
            del self._out[whole.piece.first]
            for part in whole.parts:
                self.table.merge(part.rows, part.regrets, part.sums, workers)
            self._count(whole)
        rows = self.table.union([part.rows for whole in pieces for part in whole.parts])
        self._journal.note(rows)
        self.latest = pieces[0].effort

    def _count(self, whole: _Whole) -> None:
        effort, stats = whole.effort, self.stats
        stats.iterations += effort.iterations
        stats.nodes += effort.nodes
        stats.bytes_in += effort.n_bytes
        stats.rows_in += sum(len(part.rows) for part in whole.parts)
        stats.pieces += 1
        stats.infosets = self.table.n_known
        stats.utilities.append(sum(part.utility for part in whole.parts) / effort.iterations)

    def _news(self, worker: int) -> list[Merged]:
        blocks = self._journal.catch_up(worker)
        rows = self.table.known() if blocks is None else self.table.union(blocks)
        parts = [rows[start:stop] for start, stop in self.table.parts(rows)] or [rows]
        return [Merged(ROLE, self.period, part, self.table.regrets(part)) for part in parts]
