"""Five agents with a network each: trained by one coordinator with actors, and one thing after another.

The load is the published one: 1,000 episodes of 50 turns of 5 agents, batches of 64, the same number of training
steps in both. ``arithmetic_s`` is the time that the same multiplications take as plain matrix products on all cores.
"""

import asyncio
import gc
import math
import os
import tempfile
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from asyncplay import rng
from asyncplay.bench.outside import until
from asyncplay.bench.sequential import SequentialPopulation, Trained
from asyncplay.config.loading import load
from asyncplay.config.sections import Config
from asyncplay.engine.loop import run_loop
from asyncplay.games import environments
from asyncplay.games.block import explore
from asyncplay.methods.population import parts
from asyncplay.methods.population.figures import PopulationFigures
from asyncplay.methods.population.members import read_members
from asyncplay.methods.population.run import PopulationRun
from asyncplay.model.products import all_cores_s, forward_products, step_products
from asyncplay.payloads import Array
from asyncplay.rating.rewards import play

STEPS = (1, 4)  # training steps of each network for an episode, on average
ENVIRONMENTS = 64  # at a time, if there are enough episodes
GREEDY_EPISODES = 400
IDLE_S, LOOK_S, WINDOWS = 4.0, 0.25, 5
ASKED_ROWS = 32  # of one agent in a batch, as pooled runs have about
SURE = {2: 12.71, 3: 4.30, 4: 3.18, 5: 2.78}  # Student's factor of a 95 % interval, by number of seeds


class Pooled(NamedTuple):
    """A pooled training with its figures."""

    trained: Trained
    figures: PopulationFigures
    asked_rows: int
    mean_age: float
    idle_wakes_per_s: float


def measure(episodes: int = 1000, seeds: int = 1) -> dict[str, Any]:
    """Both ways with 1 and with 4 steps an episode, by turns, for each seed; times are means over seeds."""
    rows, pooled_runs = [], []
    for steps in STEPS:
        configs = [bench_config(steps, episodes, seed) for seed in range(seeds)]
        pairs = [(run_loop_for(config), SequentialPopulation(config, steps).train()) for config in configs]
        rewards = [
            [greedy_reward(config, trained.weights) for trained in (pooled.trained, alone)]
            for config, (pooled, alone) in zip(configs, pairs, strict=True)
        ]
        sequential_s = float(np.mean([alone.seconds for _, alone in pairs]))
        pooled_s = float(np.mean([pooled.trained.seconds for pooled, _ in pairs]))
        ours, theirs = np.array(rewards).T
        rows.append(
            {
                "steps_per_episode": steps,
                "sequential_s": sequential_s,
                "pooled_s": pooled_s,
                "speedup": sequential_s / pooled_s,
                "arithmetic_s": arithmetic_s(configs[0], pairs[0][0]),
                "final_reward_sequential": float(theirs.mean()),
                "final_reward_pooled": float(ours.mean()),
                "difference": interval(ours / theirs - 1),
                "steps": [pairs[0][0].trained.steps, pairs[0][1].steps],
            }
        )
        pooled_runs += [pooled for pooled, _ in pairs]
    return {"rows": rows, **summed_up(pooled_runs), "environment_steps_per_s": environment_steps_per_s()}


