"""Line by line with a person, or with a script whose lines come through a pipe."""

import io
import sys
from collections.abc import Iterable
from contextlib import suppress
from typing import Protocol

from asyncplay.cli.output import print_lines

LONGEST = 400  # characters of a line
STEPS = "Enter or n next, b back, f first, l last, a number, q quit"


class Stepped(Protocol):
    """Positions to step through."""

    @property
    def n_decisions(self) -> int: ...

    def text(self, decision: int) -> str: ...


def is_terminal() -> bool:
    """Whether somebody types and sees the answers."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()


def show_lines(lines: Iterable[str]) -> None:
    """Write at once: a reader at the other end of a pipe waits for it before the next line is typed."""
    print_lines(lines)
    sys.stdout.flush()


def ask(prompt: str) -> str | None:
    """One line without what surrounds it, cut where it is far too long; None at the end of the input."""
    if isinstance(sys.stdin, io.TextIOWrapper) and sys.stdin.errors != "replace":  # once, before the first line
        sys.stdin.reconfigure(errors="replace")  # bytes that are no text are no reason to end
    if is_terminal():
        with suppress(ImportError):
            import readline  # noqa: F401  # input() edits lines once it is imported
        try:
            return input(prompt).strip()[:LONGEST]
        except EOFError:
            show_lines([""])
            return None
    sys.stdout.write(prompt)
    sys.stdout.flush()
    line = sys.stdin.readline() if sys.stdin is not None else ""
    if sys.stdin is None or not sys.stdin.isatty():
        show_lines([line.strip()[:LONGEST]])  # so that the output of a script reads as it would on a terminal
    return line.strip()[:LONGEST] if line else None


def step_through(shown: Stepped, place: int) -> None:
    """Show one position after another until the person leaves."""
    show_lines(shown.text(place).splitlines())
    while (typed := ask(f"{STEPS} > ")) is not None:
        last = shown.n_decisions
        match typed.lower():
            case "" | "n" | "next":
                wanted = place + 1
            case "b" | "back":
                wanted = place - 1
            case "f" | "first":
                wanted = 0
            case "l" | "last":
                wanted = last
            case "q" | "quit":
                return
            case number if number.isascii() and number.isdecimal() and len(number) < 10:
                wanted = int(number)
            case _:
                show_lines([f"{typed!r} is no step; wanted is one of: {STEPS}"])
                continue
        if not 0 <= wanted <= last:
            show_lines([f"there is no position {wanted}; this game has 0 to {last}"])
            continue
        place = wanted
        show_lines(shown.text(place).splitlines())
