"""Finished games as the store takes them, made from their records."""

from typing import NamedTuple

from asyncplay.data.entries import GameEntry
from asyncplay.payloads import Array, Floats, Ints, Record, offsets_of


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


def entry_of(record: Record, *, worker: int, time_s: float, **ending: object) -> GameEntry:
    """``ending``: unit, seed, reason, returns and outcome."""
    actions, decisions, seats, versions, counts, legal, targets = record
    columns = {"actions": actions, "decisions": decisions, "seats": seats, "versions": versions}
    game = Finished(**ending, **columns, legal=legal, offsets=offsets_of(counts), targets=targets)
    return GameEntry(game, worker, time_s)
