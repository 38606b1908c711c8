"""The options of a game, declared once by its module and checked in one place.

A module's ``OPTIONS`` lists them in the order in which they are checked: a range, choices or a default may follow
from options that are listed before, see ``By``.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from asyncplay.errors import AsyncplayError

Value = int | float | bool | str

MOST_LETTERS = 40  # of a number as it is typed; of a value in a message


@dataclass(frozen=True, slots=True)
class By:
    """What follows from options that are listed before: ``rule`` gets the values of those named."""

    rule: Callable[..., Any]
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GameOption:
    """A number within its range, one of several values, a text of the game's own form, or a switch."""

    name: str
    kind: type[int] | type[float] | type[bool] | type[str]
    default: Value | By
    meaning: str
    within: tuple[float, float] | By | None = None  # least and most, of a number
    choices: tuple[int, ...] | tuple[str, ...] | By | None = None  # of numbers or words
    form: str = ""  # of a text without choices, in words; what it says is checked by the game's ``spec``
    words: tuple[str, ...] = ()  # that may stand for a number, such as auto

    def allows(self, value: Any, chosen: Mapping[str, Value]) -> bool:
        """Whether this option can have the value; ``chosen``: those listed before."""
        if isinstance(value, str) and value in self.words:
            return True
        if type(value) not in ((int, float) if self.kind is float else (self.kind,)):  # True is no 1
            return False
        if self.within is not None:
            least, most = settle(self.within, chosen)
            return bool(least <= value <= most)  # nan is within nothing
        return self.choices is None or value in settle(self.choices, chosen)

    @property
    def type_name(self) -> str:
        return self.kind.__name__ if self.kind is not str else "text" if self.choices is None else "choice"

    @property
    def noun(self) -> str:
        """What comes before its values in a sentence about what it must be."""
        if self.choices is not None:
            return "one of "
        return {int: "a whole number from ", float: "a number from "}.get(self.kind, "")

    def values(self, chosen: Mapping[str, Value]) -> str:
        """What it can be, in words, and with which others if that follows from them."""
        if self.within is not None:
            least, most = settle(self.within, chosen)
            words = ", or ".join((f"{as_text(least)} to {as_text(most)}", *self.words))
        else:
            listed = () if self.choices is None else settle(self.choices, chosen)
            words = ", ".join(map(as_text, listed)) or self.form or "true or false"
        limits = self.choices if self.within is None else self.within
        others = limits.names if isinstance(limits, By) else ()
        return f"{words} with {as_typed(others, chosen)}" if others else words


def settle(part: Any, chosen: Mapping[str, Value]) -> Any:
    """A range, choices or a default, where it follows from others the one that follows from ``chosen``."""
    return part.rule(*(chosen[name] for name in part.names)) if isinstance(part, By) else part


def check(game: str, declared: Sequence[GameOption], given: Mapping[str, object]) -> dict[str, Value]:
    """Every option with its value, the given or the default; AsyncplayError about the first that cannot be."""
    for name in given:
        _find(game, declared, name)
    chosen = dict[str, Value]()
    for option in declared:
        value: Any = given.get(option.name, settle(option.default, chosen))
        if not option.allows(value, chosen):
            origin = "" if option.name in given else " by default"
            told = f"option {option.name} of {game} is {_brief(value)}{origin}"
            raise AsyncplayError(f"{told}, must be {option.noun}{option.values(chosen)}")
        chosen[option.name] = value if value in option.words else option.kind(value)
    return chosen


def parse(game: str, declared: Sequence[GameOption], words: Sequence[str]) -> dict[str, Value]:
    """Options typed as KEY=VALUE, each value of its type; text that is of another type stays text, for ``check``."""
    typed = dict[str, str]()
    for word in words:
        key, equals, value = word.partition("=")
        name, text = key.strip().replace("-", "_"), value.strip()
        if not (name and equals):
            raise AsyncplayError(f"--option {_brief(word)}: must be KEY=VALUE, such as players=3")
        if typed.setdefault(name, text) != text:
            both = f"--option {_brief(f'{name}={typed[name]}')} and --option {_brief(word)}"
            raise AsyncplayError(f"{both} are about the same; leave one out")
    return {name: _read(text, _find(game, declared, name).kind) for name, text in typed.items()}


def as_text(value: Value) -> str:
    """As a user types it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def as_typed(names: Iterable[str], chosen: Mapping[str, Value]) -> str:
    """Options with their values, KEY=VALUE each."""
    return " ".join(f"{name}={as_text(chosen[name])}" for name in names)


def unknown(what: str, value: str, known: Sequence[str]) -> str:
    """A line about a name that is not known, with the nearest one that is."""
    near = get_close_matches(value[:MOST_LETTERS], known, 1, cutoff=0.0)
    listed = f"known are {', '.join(known)}" if known else "it has none"
    told = f"{_brief(value)!r} is no {what}"
    return f"{told}, did you mean {near[0]!r}? {listed}" if near else f"{told}: {listed}"


def _find(game: str, declared: Sequence[GameOption], name: str) -> GameOption:
    for option in declared:
        if option.name == name:
            return option
    raise AsyncplayError(unknown(f"option of {game}", name, [option.name for option in declared]))


def _read(text: str, kind: type[Value]) -> Value:
    """The value that a text stands for, or the text itself where it stands for none of this type."""
    if kind is bool:
        return {"true": True, "false": False}.get(text, text)
    is_short = text.isascii() and len(text) <= MOST_LETTERS
    if kind is int:
        return int(text) if is_short and text.removeprefix("-").isdigit() else text
    if kind is float and is_short and "_" not in text:
        try:
            number = float(text)
        except ValueError:
            return text
        return number if math.isfinite(number) else text
    return text


def _brief(value: object) -> str:
    """A value on one line of bounded length."""
    if type(value) is int and abs(value) >= 10**MOST_LETTERS:
        text = hex(value)  # Python refuses to write thousands of decimal digits
    else:
        text = as_text(value) if isinstance(value, bool) else " ".join(str(value).split())
    if not text:
        return "empty"
    return text if len(text) <= MOST_LETTERS else f"{text[: MOST_LETTERS - 3]}..."
