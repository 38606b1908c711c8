"""Finished games as the store takes them, made from their records."""

from typing import NamedTuple

from asyncplay.data.entries import GameEntry
from asyncplay.payloads import Array, Floats, Ints, offsets_of
from asyncplay.records import Record


class Finished(NamedTuple):
    """What the store reads of a game; the legal actions are those with a share in the policy."""

    unit: int
    seed: int
    reason: str
    returns: Array
    outcome: Floats
    actions: Ints
    decisions: Ints
    seats: Array
    versions: Ints
    legal: Ints
    offsets: Ints
    targets: Floats


def entry_of(
    unit: int, time_s: float, worker: int, seed: int, reason: str, returns: Array, outcome: Floats, record: Record
) -> GameEntry:
    actions, decisions, seats, versions, counts, legal, targets = record
    ending, rows = (unit, seed, reason, returns, outcome), (actions, decisions, seats, versions)
    return GameEntry(Finished(*ending, *rows, legal, offsets_of(counts), targets), worker, time_s)
