"""Numbers on the command line, checked where they are read: a mistake names its option, its value and the range."""

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter, Token

from asyncplay.errors import AsyncplayError

MOST = 10_000_000
MOST_SEED = 2**62 - 1


def whole(least: int, most: int) -> Parameter:
    """A whole number written in digits; Python's own reading would round 1.5."""

    def read(text: str) -> int | None:
        is_plain = text.isascii() and text.removeprefix("-").isdigit() and len(text) < 40
        return int(text) if is_plain and least <= int(text) <= most else None

    return _checked(read, f"a whole number from {least} to {most}")


def real(least: float, most: float) -> Parameter:
    """A finite number."""

    def read(text: str) -> float | None:
        try:
            number = float(text)
        except ValueError:
            return None
        return number if math.isfinite(number) and least <= number <= most else None

    return _checked(read, f"a number from {least:g} to {most:g}")


def _checked(read: Callable[[str], float | None], wanted: str) -> Parameter:
    def convert(kind: Any, tokens: Sequence[Token]) -> float:
        (token,) = tokens
        number = read(token.value)
        if number is None:
            raise AsyncplayError(f"{token.keyword or 'the number'} is {token.value}, must be {wanted}")
        return number

    return Parameter(converter=convert)


MaybeOptions = Annotated[list[str] | None, Parameter(metavar="KEY=VALUE", negative=())]
"""Options of the game; the game checks them."""
MaybeNames = Annotated[list[str] | None, Parameter(negative=())]
"""Of opponents; the evaluation checks them."""
MaybeKey = Annotated[str | None, Parameter(metavar="INT")]
"""The value of a key of the configuration; the configuration checks it."""
Count = Annotated[int, whole(1, MOST)]
MaybeCount = Annotated[int | None, whole(1, MOST)]
MaybeLimit = Annotated[int | None, whole(1, 2**40)]
MaybeVersion = Annotated[int | None, whole(0, 999_999_999)]
MaybeSeat = Annotated[int | None, whole(0, 63)]
MaybeSeats = Annotated[int | None, whole(1, 64)]
Seed = Annotated[int, whole(0, MOST_SEED)]
MaybeSeed = Annotated[int | None, whole(0, MOST_SEED)]
Seconds = Annotated[float, real(0.1, 86_400)]
MaybeSeconds = Annotated[float | None, real(0.01, 86_400)]
Milliseconds = Annotated[float, real(0, 60_000)]


def run_or_latest(run: Path | None, *, is_running: bool = False) -> Path:
    """The folder that was named; without one the latest run of runs/, which is then said."""
    from asyncplay.cli.output import say
    from asyncplay.rundir.latest import latest_run

    if run is None:
        run = latest_run(is_running=is_running)
        say(f"run folder: {run}")
    return run
