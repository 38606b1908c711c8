"""The parts of a population's run that follow from its configuration and its past."""

from asyncplay.config.sections import Config
from asyncplay.data.transitions import Transitions
from asyncplay.engine.ledger import Ledger
from asyncplay.engine.limiter import Limiter, RatioState, RowCounts, SampleRatio
from asyncplay.games.environment import Environment
from asyncplay.machine import usable_cores
from asyncplay.methods.population.members import Members
from asyncplay.methods.selfplay.checkpoint import Stored
from asyncplay.model import device
from asyncplay.model.quantile import QuantileShape
from asyncplay.model.quantile_learner import QuantileLearner, QuantileSettings
from asyncplay.model.schedule import LearningRate

LEG_ROUNDS = 8  # how often all environments are played between two barriers of an inline run


def quantile_shape(config: Config, environment: Environment, members: Members) -> QuantileShape:
    return QuantileShape(
        networks=members.n_networks,
        features=environment.features,
        actions=environment.actions,
        width=config.net.width,
        quantiles=config.population.quantiles,
        cosines=config.population.cosines,
    )


def training_device(config: Config) -> str:
    """The best that torch has: "cuda", "mps" or "cpu"."""
    return device.training_device(device.candidates("torch", [1])[0].backend)


def n_threads(config: Config) -> int:
    """On which networks are trained side by side on a CPU."""
    return config.device.threads or usable_cores()


def make_learner(config: Config, shape: QuantileShape, where: str, threads: int = 1) -> QuantileLearner:
    """``threads`` of torch for a step on a CPU; 0: as the calling thread has them."""
    learn = config.learn
    schedule = LearningRate(
        peak=learn.learning_rate,
        warmup_steps=learn.warmup_steps,
        decay_steps=learn.decay_steps,
        final=learn.final_rate,
    )
    settings = QuantileSettings(schedule, config.population.target_rate)
    return QuantileLearner(shape, settings, config.train.seed, device=where, threads=threads if where == "cpu" else 0)


def make_ring(config: Config, environment: Environment) -> Transitions:
    population = config.population
    return Transitions(
        environment.players,
        population.replay_rows,
        features=environment.features,
        frames=environment.frames,
        feature_dtype=environment.feature_dtype,
        actions=environment.actions,
        n_step=population.n_step,
        discount=population.discount,
        priority=population.priority,
        priority_weight=population.priority_weight,
    )


def make_limiter(
    config: Config, members: Members, inserted: int, steps: list[int], before: RatioState | None
) -> Limiter:
    """In transitions of all agents; a step draws a batch for each network that learns. ``before``: the ratio until
    now; another one counts from there on."""
    learn = config.learn
    batch_rows = learn.batch_rows * len(members.learning)
    ratio = SampleRatio(learn.samples_per_insert, batch_rows, int(learn.band_steps * batch_rows), learn.minimum_rows)
    limiter = Limiter(ratio if before is None else ratio.after(before))
    limiter.restore(RowCounts(inserted, learn.batch_rows * sum(steps)))
    return limiter


def leg_episodes(config: Config) -> int:
    """Between two barriers at which an inline run is saved."""
    return LEG_ROUNDS * config.population.environments


def make_ledger(config: Config, stored: Stored) -> Ledger:
    """What is stored is done, what was issued and is not stored is issued again."""
    ledger = Ledger(config.train.units or None)
    ledger.restore(stored.units)
    if config.pool.kind == "inline":
        ledger.set_barrier(ledger.next_unit + leg_episodes(config))
    return ledger
