"""Whole solving runs, small ones: exact totals, the same bits, nothing half."""

import asyncio
import os
import socket
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import psutil
import pytest

from asyncplay.config.loading import dump, load
from asyncplay.config.sections import Config
from asyncplay.data import checkpoint
from asyncplay.data.checkpoint import Checkpoint
from asyncplay.data.store import open_read_only
from asyncplay.engine.loop import run_loop
from asyncplay.errors import AsyncplayError
from asyncplay.methods.mccfr import checkpoint as past
from asyncplay.methods.mccfr import run as tabular
from asyncplay.methods.mccfr.run import MccfrRun, check_memory, memory_needed
from asyncplay.methods.mccfr.worker import TraversePlayer
from asyncplay.pools.local import LocalPool
from asyncplay.rating.evaluate import Question, evaluate
from asyncplay.solve.synthetic_tree import grow
from asyncplay.wire.messages import Job
from asyncplay.worker import main as worker_main
from asyncplay.worker.core import Step

CONFIGS = Path(__file__).parents[3] / "configs"


def small(*, units: int = 3000, workers: int = 2, **overrides: dict[str, str]) -> Config:
    sections = {
        "pool": {"kind": "inline", "workers": str(workers)},
        "train": {"units": str(units), "seed": "3"},
        "solve": {"exact_every_s": "0", "snapshot_every_s": "0"},
        "supervise": {"silence_floor_s": "60"},
    }
    for section, keys in overrides.items():
        sections[section] = {**sections.get(section, {}), **keys}
    return load(CONFIGS / "leduc.toml", sections)


def solve(
    config: Config,
    folder: Path,
    *,
    found: Checkpoint | None = None,
    prepare: Callable[[MccfrRun], None] = lambda run: None,
) -> tuple[MccfrRun, list[str]]:
    folder.mkdir()
    runs: list[MccfrRun] = []
    said: list[str] = []

    async def main() -> int:
        run = MccfrRun(config, folder, said.append, found)
        runs.append(run)
        prepare(run)
        await asyncio.wait_for(run.run(), 100)
        return 0

    run_loop(main())
    return runs[0], said


LOCAL = {"kind": "local"}


@pytest.mark.process
def test_synchronous_runs_give_the_same_bits_inline_and_in_processes(tmp_path):
    inline, _ = solve(small(), tmp_path / "inline")
    again, _ = solve(small(), tmp_path / "again")
    local, _ = solve(small(pool=LOCAL), tmp_path / "local")

    assert inline.rounds.stats.iterations == local.rounds.stats.iterations == 3000
    np.testing.assert_array_equal(again.table.values, inline.table.values)
    np.testing.assert_array_equal(local.table.values, inline.table.values)


@pytest.mark.parametrize("overrides", [{"solve": {"weighting": "discounted"}}, {"solve": {"method": "outcome"}}, {}])
def test_a_run_saved_at_any_moment_and_resumed_ends_with_the_same_bits(overrides, tmp_path):
    whole, _ = solve(small(**overrides), tmp_path / "whole")
    saved: list[Checkpoint] = []

    def save_halfway(run: MccfrRun) -> None:
        def merged() -> None:
            if run.rounds.stats.iterations > 1000:
                saved.append(past.capture(run.rounds, run.table.capture()))

        run.rounds.on_merged = merged

    solve(small(**overrides), tmp_path / "begun", prepare=save_halfway)
    checkpoint.save(tmp_path / "kept", saved[0])
    found, _ = checkpoint.newest(tmp_path / "kept")
    resumed, _ = solve(small(**overrides), tmp_path / "resumed", found=found.snapshot)

    assert len(saved) > 1
    for name in ("iterations", "nodes", "pieces", "infosets", "rows_in", "bytes_in", "utilities"):
        assert getattr(resumed.rounds.stats, name) == getattr(whole.rounds.stats, name)
    np.testing.assert_array_equal(resumed.table.values, whole.table.values)


@pytest.mark.parametrize("rounds", ["synchronous", "asynchronous"])
def test_the_counter_is_exactly_what_was_asked_for_and_what_the_workers_report(rounds, tmp_path):
    run, _ = solve(small(units=1009, workers=3, solve={"rounds": rounds}), tmp_path / "run")
    books = run.engine.ledger.books
    assert run.rounds.stats.iterations == books.done == books.issued == 1009
    workers = run.engine.supervisor.stats()
    assert sum(worker.games for worker in workers) == 1009
    assert sum(worker.rows for worker in workers) == run.rounds.stats.nodes
    assert [tunable.key for tunable in run.engine.settings.tunables()] == ["pool.workers", "pause"]
    piece_iterations = sum(iterations for _, iterations in run.rounds.stats.utilities)
    assert piece_iterations == 1009


def test_idle_workers_are_warned_of_when_the_batch_is_too_small_and_only_then(tmp_path):
    _, said = solve(small(units=64, workers=8, solve={"batch": "7"}), tmp_path / "few")
    assert [line for line in said if "warning" in line] == [
        "warning: solve.batch is 7, fewer than the 8 workers: 1 of them stay idle; set solve.batch to 8 or more, "
        "80 for instance"
    ]
    _, said = solve(small(units=4, workers=8, solve={"batch": "8"}), tmp_path / "enough")
    assert [line for line in said if "warning" in line] == []


def test_what_does_not_fit_into_memory_is_refused_with_a_number_of_workers_that_fits():
    game = grow(deals=10, depth=6, actions=3, seed=0)
    two, three = memory_needed(game, 2), memory_needed(game, 3)
    assert three - two > 32 * game.n_entries
    assert "630 infosets" in check_memory(game, 3, three)
    with pytest.raises(AsyncplayError, match="use --workers 2 or fewer"):
        check_memory(game, 8, three - 1)
    with pytest.raises(AsyncplayError, match="a smaller game is needed"):
        check_memory(game, 8, 1)


