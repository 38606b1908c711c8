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
from asyncplay.engine.ledger import Ledger, Piece, shares
from asyncplay.engine.supervise import Member
from asyncplay.engine.work import Assignment, Desk, Work, unwanted
from asyncplay.errors import WireError
from asyncplay.methods.mccfr.changelog import ChangeLog
from asyncplay.methods.mccfr.figures import RoundFigures
from asyncplay.methods.mccfr.messages import Delta, Merged
from asyncplay.methods.mccfr.round_size import Effort, RoundSize
from asyncplay.wire.messages import JobResult, Message

ROLE = "traverse"

Infosets = NDArray[np.int32]
Doubles = NDArray[np.float64]


class RoundTable(Protocol):
    """The merged table."""

    n_infosets: int
    n_known: int  # infosets that were ever changed

    def flaw(self, infosets: Infosets, regrets: Doubles, sums: Doubles) -> str | None:
        """Say why these changes cannot be of this table."""

    def merge(self, infosets: Infosets, regrets: Doubles, sums: Doubles, workers: int) -> None:
        """Add the sums, and the regrets divided by the workers that started from the same table."""

    def union(self, blocks: Sequence[Infosets]) -> Infosets:
        """Each infoset that is in some block, once."""

    def known(self) -> Infosets: ...

    def regrets(self, infosets: Infosets) -> Doubles: ...

    def parts(self, infosets: Infosets) -> list[tuple[int, int]]:
        """Cut infosets into stretches that fit into a frame."""


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
    return int(message.infosets.nbytes + message.regrets.nbytes + sums)


@dataclass(slots=True, eq=False)
class Rounds:
    """Cuts iterations into the pieces of rounds and merges what comes back.

    Lifetime: the run's. Order: see above. Limit: a worker has one piece under way, of which it sends each row once.
    End: once the ledger is closed no round is begun; the one under way is finished, or in asynchronous mode the pieces
    that are out.
    """

    table: RoundTable
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
    _back: list[_Whole] = field(init=False, default_factory=list)
    _changes: ChangeLog = field(init=False)

    def __post_init__(self) -> None:
        self._frontier = self.ledger.next_unit
        self._changes = ChangeLog(self.table.n_infosets)

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
        """Before a piece goes out: send the worker what changed since it was last brought up to date."""
        if piece.first >= self._frontier:
            self._shares.popleft()
            self._frontier = piece.first + piece.size
        self._out[piece.first] = piece
        blocks = self._changes.catch_up(worker.number)
        infosets = self.table.known() if blocks is None else self.table.union(blocks)
        for part in [infosets[start:stop] for start, stop in self.table.parts(infosets)] or [infosets]:
            message = Merged(ROLE, self.period, part, self.table.regrets(part))
            self.stats.bytes_out += payload(message)
            self.stats.rows_out += len(message.infosets)
            worker.send(message, now_s)

    def take(self, worker: int, piece: Piece, delta: Delta) -> bool:
        """Take a part of a piece's changes; return whether it was the last. WireError if it cannot be."""
        parts = self._arriving.setdefault(worker, [])
        parts.append(delta)
        n_touched = sum(len(part.infosets) for part in parts)
        flaw = self.table.flaw(delta.infosets, delta.regrets, delta.sums)
        if flaw is None and n_touched > self.table.n_infosets:
            flaw = f"{n_touched} of {self.table.n_infosets} rows"
        elif flaw is None and delta.is_last and len(self.table.union([part.infosets for part in parts])) < n_touched:
            flaw = "a row twice"
        if flaw := flaw or self.most(piece).flaw(delta):
            raise WireError(f"worker {worker} sent changes that are none of this table: {flaw}")
        if not delta.is_last:
            return False
        if delta.iterations != piece.size:
            raise WireError(f"worker {worker} did {delta.iterations} iterations of {piece.size}")
        self._back.append(_Whole(piece, self._arriving.pop(worker)))
        self._merge_if_due()
        return True

    def gone(self, worker: int) -> None:
        """Forget a worker and what it sent of a piece that is not whole."""
        self._arriving.pop(worker, None)
        self._changes.leave(worker)

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
        """Merge what is back, in the order of its iterations, and discount the table at the end of a round.

        Regrets are divided by the workers of the round: plain sums of changes made side by side overshoot.
        """
        is_due = len(self._back) == len(self._out) and not self._shares
        if not self._back or not (is_due or not self.is_synchronous):
            return
        pieces, self._back = sorted(self._back, key=lambda whole: whole.piece.first), []
        workers, stats = len(self._out), self.stats
        for whole in pieces:
            del self._out[whole.piece.first]
            for part in whole.parts:
                self.table.merge(part.infosets, part.regrets, part.sums, workers)
            stats.iterations += whole.effort.iterations
            stats.nodes += whole.effort.nodes
            stats.bytes_in += whole.effort.n_bytes
            stats.rows_in += sum(len(part.infosets) for part in whole.parts)
            stats.pieces += 1
            stats.infosets, stats.visited = self.table.n_known, self.table.n_known / self.table.n_infosets
            iterations = whole.effort.iterations
            stats.utilities.append((sum(part.utility for part in whole.parts) / iterations, iterations))
        self._changes.note(self.table.union([part.infosets for whole in pieces for part in whole.parts]))
        self.latest = pieces[0].effort
        if self.discount is not None and not self._shares:
            self.period += 1
            self.discount(self.period)
        self.on_merged()


class RoundWork(Work):
    """Iterations in rounds: a worker has one piece under way and sends what it changed, in one or more parts."""

    def __init__(self, assignment: Assignment, rounds: Rounds) -> None:
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
