"""Environments of PettingZoo for a population: plain Python, as slow as they are.

``pettingzoo:MODULE`` is a module with ``env`` (agents take turns) or ``parallel_env`` (all act at once: they are asked
in turn, and see what there was before the step). The agents must be known beforehand and have discrete actions. What
they see is flattened, brought to 0 .. 1 where it has bounds, and filled up with zeros to the longest; legal actions
come from an "action_mask" of the observation or the info.
"""

import json
from collections import deque
from collections.abc import Mapping
from copy import deepcopy
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asyncplay.errors import AsyncplayError
from asyncplay.games import options as declarations
from asyncplay.games.block import Longs, Sights
from asyncplay.games.environment import Environment
from asyncplay.games.options import GameOption
from asyncplay.games.spec import BY_RULES, GAME_OVER
from asyncplay.payloads import Array, Floats, offsets_of

PREFIX = "pettingzoo:"
SEEDS = 1 << 31  # many environments take no larger seed
MOST_FEATURE = 100.0  # of what has no bounds
MOST_REWARD = 1e9
MASK = "action_mask"

OPTIONS = (
    GameOption("frames", int, 1, "What an agent sees: the present frame and those of its turns before.", within=(1, 8)),
    GameOption("longest", int, 1000, "Decisions after which an episode is cut off.", within=(1, 100_000)),
    GameOption(
        "most_return", float, 1.0, "Of self-play: what an agent can get in a game, either way.", within=(1e-6, 1e9)
    ),
    GameOption("arguments", str, "", "Of the module's env().", form='JSON such as {"max_cycles": 25}, or empty'),
)


def load(name: str, options: Mapping[str, object]) -> Environment:
    """AsyncplayError if there is no such module, or its agents cannot learn here."""
    chosen: dict[str, Any] = declarations.check(name, OPTIONS, options)
    world = World(make(name, chosen["arguments"]), name)
    frames, n_agents = chosen["frames"], len(world.agents)
    return Environment(
        name=name,
        players=n_agents,
        actions=world.actions,
        features=frames * world.features,
        frames=frames,
        feature_dtype=np.float32,
        longest=chosen["longest"],
        most_return=MOST_REWARD,
        reason=BY_RULES,
        outcome=winners,
        make_block=partial(WorldBlock, name, chosen),
        warm=lambda progress: None,
    )


def make(name: str, arguments: str) -> Any:
    """An environment in which agents take turns."""
    module_name = name.removeprefix(PREFIX)
    try:
        from pettingzoo.utils import conversions
    except ImportError:
        raise AsyncplayError(f"{name} needs PettingZoo: pip install 'asyncplay[pettingzoo]'") from None
    try:
        module = import_module(module_name)
    except ImportError as error:
        raise AsyncplayError(f"game.name is {name}: {module_name} cannot be imported: {error}") from None
    try:
        given = json.loads(arguments) if arguments else {}
        if not isinstance(given, dict):
            raise ValueError("it is no object")
    except ValueError as error:
        raise AsyncplayError(f"option arguments of {name} is {arguments!r:.60}, must be JSON: {error}") from None
    if not hasattr(module, "env") and not hasattr(module, "parallel_env"):
        raise AsyncplayError(f"game.name is {name}: {module_name} has neither env nor parallel_env")
    try:
        if hasattr(module, "env"):
            return module.env(**given)
        return conversions.parallel_to_aec(module.parallel_env(**given))
    except TypeError as error:
        raise AsyncplayError(f"option arguments of {name}: {error}") from None
    except ImportError as error:
        raise AsyncplayError(f"{name} needs what is not installed: {error}") from None


def winners(returns: Array) -> Floats:
    """The best share a win, -1 to 1: what returns can be is not known beforehand."""
    is_best = returns == returns.max()
    return np.where(is_best, 2 / is_best.sum() - 1, -1).astype(np.float32)


