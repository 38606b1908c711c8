"""Settings that can be changed while a run goes on: console, keys and control socket share one object."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from typing import Any, NamedTuple

from annotated_types import Ge, Le

from asyncplay.config.sections import SECTIONS, Live, type_parts
from asyncplay.config.wording import plain_number, suggestion
from asyncplay.errors import ConfigError

MB = 1 << 20


class Tunable(NamedTuple):
    """A live setting, its range and what it means."""

    key: str
    lowest: float
    highest: float
    meaning: str
    label: str  # short, as trials call it,
    unit: str = ""  # of its numbers
    words: Mapping[str, float | None] = {}  # accepted besides numbers, with the value each stands for
    is_whole: bool = True
    has_numbers: bool = True  # else only the words are accepted


def _tunables() -> Iterator[Tunable]:
    """The settings whose declaration says that they are live, and the engine's own switch."""
    for section, setting in ((name, setting) for name, kind in SECTIONS.items() for setting in fields(kind)):
        parts = list(type_parts(setting.type))
        lows: list[Any] = [part.ge for part in parts if isinstance(part, Ge)]
        highs: list[Any] = [part.le for part in parts if isinstance(part, Le)]
        words = [part for part in parts if isinstance(part, str)]
        has_numbers = not {int, float}.isdisjoint(part for part in parts if isinstance(part, type))
        for live in (part for part in parts if isinstance(part, Live)):
            yield Tunable(
                f"{section}.{setting.name}",
                max([live.lowest, *lows]) if has_numbers else 0,
                min([live.highest, *highs]) if has_numbers else 0,
                live.meaning,
                live.label,
                live.unit,
                words={word: None if has_numbers else place for place, word in enumerate(words)},
                is_whole=int in parts,
                has_numbers=has_numbers,
            )
    yield Tunable("pause", 0, 1, "on: the device starts nothing until off", "pause", words={"on": 1, "off": 0})


PLACEMENT = "device.placement"
TUNABLES = {tunable.key: tunable for tunable in _tunables()}


class LiveSettings:
    """The present values of the live settings. Listeners are called after each change, on the loop."""

    def __init__(
        self,
        *,
        timeout_ms: float | None,
        max_rows: int,
        workers: int | None = None,
        samples_per_insert: float | None = None,
        placement: str | None = None,
        asks: bool = True,
        worker_bytes: int = 0,
        free_bytes: Callable[[], float] = lambda: math.inf,
    ) -> None:
        """A run without ``workers``, ``samples_per_insert`` or ``placement`` does not list that key, one that ``asks``
        no network none of its batches.

        ``worker_bytes``: memory of one more worker, compared with what ``free_bytes`` returns at that time.
        """
        self._values: dict[str, float | None] = {"batch.timeout_ms": timeout_ms, "batch.max_rows": max_rows}
        if workers is not None:
            self._values |= {"pool.workers": workers}
        if samples_per_insert is not None:
            self._values |= {"learn.samples_per_insert": samples_per_insert}
        if placement is not None:
            self._values |= {PLACEMENT: TUNABLES[PLACEMENT].words[placement]}
        self._values["pause"] = 0
        self._unused = frozenset() if asks else {key for key in self._values if key.startswith("batch.")}
        self._pretended: dict[str, float | None] | None = None  # while there is a trial
        self._heeded = self._values  # with what is pretended
        self._worker_bytes, self._free_bytes = worker_bytes, free_bytes
        self._listeners: list[Callable[[], None]] = []
        self.remarks: dict[str, str] = {}  # by key: what whoever changes it should know just now

    @property
    def pinned_s(self) -> float | None:
        """The pinned batch timeout, None when it is learned."""
        timeout_ms = self._heeded["batch.timeout_ms"]
        return None if timeout_ms is None else timeout_ms / 1000

    @property
    def max_rows(self) -> int:
        return int(self._heeded["batch.max_rows"] or 1)

    @property
    def workers(self) -> int | None:
        workers = self._values.get("pool.workers")
        return None if workers is None else int(workers)

    @property
    def samples_per_insert(self) -> float | None:
        return self._values.get("learn.samples_per_insert")

    @property
    def placement(self) -> str:
        """Where the network shall answer."""
        words = {meant: word for word, meant in TUNABLES[PLACEMENT].words.items()}
        return words[self._heeded.get(PLACEMENT, TUNABLES[PLACEMENT].words["coordinator"])]

    @property
    def is_paused(self) -> bool:
        return bool(self._values["pause"])

    @property
    def is_tried(self) -> bool:
        """Whether a trial goes back and forth between values."""
        return self._pretended is not None

    def pretend(self, values: Mapping[str, str] | None) -> None:
        """Let the run heed these values of its batches and its placement in place of those that were set.

        For a trial: {} are the values that were set, None is its end. ``show`` tells what was set all the time.
        """
        before, was_tried = self._heeded, self.is_tried
        self._pretended = None if values is None else {key: self._read(key, text) for key, text in values.items()}
        self._heeded = self._values | (self._pretended or {})
        if self._heeded != before or was_tried != self.is_tried:
            for listener in self._listeners:
                listener()

    def tunables(self) -> list[Tunable]:
        """The settings that this run can change."""
        return [TUNABLES[key] for key in self._values if key not in self._unused]

    def listen(self, listener: Callable[[], None]) -> None:
        self._listeners.append(listener)

    def show(self, key: str) -> str:
        value = self._values[key] if key in self._unused else self._values[self._tunable(key).key]
        words = {meant: word for word, meant in TUNABLES[key].words.items()}
        return words[value] if value in words else plain_number(value or 0)

    def check(self, key: str, text: str) -> None:
        """Raise ConfigError if ``change`` would."""
        self._read(key, text)

    def change(self, key: str, text: str) -> None:
        """Set ``key`` to the value written as ``text``; ConfigError says what is wrong with it."""
        self._values[key] = self._read(key, text)
        self._heeded = self._values | (self._pretended or {})
        for listener in self._listeners:
            listener()

    def _read(self, key: str, text: str) -> float | None:
        tunable = self._tunable(key)
        if text in tunable.words:
            return tunable.words[text]
        if not tunable.has_numbers:
            raise ConfigError(f"{key} is {text!r}, wanted {' or '.join(tunable.words)}")
        kind = "whole number" if tunable.is_whole else "number"
        wanted = f"a {kind} from {plain_number(tunable.lowest)} to {plain_number(tunable.highest)}"
        wanted = " or ".join([wanted, *tunable.words])
        try:
            value = float(text)
        except ValueError:
            raise ConfigError(f"{key} is {text!r}, wanted {wanted}") from None
        if not tunable.lowest <= value <= tunable.highest or (tunable.is_whole and value != int(value)):
            raise ConfigError(f"{key} is {text}, wanted {wanted}")
        if key == "pool.workers" and self.workers is not None:
            more, free_bytes = value - self.workers, self._free_bytes()
            if more > 0 and more * self._worker_bytes > free_bytes:
                most = self.workers + int(free_bytes // self._worker_bytes)
                needed = f"{more:.0f} more would need {more * self._worker_bytes / MB:,.0f} MB of memory"
                raise ConfigError(f"{key} is {text}: {needed}, {free_bytes / MB:,.0f} MB are free; {most} would fit")
        return value

    def _tunable(self, key: str) -> Tunable:
        if key not in self._values or key in self._unused:
            keys = [tunable.key for tunable in self.tunables()]
            known = f"{', '.join(keys)}{suggestion(key, {name: name for name in keys})}"
            raise ConfigError(f"{key} cannot be changed in a run; what can: {known}")
        return TUNABLES[key]
