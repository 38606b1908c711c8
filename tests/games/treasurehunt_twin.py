"""Treasurehunt in plain Python, close to the text of its rules; chance comes in as arrays."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

STEPS = {0: (-1, 0), 1: (1, 0), 2: (0, -1), 3: (0, 1)}
EMPTY, WALL, GEM, AGENT, SELF = "empty", "wall", "gem", "agent", "self"
PLANES = (EMPTY, WALL, GEM, AGENT, SELF)


@dataclass
class Hunt:
    """One episode under way."""

    size: int
    starts: np.ndarray  # int[P, 2]
    rate: float = 0.02
    window: int = 5
    frames: int = 5
    gems: set[tuple[int, int]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.places = [tuple(map(int, start)) for start in self.starts]
        self.seen: list[list[np.ndarray]] = [[] for _ in self.places]

    def at(self, cell: tuple[int, int]) -> str:
        if not all(0 < place < self.size - 1 for place in cell):
            return WALL
        return GEM if cell in self.gems else AGENT if cell in self.places else EMPTY

    def grow(self, draws: np.ndarray) -> None:
        inner = [(row, column) for row in range(1, self.size - 1) for column in range(1, self.size - 1)]
        self.gems |= {cell for cell in inner if self.at(cell) == EMPTY and draws[cell] < self.rate}

    def frame(self, agent: int) -> np.ndarray:
        half, (row, column) = self.window // 2, self.places[agent]
        planes = np.zeros((len(PLANES), self.window, self.window), np.uint8)
        for y in range(self.window):
            for x in range(self.window):
                cell = (row + y - half, column + x - half)
                planes[PLANES.index(SELF if cell == self.places[agent] else self.at(cell)), y, x] = 1
        return planes.ravel()

    def observe(self, agent: int) -> np.ndarray:
        """The agent acts next: what it sees now becomes part of its past."""
        self.seen[agent].append(self.frame(agent))
        latest = self.seen[agent][-self.frames :]
        missing = [np.zeros_like(latest[0])] * (self.frames - len(latest))
        return np.concatenate(missing + latest)

    def act(self, agent: int, action: int) -> int:
        target = tuple(np.add(self.places[agent], STEPS[action]))
        found = self.at(target)
        if found in (EMPTY, GEM):
            self.gems.discard(target)
            self.places[agent] = target
        return {GEM: 10, WALL: -1}.get(found, 0)


def play(
    hunt: Hunt, draws: np.ndarray, actions: np.ndarray, order: np.ndarray | None = None
) -> Iterator[tuple[int, int, np.ndarray, int]]:
    """(turn, agent, observation, reward) of each step; ``draws`` float[T, size, size], ``actions`` int[T, P]."""
    for turn, wanted in enumerate(actions):
        hunt.grow(draws[turn])
        for agent in range(len(wanted)) if order is None else order[turn]:
            seen = hunt.observe(agent)
            yield turn, agent, seen, hunt.act(agent, int(wanted[agent]))
