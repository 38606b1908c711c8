"""Our games as environments of PettingZoo: ``env("treasurehunt", turns=20)``.

Needs the extra ``pettingzoo``. Agents are "agent_0" and so on. An agent that has no choice of actions beyond all of
them sees its features; in other games it sees {"observation": features, "action_mask": which actions are legal}.
"""

from typing import Any

import numpy as np
from gymnasium.spaces import Box, Dict, Discrete
from pettingzoo import AECEnv

from asyncplay import games, rng
from asyncplay.games.kernels import ready
from asyncplay.games.show import show_of
from asyncplay.games.spec import CHANCE_TURN, GAME_OVER, GameSpec
from asyncplay.payloads import Array

FRESH_SEEDS = 1 << 62


def env(name: str, *, render_mode: str | None = None, **options: object) -> "GameEnv":
    """A game by name, with its options; AsyncplayError if it cannot have them. ``render_mode`` "ansi" draws text."""
    return GameEnv(games.load(name, options), render_mode)


class GameEnv(AECEnv):  # type: ignore[misc]
    """One game under way, played by its kernels."""

    def __init__(self, spec: GameSpec, render_mode: str | None = None) -> None:
        super().__init__()
        self.metadata = {"name": f"asyncplay_{spec.name}", "render_modes": ["ansi"], "is_parallelizable": False}
        self.spec, self.render_mode = spec, render_mode
        for dispatcher in spec.kernels.all():
            ready(dispatcher)
        self.possible_agents = [f"agent_{seat}" for seat in range(spec.players)]
        is_bytes = spec.feature_dtype is np.uint8
        low, high = (0, 255) if is_bytes else (-np.inf, np.inf)
        dtype: Any = spec.feature_dtype
        seen: Any = Box(low, high, (spec.features,), dtype)
        if spec.block_module is None:
            seen = Dict({"observation": seen, "action_mask": Box(0, 1, (spec.actions,), np.int8)})
        self._spaces = dict.fromkeys(self.possible_agents, seen)
        self._choices = {agent: Discrete(spec.actions) for agent in self.possible_agents}
        self._state, self._room = spec.new_state(), spec.new_room()
        self._stream, self._fresh = rng.stream(0), np.random.default_rng()
        self._paid = np.zeros(spec.players)

    def observation_space(self, agent: str) -> Any:
        return self._spaces[agent]

    def action_space(self, agent: str) -> Any:
        return self._choices[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin anew; without a seed, from a fresh one."""
        seed = int(self._fresh.integers(FRESH_SEEDS)) if seed is None else seed
        self._stream = rng.stream(seed, 0)
        self.spec.kernels.reset(self.spec.rules, self._state)
        self._paid[:] = 0.0
        self.agents = list(self.possible_agents)
        self.rewards, self._cumulative_rewards = dict.fromkeys(self.agents, 0.0), dict.fromkeys(self.agents, 0.0)
        self.terminations, self.truncations = dict.fromkeys(self.agents, False), dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._settle()

    def observe(self, agent: str) -> Any:
        seat, features = self.possible_agents.index(agent), np.zeros(self.spec.features, self.spec.feature_dtype)
        self.spec.kernels.encode(self.spec.rules, self._state, seat, features, self._room)
        if self.spec.block_module is not None:
            return features
        mask = np.zeros(self.spec.actions, np.int8)
        if agent == self.agent_selection:
            mask[self._legal()] = 1
        return {"observation": features, "action_mask": mask}

    def step(self, action: int | None) -> None:
        if self.terminations[self.agent_selection]:
            self._was_dead_step(action)
            return
        if action not in self._legal():
            raise ValueError(f"{action} is not legal for {self.agent_selection}")
        self._cumulative_rewards[self.agent_selection] = 0.0
        self.spec.kernels.play(self.spec.rules, self._state, int(action), self._room)  # type: ignore[arg-type]
        self._settle()
        before = self._paid.copy()
        self.spec.kernels.returns(self.spec.rules, self._state, self._paid)
        for agent, gained in zip(self.possible_agents, self._paid - before, strict=True):
            self.rewards[agent] = float(gained)
        self._accumulate_rewards()

    def render(self) -> str | None:
        """The position as text, with all that is hidden."""
        return show_of(self.spec).text(self.spec, self._state) if self.render_mode == "ansi" else None

    def close(self) -> None:
        """There is nothing to release."""

    def _legal(self) -> Array:
        legal = np.zeros(self.spec.max_legal, np.int32)
        return legal[: self.spec.kernels.legal(self.spec.rules, self._state, legal, self._room)]

    def _settle(self) -> None:
        """Let chance happen; say who decides, or that the game is over."""
        kernels, rules = self.spec.kernels, self.spec.rules
        while (mover := kernels.to_move(rules, self._state)) == CHANCE_TURN:
            kernels.chance(rules, self._state, self._stream)
        if mover == GAME_OVER:
            self.terminations = dict.fromkeys(self.agents, True)
            self.agent_selection = self.agents[0]
        else:
            self.agent_selection = self.possible_agents[int(mover)]
