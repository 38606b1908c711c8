"""Matches on the run's own queue: how strong is what was learned?"""

import asyncio
import json
import math
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, replace
from typing import NamedTuple

from asyncplay.config.sections import Config, SearchSettings
from asyncplay.engine.dispatch import Dispatcher
from asyncplay.engine.ledger import Ledger
from asyncplay.engine.work import Assignment, UnitWork
from asyncplay.errors import WireError
from asyncplay.games.spec import GameSpec
from asyncplay.methods import parts
from asyncplay.methods.selfplay.games import result_flaw
from asyncplay.methods.selfplay.messages import Game, MatchSpec
from asyncplay.methods.selfplay.network import load_game
from asyncplay.methods.selfplay.score import Points, Score, compare, score
from asyncplay.model.nets import Weights
from asyncplay.wire.codec import encode

HERO_MODEL, RIVAL_MODEL = 1, 2  # what the two sides of a match are called in asks
FIRST_S = 20.0  # to the first arena of a run, so that something is seen of its strength in the first minute


class Match:
    """One match: a work for the workers, and its result when that is settled."""

    def __init__(
        self, assignment: Assignment, games: int, seats: int, on_played: Callable[[int, int], None] | None = None
    ) -> None:
        """``on_played``: is told how many games of how many are over, after each."""
        least = 2 * seats if seats > 2 else seats  # points of a single deal have no interval
        self.games = max(games + -games % seats, least)  # every opening and deal from every seat
        self.work = UnitWork(assignment, Ledger(self.games), finished=self._take, check=self._check)
        self._seats, self.on_played = seats, on_played
        self._outcomes: dict[int, float] = {}  # of the hero, by game
        self._returns: dict[int, Points] = {}  # of all seats, by game

    def score(self) -> Score:
        if self._seats > 2:
            return compare(self._returns, self._seats)
        return score(self._outcomes, self._seats)

    async def play(self, dispatcher: Dispatcher) -> Score:
        """Play beside whatever else the workers do."""
        dispatcher.add(self.work)
        try:
            await self.work.settled.wait()
        finally:
            dispatcher.remove(self.work)
        return self.score()

    def _check(self, game: Game) -> None:
        if flaw := result_flaw(game, self._seats):
            raise WireError(f"game {game.unit} of a match has {flaw}")

    def _take(self, game: Game) -> None:
        self._outcomes[game.unit] = float(game.outcome[game.unit % self._seats])
        self._returns[game.unit] = game.returns
        if self.on_played is not None:
            self.on_played(len(self._returns), self.games)


def match_assignment(
    config: Config,
    rival: str,
    *,
    simulations: int,
    games_at_once: int,
    seed: int,
    rival_search: SearchSettings | None = None,
    rival_sees: bool | None = None,
) -> Assignment:
    """Games between model HERO_MODEL and ``rival``; who never errs is met from the very beginning, as chance might
    open with a lost position. Where cards are dealt, the deal is the opening.

    ``rival_search``, ``rival_sees``: if a model that is the rival thinks in another way, or its rows have the game's
    hidden features where the hero's have not.
    """
    spec = MatchSpec(
        game=config.game.name,
        options=json.dumps(config.game.options),
        games=games_at_once,
        search=json.dumps(asdict(replace(config.search, simulations=simulations))),
        hero=f"model:{HERO_MODEL}",
        rival=rival,
        opening=0 if rival == "perfect" or load_game(config).is_hidden else config.arena.opening,
        rival_search="" if rival_search is None else json.dumps(asdict(rival_search)),
        shows_hidden=config.net.hidden_features,
        shows_rival_hidden=config.net.hidden_features if rival_sees is None else rival_sees,
    )
    return Assignment("match", encode(spec), seed, chunk=games_at_once, low_water=games_at_once)


class ArenaRecord(NamedTuple):
    """The version that the next arena meets, and the results of the last one."""

    version: int
    weights: Weights
    results: Mapping[str, Score]


class Arena:
    """Plays the newest weights against random play, the rule-based player if any, and the last arena's version.

    Lifetime: ``run`` is one task of the run's group. Order: one match at a time, every ``arena.every_s``, the first
    after FIRST_S. End: cancelled, a match that is under way is dropped.
    """

    def __init__(
        self,
        config: Config,
        game: GameSpec,
        dispatcher: Dispatcher,
        state: ArenaRecord,
        *,
        newest: Callable[[], tuple[int, Weights]],
        serve: Callable[[int, int, Weights], Awaitable[None]],
        on_result: Callable[[str, int, Score], None],
    ) -> None:
        """``newest``: version and weights; ``serve(model, version, weights)`` lets them answer as that model;
        ``on_result`` gets the opponent's name, our version and the score."""
        self.state = state
        self._config, self._game, self._dispatcher = config, game, dispatcher
        self._newest, self._serve, self._on_result = newest, serve, on_result

    async def run(self) -> None:
        every_s = self._config.arena.every_s
        wait_s = every_s if self.state.results else min(every_s, FIRST_S)
        while True:
            await asyncio.sleep(wait_s)
            wait_s, before, (version, weights) = every_s, self.state, self._newest()
            self.state = before._replace(version=version, weights=weights)
            await self._serve(HERO_MODEL, version, weights)
            rivals = {"random": "random"} | ({"rules": "rules"} if self._game.advise is not None else {})
            if before.version != version:
                await self._serve(RIVAL_MODEL, before.version, before.weights)
                rivals[f"version {before.version}"] = f"model:{RIVAL_MODEL}"
            for name, rival in rivals.items():
                result = await self._match(rival).play(self._dispatcher)
                kept = {key: old for key, old in self.state.results.items() if not key.startswith("version")}
                self.state = self.state._replace(results=kept | {name: result})
                self._on_result(name, version, result)

    def _match(self, rival: str) -> Match:
        arena, seed = self._config.arena, self._config.train.seed
        at_once = max(math.ceil(arena.games / parts.n_workers(self._config)), 1)
        assignment = match_assignment(
            self._config, rival, simulations=arena.simulations, games_at_once=at_once, seed=seed
        )
        return Match(assignment, arena.games, self._game.players)
