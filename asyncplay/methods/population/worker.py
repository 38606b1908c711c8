"""Episodes of a population: many at a time, in two blocks of which one is stepped while the other waits.

A row that explores needs no answer. The others of a block are asked about in one message; where all explore, the
block goes on at once.
"""

import json
from collections import deque
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from asyncplay import rng
from asyncplay.games import environments
from asyncplay.games.block import ASKS, Sights, best_actions, explore
from asyncplay.games.environment import Environment
from asyncplay.games.spec import GAME_OVER
from asyncplay.methods.population.messages import ActSpec, Episode
from asyncplay.search.layout import CHANCE_STREAM, THOUGHT_STREAM
from asyncplay.wire.codec import HEADER, decode
from asyncplay.wire.messages import Answer, Ask, Job, Message
from asyncplay.worker.core import Step

BLOCK_ENVIRONMENTS = 8  # a worker with twice as many has two blocks
NO_UNIT = -1
Longs = NDArray[np.int64]


class Recording:
    """What happens in the environments of a block, written down until each episode is over.

    A reward belongs to the latest decision of the agent that got it; what it gets before its first one, to that.
    """

    def __init__(self, environment: Environment, n_slots: int) -> None:
        longest = environment.longest
        self._environment = environment
        self._frames = np.zeros((n_slots, longest, environment.frame_features), environment.feature_dtype)
        self._choices = np.zeros((n_slots, longest, environment.actions), np.uint8)
        self._actions, self._versions = np.zeros((n_slots, longest), np.int32), np.zeros((n_slots, longest), np.int32)
        self._seats = np.zeros((n_slots, longest), np.int8)
        self._rewards = np.zeros((n_slots, longest + environment.players))  # the last ones came before all decisions
        self._latest = np.zeros((n_slots, environment.players), np.int64)
        self._length = np.zeros(n_slots, np.int64)

    def begin(self, slots: Longs) -> None:
        self._length[slots], self._rewards[slots], self._choices[slots] = 0, 0.0, 0
        self._latest[slots] = self._environment.longest + np.arange(self._environment.players)

    def note(self, sights: Sights, actions: Longs, version: int) -> None:
        """Before a step: what was seen and decided."""
        slots, at = sights.slots, self._length[sights.slots]
        self._frames[slots, at] = sights.rows[:, -self._environment.frame_features :]
        counts = np.diff(sights.offsets)
        self._choices[np.repeat(slots, counts), np.repeat(at, counts), sights.legal] = 1
        self._actions[slots, at], self._versions[slots, at], self._seats[slots, at] = actions, version, sights.seats
        self._latest[slots, sights.seats] = at
        self._length[slots] += 1

    def reward(self, slots: Longs, rewards: NDArray[np.float64]) -> None:
        """After it: what each agent got, float64[n, P]."""
        self._rewards[slots[:, None], self._latest[slots]] += rewards

    def episode(self, slot: int, returns: NDArray[np.float64], *, job: int, unit: int, seed: int) -> Episode:
        """A finished episode as a message."""
        stop, seats, rewards = self._length[slot], self._seats[slot], self._rewards[slot]
        for agent in np.flatnonzero(rewards[self._environment.longest :]).tolist():
            first = np.flatnonzero(seats[:stop] == agent)[:1]
            rewards[first] += rewards[self._environment.longest + agent]
        return Episode(
            job=job,
            unit=unit,
            seed=seed,
            reason=self._environment.reason,
            returns=returns.copy(),
            outcome=self._environment.outcome(returns),
            actions=self._actions[slot, :stop].copy(),
            seats=seats[:stop].copy(),
            versions=self._versions[slot, :stop].copy(),
            frames=self._frames[slot, :stop].copy(),
            choices=self._choices[slot, :stop].copy(),
            rewards=rewards[:stop].astype(np.float32),
        )


