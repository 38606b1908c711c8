"""Rounds of a tabular run: the iterations cut into pieces, what comes back merged, the workers brought up to date.

A piece is computed from the merged table its worker was last told of, and a worker that sent its changes undoes
them: so it does not matter who computes a piece, when, or how often. Synchronous rounds merge when all pieces of a
round are back, in the order of their iterations, and the same run gives the same bits whatever the workers'
timing. Asynchronous rounds merge each piece as it comes, and nobody waits for the slowest.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from asyncplay.methods.mccfr.changelog import ChangeLog
from asyncplay.methods.mccfr.messages import Delta, Merged
from asyncplay.methods.mccfr.pieces import ROLE, Addressee, Pieces, WholePiece, payload

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


@dataclass(slots=True, eq=False)
class Rounds(Pieces):
    """Pieces whose changes are merged; a worker is told what changed before its next piece."""

    table: RoundTable
    _changes: ChangeLog = field(init=False)

    def __post_init__(self) -> None:
        Pieces.__post_init__(self)
        self._changes = ChangeLog(self.table.n_infosets)

    def gone(self, worker: int) -> None:
        Pieces.gone(self, worker)
        self._changes.leave(worker)

    def _bring_up_to_date(self, worker: Addressee, now_s: float) -> None:
        """Send the worker what changed since it was last told."""
        blocks = self._changes.catch_up(worker.number)
        infosets = self.table.known() if blocks is None else self.table.union(blocks)
        for part in [infosets[start:stop] for start, stop in self.table.parts(infosets)] or [infosets]:
            message = Merged(ROLE, self.period, part, self.table.regrets(part))
            self.stats.bytes_out += payload(message)
            self.stats.rows_out += len(message.infosets)
            worker.send(message, now_s)

    def _flaw(self, parts: list[Delta]) -> str | None:
        delta, n_touched = parts[-1], sum(len(part.infosets) for part in parts)
        if flaw := self.table.flaw(delta.infosets, delta.regrets, delta.sums):
            return flaw
        if n_touched > self.table.n_infosets:
            return f"{n_touched} of {self.table.n_infosets} rows"
        if delta.is_last and len(self.table.union([part.infosets for part in parts])) < n_touched:
            return "a row twice"
        return None

    def _merge(self, pieces: list[WholePiece], workers: int) -> None:
        """Regrets are divided by the workers of the round: plain sums of changes made side by side overshoot."""
        for whole in pieces:
            for part in whole.parts:
                self.table.merge(part.infosets, part.regrets, part.sums, workers)
        self._changes.note(self.table.union([part.infosets for whole in pieces for part in whole.parts]))
