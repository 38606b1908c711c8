"""What was trained as files for other programs; docs/use.md describes them.

A file is made whole and checked before it gets its name, and none is replaced unless that was said.
"""

import io
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

import asyncplay
from asyncplay import games
from asyncplay.config.sections import Config
from asyncplay.data import files as disk
from asyncplay.errors import AsyncplayError
from asyncplay.games import options as declarations
from asyncplay.games.kernels import ready
from asyncplay.games.sampling import random_rows
from asyncplay.games.spec import GameSpec
from asyncplay.methods.game_options import ABSTRACTED
from asyncplay.methods.selfplay.network import load_game
from asyncplay.model import portable
from asyncplay.model.nets import to_bytes
from asyncplay.rating.evaluate import read_brain
from asyncplay.rating.rewards import load_stack
from asyncplay.rundir.layout import read_config, refuse_own
from asyncplay.rundir.weights import versions
from asyncplay.trained import tables

SAMPLE_ROWS = 64  # on which a file is checked
FORMAT = "asyncplay network 1"
VALUES = (
    "entry k is for the seat k places to the left of the one to decide, modulo players; -1 to 1: "
    "the game's return times value_scale plus value_offset, of a game of several stages what the stage brings"
)
LOGITS = "one for each action of the game; a softmax over the legal ones is the policy of the seat to decide"


def export(
    run: Path, *, onnx: Path | None, torch: Path | None, policy: Path | None, version: int | None, force: bool
) -> list[Path]:
    """Write the files that are named, all of one version; return the paths of those written."""
    if not (onnx or torch or policy):
        raise AsyncplayError("export writes nothing unless you say what: --onnx FILE, --torch FILE or --policy FILE")
    config = read_config(run)
    is_table, is_population = config.solve.method != "off", config.population.method != "off"
    kind = "solves by table" if is_table else "trains a population" if is_population else "trains a network"
    allowed = ("--policy",) if is_table else ("--torch",) if is_population else ("--onnx", "--torch")
    for name, path in (("--onnx", onnx), ("--torch", torch), ("--policy", policy)):
        if path is not None and name not in allowed:
            raise AsyncplayError(f"{name}: {run} {kind}; use {' or '.join(allowed)}")
        if path is not None:
            for target in (path, _description(path)) if name == "--torch" else (path,):
                _require_free(name, target, run, force=force)
    if is_table:
        assert policy is not None, "tables have nothing else"
        find = tables.blueprint_arrays if config.game.name == ABSTRACTED else tables.flat_arrays
        return [_write("--policy", policy, _npz(find(run, config, version)))]
    if is_population:
        assert torch is not None, "populations have nothing else"
        return _write_population(run, config, version, torch)
    return _write_network(run, version, onnx, torch)


def _write_network(run: Path, version: int | None, onnx: Path | None, torch: Path | None) -> list[Path]:
    config, shape, chosen, weights = read_brain(run, version)
    game = load_game(config)
    for kernel in game.kernels.all():
        ready(kernel)
    facts, sample, written = network_facts(game, config, chosen), random_rows(game, SAMPLE_ROWS), []
    if onnx is not None:
        written.append(_write("--onnx", onnx, portable.onnx_file(shape, weights, facts, sample)))
    if torch is not None:
        written.append(_write("--torch", torch, portable.torch_file(shape, weights, sample)))
        told = facts | {"network": asdict(shape)}
        written.append(_write("--torch", _description(torch), json.dumps(told, indent=1).encode()))
    return written


def network_facts(game: GameSpec, config: Config, version: int) -> dict[str, Any]:
    """What a reader of a network must know: metadata of an ONNX file, the description beside a safetensors file."""
    return _facts(game, config, version) | {
        "input": {
            "name": "features",
            "dtype": "float32",
            "shape": ["n", game.row_features],
            "seen": game.features,
            "hidden": game.row_features - game.features,
            "planes": game.planes,
            "global_features": game.global_features,
            "frames": game.frames,
        },
        "logits": {"dtype": "float32", "shape": ["n", game.actions], "meaning": LOGITS},
        "values": {"dtype": "float32", "shape": ["n", game.players], "meaning": VALUES},
        "value_scale": game.value_scale,
        "value_offset": game.value_offset,
    }


def _facts(game: GameSpec, config: Config, version: int) -> dict[str, Any]:
    name = config.game.name
    return {
        "format": FORMAT,
        "asyncplay": asyncplay.__version__,
        "game": name,
        "options": declarations.check(name, games.declared(name), config.game.options),
        "version": version,
        "players": game.players,
        "actions": game.actions,
    }


def _write_population(run: Path, config: Config, version: int | None, target: Path) -> list[Path]:
    known = versions(run)
    if not known:
        raise AsyncplayError(f"{run} has no trained weights yet; train on: asyncplay train --resume {run}")
    chosen = known[-1] if version is None else version
    weights = load_stack(run, chosen, config)
    told: dict[str, Any] = {"format": FORMAT, "asyncplay": asyncplay.__version__, "game": config.game.name}
    told |= {"options": dict(config.game.options), "version": chosen, "population": asdict(config.population)}
    told |= {"weights": {name: list(weight.shape) for name, weight in weights.items()}}
    return [
        _write("--torch", target, to_bytes(weights)),
        _write("--torch", _description(target), json.dumps(told, indent=1).encode()),
    ]


def _description(target: Path) -> Path:
    """Where the description of a safetensors file lies."""
    return target.with_name(f"{target.name}.json")


def _npz(arrays: dict[str, Any]) -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def _require_free(name: str, target: Path, run: Path, *, force: bool) -> None:
    refuse_own(target, run, name)
    if target.exists() and not (force and target.is_file()):
        cure = "--force replaces it" if target.is_file() else "it is no file"
        raise AsyncplayError(f"{name} {target}: it exists already; {cure}")


def _write(name: str, target: Path, data: bytes) -> Path:
    try:
        disk.replace(target, data, draft=target.with_name(f"{target.name}.part"))
    except OSError as error:
        raise AsyncplayError(f"{name} {target}: {error.strerror}") from None
    return target
