"""Whether a run of a population can begin."""

from asyncplay.config.sections import Config
from asyncplay.data.transitions import transition_bytes
from asyncplay.errors import ConfigError
from asyncplay.games import environments
from asyncplay.methods.limits import told
from asyncplay.methods.population.members import read_members

MOST_ACTIONS = 1 << 14  # of an environment: a transition keeps which of them were legal


def require(config: Config, free_bytes: int) -> None:
    """ConfigError names the key that cannot be; nothing is allocated, and torch is not loaded."""
    population = config.population
    if config.solve.method != "off":
        raise ConfigError(
            f"population.method is quantile and solve.method is {config.solve.method}; set one of them off"
        )
    environment = environments.load(config.game.name, config.game.options)
    read_members(population, environment.players)
    if config.device.backend not in ("auto", "torch"):
        raise ConfigError(f"device.backend is {config.device.backend}, a population takes only auto or torch")
    if environment.actions > MOST_ACTIONS:
        raise ConfigError(
            f"{environment.name} has {environment.actions:,} actions, a population takes {MOST_ACTIONS:,}"
        )
    if population.replay_rows < environment.longest:
        told_rows = f"population.replay_rows is {population.replay_rows}"
        raise ConfigError(f"{told_rows}, an episode of {environment.name} has up to {environment.longest} decisions")
    each = transition_bytes(environment.frame_features, environment.feature_dtype, environment.actions)
    needed = population.replay_rows * environment.players * each
    if needed > free_bytes:
        fitting = free_bytes // (environment.players * each)
        words = f"population.replay_rows is {population.replay_rows}: it would need {told(needed)} of memory"
        raise ConfigError(f"{words}, and {told(free_bytes)} are free; {fitting} would fit")