class DyingPlayer(TraversePlayer):
    """Dies once in the middle of a job, its table half changed."""

    mark: Path

    def advance(self, now_s: float) -> Step:
        if self._jobs and self._jobs[0].first > 500 and self._is_first():
            job: Job = self._jobs[0]
            self._sampler.run(job.first, job.count // 2)
            os._exit(9)
        return super().advance(now_s)

    def _is_first(self) -> bool:
        """Whoever makes the mark dies; two workers may come at the same moment."""
        try:
            self.mark.touch(exist_ok=False)
        except FileExistsError:
            return False
        return True


class DyingEntry:
    """Travels to the worker by pickling."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __call__(self, number: int, data: socket.socket, control: socket.socket) -> None:
        DyingPlayer.mark = self.mark
        worker_main.run({"traverse": DyingPlayer}, number, data, control)


@pytest.mark.process
def test_a_worker_killed_in_mid_batch_leaves_no_trace_in_the_table(tmp_path, monkeypatch):
    """Every bit is as if it had lived: its iterations were done again, and nothing of the half batch was merged."""
    calm, _ = solve(small(), tmp_path / "calm")
    pool = LocalPool(DyingEntry(tmp_path / "mark"))
    monkeypatch.setattr(tabular.parts, "make_pool", lambda kind: pool)
    run, _ = solve(small(pool=LOCAL), tmp_path / "run")

    assert (tmp_path / "mark").exists()
    assert sum(worker.restarts for worker in run.engine.supervisor.stats()) == 1
    books = run.engine.ledger.books
    assert books.reissued == books.lost > 0
    assert run.rounds.stats.iterations == books.done == 3000
    np.testing.assert_array_equal(run.table.values, calm.table.values)


@pytest.mark.process
def test_a_worker_is_no_larger_after_a_hundred_times_more_batches(tmp_path):
    sizes: dict[int, int] = {}

    def look_at_size(run: MccfrRun) -> None:
        def merged() -> None:
            if run.rounds.stats.pieces in (20, 2000):
                (worker,) = run.engine.supervisor.stats()
                sizes[run.rounds.stats.pieces] = psutil.Process(worker.pid).memory_info().rss

        run.rounds.on_merged = merged

    config = small(units=20_000, workers=1, pool=LOCAL, solve={"batch": "10"})
    run, _ = solve(config, tmp_path / "run", prepare=look_at_size)
    assert run.rounds.stats.pieces == 2000
    assert sizes[2000] < 1.1 * sizes[20]


def test_a_policy_and_a_checkpoint_are_left_at_the_end(tmp_path):
    run, _ = solve(small(), tmp_path / "run")
    found, complaints = checkpoint.newest(tmp_path / "run" / "checkpoints")
    assert complaints == []
    assert past.read(found.snapshot).stats.iterations == 3000
    np.testing.assert_array_equal(found.snapshot.arrays["table"], run.table.values)
    assert [path.name for path in (tmp_path / "run" / "policies").iterdir()] == ["000000000003000.safetensors"]
    assert run.exploitability.nash_conv < 1.0


def test_a_solved_run_is_evaluated_exactly(tmp_path):
    run, _ = solve(small(), tmp_path / "run")
    (tmp_path / "run" / "config.toml").write_text(dump(small()))
    question = Question(tmp_path / "run", ["random"], 1, 1)
    result = asyncio.run(evaluate(question))

    assert (result["game"], result["iterations"]) == ("leduc", 3000)
    assert result["nash_conv"] == pytest.approx(run.exploitability.nash_conv, abs=1e-12)
    assert result["exploitability"] == pytest.approx(result["nash_conv"] / 2)
    assert sum(result["values"]) == pytest.approx(0.0, abs=1e-12)
    with pytest.raises(AsyncplayError, match=r"^--against, --games: .* is solved by table and plays no match"):
        Question.of(tmp_path / "run", {"against": "random", "games": 3, "seed": None})


def test_a_folder_without_a_whole_checkpoint_cannot_be_evaluated(tmp_path):
    (tmp_path / "config.toml").write_text(dump(small()))
    with pytest.raises(AsyncplayError, match="has no table to look into: it has no checkpoint yet"):
        asyncio.run(evaluate(Question(tmp_path, ["random"], 1, 1)))


def test_events_and_figures_of_a_run_are_in_its_store(tmp_path):
    def measure_at_the_end(run: MccfrRun) -> None:
        def merged() -> None:
            if run.rounds.stats.iterations == 3000:
                run.measure({"iterations": 3000.0})

        run.rounds.on_merged = merged

    run, _ = solve(small(), tmp_path / "run", prepare=measure_at_the_end)
    with closing(open_read_only(tmp_path / "run")) as store:
        kinds = [kind for (kind,) in store.execute("SELECT kind FROM events ORDER BY rowid")]
        values = [value for (value,) in store.execute("SELECT value FROM metrics WHERE name = 'iterations'")]
        last = [value for (value,) in store.execute("SELECT value FROM metrics WHERE name = 'strength/NashConv'")]
    assert kinds == ["start", "stop"]
    assert values == [3000]
    assert last == [run.exploitability.nash_conv]


def test_a_folder_that_holds_a_solving_run_is_not_begun_anew(tmp_path):
    solve(small(), tmp_path / "run")
    with pytest.raises(AsyncplayError, match="holds a run with a checkpoint; `asyncplay train --resume"):
        MccfrRun(small(), tmp_path / "run", lambda line: None)
