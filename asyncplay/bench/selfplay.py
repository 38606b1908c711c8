"""Self-play against the model's own limit: real workers, pipes, network and store.

Each window of play is followed by one of the limit: the best this backend reaches over thread counts and batch
sizes with the workers waiting. Their ratio counts, so a machine that slows down for a while slows both. The windows
make up one whole round of the games under way (see tally.py): games, decisions and rows a game are counted over all
of it, the rest are medians of its windows. The learner is off for ``share_of_limit`` and on for
``share_while_learning``, which is of a few windows after the first game's end.
"""

import asyncio
import math
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from asyncplay.bench import simulated
from asyncplay.bench.loads import bench_config
from asyncplay.bench.solo import Sequential
from asyncplay.bench.tally import Tally, total
from asyncplay.bench.watched import ForwardLimit, Watched
from asyncplay.config.sections import Config
from asyncplay.engine.loop import run_loop
from asyncplay.methods import parts as build
from asyncplay.model.device import Candidate

WINDOW_S, LIMIT_S, SETTLE_S, SEQUENTIAL_S = 4.0, 2.0, 0.5, 10.0
WINDOWS = 6  # while learning


class Pair(NamedTuple):
    """A window of play and the limit beside it."""

    window: Tally
    limit_rows_per_s: float

    @property
    def share(self) -> float:
        return self.window.rows_per_s / self.limit_rows_per_s


class Session(NamedTuple):
    """What was seen of a run."""

    model: Candidate
    placement: str
    simulations: int  # of a decision, all worlds together
    pairs: list[Pair]
    sequential: Tally


def measure(
    game: str = "connect4",
    backend: str = "auto",
    *,
    option: Sequence[str] | None = None,
    load: str | None = None,
    placement: str = "auto",
    exact_decisions: str | None = None,
    host_ms: float = 0.1,
) -> dict[str, Any]:
    """``load``: instead of the game's own; ``exact_decisions``: instead of the load's; ``host_ms``: of the simulated
    accelerator, which is backend sim."""
    search = {} if exact_decisions is None else {"exact_decisions": exact_decisions}
    if backend == "sim":
        return simulated.measure(game, search, option=option, host_ms=host_ms)
    name, flag = (load, "--load") if load else (game, "--game")
    config = bench_config(name, backend, flag=flag, placement=placement, option=option, search=search)
    alone = run_loop(_watch(config, _one_round))
    learning_config = bench_config(name, backend, placement=placement, option=option, learns=True, search=search)
    learning = run_loop(_watch(learning_config, _first_windows))
    played = total(pair.window for pair in alone.pairs)
    return {
        "game": config.game.name,
        "load": name,
        "placement": alone.placement,
        "backend": alone.model.backend,
        "threads": alone.model.threads,
        "games_per_min": played.games_per_min,
        "rows_per_s": median(pair.window.rows_per_s for pair in alone.pairs),
        "forward_limit_rows_per_s": median(pair.limit_rows_per_s for pair in alone.pairs),
        "share_of_limit": median(pair.share for pair in alone.pairs),
        "share_while_learning": median(pair.share for pair in learning.pairs),
        "mean_batch": median(pair.window.mean_batch for pair in alone.pairs),
        "sims_per_s": played.decisions_per_s * alone.simulations,
        "workers": build.n_workers(config),
        "exact_decisions": config.search.exact_decisions,
        "games": played.games,
        "rows_per_game": played.rows_per_game,
        "spared_share": played.spared / (played.rows + played.spared),
        "sequential_games_per_min": alone.sequential.games_per_min,
        "times_sequential": played.games_per_min / alone.sequential.games_per_min,
    }


async def _watch(config: Config, look: Callable[[Watched, ForwardLimit], Awaitable[list[Pair]]]) -> Session:
    """A whole run; half of the sequential baseline is measured before it and half after."""
    with tempfile.TemporaryDirectory() as place:
        watched = Watched(config, Path(place))
        limit, sequential = watched.attach_limit(), Sequential(config)
        baseline = [sequential.play_for(SEQUENTIAL_S / 2)]
        async with asyncio.TaskGroup() as group:
            running = group.create_task(watched.neural.run())
            pairs = await look(watched, limit)
            placement = watched.neural.placement
            watched.neural.engine.halt()
            await running
        baseline.append(sequential.play_for(SEQUENTIAL_S / 2))
        worlds = config.search.worlds if watched.neural.game.is_hidden else 1
        simulations = worlds * config.search.simulations
        return Session(watched.neural.choice.best, placement, simulations, pairs, total(baseline))


async def _one_round(watched: Watched, limit: ForwardLimit) -> list[Pair]:
    """Windows until as many games have ended as are under way, after a round that warms up."""
    await watched.until_placed()
    await watched.until_games(watched.under_way)
    n_games, pairs = watched.tally().games + watched.under_way, []
    while watched.tally().games < n_games:
        pairs.append(await _pair(watched, limit, n_games))
    return pairs


async def _first_windows(watched: Watched, limit: ForwardLimit) -> list[Pair]:
    await watched.until_placed()
    await watched.until_games(1)
    return [await _pair(watched, limit) for _ in range(WINDOWS)]


async def _pair(watched: Watched, limit: ForwardLimit, n_games: float = math.inf) -> Pair:
    """Workers that waited while the limit was measured have thought ahead, so play goes on for a while uncounted."""
    pair = Pair(await watched.window(WINDOW_S, n_games), await watched.limit_window(limit, LIMIT_S))
    await asyncio.sleep(SETTLE_S)
    return pair
