"""The network of a run: its backend on a device, copies of it, and its weights in the run folder."""

import json
from dataclasses import asdict
from pathlib import Path

import numpy as np

from asyncplay import games
from asyncplay.config.sections import Config
from asyncplay.games.sampling import random_rows
from asyncplay.games.spec import GameSpec
from asyncplay.model import device
from asyncplay.model.backend import Backend
from asyncplay.model.device import BackendChoice, Candidate
from asyncplay.model.nets import Weights, check_weights, from_bytes, to_bytes
from asyncplay.model.shape import NetShape
from asyncplay.payloads import Positions
from asyncplay.rundir import weights as stored

SAMPLE_ROWS, FULL_ROWS = 256, 1024  # of the batches that backends are measured with
CHOICE_S, FIGURE_S = 3.0, 0.2  # to choose a backend; to have a figure of the only one


def load_game(config: Config) -> GameSpec:
    """With rows as the configured network reads them."""
    return games.load(config.game.name, config.game.options).showing(hidden=config.net.hidden_features)


def sample_positions(game: GameSpec, rows: int = SAMPLE_ROWS) -> Positions:
    """Rows of the right shape to measure a network with; their content does not matter."""
    random = np.random.default_rng(0)
    features = random.integers(0, 2, (rows, game.row_features)).astype(game.feature_dtype)
    n_legal = min(game.max_legal, game.actions)
    legal = np.tile(np.arange(n_legal, dtype=np.int32), rows)
    return Positions(features, legal, np.arange(rows + 1, dtype=np.int32) * np.int32(n_legal))


def choose_backend(config: Config, shape: NetShape, weights: Weights, game: GameSpec) -> BackendChoice:
    """Measure what the configuration allows and take the fastest; its figure is that of the better batch size."""
    cores = device.usable_cores()
    threads = [config.device.threads] if config.device.threads else sorted({1, cores})
    options = device.candidates(config.device.backend, threads)

    def open_candidate(option: Candidate) -> Backend:
        return open_model(config, shape, weights, 0, option)

    budget_s, sample = CHOICE_S if len(options) > 1 else FIGURE_S, sample_positions(game)
    choice = device.choose(options, open_candidate, sample, budget_s=budget_s)
    rows = min(config.batch.max_rows, FULL_ROWS)
    full = device.forward_limit(open_candidate, [choice.best], sample, [rows], each_s=FIGURE_S / 2)
    return choice.with_figures(full.figures)


def open_model(config: Config, shape: NetShape, weights: Weights, version: int, option: Candidate) -> Backend:
    return device.open_backend(
        option.backend,
        shape,
        weights,
        version,
        option.threads,
        max_rows=config.batch.max_rows,
        sim=config.device,
        sample=random_rows(load_game(config), SAMPLE_ROWS) if option.backend == "onnx-int8" else None,
    )


def save_weights(folder: Path, version: int, weights: Weights, shape: NetShape) -> None:
    """Write a version of the weights whole or not at all, from any thread."""
    stored.save(folder, version, to_bytes(weights), json.dumps(asdict(shape)).encode())


def load_weights(folder: Path, version: int, shape: NetShape) -> Weights:
    """The weights of a network of this shape; AsyncplayError where the folder has others or none."""

    def checked(data: bytes) -> Weights:
        weights = from_bytes(data)
        check_weights(shape, weights)
        return weights

    return stored.load(folder, version, checked)
