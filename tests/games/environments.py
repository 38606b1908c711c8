"""What every block of environments promises, whoever steps it; see asyncplay/games/block.py.

``random_episodes`` is the only player: rows choose among their legal actions by a stream of their own.
"""

import itertools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from asyncplay import rng
from asyncplay.games.block import Blocked
from asyncplay.games.spec import GAME_OVER

Make = Callable[[int], Blocked]


class Case(NamedTuple):
    """A kind of environment: how a block of it is made, and what its rows are."""

    make: Make
    features: int
    actions: int
    frames: int
    longest: int  # decisions of an episode


class Decision(NamedTuple):
    """One row of an episode."""

    seat: int
    features: np.ndarray
    legal: tuple[int, ...]
    action: int
    rewards: np.ndarray  # that the step brought, by seat


class Episode(NamedTuple):
    """From its seed to its end."""

    decisions: list[Decision]
    returns: np.ndarray


def random_episodes(block: Blocked, seeds: list[int], slots: list[int]) -> list[Episode]:
    """Play an episode of each seed in its slot, all at a time."""
    order = np.array(slots, np.int64)
    choices = {slot: rng.stream(seed, 1) for seed, slot in zip(seeds, slots, strict=True)}
    block.begin(order, seeds, np.array([rng.stream(seed, 0) for seed in seeds]))
    notes: dict[int, list[Decision]] = {slot: [] for slot in slots}
    while len(live := order[block.movers[order] != GAME_OVER]):
        sights = block.look(live)
        ends = sights.offsets.tolist()
        legal = [tuple(sights.legal[start:stop].tolist()) for start, stop in itertools.pairwise(ends)]
        rows, seats = sights.rows.copy(), sights.seats.tolist()
        actions = [ways[rng.below(choices[slot], len(ways))] for slot, ways in zip(live.tolist(), legal, strict=True)]
        rewards = block.step(live, np.array(actions, np.int64)).copy()
        for row, slot in enumerate(live.tolist()):
            assert rows[row, 0] == seats[row], "a row begins with its seat"
            notes[slot].append(Decision(seats[row], rows[row, 1:], legal[row], actions[row], rewards[row]))
    return [Episode(notes[slot], block.paid[slot].copy()) for slot in slots]


def check_rewards_add_up_to_the_returns(case: Case) -> None:
    for episode in random_episodes(case.make(4), [1, 2, 3], [0, 1, 3]):
        total = np.sum([decision.rewards for decision in episode.decisions], axis=0)
        np.testing.assert_allclose(total, episode.returns, atol=1e-9)


def check_episodes_end_in_time_and_rows_fit(case: Case) -> None:
    for episode in random_episodes(case.make(2), [4, 5], [1, 0]):
        assert 0 < len(episode.decisions) <= case.longest
        for decision in episode.decisions:
            assert decision.features.shape == (case.features,)
            assert decision.legal
            assert all(0 <= action < case.actions for action in decision.legal)


def check_an_episode_depends_on_its_seed_and_actions_alone(case: Case) -> None:
    """Not on its slot, on its neighbours or on what was played there before."""
    block = case.make(5)
    alone = random_episodes(case.make(1), [7], [0])[0]
    random_episodes(block, [11, 12, 13], [4, 0, 2])
    for again in (random_episodes(block, [9, 7, 8], [2, 4, 1])[1], random_episodes(block, [7], [3])[0]):
        assert [decision.action for decision in again.decisions] == [decision.action for decision in alone.decisions]
        for ours, theirs in zip(again.decisions, alone.decisions, strict=True):
            np.testing.assert_array_equal(ours.features, theirs.features)
            np.testing.assert_array_equal(ours.rewards, theirs.rewards)


def check_frames_are_what_the_seat_saw_before_in_this_episode(case: Case) -> None:
    """Zeros at the start, even where an episode was played before in the same slot."""
    block, size = case.make(1), case.features // case.frames
    for seed in (21, 22):
        seen: dict[int, list[np.ndarray]] = {}
        for decision in random_episodes(block, [seed], [0])[0].decisions:
            frames = decision.features.reshape(case.frames, size)
            mine = seen.setdefault(decision.seat, [])
            wanted = [np.zeros(size, frames.dtype)] * max(case.frames - 1 - len(mine), 0) + mine
            np.testing.assert_array_equal(
                frames[:-1], np.array(wanted[len(wanted) - case.frames + 1 :]).reshape(-1, size)
            )
            mine.append(frames[-1])


CHECKS = [check for name, check in sorted(globals().items()) if name.startswith("check_")]
