"""Finished episodes as they arrive: whether they can be, and what each agent learns from them."""

from collections.abc import Iterator

import numpy as np

from asyncplay.data.transitions import Passage
from asyncplay.engine.bounds import MOST_FEATURE, SLACK, is_sound, is_within
from asyncplay.games.environment import Environment
from asyncplay.methods.population.messages import Episode
from asyncplay.payloads import Array


def episode_flaw(episode: Episode, environment: Environment, *, seed: int, version: int) -> str | None:
    """Say why an episode cannot be as it is; ``seed`` is its unit's, ``version`` the newest that has answered."""
    if episode.seed != seed:
        return f"seed {episode.seed}, its unit has {seed}"
    return _ending_flaw(episode, environment) or _rows_flaw(episode, environment, version)


def _ending_flaw(episode: Episode, environment: Environment) -> str | None:
    n_decisions, returns = len(episode.actions), episode.returns
    if not 0 < n_decisions <= environment.longest:
        return f"{n_decisions} decisions, an episode has 1 to {environment.longest}"
    if episode.reason != environment.reason:
        return f"{episode.reason[:20]!r} for the reason of its end, known is {environment.reason}"
    if len(returns) != environment.players:
        return f"returns of {len(returns)} agents, there are {environment.players}"
    if not is_within(returns, environment.most_return):
        return f"a return that is no number up to {environment.most_return:g}"
    if not is_within(episode.outcome - environment.outcome(returns), 0.0):
        return "an outcome that is not its returns'"
    return None


def _rows_flaw(episode: Episode, environment: Environment, version: int) -> str | None:
    """Of an episode with decisions; the first that is wrong, in an order in which each may rely on those before."""
    actions, seats, choices, frames = episode.actions, episode.seats, episode.choices, episode.frames
    if actions.min() < 0 or actions.max() >= environment.actions:
        return f"an action outside the {environment.actions} that there are"
    if seats.min() < 0 or seats.max() >= environment.players:
        return f"an agent outside its {environment.players}"
    if episode.versions.min() < 0 or episode.versions.max() > version:
        return f"weights of a version outside 0 to {version}"
    if choices.dtype != np.uint8 or choices.shape[1] != environment.actions or choices.max() > 1:
        return "legal actions that are none"
    if not choices[np.arange(len(actions)), actions].all():
        return "a decision that was not legal"
    return _frames_flaw(frames, environment) or _rewards_flaw(episode, environment)


def _frames_flaw(frames: Array, environment: Environment) -> str | None:
    if frames.shape[1] != environment.frame_features or frames.dtype != environment.feature_dtype:
        return f"frames of {frames.shape[1]} {frames.dtype}, wanted {environment.frame_features}"
    if frames.dtype == np.float32 and not is_sound(frames):
        return f"a feature that is no number from -{MOST_FEATURE:g} to {MOST_FEATURE:g}"
    return None


def _rewards_flaw(episode: Episode, environment: Environment) -> str | None:
    if not is_within(episode.rewards, environment.most_return):
        return f"a reward that is no number up to {environment.most_return:g}"
    counts = np.bincount(episode.seats, minlength=environment.players)
    paid = np.bincount(episode.seats, episode.rewards, environment.players)
    missing = (paid - episode.returns)[counts > 0]
    return None if is_within(missing, SLACK * environment.most_return) else "rewards that do not add up to its returns"


def passages(episode: Episode, agents: int) -> Iterator[tuple[int, Passage]]:
    """What each agent that decided saw, did and got."""
    for agent in range(agents):
        mine = np.flatnonzero(episode.seats == agent)
        if len(mine):
            yield (
                agent,
                Passage(
                    episode.frames[mine],
                    episode.choices[mine],
                    episode.actions[mine],
                    episode.rewards[mine],
                    episode.versions[mine],
                ),
            )
