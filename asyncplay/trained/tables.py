"""The policies of tables as named arrays, for other programs."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asyncplay import games
from asyncplay.agents.spiel_states import DEALT, information_state
from asyncplay.agents.table import FlatTable
from asyncplay.config.sections import Config
from asyncplay.errors import AsyncplayError
from asyncplay.games import options as declarations
from asyncplay.games.holdem.layout import CALL, FOLD, RAISE_TO
from asyncplay.games.kernels import ready
from asyncplay.games.spec import CHANCE_TURN, GAME_OVER, GameSpec
from asyncplay.rating.hands import read_contender
from asyncplay.rating.solved import read_table
from asyncplay.solve.abstraction.menus import STREET_NAMES
from asyncplay.solve.solvable import SYNTHETIC_TREE

State = NDArray[np.int64]


def flat_arrays(run: Path, config: Config, number: int | None) -> dict[str, Any]:
    """The average policy of a small game: an infoset's actions and their probabilities lie side by side.

    Infosets are named by OpenSpiel's information_state_string in games that it has; suits that do not count have names
    of their own there, so several may share a policy. In other games a name is the seat and the game's key.
    """
    if config.game.name == SYNTHETIC_TREE:
        raise AsyncplayError(f"{run} solves a synthetic tree, whose infosets have no names")
    found, spec = read_table(run, config, number), games.load(config.game.name, config.game.options)
    for kernel in spec.kernels.all():
        ready(kernel)
    table, movers, offsets = FlatTable(spec, found.game, found.policy), found.game.flat.movers, found.game.offsets
    if spec.name in DEALT:
        names = {information_state(spec, state): table.infoset(state) for state in decisions(spec)}
    else:
        keys = zip(movers.tolist(), found.game.keys.tolist(), strict=True)
        names = {f"{mover}-{key:016x}": infoset for infoset, (mover, key) in enumerate(keys)}
    infosets = np.array(list(names.values()), np.int64)
    counts = np.diff(offsets)[infosets]
    entries = np.concatenate([np.arange(offsets[infoset], offsets[infoset + 1]) for infoset in infosets])
    facts = {"game": spec.name, "checkpoint": found.number, "iterations": found.iterations}
    facts |= {"options": declarations.check(spec.name, games.declared(spec.name), config.game.options)}
    return {
        "facts": np.array(json.dumps(facts)),
        "infosets": np.array(list(names)),
        "players": movers[infosets],
        "offsets": np.concatenate(([0], np.cumsum(counts, dtype=np.int64))),
        "actions": found.game.actions[entries],
        "probabilities": found.policy[entries],
    }


def decisions(spec: GameSpec) -> Iterator[State]:
    """Every position of a small game in which a seat decides."""
    kernels, rules, room = spec.kernels, spec.rules, spec.new_room()
    assert kernels.outcomes is not None, "a game that was solved"
    assert kernels.happen is not None, "a game that was solved"
    listed, odds = np.empty(max(spec.max_legal, spec.max_outcomes), np.int32), np.empty(spec.max_outcomes)
    todo = [spec.new_state()]
    while todo:
        state = todo.pop()
        mover = kernels.to_move(rules, state)
        if mover == GAME_OVER:
            continue
        if mover == CHANCE_TURN:
            count = kernels.outcomes(rules, state, listed, odds)
        else:
            yield state
            count = kernels.legal(rules, state, listed, room)
        for choice in listed[:count].tolist():
            after = state.copy()
            if mover == CHANCE_TURN:
                kernels.happen(rules, after, choice)
            else:
                kernels.play(rules, after, choice, room)
            todo.append(after)


def blueprint_arrays(run: Path, config: Config, iterations: int | None) -> dict[str, Any]:
    """The policy of a blueprint: decision d has a row of ``counts[d]`` probabilities for each bucket of its street,
    ``probabilities[bases[d] + bucket * counts[d] + k]`` for the k-th of its actions."""
    found = read_contender(run, config, iterations)
    tree, nodes = found.game.tree, found.game.tree.nodes
    histories, chosen, actions = {0: ""}, [], []
    for node in range(len(nodes)):  # parents before children
        if nodes["mover"][node] == GAME_OVER:
            continue
        first, n = int(nodes["first"][node]), int(nodes["n"][node])
        own = tree.actions[first : first + n].tolist()
        for child, action in enumerate(own, first):
            histories[child] = f"{histories[node]} {_word(action)}".strip()
        chosen.append(node)
        actions.append(own)
    facts = {"game": "holdem", "iterations": found.policy.iterations, "digest": found.policy.digest}
    facts |= {"options": declarations.check("holdem", games.declared("holdem"), config.game.options)}
    facts |= {"buckets": list(tree.sizes.buckets), "streets": list(STREET_NAMES)}
    return {
        "facts": np.array(json.dumps(facts)),
        "histories": np.array([histories[node] for node in chosen]),
        "players": nodes["mover"][chosen].astype(np.int32),
        "streets": nodes["street"][chosen].astype(np.int32),
        "bases": nodes["base"][chosen],
        "counts": nodes["n"][chosen].astype(np.int32),
        "offsets": np.concatenate(([0], np.cumsum([len(own) for own in actions], dtype=np.int64))),
        "actions": np.array([action for own in actions for action in own], np.int32),
        "probabilities": np.asarray(found.policy.odds).view(np.float16),
    }


def _word(action: int) -> str:
    return {FOLD: "fold", CALL: "call"}.get(action, str(action - RAISE_TO))
