"""How fast trees, rules and encoding are by themselves: the network is a constant."""

import time
from collections.abc import Sequence
from typing import TypedDict

import numpy as np

from asyncplay import games
from asyncplay.games.spec import GameSpec
from asyncplay.search.group import Group, make_settings

GAMES_A_GROUP = 256
WINDOWS = 10
LOADS: dict[str, dict[str, int]] = {"blob": {"simulations": 30, "worlds": 3}}  # as published by others


class SearchSpeed(TypedDict):
    """One line of the table."""

    game: str
    sims_per_s: float


def measure(
    game: str = "connect4", *, option: Sequence[str] | None = None, seconds: float = 3.0, **load: int
) -> SearchSpeed:
    """Play on one core with uniform priors and values of 0.

    The best of ten windows counts: what slows a window down are other processes.
    """
    spec = games.load(game, games.parse_options(game, option or ()))
    player = _Player(spec, {"simulations": 32} | LOADS.get(game, {}) | load)
    player.play_for(seconds / WINDOWS)
    return {"game": game, "sims_per_s": max(player.play_for(seconds / WINDOWS) for _ in range(WINDOWS))}


class _Player:
    """A group that plays for ever; games that end are followed by the next seed."""

    def __init__(self, spec: GameSpec, load: dict[str, int]) -> None:
        self._group = Group(spec, make_settings(spec, **load), GAMES_A_GROUP)
        self._values = np.zeros((self._group.sizes.rows, spec.players), np.float32)
        legal = np.arange(spec.max_legal + 1, dtype=np.float32)
        self._shares = 1 / np.maximum(legal, 1)  # priors by number of legal actions
        self._next_seed = 0
        self._start(np.arange(GAMES_A_GROUP, dtype=np.int32))

    def play_for(self, seconds: float) -> float:
        """Return simulations a second."""
        group, begin = self._group, time.perf_counter()
        before = group.simulations()
        while (spent := time.perf_counter() - begin) < seconds:
            finished = group.advance()
            if len(finished):
                self._start(finished)
            rows = group.select()
            n_legal = np.diff(rows.offsets)
            group.backup(np.repeat(self._shares[n_legal], n_legal), self._values[: len(n_legal)], 0)
        return (group.simulations() - before) / spent

    def _start(self, slots: np.ndarray) -> None:
        seeds = np.arange(self._next_seed, self._next_seed + len(slots), dtype=np.uint64)
        self._next_seed += len(slots)
        self._group.start(slots, seeds)
        self._group.advance()
