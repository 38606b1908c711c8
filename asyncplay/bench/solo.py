"""One game after another, with the search and the network of a run but no other game to share a batch with.

The simplest strategy. The other strategies of ``bench strategies`` put several of these players side by side.
"""

import time
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from asyncplay import rng
from asyncplay.bench.tally import Tally
from asyncplay.config.sections import Config
from asyncplay.games.sampling import random_rows
from asyncplay.methods.selfplay.network import load_game, open_model
from asyncplay.methods.sizes import net_shape
from asyncplay.model import device
from asyncplay.model.backend import Backend
from asyncplay.model.device import Candidate
from asyncplay.model.nets import build as build_net
from asyncplay.model.nets import snapshot
from asyncplay.payloads import Estimates, Floats, Positions
from asyncplay.search.group import Group, kernel_settings

Estimate = Callable[[Positions], Estimates]
Totals = NDArray[np.int64]

GAMES, ROWS, ASKS = range(3)
TRIAL_S = 0.5


def open_torch(config: Config, threads: Sequence[int], rows: int) -> Backend:
    """The network that a run of this configuration begins with, with as many threads as batches of ``rows`` like."""
    game = load_game(config)
    shape = net_shape(config, game)
    weights = snapshot(build_net(shape, config.train.seed))

    def open_candidate(option: Candidate) -> Backend:
        return open_model(config, shape, weights, 0, option)

    options = device.candidates("torch", threads)
    if len(options) == 1:
        return open_candidate(options[0])
    return open_candidate(device.choose(options, open_candidate, random_rows(game, rows), budget_s=TRIAL_S).best)


def by_block(backend: Backend) -> Estimate:
    """What a game asks at a time, a row for each world, is one batch."""
    return lambda positions: backend.launch(positions)()


def by_row(backend: Backend) -> Estimate:
    """Every row is a batch of its own."""

    def estimate(positions: Positions) -> Estimates:
        answers = []
        for row, (first, last) in enumerate(pairwise(positions.offsets)):
            legal, offsets = positions.legal[first:last], np.array([0, last - first], np.int32)
            answers.append(backend.launch(Positions(positions.features[row : row + 1], legal, offsets))())
        return Estimates(
            np.concatenate([answer.priors for answer in answers]),
            np.concatenate([answer.values for answer in answers]),
            answers[0].version,
        )

    return estimate


class Solo:
    """A player with one game at a time."""

    def __init__(self, config: Config, estimate: Estimate, number: int = 0, totals: Totals | None = None) -> None:
        """``number``: players of different numbers play different games. ``totals`` int64[3] counts games, rows and
        asks, where others can see them."""
        game = load_game(config)
        self._estimate = estimate
        self._group = Group(game, kernel_settings(game, config.search), 1)
        self._slot, self._number = np.zeros(1, np.int32), number
        self._nothing: tuple[Floats, Floats] = (np.empty(0, np.float32), np.empty((0, game.players), np.float32))
        self.totals = np.zeros(3, np.int64) if totals is None else totals

    def play(self) -> None:
        """One game to its end."""
        group = self._group
        seed = rng.derive(self._number, int(self.totals[GAMES]))
        group.start(self._slot, np.array([seed], np.uint64))
        while len(group.advance()) == 0:
            rows = group.select()
            if len(rows.features) == 0:
                group.backup(*self._nothing, 0)
                continue
            answer = self._estimate(Positions(rows.features, rows.legal, rows.offsets))
            group.backup(answer.priors, answer.values, answer.version)
            self.totals[ROWS] += len(rows.features)
            self.totals[ASKS] += 1
        group.stop(self._slot)
        self.totals[GAMES] += 1


class Sequential:
    """The baseline: one process, one game, torch, one row a batch."""

    def __init__(self, config: Config) -> None:
        backend = open_torch(config, sorted({1, device.usable_cores()}), rows=1)
        self._solo = Solo(config, by_row(backend))
        self._solo.play()  # the first batches are slow

    def play_for(self, seconds: float) -> Tally:
        """Whole games, for at least so long, but one at least."""
        before = self._count()
        self._solo.play()
        while (window := self._count().since(before)).seconds < seconds:
            self._solo.play()
        return window

    def _count(self) -> Tally:
        games, rows, _ = self._solo.totals.tolist()
        return Tally(time.perf_counter(), games, rows, batches=rows)
