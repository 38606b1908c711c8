"""Two ways to think, with the same weights or with those of two runs: which of them makes more points?

Every deal or opening is played once from each seat. One seat thinks the hero's way and all others the rival's, so
that luck with the cards is the same for both; the interval is over deals.
"""

import math
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from asyncplay.config.loading import load
from asyncplay.config.sections import Config
from asyncplay.engine.loop import run_loop
from asyncplay.errors import AsyncplayError
from asyncplay.methods import parts as build
from asyncplay.methods.selfplay.arena import HERO_MODEL, RIVAL_MODEL, Match, match_assignment
from asyncplay.methods.selfplay.network import load_game
from asyncplay.methods.selfplay.score import Score
from asyncplay.rating.evaluate import Brain, play, read_brain, require_room
from asyncplay.rundir.layout import CONFIG

GAMES_AT_ONCE = 256  # a worker
MAY_DIFFER = ("search", "device")  # sections of the configuration
QUIET_S = 20.0


def measure(
    run: Path,
    *,
    against: Path | None = None,
    hero: Sequence[str] | None = None,
    rival: Sequence[str] | None = None,
    rounds: int = 2000,
    version: int | None = None,
    seed: int = 0,
) -> dict[str, Any]:
    """What ``asyncplay bench duel --json`` prints. ``against``: the run whose latest weights the rival has, without it
    those of the hero; ``hero``, ``rival``: KEY=VALUE, laid over the configuration of their run; ``version``: of the
    hero's weights, without it the latest."""
    hero_brain = _brain(run, "hero", hero or (), version)
    rival_brain = _brain(against or run, "rival", rival or (), None if against else version)
    hero_way, rival_way = hero_brain.config, rival_brain.config
    if hero_way.game != rival_way.game:
        raise AsyncplayError(f"--against {against}: its game is not that of {run}, with the same options")
    games_at_once = min(GAMES_AT_ONCE, math.ceil(rounds / build.n_workers(hero_way)))
    for way in (hero_way, rival_way):
        require_room(way, load_game(way), games_at_once, way.search.simulations, "search.simulations")
    assignment = match_assignment(
        hero_way,
        f"model:{RIVAL_MODEL}",
        simulations=hero_way.search.simulations,
        games_at_once=games_at_once,
        seed=seed,
        rival_search=rival_way.search,
        rival_sees=rival_way.net.hidden_features,
    )
    match = Match(assignment, rounds, load_game(hero_way).players, on_played=DuelProgress(_say))
    began_s = time.perf_counter()
    backends = run_loop(play([match], hero_way, {HERO_MODEL: hero_brain, RIVAL_MODEL: rival_brain}))
    return {
        "run": str(run),
        "game": hero_way.game.name,
        "version": hero_brain.version,
        "against": str(against or run),
        "against_version": rival_brain.version,
        "hero": " ".join(hero or ()) or "as trained",
        "rival": " ".join(rival or ()) or "as trained",
        "hero_backend": backends[HERO_MODEL],
        "rival_backend": backends[RIVAL_MODEL],
        **_figures(match.score()),
        "seconds": time.perf_counter() - began_s,
    }


def _brain(run: Path, side: str, changes: Sequence[str], version: int | None) -> Brain:
    """The network of a run, and the way in which it thinks."""
    return read_brain(run, version)._replace(config=_way(run, side, changes))


def _way(run: Path, side: str, changes: Sequence[str]) -> Config:
    """The run's configuration with what one side changes of it; no match has quick decisions."""
    flags = {"search": {"quick_simulations": "0"}}
    for change in changes:
        name, equals, value = change.partition("=")
        section, dot, key = name.partition(".")
        if not (equals and dot):
            raise AsyncplayError(f"--{side} {change}: must be KEY=VALUE, such as search.simulations=8")
        if section not in MAY_DIFFER:
            raise AsyncplayError(f"--{side} {change}: the sides differ in keys of {' and '.join(MAY_DIFFER)} alone")
        flags.setdefault(section, {})[key] = value
    return load(run / CONFIG, flags)


class DuelProgress:
    """A line every so often while games come in; the first ones, which all began together, tell nothing of the rest."""

    def __init__(self, say: Callable[[str], None], clock: Callable[[], float] = time.perf_counter) -> None:
        self._say, self._clock = say, clock
        self._began_s = self._said_s = clock()

    def __call__(self, done: int, total: int) -> None:
        now_s = self._clock()
        if now_s - self._said_s >= QUIET_S:
            self._said_s = now_s
            left_s = (now_s - self._began_s) / done * (total - done)
            rest = f"about {left_s:,.0f} s to go" if 4 * done >= total else f"{now_s - self._began_s:,.0f} s so far"
            self._say(f"{done:,} of {total:,} rounds, {rest}")


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


def _figures(score: Score) -> dict[str, Any]:
    """The hero's mean beyond the others': in points, or of games won (1) and lost (-1)."""
    scale, shift = (1.0, 0.0) if score.points else (2.0, -1.0)
    seats = {"points_by_seat": list(score.points), "points_of_others": score.others} if score.points else {}
    return {
        "rounds": score.games,
        "score_difference": score.score * scale + shift,
        "low": score.low * scale + shift,
        "high": score.high * scale + shift,
        "wins": score.wins,
        "draws": score.draws,
        "losses": score.losses,
        **seats,
    }
