"""Short flags of ``train`` that stand for keys of the configuration, and their names in error messages."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from asyncplay.errors import ConfigError

KEYS = {
    "time-budget": ("train", "time_budget_s"),
    "iters": ("train", "units"),
    "games": ("train", "units"),
    "workers": ("pool", "workers"),
    "seed": ("train", "seed"),
    "tensorboard": ("train", "tensorboard"),
}
DURATION = re.compile(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?")


def lay_over(settings: dict[str, dict[str, str]], shortcuts: Mapping[str, object]) -> dict[str, str]:
    """Lay shortcuts that are not None over ``settings``; return the flag that was typed for each option.

    ConfigError if a key is given twice with different values.
    """
    typed = dict[str, str]()
    for name, value in shortcuts.items():
        if value is not None:
            section, key = KEYS[name]
            option, given = f"--{section}.{key}".replace("_", "-"), settings.setdefault(section, {})
            for spelled in (key, key.replace("_", "-")):
                if given.get(spelled, str(value)).lower() != str(value).lower():
                    other = typed.get(option, option)
                    raise ConfigError(
                        f"{other} {given[spelled]} and --{name} {value} are about the same; leave one out"
                    )
            given[key] = str(value)
            typed[option] = f"--{name}"
    return typed


@contextmanager
def as_typed(typed: Mapping[str, str]) -> Iterator[None]:
    """Name the flags that were typed in a ConfigError that is raised inside."""
    try:
        yield
    except ConfigError as error:
        text = str(error)
        for option, word in typed.items():
            text = re.sub(rf"^{re.escape(option)} ", f"{word} ", text, flags=re.MULTILINE)
        raise ConfigError(text) from None


def seconds(option: str, text: str) -> str:
    """Return a number as it stands, and a duration such as 90s, 20m or 1h30m in seconds."""
    try:
        float(text)
    except ValueError:
        found = DURATION.fullmatch(text)
        if found is None or not text:
            raise ConfigError(f"{option} is {text}, must be seconds, or like 90s, 20m, 1h30m") from None
        hours, minutes, rest = (int(part or 0) for part in found.groups())
        return str((hours * 60 + minutes) * 60 + rest)
    return text
