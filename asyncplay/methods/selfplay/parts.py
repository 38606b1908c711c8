"""The parts of a training run that follow from its configuration and its past."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

from asyncplay.config.sections import Config
from asyncplay.data.replay import Replay, TurnActions, turn_by_table, window_rows
from asyncplay.data.window import count_rows
from asyncplay.engine.dispatch import Dispatcher
from asyncplay.engine.ledger import Ledger
from asyncplay.engine.limiter import Limiter, RatioState, RowCounts, SampleRatio
from asyncplay.games.spec import GameSpec, outcome_of
from asyncplay.methods.selfplay.checkpoint import Stored
from asyncplay.methods.selfplay.games import GameFacts
from asyncplay.methods.selfplay.messages import Game
from asyncplay.methods.selfplay.refill import Missing, Refill
from asyncplay.model import device
from asyncplay.model.device import Candidate
from asyncplay.model.learner import Learner, LearnerSettings
from asyncplay.model.schedule import LearningRate
from asyncplay.model.shape import NetShape
from asyncplay.payloads import Ints
from asyncplay.search.symmetry import turn_by_kernel, turn_checker

LEG_ROUNDS = 8  # how often all games at a time are played between two barriers of an inline run


def make_learner(config: Config, shape: NetShape, option: Candidate) -> Learner:
    learn = config.learn
    schedule = LearningRate(
        peak=learn.learning_rate,
        warmup_steps=learn.warmup_steps,
        decay_steps=learn.decay_steps,
        final=learn.final_rate,
    )
    settings = LearnerSettings(schedule, learn.weight_decay, learn.value_weight, average_steps=learn.average_steps)
    training = device.training_device(option.backend)
    threads: tuple[int, ...] = ()  # that training steps choose from
    if training == "cpu" and (config.device.threads or config.pool.kind == "inline"):
        threads = (option.threads,)  # the user's choice, or the clock must not decide
    elif training == "cpu":
        threads = tuple(sorted({1, device.usable_cores()}))
    return Learner(shape, settings, config.train.seed, device=training, threads=threads)


def leg_games(config: Config) -> int:
    """Games between two barriers at which an inline run is saved."""
    return LEG_ROUNDS * config.search.games


def make_ledger(config: Config, stored: Stored) -> Ledger:
    """What is stored is done, what was issued and is not stored is issued again."""
    ledger = Ledger(config.train.units or None)
    ledger.restore(stored.units)
    if config.pool.kind == "inline":
        ledger.set_barrier(ledger.next_unit + leg_games(config))
    return ledger


def make_limiter(config: Config, stored: Stored, trained_rows: int, before: RatioState | None) -> Limiter:
    """Counts as sampled what was trained on: a batch that was drawn last may not have been. ``before``: the
    ratio until now; another one counts from there on."""
    learn = config.learn
    band = int(learn.band_steps * learn.batch_rows)
    ratio = SampleRatio(learn.samples_per_insert, learn.batch_rows, band, learn.minimum_rows)
    limiter = Limiter(ratio if before is None else ratio.after(before))
    limiter.restore(RowCounts(stored.kept.rows, trained_rows))
    return limiter


def make_replay(
    config: Config, game: GameSpec, shape: NetShape, folder: Path, stored: Stored, *, capacity_bytes: int
) -> tuple[Replay, Missing]:
    """An empty window that begins where the old one did, and the rows it lacks; rows have the network's seats.

    Where its bytes hold fewer rows than its law wants, only as many as may fit are brought back."""
    players, total = shape.players, stored.kept.rows
    replay = Replay(
        game.row_features,
        game.feature_dtype,
        players,
        window=config.replay,
        capacity_bytes=capacity_bytes,
        state_words=game.example_words,
    )
    wanted = min(window_rows(config.replay, total), capacity_bytes // replay.row_bytes)
    missing = Missing(total - wanted, total)
    n_rows = count_rows(folder, missing.first_row, missing.stop_row)
    replay.begin_at(total - n_rows, missing=n_rows)
    return replay, missing


def make_refill(
    config: Config,
    folder: Path,
    replay: Replay,
    dispatcher: Dispatcher,
    players: int,
    *,
    check: Callable[[Game, int], None],
) -> Refill:
    options = json.dumps(config.game.options)
    seed, shows_hidden = config.train.seed, config.net.hidden_features
    return Refill(folder, replay, dispatcher, config.game.name, options, players, seed, check, shows_hidden)


def make_turns(game: GameSpec) -> tuple[Ints, TurnActions] | None:
    """How rows are turned, features int32[Y, F or F + H] and actions, where a game has more than the identity."""
    if game.n_symmetries == 1:
        return None
    features, actions = game.symmetries()
    return features[:, : game.row_features], turn_by_kernel(game) if actions is None else turn_by_table(actions)


def game_facts(game: GameSpec) -> GameFacts:
    """What finished games are held against."""
    most_value = (1.0 + abs(game.value_offset)) / game.value_scale
    return GameFacts(
        players=game.players,
        actions=game.actions,
        max_decisions=game.max_decisions,
        is_staged=game.is_staged,
        is_zero_sum=game.zero_sum,
        most_return=most_value * (game.max_decisions if game.is_staged else 1),  # a stage has a decision at least
        reasons=game.reasons,
        outcome_of=partial(outcome_of, game),
        state_words=game.example_words,
        turn_flaw=turn_checker(game) if game.example_words else None,
    )
