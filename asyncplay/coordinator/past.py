"""What a tabular run that goes on must know of its past: into a checkpoint and out of it."""

from collections import deque
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asyncplay.coordinator.pace import Effort
from asyncplay.coordinator.rounds import Rounds
from asyncplay.data.checkpoint import Snapshot
from asyncplay.errors import AsyncplayError
from asyncplay.stats import LATEST_VALUES, RoundStats

KIND = "tabular"


@dataclass(frozen=True, slots=True)
class Past:
    """Nothing yet, unless it was read."""

    stats: RoundStats = field(default_factory=RoundStats)
    latest: Effort = field(default_factory=Effort)
    period: int = 0
    next_unit: int = 0
    owed: Sequence[tuple[int, int]] = ()


def capture(rounds: Rounds, arrays: dict[str, NDArray[Any]]) -> Snapshot:
    """``arrays`` are copies of the table as it is now."""
    next_unit, owed = rounds.whereabouts()
    counts = asdict(rounds.stats)
    utilities = np.array(counts.pop("utilities"))
    state = {
        "kind": KIND,
        "counts": counts,
        "latest": asdict(rounds.latest),
        "period": rounds.period,
        "next_unit": next_unit,
        "owed": owed,
    }
    return Snapshot({**arrays, "utilities": utilities}, state)


def read(snapshot: Snapshot) -> Past:
    """AsyncplayError if it is another kind of run's."""
    state = snapshot.state
    if state.get("kind") != KIND:
        raise AsyncplayError("the checkpoint is not of a run that solves by table")
    stats = RoundStats(**state["counts"])
    stats.utilities = deque(snapshot.arrays["utilities"].tolist(), maxlen=LATEST_VALUES)
    owed = [(int(first), int(count)) for first, count in state["owed"]]
    return Past(stats, Effort(**state["latest"]), state["period"], state["next_unit"], owed)
