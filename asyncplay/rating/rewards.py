"""What a population has learned: the rewards of greedy episodes, with intervals."""

from pathlib import Path
from typing import Any

from asyncplay.config.sections import Config
from asyncplay.engine.engine import Engine
from asyncplay.engine.evaluator import Endpoint
from asyncplay.errors import AsyncplayError
from asyncplay.games import environments
from asyncplay.methods import parts as build
from asyncplay.methods.population import parts
from asyncplay.methods.population.members import read_members
from asyncplay.methods.population.tryout import Rewards, Tryout
from asyncplay.model.backends.quantile_backend import QuantileBackend
from asyncplay.model.nets import Weights, from_bytes
from asyncplay.model.quantile import QuantileShape, check_stack
from asyncplay.rundir import weights as stored
from asyncplay.rundir.layout import CONFIG, read_config

MODEL = 0


def config_of(run: Path) -> Config | None:
    """The configuration of a run that trains a population; None of any other."""
    config = read_config(run) if (run / CONFIG).is_file() else None
    return config if config is not None and config.population.method != "off" else None


async def measure(run: Path, config: Config, episodes: int, version: int | None, seed: int) -> dict[str, Any]:
    """What ``asyncplay eval --json`` prints of a run that trains a population; without a version, of the latest."""
    known = stored.versions(run)
    if not known:
        raise AsyncplayError(f"{run} has no trained weights yet; train on: asyncplay train --resume {run}")
    chosen = known[-1] if version is None else version
    found = await play(config, load_stack(run, chosen, config), chosen, episodes=episodes, seed=seed)
    return {
        "run": str(run),
        "game": config.game.name,
        "version": chosen,
        "games": found.episodes,
        "reward": found.total.mean,
        "interval": [found.total.low, found.total.high],
        "reward_by_agent": [agent.mean for agent in found.agents],
        "intervals_by_agent": [[agent.low, agent.high] for agent in found.agents],
    }


def load_stack(run: Path, version: int, config: Config) -> Weights:
    """The weights of all networks of a version."""
    environment = environments.load(config.game.name, config.game.options)
    shape: QuantileShape = parts.quantile_shape(
        config, environment, read_members(config.population, environment.players)
    )

    def checked(data: bytes) -> Weights:
        weights = from_bytes(data)
        check_stack(shape, weights)
        return weights

    return stored.load(run, version, checked)


async def play(
    config: Config, weights: Weights, version: int, *, episodes: int, seed: int, epsilon: float = 0.0
) -> Rewards:
    """Let agents with these networks act, greedily unless ``epsilon`` says otherwise."""
    environment = environments.load(config.game.name, config.game.options)
    environment.warm(None)
    members, where = read_members(config.population, environment.players), parts.training_device(config)
    tryout = Tryout(config, environment, model=MODEL, episodes=episodes, seed=seed, epsilon=epsilon)
    engine = Engine(
        build.make_pool(config.pool.kind),
        tryout.work,
        workers=build.n_workers(config),
        settings=build.live_settings(config),
        limits=build.limits(config),
        patience=build.patience(config),
        is_lockstep=config.pool.kind == "inline",
    )
    quantiles = config.population.quantiles
    backend = QuantileBackend(members.acting([weights]), version, quantiles=quantiles, device=where, threads=1)
    rows = (1 + environment.features, environment.actions)
    engine.serve(MODEL, Endpoint(*rows, backend.launch, dtype=environment.feature_dtype))
    await engine.run()
    return tryout.rewards()