def bench_config(steps: int, episodes: int, seed: int) -> Config:
    """Training may lag by as many episodes as are under way, and never lead: so both ways make the same steps."""
    base = load(None, {"game": {"name": "treasurehunt"}, "population": {"method": "quantile"}})
    rows, at_once = 50 * 5, min(ENVIRONMENTS, max(episodes // 8, 2))
    learn = replace(
        base.learn,
        batch_rows=64,
        samples_per_insert=steps * 5 * 64 / rows,
        band_steps=1.0,
        minimum_rows=at_once * rows,
        learning_rate=2.5e-4,
        publish_steps=10 * steps,
        publish_distance=0.002,
    )
    return replace(
        base,
        learn=learn,
        net=replace(base.net, width=250),
        population=replace(base.population, environments=at_once),
        train=replace(base.train, units=episodes, seed=seed, tensorboard=False),
        arena=replace(base.arena, every_s=0.0),
        checkpoint=replace(base.checkpoint, every_s=0.0),
    )


def run_loop_for(config: Config) -> Pooled:
    """Train with actors in processes, to the last step that the episodes allow; then stay idle for a while."""
    found: list[Pooled] = []

    async def main() -> int:
        with tempfile.TemporaryDirectory() as folder:
            found.append(await train_pooled(config, Path(folder)))
        return 0

    run_loop(main())
    gc.collect()
    return found[0]


async def train_pooled(config: Config, folder: Path) -> Pooled:
    """The clock runs from the moment that all workers are there until nothing is left to train on."""
    run = PopulationRun(replace(config, train=replace(config.train, units=0)), folder, lambda line: None)
    engine, ages = run.engine, [0.0]
    engine.ledger.set_barrier(config.train.units)  # not an end: the engine stays when all is done
    engine.dispatcher.hold(engine.work, "start", True)
    async with asyncio.TaskGroup() as group:
        group.create_task(run.run())
        await until(lambda: {worker.state for worker in engine.supervisor.stats()} == {"ready"})
        started_s = time.perf_counter()
        engine.dispatcher.hold(engine.work, "start", False)
        while not engine.work.at_barrier.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_S):
                    await engine.work.at_barrier.wait()
            ages.append(run.trainer.stats().age_rows)
        await run.trainer.until_at_rest()
        trained = Trained(time.perf_counter() - started_s, run.learner.weights(), run.learner.most_steps)
        figures, asked = run.trainer.stats(), engine.stats().rows
        wakes = await idle_wakes_per_s(run)
        run.drain()
    return Pooled(trained, figures, asked, float(np.mean(ages[len(ages) // 4 :])), wakes)


async def idle_wakes_per_s(run: PopulationRun) -> float:
    """Context switches of the coordinator and its workers while nothing is to be done."""
    pids = [os.getpid(), *(worker.pid for worker in run.engine.supervisor.stats())]
    await asyncio.sleep(1.0)
    before, began_s = sum(map(wakes_of, pids)), time.perf_counter()
    await asyncio.sleep(IDLE_S)
    return (sum(map(wakes_of, pids)) - before) / (time.perf_counter() - began_s)


def wakes_of(pid: int) -> int:
    """How often the threads of a process have given up or lost a core; 0 where /proc does not say."""
    tasks = Path(f"/proc/{pid}/task")
    lines = [line for task in tasks.glob("*") for line in (task / "status").read_text().splitlines()]
    return sum(int(line.split()[1]) for line in lines if "ctxt_switches" in line)


def greedy_reward(config: Config, weights: dict[str, Array]) -> float:
    """Of an episode, all agents together, at epsilon 0."""
    found: list[float] = []

    async def main() -> int:
        rewards = await play(config, weights, 0, episodes=GREEDY_EPISODES, seed=1 << 40)
        found.append(rewards.total.mean)
        return 0

    run_loop(main())
    return found[0]


def interval(values: Array) -> list[float]:
    """The 95 % interval of the mean; of one value, the value twice."""
    if len(values) == 1:
        return [float(values[0])] * 2
    doubt = SURE.get(len(values), 1.96) * float(values.std(ddof=1)) / math.sqrt(len(values))
    return [float(values.mean()) - doubt, float(values.mean()) + doubt]


def summed_up(runs: list[Pooled]) -> dict[str, float]:
    """The figures that are not about speed."""
    return {
        "wakeups_per_s_idle": max(run.idle_wakes_per_s for run in runs),
        "mean_sample_age": float(np.mean([run.mean_age for run in runs])),
        "replay_ratio": float(np.mean([run.figures.sampled_rows / run.figures.inserted_rows for run in runs])),
        "publish_share": max(run.figures.publish_s / run.trained.seconds for run in runs),
        "published": sum(run.figures.published for run in runs),
        "skipped": sum(run.figures.skipped for run in runs),
    }


def arithmetic_s(config: Config, pooled: Pooled) -> float:
    """Seconds for the multiplications of a pooled training alone, all cores at work on plain products."""
    environment = environments.load(config.game.name, config.game.options)
    members = read_members(config.population, environment.players)
    shape = parts.quantile_shape(config, environment, members)
    step_s = all_cores_s(step_products(shape, config.learn.batch_rows))
    ask_s = all_cores_s(forward_products(shape, ASKED_ROWS))
    return pooled.trained.steps * len(members.learning) * step_s + pooled.asked_rows / ASKED_ROWS * ask_s


def environment_steps_per_s() -> float:
    """Agent steps of treasurehunt on one core, each with its row of features, at random."""
    environment, n_slots = environments.load("treasurehunt", {}), 512
    environment.warm(None)
    block, slots = environment.make_block(n_slots), np.arange(n_slots)
    thoughts, epsilons = np.array([rng.stream(1, slot) for slot in range(n_slots)]), np.ones(n_slots)
    streams = np.array([rng.stream(0, slot) for slot in range(n_slots)])

    def episode() -> None:
        block.begin(slots, [0] * n_slots, streams)
        for _ in range(environment.longest):
            block.step(slots, explore(thoughts, epsilons, block.look(slots)))

    windows = []
    for _ in range(WINDOWS):
        began_s = time.perf_counter()
        episode()
        windows.append(time.perf_counter() - began_s)
    return n_slots * environment.longest / min(windows)
