"""The latest transitions of each agent, and batches drawn from them.

An agent has a ring of what it saw: a frame, what it did, the reward, and where in its episode this was. Rows that a
network reads are stacked from frames when they are drawn, and rewards of several steps summed; neither ever reaches
into another episode. An episode leaves as a whole.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from asyncplay.payloads import Array, Floats

Longs = NDArray[np.int64]
LEAST_ERROR = 1e-3  # added to errors: a row without one is drawn too
NUMBER_BYTES = 32  # of a transition beside its frame and its legal actions


class Passage(NamedTuple):
    """What one agent saw and did in an episode, T decisions."""

    frames: Array  # uint8 or float32[T, F / frames]
    legal: Array  # uint8[T, A], 1 for a legal action
    actions: Array  # int[T]
    rewards: Array  # float[T], until its next decision or the end
    versions: Array  # int[T], of the weights that answered


class DrawnRows(NamedTuple):
    """Transitions out of the rings, n rows."""

    features: Array  # [n, F]
    actions: Longs
    rewards: Floats  # the next n_step ones, discounted, or those that there were
    discounts: Floats  # of what follows them; 0 where nothing does
    next_features: Array  # [n, F]; without meaning where nothing follows
    next_legal: Array  # uint8[n, A]
    weight: Floats
    agents: Longs  # whose ring a row is from,
    places: Longs  # and where
    age_rows: float  # mean number of transitions of the same agent that came after
    versions: Longs


class Transitions:
    """Rings of ``capacity`` transitions for each agent.

    Lifetime: one run. All methods belong to the loop. Which rows are drawn depends on the order in which episodes came
    and on the generator alone. Limit: an episode that comes makes room for itself.
    """

    def __init__(
        self,
        agents: int,
        capacity: int,
        *,
        features: int,
        frames: int,
        feature_dtype: DTypeLike,
        actions: int,
        n_step: int,
        discount: float,
        priority: float = 0.0,
        priority_weight: float = 0.0,
    ) -> None:
        self._frames, self._n_step, self._discount, self._capacity = frames, n_step, discount, capacity
        self._priority, self._priority_weight = priority, priority_weight
        self._seen = np.zeros((agents, capacity, features // frames), feature_dtype)
        self._legal = np.zeros((agents, capacity, actions), np.uint8)
        self._actions, self._versions = np.zeros((agents, capacity), np.int32), np.zeros((agents, capacity), np.int32)
        self._rewards = np.zeros((agents, capacity), np.float32)
        self._step, self._length = np.zeros((agents, capacity), np.int32), np.zeros((agents, capacity), np.int32)
        self._odds = np.ones((agents, capacity)) if priority else np.empty((agents, 0))
        self._first = np.zeros(agents, np.int64)  # place of the oldest
        self._rows = np.zeros(agents, np.int64)
        self._highest = np.ones(agents)  # odds that a new transition gets

    @property
    def rows(self) -> int:
        """Transitions of all agents."""
        return int(self._rows.sum())

    def has_rows(self, agents: Sequence[int]) -> bool:
        """Whether something can be drawn for these agents."""
        return bool(self._rows[list(agents)].sum())

    def add(self, agent: int, passage: Passage) -> None:
        """Take what an agent did in an episode, no longer than the ring."""
        length = len(passage.actions)
        assert length <= self._capacity, "an episode is longer than the ring"
        while self._rows[agent] + length > self._capacity:
            oldest = self._length[agent, self._first[agent]]
            self._first[agent] = (self._first[agent] + oldest) % self._capacity
            self._rows[agent] -= oldest
        places = (self._first[agent] + self._rows[agent] + np.arange(length)) % self._capacity
        self._seen[agent, places], self._legal[agent, places] = passage.frames, passage.legal
        self._actions[agent, places], self._rewards[agent, places] = passage.actions, passage.rewards
        self._versions[agent, places] = passage.versions
        self._step[agent, places], self._length[agent, places] = np.arange(length), length
        if self._priority:
            self._odds[agent, places] = self._highest[agent]
        self._rows[agent] += length

    def draw(self, agents: Sequence[int], n_rows: int, random: np.random.Generator) -> DrawnRows:
        """Draw from the rings of these agents, which have rows; a row of any of them is as likely as another."""
        owners, places, weight = self._pick(np.array(agents, np.int64), n_rows, random)
        step, left = self._step[owners, places], self._length[owners, places] - self._step[owners, places]
        rewards = np.zeros(n_rows, np.float32)
        for ahead in range(self._n_step):
            there = (places + ahead) % self._capacity
            rewards += np.where(ahead < left, self._discount**ahead * self._rewards[owners, there], 0.0)
        goes_on = left > self._n_step
        later = np.where(goes_on, (places + self._n_step) % self._capacity, places)
        newest = (self._first[owners] + self._rows[owners] - 1) % self._capacity
        return DrawnRows(
            features=self._stack(owners, places, step),
            actions=self._actions[owners, places].astype(np.int64),
            rewards=rewards,
            discounts=np.where(goes_on, self._discount**self._n_step, 0.0).astype(np.float32),
            next_features=self._stack(owners, later, self._step[owners, later]),
            next_legal=self._legal[owners, later],
            weight=weight,
            agents=owners,
            places=places,
            age_rows=float(((newest - places) % self._capacity).mean()),
            versions=self._versions[owners, places].astype(np.int64),
        )

    def prioritise(self, drawn: DrawnRows, errors: Floats) -> None:
        """Draw these rows by their errors from now on; nothing where all are drawn alike."""
        if self._priority:
            odds = (errors + LEAST_ERROR) ** self._priority
            self._odds[drawn.agents, drawn.places] = odds
            np.maximum.at(self._highest, drawn.agents, odds)

    def _pick(self, agents: Longs, n_rows: int, random: np.random.Generator) -> tuple[Longs, Longs, Floats]:
        """Agents, places and weights of rows: all alike, or by their odds."""
        ends = np.cumsum(self._rows[agents])
        if not self._priority:
            numbers, weight = random.integers(0, ends[-1], n_rows), np.ones(n_rows, np.float32)
        else:
            order = [(self._first[agent] + np.arange(self._rows[agent])) % self._capacity for agent in agents]
            odds = np.concatenate([self._odds[agent, where] for agent, where in zip(agents, order, strict=True)])
            sums = np.cumsum(odds)
            numbers = np.searchsorted(sums, random.random(n_rows) * sums[-1], side="right").clip(max=ends[-1] - 1)
            rarity = (odds[numbers] / sums[-1] * ends[-1]) ** -self._priority_weight
            weight = (rarity / rarity.max()).astype(np.float32)
        which = np.searchsorted(ends, numbers, side="right")
        owners = agents[which]
        inside = numbers - np.concatenate([[0], ends])[which]
        return owners, (self._first[owners] + inside) % self._capacity, weight

    def _stack(self, owners: Longs, places: Longs, steps: Array) -> Array:
        """The frames of this and earlier decisions of the episode, zeros where there were none: [n, F]."""
        back = np.arange(self._frames - 1, -1, -1)
        seen = self._seen[owners[:, None], (places[:, None] - back) % self._capacity]
        if self._frames > 1:
            seen[steps[:, None] < back] = 0
        rows: Array = seen.reshape(len(places), -1)
        return rows


def transition_bytes(frame_features: int, feature_dtype: DTypeLike, actions: int) -> int:
    """Of one transition in a ring."""
    return frame_features * np.dtype(feature_dtype).itemsize + actions + NUMBER_BYTES
