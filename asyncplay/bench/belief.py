"""What a run's network knows of hidden cards: nats a card on new games, beside those of who only counts cards."""

from pathlib import Path
from typing import Any

import numpy as np

from asyncplay.config.sections import Config
from asyncplay.errors import AsyncplayError
from asyncplay.games.spec import GameSpec
from asyncplay.methods.selfplay.network import choose_backend, load_game, open_model
from asyncplay.methods.selfplay.run import load_weights, versions
from asyncplay.methods.selfplay.seats import candidates_of, settings_of, unit_seed
from asyncplay.methods.selfplay.thinking import search_spec
from asyncplay.model.backend import Backend
from asyncplay.model.belief import nats
from asyncplay.payloads import Estimates, Positions
from asyncplay.rating.evaluate import read_run
from asyncplay.search import entries
from asyncplay.search.examples import GameRows
from asyncplay.search.group import Group

AT_ONCE = 64
NEW_GAMES = 1 << 40  # units from here on were played by no run


def measure(run: Path, games: int = 256, version: int | None = None) -> dict[str, Any]:
    """What ``asyncplay bench belief --json`` prints; the games are searched as the run's were."""
    config, shape = read_run(run)
    if not shape.beliefs:
        raise AsyncplayError(f"{run} has a network without beliefs; train one with --net.belief true")
    game, version = load_game(config), versions(run)[-1] if version is None else version
    entries.warm(game, believes=True)
    weights = load_weights(run, version, shape)
    option = choose_backend(config, shape, weights, game).best
    backend = open_model(config, shape, weights, version, option)
    played = _play(config, game, backend, games)
    answers = [_ask(backend, Positions(rows.features, rows.legal, rows.offsets)).values for rows in played]
    holders = np.concatenate([rows.holders for rows in played])
    believed, counted = nats(np.concatenate(answers)[:, shape.players :], holders, shape.players)
    return {
        "run": str(run),
        "version": version,
        "games": games,
        "rows": len(holders),
        "belief_nats": believed,
        "counting_nats": counted,
        "share_known": 1 - believed / counted,
    }


def _play(config: Config, game: GameSpec, backend: Backend, games: int) -> list[GameRows]:
    """Self-play as in the run, with deals of its own."""
    search, n_slots = search_spec(config.search), min(games, AT_ONCE)
    candidates = candidates_of(search)
    group = Group(game, settings_of(game, search), n_slots, candidates=candidates, tells_holders=True)
    seeds = [unit_seed(config.train.seed, NEW_GAMES + unit) for unit in range(games)]
    free, played = np.arange(n_slots, dtype=np.int32), list[GameRows]()
    while len(played) < games:
        begun = free[: len(seeds)]
        group.start(begun, np.array([seeds.pop() for _ in begun], np.uint64))
        group.stop(free[len(begun) :])
        free = group.advance()
        played += [group.examples(group.take(int(slot))) for slot in free]
        rows = group.select()
        answer = _ask(backend, Positions(rows.features, rows.legal, rows.offsets)) if len(rows.slots) else None
        if answer is None:
            group.backup(np.empty(0, np.float32), np.empty((0, game.players), np.float32), 0)
        else:
            group.backup(answer.priors, answer.values, answer.version)
    return played


def _ask(backend: Backend, positions: Positions) -> Estimates:
    return backend.launch(positions)()
