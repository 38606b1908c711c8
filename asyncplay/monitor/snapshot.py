"""All that is shown of a run at one moment. The console, the plain lines and the control socket know nothing else."""

import json
import types
import typing
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, is_dataclass, replace
from functools import cache
from typing import Annotated, Any, Self, TypeVar

from asyncplay.config.live import LiveSettings
from asyncplay.errors import WireError
from asyncplay.monitor.part import Figure, Part, per_s, ranked
from asyncplay.monitor.verdict import Verdict

HISTORY = 240  # values of throughput kept, one a second, and of any other curve
LOG_LINES = 50
RESULTS_RANK = 6  # of the results among the parts of a run

Kind = TypeVar("Kind")


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
    limit_per_s: float | None  # of the device alone, which waits for nothing
    is_simulated: bool  # the device is; say so


@dataclass(frozen=True, slots=True)
class Result:
    """A strength, with its 95 % interval where there is one: a match's score, an exploitability."""

    name: str
    value: float
    low: float | None
    high: float | None
    by_seat: tuple[float, ...] = ()  # where the value is points above the others': the mean points at each seat
    unit: str = ""
    of: str = ""  # what was measured: "version 33"

    @property
    def series(self) -> str:
        """The name under which it is compared with earlier ones: one for all earlier versions."""
        return "vs earlier version" if self.name.startswith("vs version ") else self.name


@dataclass(frozen=True, slots=True)
class Curve:
    """What became of a figure since this process began."""

    part: str  # the part that it belongs to, or "strength"
    name: str  # "policy loss", "vs rules"
    values: tuple[float, ...]  # latest last, at most HISTORY: means of equal stretches where there were more


@dataclass(frozen=True, slots=True)
class Budget:
    """What will end the run."""

    unit: str  # "s" for a time budget
    done: float
    wanted: float
    eta_s: float | None  # None while it is not known


@dataclass(frozen=True, slots=True)
class PinnedEvent:
    """The last thing worth pinning."""

    time_s: float  # since the epoch
    text: str
    is_error: bool


@dataclass(frozen=True, slots=True)
class Tuned:
    """A live setting and its value now."""

    key: str
    value: str
    lowest: float
    highest: float
    words: tuple[str, ...]  # that it takes besides numbers
    meaning: str


@dataclass(frozen=True, slots=True)
class WorkerFigures(Part):
    """One worker of the pool; counts go on when its process is replaced."""

    NAME = "workers"
    TITLE = "workers"
    RANK = 5
    LEAST = 1

    number: Annotated[int, Figure("text", "")] = 0
    """Number of the worker, from 0."""

    state: Annotated[str, Figure("text", "")] = ""
    """What its process does: "starting", "ready", "suspect", "waiting"."""

    pid: Annotated[int, Figure("text", "")] = 0
    """Process id; 0 without one."""

    games: Annotated[int, Figure("counter", "units")] = 0
    """Units of work done, games or others."""

    rows_per_s: Annotated[float, Figure("gauge", "rows/s")] = 0.0
    """Rows answered to it a second; of a tabular run, nodes visited."""

    restarts: Annotated[int, Figure("counter", "restarts")] = 0
    """Processes that ended before their time."""

    reason: Annotated[str, Figure("text", "")] = ""
    """Why the last of them ended."""

    wait_share: Annotated[float, Figure("gauge", "share")] = 0.0
    """Share of the time in which all its games wait for answers and it has nothing to think about."""

    rows: int = 0  # answered, or nodes visited
    waited_s: float = 0.0  # with nothing to think about

    def since(self, then: Self, seconds: float, settings: LiveSettings) -> Self:
        return replace(
            self,
            rows_per_s=per_s(then.rows, self.rows, seconds),
            wait_share=min(per_s(then.waited_s, self.waited_s, seconds), 1.0),
        )


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One moment of a run."""

    title: str  # game and kind
    folder: str
    pid: int
    elapsed_s: float
    state: str  # "starting", "running", "paused" or "stopping"
    verdict: Verdict
    throughput: Throughput
    parts: Mapping[str, Part]  # by name; what does not apply to this kind of run is not there
    workers: tuple[WorkerFigures, ...]
    results: tuple[Result, ...]
    curves: tuple[Curve, ...]
    budget: Budget | None
    event: PinnedEvent | None
    trials: tuple[str, ...]  # ready to show, newest last; one that is open says so
    tunables: tuple[Tuned, ...]
    log: tuple[str, ...]  # latest last, at most LOG_LINES

    def to_json(self) -> str:
        """Each known part is a field of its own, null where it does not apply."""
        shown: dict[str, Any] = {name: part.values() for name, part in self.parts.items()}
        shown[WorkerFigures.NAME] = [worker.values() for worker in self.workers]
        facts: dict[str, Any] = {}
        for name, value in asdict(replace(self, parts={}, workers=())).items():
            facts |= dict.fromkeys(kind.NAME for kind in ranked()) if name == "parts" else {name: value}
        return json.dumps(facts | shown, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str | bytes) -> "Snapshot":
        """WireError if ``to_json`` did not write this."""
        try:
            facts = json.loads(text)
            kinds = [kind for kind in ranked() if kind is not WorkerFigures and facts[kind.NAME] is not None]
            facts["parts"] = {kind.NAME: read(kind, facts[kind.NAME]) for kind in kinds}
            return read(cls, facts)
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise WireError(f"a snapshot that cannot be read: {error!r}") from None


def read(kind: type[Kind], value: Any) -> Kind:
    """Build ``kind`` out of what JSON made of it; TypeError or KeyError where it does not fit."""
    return typing.cast(Kind, _read(kind, value))


def _read(kind: Any, value: Any) -> Any:
    if isinstance(kind, type) and is_dataclass(kind):
        return kind(**{name: _read(hint, value[name]) for name, hint in _hints(kind).items()})
    if isinstance(kind, types.UnionType):
        return None if value is None else _read(typing.get_args(kind)[0], value)
    if typing.get_origin(kind) is tuple:
        if not isinstance(value, list):
            raise TypeError(f"{value!r} is no list")
        kinds = typing.get_args(kind)
        wanted = kinds[:1] * len(value) if kinds[-1] is ... else kinds
        return tuple(_read(each, entry) for each, entry in zip(wanted, value, strict=True))
    if typing.get_origin(kind) is Mapping:  # the parts of a snapshot, which are read already
        return value
    if kind is float and type(value) is int:
        return float(value)
    if type(value) is not kind:
        raise TypeError(f"{value!r} is no {kind.__name__}")
    return value


@cache
def _hints(kind: type) -> dict[str, Any]:
    """What JSON has of a dataclass: every field, of a part the declared ones."""
    hints = typing.get_type_hints(kind)
    return {
        field.name: hints[field.name]
        for field in fields(kind)
        if not issubclass(kind, Part) or field.name in kind.FIGURES
    }
