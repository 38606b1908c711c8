"""Numbers and suggestions in messages about settings."""

import difflib
from collections.abc import Mapping


def plain_number(number: float) -> str:
    """All digits of a number, without a decimal point if it is whole."""
    return str(int(number)) if number == int(number) else repr(number)


def suggestion(word: str, known: Mapping[str, str]) -> str:
    """Suggest the name that looks most like ``word``; ``known`` maps names to the form in which they are printed."""
    near = difflib.get_close_matches(word, known, n=1)
    return f"; did you mean {known[near[0]]}?" if near else ""
