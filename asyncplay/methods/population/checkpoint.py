"""What a run of a population remembers of itself: into a checkpoint and out of it."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import NamedTuple

from pydantic import Field

from asyncplay.config.sections import Config
from asyncplay.data import checkpoint
from asyncplay.data.checkpoint import Checkpoint, Count, State, named, named_below
from asyncplay.data.entries import StorePosition
from asyncplay.engine.limiter import RatioState, RowCounts
from asyncplay.errors import AsyncplayError
from asyncplay.methods.population.members import MOST_OLDER
from asyncplay.methods.population.trainer import PopulationProgress, PublishedStack
from asyncplay.methods.selfplay.checkpoint import LimiterState, PublishedState, StoreState
from asyncplay.model.learner import LearnerState
from asyncplay.model.quantile import check_stack
from asyncplay.model.quantile_learner import QuantileLearner
from asyncplay.payloads import Array

KIND = "population"


class RestoredPopulation(NamedTuple):
    """What a run goes on from, besides its learner and its store."""

    published: PublishedStack
    last_version: int  # that was ever given
    kept: StorePosition  # where the store stood
    ratio: RatioState | None


class PopulationState(State):
    """What ``capture`` writes, as far as it is read back."""

    learner: str
    published: PublishedState
    versions: Count = Field(ge=1, le=MOST_OLDER + 1)  # that are kept, for agents that act as they were
    limiter: LimiterState
    store: StoreState


def restore(found: Checkpoint | None, learner: QuantileLearner, now_s: float) -> RestoredPopulation:
    """Make ``learner`` what it was and return the rest; where nothing was found, that of a new run."""
    if found is None:
        return RestoredPopulation(PublishedStack(0, [learner.weights()], 0, now_s), 0, StorePosition(), None)
    if found.state.get("kind") != KIND:
        raise AsyncplayError("the checkpoint is not of a run that trains a population")
    state = checkpoint.understand(PopulationState, found)
    published, limiter = state.published, state.limiter
    history: list[Mapping[str, Array]] = [
        named_below(f"published-{age}", found.arrays) for age in range(state.versions)
    ]
    try:
        learner.load(LearnerState(named_below("learner", found.arrays), state.learner))
        for weights in history:
            check_stack(learner.shape, weights)
    except AsyncplayError as error:
        raise checkpoint.unfit(str(error)) from None
    return RestoredPopulation(
        published=PublishedStack(published.version, history, published.step, now_s - published.age_s),
        last_version=published.last_version,
        kept=StorePosition(state.store.number, state.store.games, state.store.rows),
        ratio=None if limiter.ratio is None else RatioState(limiter.inserted, limiter.ratio, limiter.shift_rows),
    )


def capture(
    config: Config, progress: PopulationProgress, *, counts: RowCounts, ratio: RatioState, kept: StorePosition
) -> Checkpoint:
    """What a checkpoint keeps. ``progress`` was taken between two rounds."""
    published, settings = progress.published, asdict(config)
    arrays = named("learner", progress.learner.tensors)
    for age, weights in enumerate(published.history):
        arrays |= named(f"published-{age}", weights)
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
        "versions": len(published.history),
        "limiter": counts._asdict() | ratio._asdict(),
        "store": kept._asdict(),
    }
    return Checkpoint(arrays, state)
