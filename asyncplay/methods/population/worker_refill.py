"""Stored episodes made into transitions again: records in, the messages of their episodes out."""

import json
from collections import deque
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from asyncplay import rng
from asyncplay.games import environments
from asyncplay.games.environment import Environment
from asyncplay.games.spec import GAME_OVER
from asyncplay.methods.population.messages import Episode, RedoSpec
from asyncplay.methods.population.worker import Recording
from asyncplay.payloads import Record, RecordDamaged, unpack
from asyncplay.search.layout import CHANCE_STREAM
from asyncplay.wire.codec import HEADER, decode
from asyncplay.wire.messages import Job, Message
from asyncplay.worker.core import Step

STEP_EPISODES = 16


class Redoer:
    """Makes stored decisions again, in the order the episodes come; a unit is an episode."""

    def __init__(self, tickets: Iterator[int]) -> None:
        self._todo: deque[tuple[int, int, int, bytes]] = deque()  # job, unit, seed, record
        self._environment: Environment | None = None

    def take(self, job: Job) -> None:
        spec = decode(job.spec[HEADER.size :])
        assert isinstance(spec, RedoSpec), "episodes are made again by their own spec"
        self._environment = self._environment or environments.load(spec.game, json.loads(spec.options))
        ends = np.concatenate([[0], spec.record_ends]).tolist()
        for place in range(job.count):
            record = spec.records[ends[place] : ends[place + 1]]
            self._todo.append((job.number, job.first + place, int(spec.seeds[place]), record))

    def receive(self, message: Message) -> None:
        raise AssertionError(f"nothing was asked, but a {type(message).__name__} came")

    def advance(self, now_s: float) -> Step:
        messages: list[Message] = []
        while self._todo and len(messages) < STEP_EPISODES:
            job, unit, seed, record = self._todo.popleft()
            assert self._environment is not None, "a job brings its environment"
            messages.append(replace(redo(self._environment, seed, unpack(record)), job=job, unit=unit))
        return Step(messages, 0 if self._todo else None)


def redo(environment: Environment, seed: int, record: Record) -> Episode:
    """The episode of a record, as unit 0 of job 0; RecordDamaged if it cannot be."""
    block, recording, slots = environment.make_block(1), Recording(environment, 1), np.zeros(1, np.int64)
    block.begin(slots, [seed], rng.stream(seed, CHANCE_STREAM)[None])
    recording.begin(slots)
    for action, seat, version in zip(record.actions, record.seats, record.versions, strict=True):
        if block.movers[0] == GAME_OVER:
            raise RecordDamaged("an episode with decisions behind its end")
        sights = block.look(slots)
        if action not in sights.legal or seat != sights.seats[0]:
            raise RecordDamaged("an episode with a decision that cannot be")
        actions = np.array([action], np.int64)
        recording.note(sights, actions, int(version))
        recording.reward(slots, block.step(slots, actions))
    if block.movers[0] != GAME_OVER:
        raise RecordDamaged("an episode that is not over")
    return recording.episode(0, block.paid[0], job=0, unit=0, seed=seed)
