"""What a run of neural self-play remembers of itself: into a checkpoint and out of it."""

import hashlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import ConfigDict, Field

from asyncplay.config.sections import Config
from asyncplay.data import checkpoint
from asyncplay.data.checkpoint import Checkpoint, Count, State, named, named_below
from asyncplay.data.entries import StorePosition
from asyncplay.data.reader import last_version, reading
from asyncplay.data.store import read_kept, read_units
from asyncplay.data.watermark import loss, read_watermark
from asyncplay.engine.limiter import RatioState, RowCounts
from asyncplay.engine.tuner import TunerState
from asyncplay.errors import AsyncplayError
from asyncplay.methods.selfplay.arena import ArenaRecord
from asyncplay.methods.selfplay.score import Score
from asyncplay.methods.selfplay.trainer import Published, TrainerState
from asyncplay.model.learner import Learner, LearnerState
from asyncplay.model.nets import check_weights

KIND = "neural"


class Restored(NamedTuple):
    """What a run goes on from, besides its learner and its store.

    Which rows a training batch has follows from the seed and the learner's steps: they are its random state.
    """

    published: Published
    last_version: int  # that was ever given
    kept: StorePosition  # where the store stood
    ratio: RatioState | None  # of play and training; None where an older checkpoint does not have it
    arena: ArenaRecord
    tuner: TunerState | None


class PublishedState(State):
    version: Count
    step: Count
    age_s: float = Field(ge=0)
    last_version: Count


class LimiterState(State):
    """An older checkpoint has no ratio."""

    inserted: Count
    ratio: float | None = Field(None, gt=0)
    shift_rows: float = 0.0


class StoreState(State):
    number: Count
    games: Count
    rows: Count


class ArenaState(State):
    model_config = ConfigDict(allow_inf_nan=True)  # of one game there is no interval

    version: Count
    results: dict[str, Score]


class TunerFacts(State):
    arm: Literal["NONE", "INTEGRAL", "HALF", "ALL"]
    fixed_s: float = Field(ge=0)
    per_row_s: float = Field(ge=0)
    records: dict[Literal["NONE", "INTEGRAL", "HALF", "ALL"], tuple[float, float, float]]


class NeuralState(State):
    """What ``capture`` writes, as far as it is read back."""

    learner: str
    published: PublishedState
    limiter: LimiterState
    store: StoreState
    arena: ArenaState
    tuner: TunerFacts | None


class Stored(NamedTuple):
    """What the store says of the run so far; it goes on from here, wherever the checkpoint was made."""

    units: NDArray[np.int64]  # that are done
    kept: StorePosition
    last_version: int


def restore(found: Checkpoint | None, learner: Learner, now_s: float) -> Restored:
    """Make ``learner`` what it was and return the rest; where nothing was found, that of a new run.

    ``now_s`` is the trainer's clock.
    """
    if found is None:
        weights = learner.weights()
        return Restored(Published(0, weights, 0, now_s), 0, StorePosition(), None, ArenaRecord(0, weights, {}), None)
    if found.state.get("kind") != KIND:
        raise AsyncplayError("the checkpoint is not of a run that trains a network")
    arrays, state = found.arrays, checkpoint.understand(NeuralState, found)
    published, arena, limiter = state.published, state.arena, state.limiter
    try:
        learner.load(LearnerState(named_below("learner", arrays), state.learner))
        for part in ("published", "arena"):
            check_weights(learner.shape, named_below(part, arrays))
    except AsyncplayError as error:
        raise checkpoint.unfit(str(error)) from None
    return Restored(
        published=Published(
            published.version, named_below("published", arrays), published.step, now_s - published.age_s
        ),
        last_version=published.last_version,
        kept=StorePosition(state.store.number, state.store.games, state.store.rows),
        ratio=None if limiter.ratio is None else RatioState(limiter.inserted, limiter.ratio, limiter.shift_rows),
        arena=ArenaRecord(arena.version, named_below("arena", arrays), arena.results),
        tuner=None if state.tuner is None else TunerState(**state.tuner.model_dump()),
    )


def capture(
    config: Config,
    progress: TrainerState,
    *,
    counts: RowCounts,
    ratio: RatioState,
    kept: StorePosition,
    arena: ArenaRecord,
    tuner: TunerState | None,
) -> Checkpoint:
    """What a checkpoint keeps. ``progress`` was taken between two steps."""
    published, settings = progress.published, asdict(config)
    arrays = named("learner", progress.learner.tensors) | named("published", published.weights)
    state = {
        "kind": KIND,
        "config": settings,
        "config_sha256": hashlib.sha256(json.dumps(settings).encode()).hexdigest(),
        "learner": progress.learner.facts,
        "published": {
            "version": published.version,
            "step": published.step,
            "age_s": progress.age_s,
            "last_version": progress.last_version,
        },
        "limiter": counts._asdict() | ratio._asdict(),
        "store": kept._asdict(),
        "arena": {
            "version": arena.version,
            "results": {name: score._asdict() for name, score in arena.results.items()},
        },
        "tuner": None if tuner is None else asdict(tuner),
    }
    return Checkpoint(arrays | named("arena", arena.weights), state)


def read_stored(folder: Path) -> Stored:
    with reading(folder, is_live=True) as connection:
        return Stored(read_units(connection), read_kept(connection), last_version(connection) or 0)


def losses(folder: Path, kept: StorePosition, known: StorePosition) -> list[str]:
    """A line for each way in which the store is behind what was known of it: it was rolled back or damaged."""
    lines = [loss(kept, read_watermark(folder))]
    if kept.number < known.number or kept.games < known.games:
        lines.append(
            f"run.sqlite has {kept.games:,} games, the last one number {kept.number:,}, but the checkpoint knew of "
            f"{known.games:,} up to {known.number:,}: it is an older copy or was damaged; what is lost is played again"
        )
    return [line for line in lines if line is not None]
