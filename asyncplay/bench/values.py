"""How well a network foresees outcomes of games it has never learned from, by relative seat.

The games are new ones of self-play, by the run's own network or by that of another run of the game, so that several
networks can be compared on the same games. R2 is the share of the outcomes' variance that the values explain.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from asyncplay import rng
from asyncplay.errors import AsyncplayError
from asyncplay.games.spec import GameSpec
from asyncplay.methods.selfplay.network import choose_backend, load_game, open_model
from asyncplay.model.backend import Backend
from asyncplay.model.loss import seat_scores
from asyncplay.payloads import Floats, Positions
from asyncplay.rating.evaluate import Brain, read_brain
from asyncplay.search import entries
from asyncplay.search.examples import GameRows, PlayedGame, rebuild_examples
from asyncplay.search.group import Group, kernel_settings

GAMES_AT_ONCE = 128
NEW_GAMES = 11  # in the path of their seeds, which no run has
TOLD_GAMES = 200


def measure(
    run: Path, *, played_by: Path | None = None, games: int = 1000, version: int | None = None, seed: int = 0
) -> dict[str, Any]:
    """What ``asyncplay bench values --json`` prints. ``played_by``: the run whose network plays, without it the same;
    ``version``: of the weights that are judged, without it the latest."""
    judged = read_brain(run, version)
    player = read_brain(played_by) if played_by else judged
    if player.config.game != judged.config.game:
        raise AsyncplayError(f"--played-by {played_by}: its game is not that of {run}, with the same options")
    game = load_game(judged.config)
    entries.warm(game)
    rebuild, backend = entries.load_rebuild(game), _open(judged)
    sums = np.zeros((4, game.players))
    for number, played in enumerate(_play(player, games, seed), 1):
        rows = rebuild_examples(game, rebuild, played)
        if len(rows.features):
            sums += _sums(_values(backend, rows)[:, : game.players], rows.values)
        if number % TOLD_GAMES == 0:
            sys.stderr.write(f"{number:,} of {games:,} games\n")
    losses, r2 = seat_scores(sums)
    return {
        "run": str(run),
        "game": game.name,
        "version": judged.version,
        "played_by": str(played_by or run),
        "games": games,
        "examples": int(sums[0, 0]),
        "rows": [{"seat": seat, "loss": losses[seat], "r2": r2[seat]} for seat in range(len(losses))],
    }


def _open(brain: Brain) -> Backend:
    game = load_game(brain.config)
    option = choose_backend(brain.config, brain.shape, brain.weights, game).best
    return open_model(brain.config, brain.shape, brain.weights, brain.version, option)


def _play(player: Brain, n_games: int, seed: int) -> Iterator[PlayedGame]:
    """Games as the run plays them to learn from, in the order in which they end."""
    game: GameSpec = load_game(player.config)
    group = Group(game, kernel_settings(game, player.config.search), min(GAMES_AT_ONCE, n_games))
    backend, begun, ended = _open(player), 0, 0
    free = np.arange(group.sizes.games, dtype=np.int32)
    while ended < n_games:
        group.stop(free)
        slots = free[: n_games - begun]
        units = range(begun, begun + len(slots))
        group.start(slots, np.array([rng.derive(seed, NEW_GAMES, unit) for unit in units], np.uint64))
        begun += len(slots)
        free = group.advance()
        for slot in free:
            yield group.take(int(slot))
        ended += len(free)
        rows = group.select()
        if len(rows.slots):
            answer = backend.launch(Positions(rows.features, rows.legal, rows.offsets))()
            group.backup(answer.priors, answer.values, answer.version)
        else:
            group.backup(np.empty(0, np.float32), np.empty((0, game.players), np.float32), 0)


def _values(backend: Backend, rows: GameRows) -> Floats:
    return backend.launch(Positions(rows.features, rows.legal, rows.offsets))().values


def _sums(values: Floats, wanted: Floats) -> np.ndarray[Any, np.dtype[np.float64]]:
    """float64[4, P], as ``loss.seat_sums`` has them: rows, squared errors, outcomes and their squares."""
    exact = wanted.astype(np.float64)
    return np.stack(
        [np.full(wanted.shape[1], float(len(wanted))), ((values - exact) ** 2).sum(0), exact.sum(0), (exact**2).sum(0)]
    )
