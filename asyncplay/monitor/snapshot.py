"""All that is shown of a run at one moment. The console, the plain lines and the control socket know nothing else."""

import json
import types
import typing
from dataclasses import asdict, dataclass, fields, is_dataclass
from functools import cache
from typing import Any, TypeVar

from asyncplay.errors import WireError

HISTORY = 240  # values of throughput kept, one a second
LOG_LINES = 50

Part = TypeVar("Part")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What holds the run back: "device-bound", "device busy 97 % of the time", "a smaller net (net.blocks)"."""

    bound: str
    figure: str
    cure: str

    def __str__(self) -> str:
        return ": ".join(filter(None, (self.bound, "; ".join(filter(None, (self.figure, self.cure))))))


@dataclass(frozen=True, slots=True)
class Throughput:
    """How fast the run is, in its own measure."""

    name: str  # what is counted: "rows", "nodes"
    per_s: float  # over the last seconds
    history: tuple[float, ...]  # one a second, latest last, at most HISTORY
    total: int
    unit: str  # what a unit of work is called: "games", "iterations", "rows"
    units: int  # that are done
    units_per_min: float
    limit_per_s: float | None  # of the device alone, with nobody to wait for
    is_simulated: bool  # the device is; say so


@dataclass(frozen=True, slots=True)
class BatchFigures:
    """How queries become batches."""

    mean_rows: float  # of the last seconds, as the waits and the histogram are
    histogram: tuple[tuple[int, float], ...]  # (most rows of the octave, share of the batches)
    wait_p50_ms: float  # from a query's arrival to its launch
    wait_p95_ms: float
    fixed_ms: float  # a of the fitted service time a + b n
    per_row_us: float  # b
    linger: str  # the arm in force, "pinned" under a user's timeout
    why: str  # it is this one
    queued_rows: int
    device_share: float  # of the time that the device computes for these batches
    timeout: str  # milliseconds, or "auto"
    max_rows: int
    extra_share: float  # of the rows asked in the last seconds: leaves beside the first of their tree
    spared_share: float  # of the rows that searches wanted meanwhile: workers remembered them


@dataclass(frozen=True, slots=True)
class LearnFigures:
    """How the network learns."""

    version: int  # of the weights that answer
    steps: int
    steps_per_s: float
    policy_loss: float
    value_loss: float
    window_rows: int
    age_rows: float
    version_lag: float
    samples_per_insert: float
    balance: str  # who waits for whom
    device_share: float  # of the time that the device trains


@dataclass(frozen=True, slots=True)
class RoundFigures:
    """How a tabular run proceeds."""

    pieces: int  # of work that came back and were merged
    iterations: int
    nodes: int
    infosets: int  # rows of the table that were ever changed
    utility: float  # of the first player, moving average
    bytes_in: int
    bytes_out: int


@dataclass(frozen=True, slots=True)
class WorkerFigures:
    """One of the pool."""

    number: int
    state: str
    pid: int
    games: int  # units that it has done, whoever filled the post
    rows_per_s: float
    restarts: int
    reason: str  # of the last end


@dataclass(frozen=True, slots=True)
class StoreFigures:
    """What is on disk."""

    games: int
    commit_lag_ms: float  # from a game's arrival to its commit
    queued: int  # games that wait for theirs
    trouble: str  # empty while all is well


@dataclass(frozen=True, slots=True)
class Result:
    """A strength, with its 95 % interval where there is one: a match's score, an exploitability."""

    name: str
    value: float
    low: float | None
    high: float | None
    by_seat: tuple[float, ...] = ()  # where the value is points above the others': the mean points at each seat


@dataclass(frozen=True, slots=True)
class Budget:
    """What will end the run."""

    unit: str  # "s" for a time budget
    done: float
    wanted: float
    eta_s: float | None  # None while it cannot be told


@dataclass(frozen=True, slots=True)
class PinnedEvent:
    """The last thing worth pinning."""

    time_s: float  # since the epoch
    text: str
    is_error: bool


@dataclass(frozen=True, slots=True)
class Tuned:
    """A live setting as it is."""

    key: str
    value: str
    lowest: float
    highest: float
    words: tuple[str, ...]  # that it takes besides numbers
    meaning: str


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One moment of a run; None stands where something does not apply to this kind of run."""

    title: str  # game and kind
    folder: str
    pid: int
    elapsed_s: float
    state: str  # "starting", "running", "paused" or "stopping"
    verdict: Verdict
    throughput: Throughput
    batch: BatchFigures | None
    learn: LearnFigures | None
    rounds: RoundFigures | None
    workers: tuple[WorkerFigures, ...]
    store: StoreFigures | None
    results: tuple[Result, ...]
    budget: Budget | None
    event: PinnedEvent | None
    trials: tuple[str, ...]  # ready to show, newest last; one that is open says so
    tunables: tuple[Tuned, ...]
    log: tuple[str, ...]  # latest last, at most LOG_LINES

    def to_json(self) -> str:
        return json.dumps(asdict(self), separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str | bytes) -> "Snapshot":
        """WireError if these are not the words of ``to_json``."""
        try:
            return read(cls, json.loads(text))
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise WireError(f"a snapshot that cannot be read: {error!r}") from None


def read(kind: type[Part], value: Any) -> Part:
    """Build ``kind`` out of what JSON made of it; TypeError or KeyError where it does not fit."""
    return typing.cast(Part, _read(kind, value))


def _read(kind: Any, value: Any) -> Any:
    if isinstance(kind, type) and is_dataclass(kind):
        hints = _hints(kind)
        return kind(**{name: _read(hints[name], value[name]) for name in hints})
    if isinstance(kind, types.UnionType):
        return None if value is None else _read(typing.get_args(kind)[0], value)
    if typing.get_origin(kind) is tuple:
        return _read_tuple(typing.get_args(kind), value)
    if kind is float and type(value) is int:
        return float(value)
    if type(value) is not kind:
        raise TypeError(f"{value!r} is no {kind.__name__}")
    return value


def _read_tuple(kinds: tuple[Any, ...], value: Any) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise TypeError(f"{value!r} is no list")
    wanted = kinds[:1] * len(value) if kinds[-1] is ... else kinds
    return tuple(_read(kind, entry) for kind, entry in zip(wanted, value, strict=True))


@cache
def _hints(kind: type) -> dict[str, Any]:
    hints = typing.get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}
