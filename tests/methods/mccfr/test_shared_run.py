"""Whole runs of hold'em on one shared table: the same books, saved while they go on, and resumed."""

import os
import signal

import numpy as np
import pytest
from methods.mccfr.holdem_runs import small_config, write_buckets
from methods.mccfr.test_tabular import solve
from safetensors.numpy import load_file

from asyncplay.cli import main
from asyncplay.config.loading import dump
from asyncplay.config.tables import SolveSettings
from asyncplay.data import checkpoint, large_arrays
from asyncplay.engine.ledger import Piece
from asyncplay.errors import AsyncplayError, WireError
from asyncplay.methods.mccfr import run as tabular
from asyncplay.methods.mccfr.messages import Delta
from asyncplay.methods.mccfr.needs import check_memory, memory_needed
from asyncplay.methods.mccfr.run import MccfrRun
from asyncplay.rating.hands import measure
from asyncplay.solve.abstraction.shared_table import SharedTable
from asyncplay.solve.abstraction.walk import BlueprintSampler
from asyncplay.solve.mccfr import sampler_settings
from asyncplay.solve.regret import REGRET, SUM

SHARED = {"table": "shared"}
PLAIN = {**SHARED, "prune_below": 0}


@pytest.fixture(scope="module")
def buckets(tmp_path_factory):
    return write_buckets(tmp_path_factory.mktemp("buckets") / "drawn.buckets")


def sums_of(run: MccfrRun) -> np.ndarray:
    assert isinstance(run.table, SharedTable)
    return np.concatenate([run.table.arrays.sums.long, run.table.arrays.sums.late.astype(float)])


def test_a_run_with_one_worker_makes_the_sums_of_the_sampler_alone(buckets, tmp_path):
    run, said = solve(small_config(buckets, units=500, workers=1, solve=PLAIN), tmp_path / "run")
    own = BlueprintSampler(run.game, sampler_settings(SolveSettings(method="external")), 3)
    own.run(0, 500)

    books, stats = run.engine.ledger.books, run.rounds.stats
    assert stats.iterations == books.issued == books.done == 500
    scale = np.abs(own.table).max()
    np.testing.assert_allclose(run.table.arrays.regrets, own.table[:, REGRET], rtol=1e-5, atol=scale * 2**-20)
    np.testing.assert_allclose(sums_of(run), own.table[:, SUM], rtol=1e-5, atol=scale * 2**-20)
    assert stats.table_bytes == run.table.n_bytes
    assert stats.infosets == run.table.n_known > 0
    assert stats.visited == stats.infosets / run.game.n_infosets
    assert stats.regret > 0.0
    assert any(line.startswith("memory: ") and "a shared table of" in line for line in said)
    assert any(line.startswith("disk: 3 checkpoints of") and "4 policies of" in line for line in said)


@pytest.mark.process
def test_the_books_are_exact_after_the_kill_of_a_worker_whose_changes_stay(buckets, tmp_path):
    """Iterations 1 to 2,000 have a weight of 2,001,000 together; what the dead one did is there beside that."""
    killed: list[int] = []

    def kill_one(run: MccfrRun) -> None:
        def merged() -> None:
            if run.rounds.stats.iterations > 300 and not killed:
                worker = run.engine.supervisor.stats()[0]
                killed.append(worker.pid)
                os.kill(worker.pid, signal.SIGKILL)

        run.rounds.on_merged = merged

    config = small_config(buckets, units=2000, pool={"kind": "local"}, solve=SHARED)
    run, _ = solve(config, tmp_path / "run", prepare=kill_one)
    books = run.engine.ledger.books
    assert killed
    assert sum(worker.restarts for worker in run.engine.supervisor.stats()) == 1
    assert run.rounds.stats.iterations == books.done == 2000
    assert books.issued == books.done + books.lost
    assert books.reissued == books.lost
    root = sums_of(run)[: run.game.tree.sizes.entries[0]]
    assert root.sum() > 0


