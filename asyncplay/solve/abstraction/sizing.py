"""What solving an abstraction takes of memory, and what would fit where it does not.

A table of up to PRIVATE_BYTES is kept by every worker for itself: regret and sum of an entry in float64. Above that,
or where ``solve.table`` says so, there is one for all of them (shared_table.py).
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from asyncplay.config.menus import parse_buckets
from asyncplay.config.tables import AbstractionSettings
from asyncplay.errors import ConfigError
from asyncplay.games.spec import GameSpec
from asyncplay.solve.abstraction.betting_tree import NODE_BYTES, TreeSizes, measure_tree
from asyncplay.solve.abstraction.menus import STREET_NAMES, menu_table
from asyncplay.solve.abstraction.shared_table import bytes_by_street

PRESETS = ("48/160/160/128", "24/80/80/64", "12/40/40/32")
PRIVATE_BYTES = 50_000_000
PRIVATE_ENTRY_BYTES, SHARED_ENTRY_BYTES = 16, 8  # of the shared one at least
MENU_KEYS = tuple(f"{street}_{position}" for street in STREET_NAMES for position in ("in", "out"))
SMALLER_MENUS = ("1", "1 | ", "1 |  | -", "1 | -", "-")
"""Menus that are tried where one's own do not fit: pot and all-in, then fewer raises."""


class TableMemory(NamedTuple):
    """Bytes."""

    table: int
    tree: int

    @property
    def total(self) -> int:
        return self.table + self.tree


def is_shared(table: str, sizes: TreeSizes) -> bool:
    """Whether all workers change one table; ``table`` is ``solve.table``."""
    return table == "shared" or (table == "auto" and PRIVATE_ENTRY_BYTES * sizes.n_entries > PRIVATE_BYTES)


def entry_bytes(sizes: TreeSizes, table: str = "auto") -> tuple[int, ...]:
    """Of the table, by street."""
    if is_shared(table, sizes):
        return bytes_by_street(sizes)
    return tuple(PRIVATE_ENTRY_BYTES * n for n in sizes.entries)


def needed_memory(sizes: TreeSizes, players: int, table: str = "auto") -> TableMemory:
    """Of one table and the compiled tree."""
    tree = NODE_BYTES * (sizes.n_decisions + sizes.ends) + 4 * players * sizes.ends
    return TableMemory(sum(entry_bytes(sizes, table)), tree)


def require_fit(spec: GameSpec, settings: AbstractionSettings, free_bytes: int, table: str = "auto") -> TreeSizes:
    """Count the tree of an abstraction; ConfigError if it does not fit, with buckets or menus that would.

    ``table``: "deltas" if every worker is to have a table of its own, so that it must be a small one.
    """
    is_private = table == "deltas"
    most_entries = (
        min(free_bytes, PRIVATE_BYTES) // PRIVATE_ENTRY_BYTES if is_private else free_bytes // SHARED_ENTRY_BYTES
    )
    fits = partial(_fitting, spec, free_bytes=free_bytes, most_entries=most_entries, table=table)
    if (sizes := fits(settings)) is not None:
        return sizes
    cure = next((words for other, words in _smaller(settings) if fits(other)), None)
    hint = f"{cure} would fit" if cure else "no smaller ones would fit either"
    room = f"{free_bytes / 1e9:,.1f} GB" if free_bytes >= 1e9 else f"{free_bytes / 1e6:,.1f} MB"
    limit = f"the {room} free"
    if is_private and free_bytes > PRIVATE_BYTES:
        limit = f"the {PRIVATE_BYTES / 1e6:,.0f} MB of a table whose changes workers exchange"
        hint = f"--solve.table shared has room for more, or {hint}"
    menus = "the menus of [abstraction]"
    raise ConfigError(f'{menus} and abstraction.buckets = "{settings.buckets}" take more than {limit}; {hint}')


def _fitting(
    spec: GameSpec, settings: AbstractionSettings, *, free_bytes: int, most_entries: int, table: str
) -> TreeSizes | None:
    """The sizes if they fit; counting ends where the table alone does not."""
    sizes = measure_tree(spec, menu_table(settings), parse_buckets(settings.buckets), most_entries)
    return sizes if sizes is not None and needed_memory(sizes, spec.players, table).total <= free_bytes else None


def _smaller(settings: AbstractionSettings) -> Iterator[tuple[AbstractionSettings, str]]:
    """Smaller abstractions, the most similar first, and what to write to get them."""
    own = parse_buckets(settings.buckets)
    presets = [preset for preset in PRESETS if sum(parse_buckets(preset)) < sum(own)]
    for preset in presets:
        yield replace(settings, buckets=preset), f'buckets = "{preset}"'
    for menu in SMALLER_MENUS:
        menus = replace(settings, **dict.fromkeys(MENU_KEYS, menu))
        yield menus, f'"{menu}" for all menus'
        if presets:
            yield replace(menus, buckets=presets[-1]), f'"{menu}" for all menus with buckets = "{presets[-1]}"'


def count_rows(sizes: TreeSizes, players: int, table: str = "auto") -> list[dict[str, str | int]]:
    """What there is of everything, street by street and in all, as rows of a table; bytes of the tree only in all."""
    memory, n_bytes = needed_memory(sizes, players, table), entry_bytes(sizes, table)
    streets = zip(STREET_NAMES, sizes.decisions, sizes.infosets, sizes.entries, n_bytes, strict=True)
    total = ("all", sizes.n_decisions, sizes.n_infosets, sizes.n_entries, memory.table)
    return [
        {
            "street": street,
            "decisions": decisions,
            "infosets": infosets,
            "entries": entries,
            "table_bytes": of_table,
            "tree_bytes": memory.tree if street == "all" else 0,
        }
        for street, decisions, infosets, entries, of_table in (*streets, total)
    ]
