"""What a tabular run takes of memory and of the disk, told before it begins."""

import shutil
from pathlib import Path

from asyncplay.config.sections import Config
from asyncplay.errors import AsyncplayError
from asyncplay.methods.limits import told
from asyncplay.methods.sizes import COORDINATOR_BYTES, WORKER_BYTES
from asyncplay.solve.abstraction.blueprint import Blueprint
from asyncplay.solve.abstraction.shared_table import layout_of_table
from asyncplay.solve.solvable import TableGame

MB = 1 << 20
TABLE_ENTRY_BYTES, POLICY_ENTRY_BYTES = 16, 2
KEPT_POLICIES = 4  # of hold'em


def memory_needed(game: TableGame, workers: int, *, is_shared: bool = False) -> int:
    """Bytes of trees and tables: everybody has its own; a round's changes are at most another table each.

    A shared table is there once, as are the mapped buckets; so little else is there that the processes count too.
    """
    if is_shared:
        assert isinstance(game, Blueprint), "only a blueprint has a shared table"
        once = layout_of_table(game.tree.sizes).n_bytes + game.bucket_bytes + COORDINATOR_BYTES
        return once + game.n_bytes + workers * (game.n_bytes + WORKER_BYTES)
    table, numbers = TABLE_ENTRY_BYTES * game.n_entries, game.number_bytes if isinstance(game, Blueprint) else 0
    notes, tree = 9 * game.n_entries + 4 * game.n_infosets, game.n_bytes + numbers
    return (tree + table) + workers * (tree + 2 * table + notes)


def check_memory(game: TableGame, workers: int, available: int, *, is_shared: bool = False) -> str:
    """Say what the tables will take; AsyncplayError if there is not enough."""
    needed = memory_needed(game, workers, is_shared=is_shared)
    table = TABLE_ENTRY_BYTES * game.n_entries
    kind = "a table"
    if is_shared and isinstance(game, Blueprint):
        kind, table = "a shared table", layout_of_table(game.tree.sizes).n_bytes
    words = f"{game.n_infosets:,} infosets, {kind} of {table / MB:,.1f} MB, {needed / MB:,.0f} MB in all"
    if needed <= available:
        return f"memory: {words} with {workers} workers; {available / MB:,.0f} MB are free"
    counts = (count for count in range(workers) if memory_needed(game, count, is_shared=is_shared) <= available)
    fitting = max(counts, default=0)
    cure = f"use --workers {fitting} or fewer" if fitting else "a smaller game is needed"
    raise AsyncplayError(
        f"pool.workers is {workers}: {words}, but only {available / MB:,.0f} MB of memory are free; {cure}"
    )


def forecast_disk(config: Config, game: Blueprint, folder: Path, *, is_shared: bool) -> str:
    """Say what the checkpoints and policies of a run will take at most, and whether there is so much."""
    table = layout_of_table(game.tree.sizes).n_bytes
    if not is_shared:
        table = TABLE_ENTRY_BYTES * game.n_entries + game.n_infosets
    policy, n_checkpoints = POLICY_ENTRY_BYTES * game.n_entries, config.checkpoint.keep_last
    needed, free = (n_checkpoints + 1) * table + (KEPT_POLICIES + 1) * policy, shutil.disk_usage(folder).free
    parts = f"{n_checkpoints} checkpoints of {told(table)} and {KEPT_POLICIES} policies of {told(policy)}"
    words = f"disk: {parts}, each with one more while it is written, {told(needed)} in all; {told(free)} are free"
    cure = "; fewer would be kept with checkpoint.keep_last" if needed > free else ""
    return f"warning: {words}{cure}" if needed > free else words