class World:
    """One environment of PettingZoo: seats instead of names, rows instead of observations."""

    def __init__(self, inner: Any, name: str) -> None:
        from gymnasium.spaces import Box, Dict, Discrete

        self._inner = inner
        if not hasattr(inner, "possible_agents"):
            raise AsyncplayError(f"{name} does not tell its agents beforehand")
        self.agents = list(inner.possible_agents)
        self._seat = {agent: seat for seat, agent in enumerate(self.agents)}
        for agent in self.agents:
            if not isinstance(inner.action_space(agent), Discrete) or inner.action_space(agent).start != 0:
                raise AsyncplayError(
                    f"{name}: {agent} has actions {inner.action_space(agent)}, wanted are discrete ones"
                )
        self.actions = max(int(inner.action_space(agent).n) for agent in self.agents)
        spaces: list[Any] = [inner.observation_space(agent) for agent in self.agents]
        self._seen: list[Any] = [space["observation"] if isinstance(space, Dict) else space for space in spaces]
        for agent, space in zip(self.agents, self._seen, strict=True):
            if not isinstance(space, Box | Discrete):
                raise AsyncplayError(f"{name}: {agent} sees {space}, wanted is a box of numbers or one of several")
        self.features = max(len(_scaled(np.zeros(getattr(space, "shape", ())), space)) for space in self._seen)
        self.mover, self.gains = GAME_OVER, np.zeros(len(self.agents))

    def begin(self, seed: int) -> None:
        self._inner.reset(seed=seed % SEEDS)
        self.gains[:] = 0.0
        self._settle()

    def copy(self) -> "World":
        """Another one in the same position; what never changes is shared."""
        after = object.__new__(World)
        after.__dict__ |= self.__dict__
        inner = self._inner
        fixed = [
            space for agent in self.agents for space in (inner.action_space(agent), inner.observation_space(agent))
        ]
        after._inner = _copied(inner, {id(thing): thing for thing in fixed})
        after.gains = self.gains.copy()
        return after

    def play(self, action: int) -> None:
        self._inner.step(action)
        self._settle()

    def look(self) -> tuple[Floats, Longs]:
        """What the agent to decide sees, float32[F], and its legal actions."""
        seat = self.mover
        observation, _, _, _, info = self._inner.last()
        mask = observation.get(MASK) if isinstance(observation, dict) else None
        mask = info.get(MASK) if mask is None else mask
        n_actions = int(self._inner.action_space(self.agents[seat]).n)
        legal = np.arange(n_actions) if mask is None else np.flatnonzero(mask)
        seen = observation["observation"] if isinstance(observation, dict) else observation
        row = np.zeros(self.features, np.float32)
        scaled = _scaled(np.asarray(seen, np.float64), self._seen[seat])
        row[: len(scaled)] = scaled
        return row, legal

    def _settle(self) -> None:
        """Let agents leave that are done; what an agent got since its last turn is known when its next one comes."""
        inner = self._inner
        while inner.agents:
            agent = inner.agent_selection
            _, reward, is_terminated, is_truncated, _ = inner.last(observe=False)
            if not np.isfinite(reward) or abs(reward) > MOST_REWARD:
                raise AsyncplayError(f"{inner} pays {reward}")
            self.gains[self._seat[agent]] += float(reward)
            if not (is_terminated or is_truncated):
                self.mover = self._seat[agent]
                return
            inner.step(None)
        self.mover = GAME_OVER


def _copied(env: Any, memo: dict[int, Any]) -> Any:
    """An environment with its wrappers, attribute by attribute: many say of themselves that a copy is one made anew."""
    memo[id(env)] = after = object.__new__(type(env))
    for name, value in vars(env).items():
        vars(after)[name] = _copied(value, memo) if name == "env" else deepcopy(value, memo)
    return after


def _scaled(seen: NDArray[np.float64], space: Any) -> NDArray[np.float64]:
    """Flat; each number between its bounds on a scale of 0 to 1, one without bounds as it is; one of several as a 1
    among zeros."""
    if not hasattr(space, "low"):
        return np.eye(int(space.n))[int(seen) - int(space.start)]
    low, high = np.asarray(space.low, np.float64), np.asarray(space.high, np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        width = high - low
    has_bounds = np.isfinite(width) & (width > 0) & (width < 1e6)
    scaled = np.where(has_bounds, (seen - np.where(has_bounds, low, 0.0)) / np.where(has_bounds, width, 1.0), seen)
    return np.nan_to_num(scaled, posinf=MOST_FEATURE, neginf=-MOST_FEATURE).clip(-MOST_FEATURE, MOST_FEATURE).ravel()


class WorldBlock:
    """Environments of PettingZoo, stepped one after another."""

    def __init__(self, name: str, chosen: Mapping[str, Any], n_slots: int) -> None:
        self._worlds = [World(make(name, chosen["arguments"]), name) for _ in range(n_slots)]
        n_agents, self._frames, self._longest = len(self._worlds[0].agents), chosen["frames"], chosen["longest"]
        self.movers = np.full(n_slots, GAME_OVER, np.int64)
        self.paid = np.zeros((n_slots, n_agents))
        self._length = np.zeros(n_slots, np.int64)
        self._past: list[list[deque[Floats]]] = [[deque() for _ in range(n_agents)] for _ in range(n_slots)]
        self._now: dict[int, Floats] = {}  # by slot: what the agent to decide sees

    def begin(self, slots: Longs, seeds: list[int], streams: NDArray[np.uint64]) -> None:
        for slot, seed in zip(slots.tolist(), seeds, strict=True):
            world = self._worlds[slot]
            world.begin(seed)
            self._past[slot] = [deque(maxlen=self._frames - 1) for _ in world.agents]
            self._length[slot], self.movers[slot] = 0, world.mover
            self.paid[slot] = world.gains

    def look(self, slots: Longs) -> Sights:
        rows, lists = [], []
        for slot in slots.tolist():
            world = self._worlds[slot]
            self._now[slot], legal = world.look()
            past = self._past[slot][world.mover]
            missing = [np.zeros(world.features, np.float32)] * (self._frames - 1 - len(past))
            seat = np.array([world.mover], np.float32)
            rows.append(np.concatenate([seat, *missing, *past, self._now[slot]]))
            lists.append(legal)
        counts = np.array([len(legal) for legal in lists])
        legal = np.concatenate(lists).astype(np.int32)
        return Sights(slots, self.movers[slots], np.array(rows), legal, offsets_of(counts))

    def step(self, slots: Longs, actions: Longs) -> NDArray[np.float64]:
        before = self.paid[slots]
        for slot, action in zip(slots.tolist(), actions.tolist(), strict=True):
            world = self._worlds[slot]
            self._past[slot][world.mover].append(self._now[slot])
            world.play(action)
            self._length[slot] += 1
            is_cut = self._length[slot] >= self._longest
            self.movers[slot], self.paid[slot] = GAME_OVER if is_cut else world.mover, world.gains
        gained: NDArray[np.float64] = self.paid[slots] - before
        return gained
