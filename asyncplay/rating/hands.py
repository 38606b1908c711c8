"""Matches of a blueprint at the real game: against simple players, or against the blueprint of another run.

Deals are played with the hero in every seat; a deal is one observation. Winnings are in big blinds a hundred hands.
Only the hero may be purified: against its own run, what that gains is measured.
"""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from asyncplay import games
from asyncplay.config.sections import Config
from asyncplay.data.policies import MappedPolicy, newest_policy
from asyncplay.errors import AsyncplayError
from asyncplay.games.holdem.layout import BIG_BLIND
from asyncplay.games.holdem.yardsticks import YARDSTICKS
from asyncplay.games.options import unknown
from asyncplay.games.spec import GameSpec
from asyncplay.payloads import Array
from asyncplay.rundir.layout import CONFIG, read_config
from asyncplay.solve.abstraction.blueprint import Blueprint, compile_blueprint, file_of
from asyncplay.solve.abstraction.bucket_file import MEAN, BucketFile
from asyncplay.solve.abstraction.match import (
    DECISIONS,
    OUT_OF_STEP,
    TRANSLATED,
    MatchSide,
    PlayedHands,
    play_hands,
    table_side,
    yardstick_side,
)

ALL = "all"  # simple players
DEFAULT_HANDS = 200_000
QUANTILE = 1.96  # of 95 %
WIDTH = 10.0  # big blinds a hundred hands either way: the hands that an interval of this width takes are told


class Contender(NamedTuple):
    """A run whose policy plays."""

    run: Path
    spec: GameSpec
    game: Blueprint
    file: BucketFile
    policy: MappedPolicy

    def side(self, *, is_purified: bool = False) -> MatchSide:
        return table_side(self.game, self.policy.odds, mean_equities(self.file), is_purified=is_purified)


def read_contender(run: Path, config: Config, iterations: int | None = None) -> Contender:
    """The latest policy of a run, or that of so many iterations; it must be of the abstraction that the configuration
    describes."""
    policy, spec = newest_policy(run, iterations), games.load(config.game.name, config.game.options)
    game = compile_blueprint(spec, config.abstraction)
    if policy.digest != game.digest or len(policy.odds) != game.n_entries:
        raise AsyncplayError(f"the policy of {run} is of another abstraction than {run / CONFIG} and its bucket file")
    return Contender(run, spec, game, BucketFile(file_of(spec, config.abstraction)), policy)


def mean_equities(file: BucketFile) -> Array:
    """float64[4, k], by street and bucket."""
    equities = np.zeros((len(file.stats), max(map(len, file.stats))))
    for street, stats in enumerate(file.stats):
        equities[street, : len(stats)] = stats[:, MEAN]
    return equities


def measure(
    run: Path, config: Config, *, against: Sequence[str], hands: int, seed: int, is_purified: bool
) -> dict[str, Any]:
    """What ``asyncplay eval --json`` prints: a row for each opponent."""
    hero = read_contender(run, config)
    names = dict.fromkeys(name for said in against for name in (YARDSTICKS if said == ALL else [said]))
    rivals = {name: _rival(name, hero) for name in names}
    own, n_deals = hero.side(is_purified=is_purified), math.ceil(hands / hero.spec.players)
    rows = [
        {"against": name} | result(hero.spec, play_hands(hero.spec, own, rival, seed, n_deals))
        for name, rival in rivals.items()
    ]
    facts = {"run": str(run), "game": config.game.name, "iterations": hero.policy.iterations, "purified": is_purified}
    return facts | {"seed": seed, "rows": rows}


def _rival(name: str, hero: Contender) -> MatchSide:
    """A simple player by name, or the policy of the run in a folder."""
    if name in YARDSTICKS:
        return yardstick_side(YARDSTICKS[name], hero.game.cards, mean_equities(hero.file))
    folder = Path(name)
    if not (folder / CONFIG).exists():
        known = (*YARDSTICKS, ALL)
        raise AsyncplayError(f"--against: {unknown('opponent and no folder of a run', name, known)}")
    config = read_config(folder)
    if config.game.name != hero.spec.name or config.solve.method == "off":
        raise AsyncplayError(f"--against {folder}: it is no run that solves {hero.spec.name}")
    rival = read_contender(folder, config)
    if not np.array_equal(rival.spec.rules, hero.spec.rules):
        raise AsyncplayError(
            f"--against {folder}: its blinds, stacks, seats or deck are others than those of {hero.run}"
        )
    return rival.side()


def result(spec: GameSpec, played: PlayedHands) -> dict[str, Any]:
    """Winnings with their interval, and how far the real game was from what the table knows."""
    scale = 100.0 / int(spec.rules[BIG_BLIND])
    n_deals, mean = len(played.gains), float(played.gains.mean())
    deviation = float(played.gains.std(ddof=1)) if n_deals > 1 else math.inf
    doubt = QUANTILE * deviation / math.sqrt(n_deals)
    decisions = max(int(played.hero[DECISIONS]), 1)
    return {
        "hands": n_deals * spec.players,
        "bb_per_100": scale * mean,
        "interval": [scale * (mean - doubt), scale * (mean + doubt)],
        f"hands_for_{WIDTH:g}_bb": _hands_for(scale * deviation, spec.players),
        "translated": int(played.hero[TRANSLATED]) / decisions,
        "out_of_step": int(played.hero[OUT_OF_STEP]) / decisions,
    }


def _hands_for(deviation: float, players: int) -> int | None:
    """Hands until the interval is WIDTH either way; None where a single deal says nothing of it."""
    return None if math.isinf(deviation) else math.ceil((QUANTILE * deviation / WIDTH) ** 2) * players
