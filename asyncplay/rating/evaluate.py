"""How strong a run's network is: matches of its weights against random play, another version or OpenSpiel."""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from asyncplay import games
from asyncplay import machine as memory
from asyncplay.agents import mcts
from asyncplay.agents.catalogue import name_for_workers
from asyncplay.config.sections import Config, DeviceSettings
from asyncplay.data.files import read_file
from asyncplay.engine.engine import Engine
from asyncplay.engine.evaluator import Endpoint
from asyncplay.errors import AsyncplayError
from asyncplay.games.spec import GameSpec
from asyncplay.machine import usable_cores
from asyncplay.methods import game_options
from asyncplay.methods import parts as build
from asyncplay.methods.game_options import ABSTRACTED
from asyncplay.methods.selfplay.arena import HERO_MODEL, RIVAL_MODEL, Match, match_assignment
from asyncplay.methods.selfplay.network import choose_backend, load_game, load_weights, open_model
from asyncplay.methods.selfplay.score import Score
from asyncplay.methods.sizes import Machine, net_shape, require_match
from asyncplay.model.device import Candidate
from asyncplay.model.nets import Weights
from asyncplay.model.shape import NetShape, known_facts
from asyncplay.rating import hands, rewards, solved
from asyncplay.rundir.layout import CONFIG, NET, read_config
from asyncplay.rundir.weights import versions
from asyncplay.search import entries

NET_BYTES = 1 << 16
GAMES_AT_ONCE = 64
SLOW_GAMES_AT_ONCE = (
    16  # against rollouts, which decide for all games of a worker in turn: meanwhile the worker is silent
)
SLOW_BUDGET = 8_000  # rollouts of a decision times games at once: the longer it thinks, the fewer


Stage = Callable[[str], AbstractContextManager[Callable[[int, int], None]]]
"""``with stage("playing") as progress: ... progress(done, total)``"""


def quiet(what: str) -> AbstractContextManager[Callable[[int, int], None]]:
    """A stage that nobody looks at."""
    return nullcontext(lambda done, total: None)


class Question(NamedTuple):
    """Matches of a run's network against opponents."""

    run: Path
    against: Sequence[str] = ("random",)  # each "random", "rules", "perfect", "mcts-100", "openspiel:mcts-1000",
    # "openspiel:ismcts-500", a version's number or the folder of a run of the same game
    games: int = 200
    simulations: int = 64
    version: int | None = None  # None: the latest
    seed: int = 0
    options: Sequence[str] = ()  # of the game, KEY=VALUE, other than the run's own
    purified: bool = False  # a blueprint of hold'em always takes its most likely action

    @classmethod
    def of(cls, run: Path, words: Mapping[str, Any], *, options: Sequence[str] = ()) -> "Question":
        """From the flags of the command line, None where one was left out. Of the runs that solve only those of hold'em
        play matches, populations play none."""
        said, solving = {name: value for name, value in words.items() if value is not None}, solved.config_of(run)
        allowed: tuple[str, ...] = ("against", "games", "simulations", "version", "seed")
        reason = "is not solved by table"
        if solving is not None and solving.game.name == ABSTRACTED:
            allowed, reason = ("against", "games", "seed", "purified"), "is a blueprint, which only looks things up"
            said = {"against": (hands.ALL,), "games": hands.DEFAULT_HANDS} | said
        elif solving is not None:
            allowed, reason = (), "is solved by table and plays no match"
        elif rewards.config_of(run) is not None:
            allowed, reason = ("games", "version", "seed"), "trains a population and plays no match"
        if wrong := [name for name in said if name not in allowed]:
            raise AsyncplayError(f"{', '.join(f'--{name}' for name in wrong)}: {run} {reason}; leave it out")
        return cls(run, **said, options=options)


class Brain(NamedTuple):
    """The network of one side of a match."""

    config: Config  # its device section says what computes
    shape: NetShape
    version: int
    weights: Weights


