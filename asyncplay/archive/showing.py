"""A stored game drawn: one of its positions, or all of it where a game can be animated."""

from collections import deque
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from asyncplay import games, rng
from asyncplay.data.reader import StoredGame, read_games, reading
from asyncplay.errors import AsyncplayError
from asyncplay.games.kernels import ready
from asyncplay.games.spec import CHANCE_TURN, GameSpec
from asyncplay.payloads import Array, RecordDamaged, unpack
from asyncplay.rundir.layout import read_config
from asyncplay.search.layout import CHANCE_STREAM


class DrawnGame(NamedTuple):
    """A picture of a game, as text or SVG."""

    number: int
    picture: str


class Replayed(NamedTuple):
    states: list[Array]  # before the first decision and after each
    last: Any  # the name of the last decision, or None


def draw(folder: Path, number: int | None, decision: int | None, *, as_svg: bool) -> DrawnGame:
    """The game of this number, the latest without one, after so many decisions; without a number of decisions its end,
    or all of it if that can be drawn."""
    config = read_config(folder)
    spec = games.load(config.game.name, config.game.options)
    if (pictures := spec.pictures) is None:
        raise AsyncplayError(f"{folder}: nobody draws {spec.name}")
    game = _find(folder, number)
    try:
        actions = unpack(game.record).actions
    except RecordDamaged as error:
        raise AsyncplayError(f"{folder}: game {game.number}: {error}") from None
    if decision is not None and decision > len(actions):
        raise AsyncplayError(f"--decision is {decision}, game {game.number} has {len(actions)}")
    found = replay(spec, actions[:decision], game.seed)
    if as_svg and decision is None and pictures.animation is not None:
        return DrawnGame(game.number, pictures.animation(spec, found.states))
    return DrawnGame(game.number, (pictures.svg if as_svg else pictures.text)(spec, found.states[-1], found.last))


def _find(folder: Path, number: int | None) -> StoredGame:
    with reading(folder) as connection:
        found = deque((game for game in read_games(connection) if number in (None, game.number)), maxlen=1)
    if not found:
        which = "is no game yet" if number is None else f"is no game {number}"
        raise AsyncplayError(f"{folder}: there {which}; `asyncplay data {folder} stats` counts them")
    if (flaw := found[0].flaw) is not None:
        raise AsyncplayError(f"{folder}: game {found[0].number}: {flaw}")
    return found[0]


def replay(spec: GameSpec, actions: Array, seed: int) -> Replayed:
    assert spec.pictures is not None, "it is drawn"
    kernels, stream, room = spec.kernels, rng.stream(seed, CHANCE_STREAM), spec.new_room()
    for kernel in kernels.all():
        ready(kernel)
    state, listed, last, states = spec.new_state(), np.empty(spec.max_legal, np.int32), None, []
    for place, action in enumerate([*actions.tolist(), None]):
        while kernels.to_move(spec.rules, state) == CHANCE_TURN:
            kernels.chance(spec.rules, state, stream)
        states.append(state.copy())
        if action is None:
            break
        if action not in listed[: kernels.legal(spec.rules, state, listed, room)]:
            raise AsyncplayError(f"decision {place} is {action}, which is not legal there; see data RUN verify")
        last = spec.pictures.name(spec, state, action)
        kernels.play(spec.rules, state, action, room)
    return Replayed(states, last)
