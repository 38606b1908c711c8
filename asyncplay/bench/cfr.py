"""How fast games are solved, beside open_spiel's solver in C++, on one core.

Small games are flattened. Hold'em is abstracted with the menus and buckets of configs/holdem-fcpa.toml, beside
open_spiel's universal_poker with its own fold, call, pot or all-in, which has no buckets of cards. An iteration is the
same on both sides: one external walk for each player. The two take turns in short windows, so that whatever slows the
machine down slows both; the ratio is the median over neighbouring windows.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Any, TypedDict

from asyncplay import games
from asyncplay.bench.holdem import holdem_config
from asyncplay.errors import AsyncplayError
from asyncplay.games.options import Value, check, unknown
from asyncplay.solve.cfr import VARIANTS, Walker
from asyncplay.solve.exact import exploitability
from asyncplay.solve.flat import FlatGame
from asyncplay.solve.flatten import flatten
from asyncplay.solve.mccfr import Sampler, SamplerSettings, TableSampler
from asyncplay.solve.regret import Table, average_policy
from asyncplay.solve.solvable import compile_game, make_sampler

OPENSPIEL_GAMES = {
    "kuhn": "kuhn_poker(players={players})",
    "leduc": "leduc_poker(players={players})",
    "liarsdice": "liars_dice(dice_sides={faces})",
    "holdem": "universal_poker(betting=nolimit,numPlayers=2,numRounds=4,blind={big_blind} {small_blind},"
    "firstPlayer=2 1 1 1,numSuits=4,numRanks=13,numHoleCards=2,numBoardCards=0 3 1 1,stack={stack} {stack},"
    "bettingAbstraction=fcpa)",
}
RACED = {"holdem": ("stack", "big_blind", "small_blind")}
"""Options that the race can have where it cannot have all."""
SAMPLING_GOALS, FULL_WALK_GOAL = (0.1, 0.05, 0.02), 0.001
WINDOWS, WINDOW_S, LIMIT_S = 40, 0.05, 30.0
STEP_GROWTH = 1.1  # NashConv is looked at, off the clock, each time this many more iterations are done


class SolveSpeed(TypedDict):
    """Iterations and nodes a second; seconds of solving until NashConv is below each goal, None if it never was."""

    game: str
    asyncplay_it_s: float
    pyspiel_it_s: float
    ratio: float
    nodes_per_s: float
    seconds_to: dict[str, float | None] | None  # None: the game is too large to be measured exactly
    cfr_plus_seconds_to: dict[str, float | None] | None


def measure(game: str = "leduc", *, option: Sequence[str] | None = None) -> SolveSpeed:
    """Race, then solve."""
    if game not in OPENSPIEL_GAMES:
        raise AsyncplayError(f"--game: {unknown('game to race in', game, tuple(OPENSPIEL_GAMES))}")
    options = games.parse_options(game, option or ())
    chosen = check(game, games.declared(game), options)
    if others := options.keys() - set(RACED.get(game, options)):
        raise AsyncplayError(f"--option {', '.join(sorted(others))}: the race in {game} is without; leave it out")
    flat = flatten(games.load(game, chosen)) if game not in RACED else None
    sampler = _blueprint_sampler(options) if flat is None else Sampler(flat, SamplerSettings(), seed=1)
    ours, theirs = _Ours(sampler), _Theirs(OPENSPIEL_GAMES[game].format_map(chosen))
    for side in (ours, theirs):
        side.run_for(WINDOW_S * 4)
    pairs = [(ours.run_for(WINDOW_S), theirs.run_for(WINDOW_S)) for _ in range(WINDOWS)]
    sampled, walked = (None, None) if flat is None else _solved(flat)
    return {
        "game": game,
        "asyncplay_it_s": median(mine for (mine, _), _ in pairs),
        "pyspiel_it_s": median(other for _, (other, _) in pairs),
        "ratio": median(mine / other for (mine, _), (other, _) in pairs),
        "nodes_per_s": median(nodes for (_, nodes), _ in pairs),
        "seconds_to": sampled,
        "cfr_plus_seconds_to": walked,
    }


def _blueprint_sampler(options: Mapping[str, Value]) -> TableSampler:
    """Of the fold, call, pot or all-in configuration; its buckets are built the first time."""
    config = holdem_config(options)
    return make_sampler(compile_game(config.game.name, config.game.options, config.abstraction), SamplerSettings(), 1)


def _solved(game: FlatGame) -> tuple[dict[str, float | None], dict[str, float | None]]:
    """Seconds to each goal, by sampling and by full walks."""
    sampler, walker = Sampler(game, SamplerSettings(), seed=2), Walker(game, VARIANTS["cfr+"])
    walker.run(0)  # compiled
    by_walks = _seconds_to(game, walker.table, lambda _, n: walker.run(n), (FULL_WALK_GOAL,))
    return _seconds_to(game, sampler.table, sampler.run, SAMPLING_GOALS), by_walks


class _Ours:
    """Our sampler, in calls of a few milliseconds."""

    def __init__(self, sampler: TableSampler) -> None:
        self._sampler = sampler
        self._done, self._step = 0, 16

    def run_for(self, seconds: float) -> tuple[float, float]:
        """Return iterations and nodes a second."""
        first, nodes, begin = self._done, 0, time.perf_counter()
        while (spent := time.perf_counter() - begin) < seconds:
            started = time.perf_counter()
            nodes += self._sampler.run(self._done, self._step).nodes
            self._done += self._step
            if time.perf_counter() - started < seconds / 20:
                self._step *= 2
        return (self._done - first) / spent, nodes / spent


class _Theirs:
    """open_spiel's, iteration by iteration."""

    def __init__(self, game: str) -> None:
        try:
            import pyspiel
        except ImportError:
            raise AsyncplayError("open_spiel is not installed; pip install 'asyncplay[openspiel]'") from None
        self._solver: Any = pyspiel.ExternalSamplingMCCFRSolver(pyspiel.load_game(game), 1)

    def run_for(self, seconds: float) -> tuple[float, float]:
        """Return iterations a second; their nodes are not counted."""
        done, begin = 0, time.perf_counter()
        while (spent := time.perf_counter() - begin) < seconds:
            self._solver.run_iteration()
            done += 1
        return done / spent, 0.0


def _seconds_to(
    game: FlatGame, table: Table, run: Callable[[int, int], object], goals: tuple[float, ...]
) -> dict[str, float | None]:
    """Solve until the last goal is met or the time is up; only the solving is on the clock."""
    found: dict[str, float | None] = dict.fromkeys(map(str, goals))
    done, step, spent = 0, 1, 0.0
    while found[str(goals[-1])] is None and spent < LIMIT_S:
        begin = time.perf_counter()
        run(done, step)
        spent += time.perf_counter() - begin
        done += step
        step = max(int(done * (STEP_GROWTH - 1)), 1)
        nash_conv = exploitability(game, average_policy(game, table)).nash_conv
        for goal in goals:
            if found[str(goal)] is None and nash_conv < goal:
                found[str(goal)] = spent
    return found