class ActingBlock:
    """One block with the units that its slots play."""

    def __init__(self, environment: Environment, n_slots: int) -> None:
        self.block, self.recording = environment.make_block(n_slots), Recording(environment, n_slots)
        self.units, self.jobs = np.full(n_slots, NO_UNIT, np.int64), np.zeros(n_slots, np.int64)
        self.seeds, self.epsilons = [0] * n_slots, np.zeros(n_slots)
        self.thoughts = np.zeros((n_slots, rng.STREAM_WORDS), np.uint64)
        self.version = 0  # of the latest answer
        self.waiting: tuple[Sights, Longs, Sights] | None = None  # all rows, their actions, those that were asked

    @property
    def is_playing(self) -> bool:
        return bool((self.units != NO_UNIT).any())

    def begin(self, slots: Longs, work: list[tuple[int, int]], seed: int, spec: ActSpec) -> None:
        """Begin (job, unit) in each of these slots."""
        for slot, (job, unit) in zip(slots.tolist(), work, strict=True):
            self.units[slot], self.jobs[slot] = unit, job
            self.seeds[slot] = rng.derive(seed, unit)
            self.thoughts[slot] = rng.stream(self.seeds[slot], THOUGHT_STREAM)
            self.epsilons[slot] = max(spec.epsilon * spec.epsilon_factor**unit, spec.epsilon_least)
        seeds = [self.seeds[slot] for slot in slots.tolist()]
        self.block.begin(slots, seeds, np.array([rng.stream(each, CHANCE_STREAM) for each in seeds]))
        self.recording.begin(slots)

    def decide(self) -> Sights | None:
        """Look at all environments, and step those that explore if none has to ask; else return the rows to ask."""
        sights = self.block.look(np.flatnonzero(self.units != NO_UNIT))
        thoughts = self.thoughts[sights.slots]
        actions = explore(thoughts, self.epsilons[sights.slots], sights)
        self.thoughts[sights.slots] = thoughts
        asking = np.flatnonzero(actions == ASKS)
        if len(asking) == 0:
            self._step(sights, actions)
            return None
        asked = sights if len(asking) == len(actions) else sights.part(asking)
        self.waiting = sights, actions, asked
        return asked

    def answer(self, answer: Answer) -> None:
        """Step all environments, those that asked by the answer."""
        assert self.waiting is not None, "an answer to a block that asked nothing"
        (sights, actions, asked), self.waiting = self.waiting, None
        actions[actions == ASKS] = best_actions(answer.priors, asked.legal, asked.offsets)
        self.version = answer.version
        self._step(sights, actions)

    def take_finished(self) -> list[Episode]:
        """The episodes that are over; their slots are free."""
        over = np.flatnonzero((self.units != NO_UNIT) & (self.block.movers == GAME_OVER)).tolist()
        found = [
            self.recording.episode(
                slot,
                self.block.paid[slot],
                job=int(self.jobs[slot]),
                unit=int(self.units[slot]),
                seed=self.seeds[slot],
            )
            for slot in over
        ]
        self.units[over] = NO_UNIT
        return found

    def _step(self, sights: Sights, actions: Longs) -> None:
        self.recording.note(sights, actions, self.version)
        self.recording.reward(sights.slots, self.block.step(sights.slots, actions))


class Actor:
    """Keeps ``spec.environments`` episodes under way as long as there are units; a unit is an episode."""

    def __init__(self, tickets: Iterator[int]) -> None:
        self._tickets = tickets
        self._blocks: list[ActingBlock] = []
        self._units: deque[tuple[int, int]] = deque()  # (job, unit) not begun yet
        self._asked: dict[int, ActingBlock] = {}
        self._packed, self._seed, self._turn = b"", 0, 0
        self._spec: ActSpec

    def take(self, job: Job) -> None:
        if job.spec != self._packed:
            assert not self._is_busy, "a job of another kind came before those under way were done"
            self._lay_out(job)
        if not self._is_busy:
            self._turn = 0  # be like one that has never played: an inline run may go on from here in another process
            for block in self._blocks:
                block.version = 0
        self._units.extend((job.number, unit) for unit in range(job.first, job.first + job.count))

    def receive(self, message: Message) -> None:
        assert isinstance(message, Answer), f"an actor was sent a {type(message).__name__}"
        self._asked.pop(message.ticket).answer(message)

    def advance(self, now_s: float) -> Step:
        """Let one block that is not waiting go on until it has to ask or an episode is over."""
        block = self._next_block()
        if block is None:
            return Step([], None)
        messages: list[Message] = list(block.take_finished())
        self._begin(block)
        if not block.is_playing:
            return Step(messages, 0 if self._n_ready() else None)
        asked = None
        while asked is None and not (block.block.movers[block.units != NO_UNIT] == GAME_OVER).any():
            asked = block.decide()
        if asked is not None:
            ticket, thinking = next(self._tickets), self._n_ready()
            self._asked[ticket] = block
            messages.append(
                Ask(ticket, self._spec.model, 1, thinking, np.ascontiguousarray(asked.rows), asked.legal, asked.offsets)
            )
        return Step(messages, 0 if self._n_ready() else None)

    @property
    def _is_busy(self) -> bool:
        return bool(self._units) or any(block.is_playing for block in self._blocks)

    def _lay_out(self, job: Job) -> None:
        spec = decode(job.spec[HEADER.size :])
        assert isinstance(spec, ActSpec), "an actor needs its own spec"
        environment = environments.load(spec.game, json.loads(spec.options))
        half = spec.environments // 2
        sizes = [spec.environments - half, half] if half >= BLOCK_ENVIRONMENTS else [spec.environments]
        self._blocks = [ActingBlock(environment, size) for size in sizes]
        self._packed, self._spec, self._seed = job.spec, spec, job.seed

    def _begin(self, block: ActingBlock) -> None:
        slots = np.flatnonzero(block.units == NO_UNIT)[: len(self._units)]
        if len(slots):
            block.begin(slots, [self._units.popleft() for _ in slots], self._seed, self._spec)

    def _next_block(self) -> ActingBlock | None:
        """The blocks take turns."""
        for _ in self._blocks:
            self._turn = (self._turn + 1) % len(self._blocks)
            block = self._blocks[self._turn]
            if self._is_ready(block):
                return block
        return None

    def _is_ready(self, block: ActingBlock) -> bool:
        return block.waiting is None and (block.is_playing or bool(self._units))

    def _n_ready(self) -> int:
        return sum(self._is_ready(block) for block in self._blocks)
