"""A stored game at one of its decisions, drawn."""

from pathlib import Path
from typing import Any

import numpy as np

from asyncplay import games, rng
from asyncplay.data.reader import StoredGame, read_games, reading
from asyncplay.errors import AsyncplayError
from asyncplay.games.kernels import ready
from asyncplay.games.spec import CHANCE_TURN, GameSpec
from asyncplay.payloads import Array, Record, RecordDamaged, unpack
from asyncplay.rundir.layout import read_config
from asyncplay.search.layout import CHANCE_STREAM


def draw(folder: Path, number: int, decision: int | None, *, as_svg: bool) -> str:
    """The position of a game after so many decisions, without a number its end."""
    config = read_config(folder)
    spec = games.load(config.game.name, config.game.options)
    if spec.pictures is None:
        raise AsyncplayError(f"{folder}: nobody draws {spec.name}")
    record, seed = _record(folder, number)
    n_decisions = len(record.actions)
    if decision is not None and decision > n_decisions:
        raise AsyncplayError(f"--decision is {decision}, game {number} has {n_decisions}")
    wanted = n_decisions if decision is None else decision
    state, last = _replay(spec, record.actions[:wanted], seed)
    return (spec.pictures.svg if as_svg else spec.pictures.text)(spec, state, last)


def _record(folder: Path, number: int) -> tuple[Record, int]:
    """What is stored of a game, and its seed."""
    with reading(folder) as connection:
        found: StoredGame | None = next((game for game in read_games(connection) if game.number == number), None)
    if found is None:
        raise AsyncplayError(f"{folder}: there is no game {number}; `asyncplay data {folder} stats` counts them")
    if (flaw := found.flaw) is not None:
        raise AsyncplayError(f"{folder}: game {number}: {flaw}")
    try:
        return unpack(found.record), found.seed
    except RecordDamaged as error:
        raise AsyncplayError(f"{folder}: game {number}: {error}") from None


def _replay(spec: GameSpec, actions: Array, seed: int) -> tuple[Array, Any]:
    """The position after these actions, and the name of the last one."""
    assert spec.pictures is not None, "it is drawn"
    kernels, stream, room = spec.kernels, rng.stream(seed, CHANCE_STREAM), spec.new_room()
    for kernel in kernels.all():
        ready(kernel)
    state, listed, last = spec.new_state(), np.empty(spec.max_legal, np.int32), None
    for place, action in enumerate(actions.tolist()):
        while kernels.to_move(spec.rules, state) == CHANCE_TURN:
            kernels.chance(spec.rules, state, stream)
        if action not in listed[: kernels.legal(spec.rules, state, listed, room)]:
            raise AsyncplayError(f"decision {place} is {action}, which is not legal there; see data RUN verify")
        last = spec.pictures.name(spec, state, action)
        kernels.play(spec.rules, state, action, room)
    return state, last
