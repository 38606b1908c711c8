"""Actors without pipes: many environments in blocks, asked about together."""

import json
from itertools import count

import numpy as np
import pytest

from asyncplay import rng
from asyncplay.data.store import record_of
from asyncplay.games import environments
from asyncplay.methods.population.messages import ActSpec, Episode, RedoSpec
from asyncplay.methods.population.worker import Actor, Recording
from asyncplay.methods.population.worker_refill import Redoer, redo
from asyncplay.payloads import RecordDamaged, pack
from asyncplay.wire.codec import HEADER, decode, encode
from asyncplay.wire.messages import Answer, Ask, Job

OPTIONS = {"players": 3, "size": 6, "turns": 6, "frames": 2}
SEED = 5


def spec(environments_at_once: int, epsilon: float = 0.5) -> ActSpec:
    return ActSpec("treasurehunt", json.dumps(OPTIONS), environments_at_once, 0, epsilon, 0.9, 0.0)


def answer(ask: Ask, version: int = 3) -> Answer:
    """Worths that follow from the row alone, whatever message it came in."""
    worths = [
        float(rng.derive(int.from_bytes(row.tobytes()[:64], "big") % 2**61, int(action)) % 1000)
        for row, start, stop in zip(ask.features, ask.offsets, ask.offsets[1:], strict=False)
        for action in ask.legal[start:stop]
    ]
    return Answer(ask.ticket, version, np.array(worths, np.float32), np.zeros((len(ask.features), 1), np.float32))


def act(n_units: int, given: ActSpec) -> tuple[dict[int, Episode], list[Ask]]:
    """Let an actor play so many units, answering all asks at once."""
    actor, asks, episodes = Actor(count(1)), [], {}
    actor.take(Job(1, "act", 0, n_units, SEED, encode(given)))
    while len(episodes) < n_units:
        step = actor.advance(0.0)
        for message in step.messages:
            if isinstance(message, Episode):
                episodes[message.unit] = decode(encode(message)[HEADER.size :])
            else:
                asks.append(decode(encode(message)[HEADER.size :]))
                actor.receive(answer(asks[-1]))
    return episodes, asks


def test_an_episode_is_the_same_however_many_are_played_at_a_time():
    alone, asks_alone = act(12, spec(1))
    blocks, asks = act(12, spec(20))

    assert max(len(ask.features) for ask in asks_alone) == 1
    assert max(len(ask.features) for ask in asks) > 3
    for unit, episode in alone.items():
        for name in ("seed", "returns", "actions", "seats", "frames", "choices", "rewards"):
            np.testing.assert_array_equal(getattr(episode, name), getattr(blocks[unit], name))


def test_what_explores_is_not_asked_about():
    _, greedy = act(4, spec(4, epsilon=0.0))
    _, random = act(4, spec(4, epsilon=1.0))
    decisions = 4 * OPTIONS["players"] * OPTIONS["turns"]

    assert sum(len(ask.features) for ask in greedy) == decisions
    assert 0 < sum(len(ask.features) for ask in random) < decisions / 2, "epsilon falls by a tenth a unit"


def test_rewards_and_frames_of_an_episode_are_those_of_its_environment():
    episodes, _ = act(3, spec(2))
    environment = environments.load("treasurehunt", OPTIONS)
    for unit, episode in episodes.items():
        assert episode.seed == rng.derive(SEED, unit)
        paid = np.bincount(episode.seats, episode.rewards, 3)
        np.testing.assert_allclose(paid, episode.returns)
        again = redo(environment, episode.seed, record_of(episode))
        for name in ("returns", "outcome", "frames", "choices", "rewards", "seats", "versions"):
            np.testing.assert_array_equal(getattr(again, name), getattr(episode, name))


def test_stored_episodes_come_back_in_the_order_of_their_units():
    episodes, _ = act(5, spec(3))
    records = [pack(record_of(episodes[unit])) for unit in range(5)]
    seeds = np.array([episodes[unit].seed for unit in range(5)], np.int64)
    ends = np.cumsum([len(record) for record in records])
    redoer = Redoer(count(1))
    redoer.take(
        Job(
            9, "redo", 0, 5, SEED, encode(RedoSpec("treasurehunt", json.dumps(OPTIONS), seeds, b"".join(records), ends))
        )
    )

    back = redoer.advance(0.0).messages

    assert [(episode.job, episode.unit) for episode in back] == [(9, unit) for unit in range(5)]
    assert [pack(record_of(episode)) for episode in back] == records


def test_a_record_that_cannot_be_is_damaged():
    episodes, _ = act(1, spec(2))
    record, environment = record_of(episodes[0]), environments.load("treasurehunt", OPTIONS)
    with pytest.raises(RecordDamaged, match="is not over"):
        redo(
            environment,
            episodes[0].seed,
            record._replace(**{name: getattr(record, name)[:-1] for name in ("actions", "seats", "versions")}),
        )
    with pytest.raises(RecordDamaged, match="cannot be"):
        redo(environment, episodes[0].seed, record._replace(seats=record.seats[::-1]))


def test_a_reward_belongs_to_the_latest_decision_of_its_agent():
    """Agent 1 is paid before it has decided, and again after both have."""
    environment = environments.load("treasurehunt", {"players": 2, "turns": 2, "frames": 1})
    block, recording, slots = environment.make_block(1), Recording(environment, 1), np.zeros(1, np.int64)
    block.begin(slots, [0], rng.stream(0, 0)[None])
    recording.begin(slots)
    for paid in ([0.0, 5.0], [1.0, 2.0], [7.0, 0.0], [0.0, 0.0]):
        recording.note(block.look(slots), np.zeros(1, np.int64), 0)
        block.step(slots, np.zeros(1, np.int64))
        recording.reward(slots, np.array([paid]))

    episode = recording.episode(0, np.array([8.0, 7.0]), job=0, unit=0, seed=0)

    assert episode.seats.tolist() == [0, 1, 0, 1]
    assert episode.rewards.tolist() == [1.0, 7.0, 7.0, 0.0]
