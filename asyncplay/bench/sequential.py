"""The baseline everybody starts from: one game at a time, torch, a batch of one row for each new position."""

import time

import numpy as np

from asyncplay.config import Config
from asyncplay.model import device
from asyncplay.model.backend import Backend
from asyncplay.neural import NeuralRun, open_model, search_spec
from asyncplay.payloads import Positions
from asyncplay.search.group import Group
from asyncplay.worker.seats import settings_of, unit_seed


class Sequential:
    """One game after another in this process, with the search and network of a run."""

    def __init__(self, config: Config, neural: NeuralRun) -> None:
        settings = settings_of(neural.game, search_spec(config.search))
        option = device.candidates("torch", [device.usable_cores()])[0]
        self._backend: Backend = open_model(config, neural.shape, neural.learner.weights(), 0, option)
        self._group = Group(neural.game, settings, 1)
        self._slot = np.zeros(1, np.int32)
        self._n_begun = 0

    def games_per_min(self, seconds: float) -> float:
        """Play for at least this long, to the end of the last game begun."""
        began_s, n_games = time.perf_counter(), 0
        while (spent_s := time.perf_counter() - began_s) < seconds:
            self._play()
            n_games += 1
        return n_games / spent_s * 60

    def _play(self) -> None:
        group = self._group
        group.start(self._slot, np.array([unit_seed(1, self._n_begun)], np.uint64))
        self._n_begun += 1
        while len(group.advance()) == 0:
            rows = group.select()
            positions = Positions(rows.features, rows.legal, rows.offsets)
            estimates = self._backend.launch(positions)() if len(rows.slots) else None
            if estimates is None:
                group.backup(np.empty(0, np.float32), np.empty((0, group.spec.players), np.float32), 0)
            else:
                group.backup(estimates.priors, estimates.values, 0)
        group.stop(self._slot)
