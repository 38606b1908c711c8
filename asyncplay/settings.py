"""What can be changed while a run goes on. Console, keys and control socket all go through one object."""

from collections.abc import Callable
from typing import NamedTuple

from asyncplay.errors import ConfigError

AUTO = "auto"


class Tunable(NamedTuple):
    """A live setting, its range and what it means."""

    key: str
    lowest: float
    highest: float
    meaning: str
    takes_auto: bool = False
    is_whole: bool = True


TUNABLES = {
    tunable.key: tunable
    for tunable in (
        Tunable("batch.timeout_ms", 0, 10_000, "longest wait of a batch for company; auto learns it", True, False),
        Tunable("batch.max_rows", 1, 1 << 20, "most rows of one network call"),
    )
}


class Settings:
    """The live values. Everybody who reads them is told of a change, on the loop."""

    def __init__(self, *, timeout_ms: float | None, max_rows: int) -> None:
        self._values: dict[str, float | None] = {"batch.timeout_ms": timeout_ms, "batch.max_rows": max_rows}
        self._listeners: list[Callable[[], None]] = []

    @property
    def pinned_s(self) -> float | None:
        """The pinned batch timeout, None when it is learned."""
        timeout_ms = self._values["batch.timeout_ms"]
        return None if timeout_ms is None else timeout_ms / 1000

    @property
    def max_rows(self) -> int:
        return int(self._values["batch.max_rows"] or 1)

    def listen(self, listener: Callable[[], None]) -> None:
        self._listeners.append(listener)

    def show(self, key: str) -> str:
        value = self._values[_tunable(key).key]
        return AUTO if value is None else _plain(value)

    def change(self, key: str, text: str) -> None:
        """Set ``key`` to what ``text`` says; ConfigError names what is wrong with it."""
        self._values[key] = _parse(_tunable(key), text)
        for listener in self._listeners:
            listener()


def _tunable(key: str) -> Tunable:
    if key not in TUNABLES:
        raise ConfigError(f"{key} cannot be changed in a run; what can: {', '.join(TUNABLES)}")
    return TUNABLES[key]


def _parse(tunable: Tunable, text: str) -> float | None:
    if tunable.takes_auto and text == AUTO:
        return None
    kind = "whole number" if tunable.is_whole else "number"
    wanted = f"a {kind} from {_plain(tunable.lowest)} to {_plain(tunable.highest)}"
    wanted += " or auto" if tunable.takes_auto else ""
    try:
        value = float(text)
    except ValueError:
        raise ConfigError(f"{tunable.key} is {text!r}, wanted {wanted}") from None
    if not tunable.lowest <= value <= tunable.highest or (tunable.is_whole and value != int(value)):
        raise ConfigError(f"{tunable.key} is {text}, wanted {wanted}")
    return value


def _plain(value: float) -> str:
    """All of its digits, and no decimal point where nothing comes after it."""
    return str(int(value)) if value == int(value) else repr(value)