async def evaluate(question: Question, stage: Stage = quiet) -> dict[str, Any]:
    """Return what ``asyncplay eval --json`` prints: a match with sides alternating and openings paired, hands of a
    blueprint, rewards of a population, or of another run that solves by table how far it is from equilibrium.
    ``stage`` shows how far each stage is."""
    if (training := rewards.config_of(question.run)) is not None:
        game_options.require_same(training, question.options, f"the population of {question.run}")
        asked = (question.games, question.version, question.seed)
        with stage("playing"):
            return await rewards.measure(question.run, training, *asked)
    if (solving := solved.config_of(question.run)) is not None:
        game_options.require_same(solving, question.options, f"the table of {question.run}")
        if solving.game.name == ABSTRACTED:
            with stage("playing"):
                return hands.measure(
                    question.run,
                    solving,
                    against=question.against,
                    hands=question.games,
                    seed=question.seed,
                    is_purified=question.purified,
                )
        with stage("measuring"):
            return solved.measure(question.run, solving)
    hero = read_brain(question.run, question.version)
    config = game_options.lay_over(hero.config, question.options)
    game = load_game(config)
    if net_shape(config, game) != hero.shape:
        before, now = game_options.difference(hero.config, config)
        told = f"--option {now}: the network of {question.run} is of {game.name} with {before}"
        raise AsyncplayError(f"{told} and does not fit; leave it out or train a new run")
    opponents = list(dict.fromkeys(question.against))
    rivals = {
        model: read_rival(name, question.run, config)
        for model, name in enumerate(opponents, RIVAL_MODEL)
        if is_version(name) or is_run(name)
    }
    matches = [
        _match(config, game, question, against=name, brain=rivals.get(model), model=model)
        for model, name in enumerate(opponents, RIVAL_MODEL)
    ]
    with stage("compiling") as progress:
        entries.warm(game, lambda done, total, name: progress(done, total))
    with stage("playing") as progress:
        show_together(matches, progress)
        await play(matches, config, {HERO_MODEL: hero} | rivals)
    facts: dict[str, Any] = {"run": str(question.run), "game": config.game.name, "version": hero.version}
    facts |= {"options": " ".join(question.options)} if question.options else {}
    found = [
        {"against": name, "simulations": question.simulations} | score_figures(match.score())
        for name, match in zip(opponents, matches, strict=True)
    ]
    return facts | (found[0] if len(found) == 1 else {"matches": found})


def score_figures(result: Score) -> dict[str, Any]:
    """What is told of one match."""
    figures: dict[str, Any] = {
        "games": result.games,
        "score": result.score,
        "interval": [result.low, result.high],
        "wins": result.wins,
        "draws": result.draws,
        "losses": result.losses,
    }
    if result.points:  # of more than two seats: the score is a margin in points
        mean = sum(result.points) / len(result.points)
        figures |= {"points": mean, "points_of_others": result.others, "points_by_seat": list(result.points)}
    return figures


def show_together(matches: Sequence[Match], progress: Callable[[int, int], None]) -> None:
    """Let matches that are played at a time tell of their games as one."""
    done, total = dict.fromkeys(range(len(matches)), 0), sum(match.games for match in matches)

    def tell(place: int, played: int, _: int) -> None:
        done[place] = played
        progress(sum(done.values()), total)

    for place, match in enumerate(matches):
        match.on_played = partial(tell, place)


def read_rival(name: str, run: Path, config: Config) -> Brain:
    """A version of the same run, or the latest of another run, which must be of the same game."""
    if is_version(name):
        return read_brain(run, int(name))
    folder = Path(name)
    theirs = read_config(folder)
    if theirs.solve.method != "off" or theirs.population.method != "off":
        raise AsyncplayError(f"--against {name}: it trains no network, as {run} does")
    game, other = load_game(config), games.load(theirs.game.name, theirs.game.options)
    if other.name != game.name or not np.array_equal(other.rules, game.rules):
        which = f"{other.name} with other options" if other.name == game.name else other.name
        raise AsyncplayError(f"--against {name}: it is a run of {which}, not of {game.name} as {run} is")
    return read_brain(folder)


def is_run(name: str) -> bool:
    """Whether it is the folder of a run."""
    return (Path(name) / CONFIG).is_file()


