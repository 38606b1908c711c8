"""What a tabular run that goes on must know of its past: into a checkpoint and out of it."""

from collections import deque
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from pydantic import Field

from asyncplay.data import checkpoint, large_arrays
from asyncplay.data.checkpoint import Checkpoint, Count, State
from asyncplay.errors import AsyncplayError
from asyncplay.methods.mccfr.figures import LATEST_UTILITIES, RoundFigures
from asyncplay.methods.mccfr.pieces import Pieces
from asyncplay.methods.mccfr.round_size import Effort
from asyncplay.payloads import Array
from asyncplay.solve.abstraction.shared_table import SharedTable
from asyncplay.solve.deltas import MergedTable

KIND = "tabular"


@dataclass(frozen=True, slots=True)
class TableProgress:
    """Nothing yet, unless it was read."""

    stats: RoundFigures = field(default_factory=RoundFigures)
    latest: Effort = field(default_factory=Effort)
    period: int = 0
    next_unit: int = 0
    owed: Sequence[tuple[int, int]] = ()
    digest: str = ""


class CountsState(State):
    """What ``RoundFigures`` counts."""

    iterations: Count
    nodes: Count
    pieces: Count
    infosets: Count
    rows_in: Count
    rows_out: Count
    bytes_in: Count
    bytes_out: Count


class LatestState(State):
    iterations: Count
    nodes: Count
    n_bytes: Count


class TabularState(State):
    """What ``capture`` writes."""

    counts: CountsState
    latest: LatestState
    period: Count
    next_unit: Count
    owed: list[tuple[Count, Annotated[int, Field(ge=1, lt=2**62)]]]
    digest: str = ""  # of the abstraction that the table is of, if it is of one


def capture(rounds: Pieces, arrays: dict[str, NDArray[Any]], digest: str = "") -> Checkpoint:
    """``arrays`` are copies of the table as it is now; ``digest``: of its abstraction, if it has one."""
    next_unit, owed = rounds.position()
    counts = {name: getattr(rounds.stats, name) for name in CountsState.model_fields}
    state = {
        "kind": KIND,
        "counts": counts,
        "latest": asdict(rounds.latest),
        "period": rounds.period,
        "next_unit": next_unit,
        "owed": owed,
        "digest": digest,
    }
    utilities, weights = np.array(rounds.stats.utilities, np.float64).reshape(-1, 2).T.copy()
    return Checkpoint({**arrays, "utilities": utilities, "utility_weights": weights}, state)


def read(snapshot: Checkpoint) -> TableProgress:
    """AsyncplayError if it is another kind of run's."""
    if snapshot.state.get("kind") != KIND:
        raise AsyncplayError("the checkpoint is not of a run that solves by table")
    state = checkpoint.understand(TabularState, snapshot)
    stats = RoundFigures(**state.counts.model_dump())
    utilities = array_of(snapshot, "utilities", np.float64, None)
    weights = np.full(utilities.shape, stats.iterations / max(stats.pieces, 1))  # of a run that did not keep them
    if "utility_weights" in snapshot.arrays:
        weights = array_of(snapshot, "utility_weights", np.float64, utilities.shape)
    if weights.min(initial=0.0) < 0.0:
        raise checkpoint.unfit("a piece has less than no iterations")
    stats.utilities = deque(zip(utilities.tolist(), weights.tolist(), strict=True), maxlen=LATEST_UTILITIES)
    ends = [0, *(first + count for first, count in state.owed)]
    if any(first < end for (first, _), end in zip(sorted(state.owed), sorted(ends), strict=False)):
        raise checkpoint.unfit("owed iterations overlap")
    if max(ends) > state.next_unit:
        raise checkpoint.unfit(f"iterations up to {max(ends):,} are owed, of {state.next_unit:,}")
    latest = Effort(**state.latest.model_dump())
    return TableProgress(stats, latest, state.period, state.next_unit, state.owed, state.digest)


def restore(snapshot: Checkpoint, table: MergedTable | SharedTable) -> None:
    """Put a checkpoint's table into this one."""
    if isinstance(table, MergedTable):
        values = array_of(snapshot, "table", np.float64, table.values.shape)
        table.restore(values, array_of(snapshot, "known", np.uint8, (table.n_infosets,)))
        return
    try:
        found = {name: typed(snapshot, name, own.dtype, own.shape) for name, own in table.capture().items()}
        table.restore({name: large_arrays.blocks(array) for name, array in found.items()})
    except ValueError as error:
        raise checkpoint.unfit(str(error)) from None


def array_of(snapshot: Checkpoint, name: str, dtype: DTypeLike, shape: tuple[int, ...] | None) -> Array:
    """A named array of the checkpoint, which must be finite and of this kind; of one dimension where it may grow."""
    array = typed(snapshot, name, dtype, shape)
    if not np.isfinite(array).all():
        raise checkpoint.unfit(f"{name} has numbers that are not finite")
    return array


def typed(snapshot: Checkpoint, name: str, dtype: DTypeLike, shape: tuple[int, ...] | None) -> Array:
    """The same without a look at its numbers."""
    array = snapshot.arrays.get(name)
    if array is None:
        raise checkpoint.unfit(f"there is no {name}")
    is_shaped = array.ndim == 1 if shape is None else array.shape == shape
    if array.dtype != dtype or not is_shaped:
        raise checkpoint.unfit(f"{name} is {array.dtype}{list(array.shape)}, which this run's never is")
    return array
