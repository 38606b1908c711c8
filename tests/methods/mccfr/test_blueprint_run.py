"""Whole runs of abstracted hold'em: the same worker, the same books, the same bits after a resume."""

import numpy as np
import pytest
from methods.mccfr.holdem_runs import OPTIONS, small_config, write_buckets
from methods.mccfr.test_tabular import solve
from safetensors.numpy import load_file

from asyncplay.cli import main
from asyncplay.config.loading import dump
from asyncplay.data import checkpoint
from asyncplay.data.checkpoint import Checkpoint
from asyncplay.errors import AsyncplayError
from asyncplay.methods.buckets import build as building
from asyncplay.methods.mccfr import checkpoint as past
from asyncplay.methods.mccfr.run import MccfrRun
from asyncplay.solve.abstraction.bucket_file import BucketFile


@pytest.fixture(scope="module")
def buckets(tmp_path_factory):
    return write_buckets(tmp_path_factory.mktemp("buckets") / "drawn.buckets")


@pytest.mark.process
def test_runs_give_the_same_bits_inline_and_in_processes(buckets, tmp_path):
    inline, said = solve(small_config(buckets), tmp_path / "inline")
    local, _ = solve(small_config(buckets, pool={"kind": "local"}), tmp_path / "local")

    books, stats = local.engine.ledger.books, local.rounds.stats
    assert stats.iterations == books.issued == books.done == 1500
    np.testing.assert_array_equal(local.table.values, inline.table.values)
    changed = np.count_nonzero(np.add.reduceat(inline.table.values.any(axis=1), inline.game.offsets[:-1]))
    assert changed <= stats.infosets < inline.game.n_infosets
    assert stats.visited == stats.infosets / inline.game.n_infosets
    assert stats.table_bytes == 16 * inline.game.n_entries
    assert stats.regret > 0.0
    sizes = inline.game.tree.sizes
    assert f"betting tree: {sizes.n_decisions:,} decisions, {sizes.n_infosets:,} infosets" in "\n".join(said)


def test_three_players_with_uneven_stacks_are_solved_by_the_same_rounds(buckets, tmp_path):
    menus = {f"{street}_{place}": "1 | -" for street in ("preflop", "flop", "turn", "river") for place in ("in", "out")}
    options = {"players": 3, "stacks": "9/6/12", "deck": 24}
    config = small_config(buckets, units=400, workers=3, game={"options": options}, abstraction=menus)
    run, _ = solve(config, tmp_path / "run")
    books = run.engine.ledger.books
    assert run.rounds.stats.iterations == books.issued == books.done == 400
    assert run.table.values.shape == (run.game.n_entries, 2)
    assert run.game.players == 3


def test_a_run_saved_halfway_and_resumed_ends_with_the_same_bits(buckets, tmp_path):
    config = small_config(buckets, workers=3)
    whole, _ = solve(config, tmp_path / "whole")
    saved: list[Checkpoint] = []

    def save_halfway(run: MccfrRun) -> None:
        def merged() -> None:
            if run.rounds.stats.iterations > 500:
                saved.append(past.capture(run.rounds, run.table.capture(), run.game.digest))

        run.rounds.on_merged = merged

    solve(config, tmp_path / "begun", prepare=save_halfway)
    checkpoint.save(tmp_path / "kept", saved[0])
    found, _ = checkpoint.newest(tmp_path / "kept")
    resumed, _ = solve(config, tmp_path / "resumed", found=found.snapshot)

    np.testing.assert_array_equal(resumed.table.values, whole.table.values)
    assert resumed.rounds.stats.utilities == whole.rounds.stats.utilities


def test_a_checkpoint_of_another_abstraction_is_refused(buckets, tmp_path):
    run, _ = solve(small_config(buckets), tmp_path / "run")
    found, _ = checkpoint.newest(tmp_path / "run" / "checkpoints")
    other = write_buckets(tmp_path / "other.buckets", seed=1)
    for config in (small_config(other), small_config(buckets, abstraction={"river_in": "0.5"})):
        with pytest.raises(AsyncplayError, match="the checkpoint is of an abstraction with SHA-256") as refused:
            MccfrRun(config, tmp_path / "run", lambda line: None, found.snapshot)
        assert run.game.digest[:16] in str(refused.value)
        assert "\n" not in str(refused.value)


def test_the_policy_that_is_left_carries_its_abstraction(buckets, tmp_path):
    run, _ = solve(small_config(buckets), tmp_path / "run")
    (path,) = (tmp_path / "run" / "policies").iterdir()
    arrays = load_file(path)
    assert arrays["policy"].dtype == np.float16
    assert arrays["digest"].tobytes().hex() == run.game.digest
    totals = np.add.reduceat(arrays["policy"].astype(float), run.game.offsets[:-1])
    np.testing.assert_allclose(totals, 1.0, atol=5e-3)


HOLDEM = ["train", "--game.name", "holdem", "--headless"]
EXTERNAL = [*HOLDEM, "--solve.method", "external"]


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (HOLDEM, "game.name is holdem, which is solved by table and not searched; use a configuration such as"),
        ([*HOLDEM, "--solve.method", "outcome"], "solve.method is outcome: holdem is solved by external sampling"),
        ([*EXTERNAL, "--solve.table", "deltas"],
         "take more than the 50 MB of a table whose changes workers exchange; --solve.table shared has room for more, "
         'or "1" for all menus would fit'),
        ([*EXTERNAL, "--option", "stack=40", "--abstraction.buckets", "12/40/40/32", "--abstraction.file", "none"],
         "abstraction.file is none, which is not there; `asyncplay buckets build 12/40/40/32 --out none` makes it"),
        ([*EXTERNAL, "--option", "players=9"], "option players of holdem is 9"),
    ],
)  # fmt: skip
def test_what_cannot_be_solved_is_one_line_and_leaves_no_folder(words, complaint, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(words) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert complaint in lines[0]
    assert list(tmp_path.iterdir()) == []


def test_a_file_of_other_buckets_is_refused(tmp_path):
    other = write_buckets(tmp_path / "other.buckets", (2, 2, 2, 2))
    with pytest.raises(AsyncplayError, match=r"has buckets 2/2/2/2 of 24 cards, but 3/4/4/3 of 24 are wanted"):
        MccfrRun(small_config(other), tmp_path, lambda line: None)


@pytest.mark.slow
def test_the_first_run_builds_its_buckets_and_the_next_one_uses_them(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(building, "SAMPLE_BOARDS", {1: 12, 2: 24})
    path = tmp_path / "run.toml"
    path.write_text(dump(small_config("", units=200, pool={"workers": 1})))
    words = ["train", str(path), "--headless", "--run"]
    assert main([*words, "first"]) == 0
    assert main([*words, "second"]) == 0
    said = capsys.readouterr().err
    assert said.count("building card buckets 3/4/4/3, once for all runs") == 1
    BucketFile(tmp_path / "buckets" / f"{OPTIONS['deck']}-3-4-4-3-0.buckets").verify()
    assert said.count("done 200 in") == 2