def test_a_run_is_saved_resumed_and_played(buckets, tmp_path, monkeypatch):
    """Its arrays are large ones here: files of their own, mapped when they are read."""
    monkeypatch.setattr(large_arrays, "LEAST_BYTES", 1 << 10)
    config = small_config(buckets, units=800, solve=SHARED)
    run, _ = solve(config, tmp_path / "run")
    found, complaints = checkpoint.newest(tmp_path / "run" / "checkpoints")
    assert complaints == []
    assert isinstance(found.snapshot.arrays["regrets"], np.memmap)
    np.testing.assert_array_equal(found.snapshot.arrays["regrets"], run.table.arrays.regrets)

    longer = small_config(buckets, units=1000, solve=SHARED)
    resumed, _ = solve(longer, tmp_path / "resumed", found=found.snapshot)
    books = resumed.engine.ledger.books
    assert resumed.rounds.stats.iterations == books.done == 1000
    assert (sums_of(resumed) >= sums_of(run)).all()
    assert sums_of(resumed).sum() > sums_of(run).sum()
    assert resumed.rounds.stats.infosets >= run.rounds.stats.infosets

    (path,) = (tmp_path / "resumed" / "policies").iterdir()
    arrays = load_file(path)
    assert arrays["policy"].dtype == np.float16
    assert arrays["digest"].tobytes().hex() == run.game.digest
    np.testing.assert_array_equal(arrays["policy"], np.concatenate(list(resumed.table)))
    played = measure(tmp_path / "resumed", longer, against=["always-call"], hands=200, seed=1, is_purified=False)
    assert played["iterations"] == 1000
    assert played["rows"][0]["hands"] == 200


def test_only_the_newest_four_policies_are_kept(buckets, tmp_path):
    run, _ = solve(small_config(buckets, units=200, solve=SHARED), tmp_path / "run")
    folder = tmp_path / "run" / "policies"
    for number in range(5):
        tabular.save_policy(tmp_path / "run", number, {"policy": np.zeros(2, np.float16)}, keep_last=4)
    assert [int(path.stem) for path in sorted(folder.iterdir())] == [2, 3, 4, run.rounds.stats.iterations]


def test_rows_of_changes_are_refused_where_the_table_is_changed_in_place(buckets, tmp_path):
    run, _ = solve(small_config(buckets, units=200, solve=SHARED), tmp_path / "run")
    rows = np.array([1], np.int32), np.zeros(2), np.zeros(2)
    with pytest.raises(WireError, match="rows of a table that is changed in place"):
        run.rounds.take(0, Piece(0, 10), Delta(1, True, 10, 60, 0.0, *rows))


def test_a_checkpoint_with_numbers_that_are_none_is_refused(buckets, tmp_path):
    config = small_config(buckets, units=200, solve=SHARED)
    solve(config, tmp_path / "run")
    found, _ = checkpoint.newest(tmp_path / "run" / "checkpoints")
    found.snapshot.arrays["late_sums"][3] = np.inf
    with pytest.raises(AsyncplayError, match="late_sums has numbers that are not finite"):
        MccfrRun(config, tmp_path / "run", lambda line: None, found.snapshot)
    with pytest.raises(AsyncplayError, match="there is no table"):
        MccfrRun(small_config(buckets), tmp_path / "run", lambda line: None, found.snapshot)


def test_a_shared_table_is_counted_once_and_trees_for_each_process(buckets, tmp_path):
    run, _ = solve(small_config(buckets, units=200, solve=SHARED), tmp_path / "run")
    one, two = (memory_needed(run.game, workers, is_shared=True) for workers in (1, 2))
    assert two - one < run.game.n_bytes + (100 << 20)
    assert one > run.table.n_bytes + 2 * run.game.n_bytes + run.game.bucket_bytes
    with pytest.raises(AsyncplayError, match=r"a shared table of .* use --workers 1 or fewer"):
        check_memory(run.game, 3, two - 1, is_shared=True)


def test_what_cannot_be_shared_is_one_line(buckets, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "run.toml"
    path.write_text(dump(small_config(buckets, units=200, solve={**SHARED, "weighting": "discounted"})))
    cases = {
        ("train", str(path)): "solve.weighting is discounted, which a shared table cannot be; use linear or uniform",
        ("train", "leduc", "--solve.table", "shared"): "solve.table is shared, which only holdem's can be; use auto",
    }
    for words, complaint in cases.items():
        assert main([*words, "--headless"]) == 2
        assert capsys.readouterr().err.splitlines() == [f"asyncplay: {complaint}"]
    assert [entry.name for entry in tmp_path.iterdir()] == ["run.toml"]


def test_three_players_with_uneven_stacks_share_a_table(buckets, tmp_path):
    menus = {f"{street}_{place}": "1 | -" for street in ("preflop", "flop", "turn", "river") for place in ("in", "out")}
    options = {"players": 3, "stacks": "9/6/12", "deck": 24}
    config = small_config(buckets, units=301, workers=4, game={"options": options}, abstraction=menus, solve=SHARED)
    run, _ = solve(config, tmp_path / "run")
    books = run.engine.ledger.books
    assert run.rounds.stats.iterations == books.issued == books.done == 301
    assert run.table.layout.n_entries == run.game.n_entries
    assert 0 < run.rounds.stats.infosets <= run.game.n_infosets
