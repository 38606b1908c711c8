"""The games of this installation, with their sizes and options."""

from collections.abc import Mapping, Sequence
from typing import Any

from asyncplay import games
from asyncplay.archive.table import aligned
from asyncplay.errors import AsyncplayError
from asyncplay.games.options import GameOption, Value, as_text, check, settle

LISTED = ("game", "players", "actions", "features", "longest", "hidden", "package")


def catalogue() -> tuple[list[dict[str, Any]], list[str]]:
    """One entry for each game, with its default options, and a line for each game of another package that cannot be
    loaded; nothing is compiled."""
    names, complaints = games.packaged_names()
    entries = [describe(name) for name in games.NAMES]
    for name in names:
        try:
            entries.append(describe(name))
        except AsyncplayError as error:
            complaints = [*complaints, str(error)]
    return entries, complaints


def describe(name: str, words: Sequence[str] = ()) -> dict[str, Any]:
    """What ``asyncplay games NAME --json`` prints; ``words``: options as they are typed, KEY=VALUE."""
    chosen = check(name, games.declared(name), games.parse_options(name, words))
    spec = games.load(name, chosen)
    return {
        "game": name,
        "players": spec.players,
        "actions": spec.actions,
        "features": spec.features,
        "symmetries": spec.n_symmetries,
        "longest": spec.max_decisions,
        "hidden": spec.is_hidden,
        "package": games.package_of(name),
        "options": [_describe_option(option, chosen) for option in games.declared(name)],
    }


def as_lines(entries: list[dict[str, Any]]) -> list[str]:
    return aligned([LISTED, *([entry[name] for name in LISTED] for entry in entries)])


def facts_as_lines(entry: dict[str, Any]) -> list[str]:
    """A line for each fact of a game, and a table of its options."""
    facts = aligned([(name, value) for name, value in entry.items() if name != "options"])
    if not entry["options"]:
        return [*facts, "", "no options"]
    heads = ("option", "type", "values", "default", "value", "meaning")
    rows = [[option["name"], *(as_text(option[head]) for head in heads[1:])] for option in entry["options"]]
    return [*facts, "", *aligned([heads, *rows])]


def _describe_option(option: GameOption, chosen: Mapping[str, Value]) -> dict[str, Any]:
    """A range that follows from other options is the one that it is with those chosen."""
    least, most = settle(option.within, chosen) or (None, None)
    return {
        "name": option.name,
        "type": option.type_name,
        "least": least,
        "most": most,
        "choices": settle(option.choices, chosen),
        "values": option.values(chosen),
        "default": settle(option.default, chosen),
        "value": chosen[option.name],
        "meaning": option.meaning,
    }