def read_brain(run: Path, version: int | None = None) -> Brain:
    """The network of a run that has trained, with the latest weights unless ``version`` says which."""
    config, shape = read_run(run)
    version = version if version is not None else versions(run)[-1]
    return Brain(config, shape, version, load_weights(run, version, shape))


def read_run(run: Path) -> tuple[Config, NetShape]:
    """The configuration and the network of a run that has trained."""
    path = run / NET
    if not path.exists() or not versions(run):
        raise AsyncplayError(f"{run} is no run folder with trained weights; train one: asyncplay train --run {run}")
    config = read_config(run)
    shape = net_shape(config, load_game(config))
    try:
        facts = known_facts(json.loads(read_file(path, NET_BYTES)))
    except OSError as error:
        raise AsyncplayError(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, TypeError, AttributeError, RecursionError):
        raise AsyncplayError(f"{path} is damaged: it says nothing of a network") from None
    if facts != json.loads(json.dumps(asdict(shape))):
        raise AsyncplayError(f"{path} is damaged: its network is not that of {run / CONFIG}")
    return config, shape


def is_version(against: str) -> bool:
    """Whether it is the number of a version."""
    return against.isascii() and against.isdecimal() and len(against) < 10


def _match(
    config: Config, game: GameSpec, question: Question, *, against: str, brain: Brain | None, model: int
) -> Match:
    """The match against one opponent, ``brain`` as ``model`` if it has one; AsyncplayError if it does not exist,
    ConfigError if the trees of all matches do not fit."""
    rival = f"model:{model}" if brain is not None else name_for_workers(against, game)
    at_once = max(GAMES_AT_ONCE // len(question.against), 1)
    if against.startswith(("openspiel:", mcts.PREFIX)):
        at_once = max(1, min(SLOW_GAMES_AT_ONCE, SLOW_BUDGET // int(against.rpartition("-")[2])))
    at_once = min(at_once, max(math.ceil(question.games / build.n_workers(config)), 1))
    theirs = None if brain is None else brain.config
    assignment = match_assignment(
        config,
        rival,
        simulations=question.simulations,
        games_at_once=at_once,
        seed=question.seed,
        rival_search=None if theirs is None else replace(theirs.search, simulations=question.simulations),
        rival_sees=None if theirs is None else theirs.net.hidden_features,
    )
    require_room(config, game, at_once * len(question.against), question.simulations, "--simulations")
    return Match(assignment, question.games, game.players)


def require_room(config: Config, game: GameSpec, games_at_once: int, simulations: int, name: str) -> None:
    """ConfigError if the trees of a match need more memory than there is; ``name``: where simulations were typed."""
    games = games_at_once * build.n_workers(config)
    arena = replace(config.arena, every_s=1.0, games=games, simulations=simulations)
    machine = Machine(usable_cores(), memory.at_hand())
    names = {"arena.simulations": name, "arena.games": "--games"}
    require_match(replace(config, arena=arena), game, machine, names)


async def play(matches: Sequence[Match], config: Config, brains: Mapping[int, Brain]) -> dict[int, str]:
    """Play matches to their end, side by side; return the device that computed for each of ``brains``, by model.

    Brains of one shape that want the same device share the choice of its backend and threads.
    """
    entries.warm(load_game(config))
    engine = Engine(
        build.make_pool(config.pool.kind),
        matches[0].work,
        others=[match.work for match in matches[1:]],
        workers=build.n_workers(config),
        settings=build.live_settings(config),
        limits=build.limits(config),
        patience=build.patience(config),
        is_lockstep=config.pool.kind == "inline",
    )
    chosen: dict[tuple[DeviceSettings, NetShape], Candidate] = {}
    for model, (own, shape, version, weights) in brains.items():
        game, key = load_game(own), (own.device, shape)
        if key not in chosen:
            chosen[key] = choose_backend(own, shape, weights, game).best
        backend = open_model(own, shape, weights, version, chosen[key])
        engine.serve(model, Endpoint(shape.row_features, shape.actions, backend.launch, dtype=game.feature_dtype))
    await engine.run()
    return {model: str(chosen[brain.config.device, brain.shape]) for model, brain in brains.items()}
