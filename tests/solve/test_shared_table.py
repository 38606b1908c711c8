"""One table for all: the same sums as a sampler's own table, the same game, and nothing but its own table is mapped."""

import os

import numpy as np
import pytest
from solve.nine_cards import nine_blueprint, nine_cards
from solve.test_blueprint import flat_policy, without_cards

from asyncplay.errors import AsyncplayError
from asyncplay.games.kernels import ready
from asyncplay.solve.abstraction import shared_table
from asyncplay.solve.abstraction.shared_table import HEADER_BYTES, SharedTable, layout_of_table, map_table
from asyncplay.solve.abstraction.walk import BlueprintSampler, SharedSampler
from asyncplay.solve.exact import exploitability
from asyncplay.solve.mccfr import SamplerSettings
from asyncplay.solve.regret import REGRET, SUM, average_policy, largest_regrets, new_table

ROUNDING = 2.0**-20  # of float32 after some thousand additions


def mapped(table: SharedTable, game):
    return map_table(table.memory.path, table.n_bytes, game)


def sums_of(table: SharedTable) -> np.ndarray:
    return np.concatenate([table.arrays.sums.long, table.arrays.sums.late.astype(float)])


@pytest.mark.parametrize("settings", [SamplerSettings(), SamplerSettings(prune_below=2.0, prune_after=200)])
def test_one_worker_makes_the_same_table_as_the_sampler_with_its_own(settings, tmp_path):
    """But for the rounding of float32, which sooner or later lets a draw fall on another action: few iterations."""
    game, n = nine_blueprint(), 600
    table, own = SharedTable(game, tmp_path), BlueprintSampler(game, settings, 3)
    walker = SharedSampler(game, settings, 3, mapped(table, game))
    walked, wanted = walker.run(0, n), own.run(0, n)

    assert walked.nodes == wanted.nodes
    np.testing.assert_allclose(walked.utility, wanted.utility, rtol=1e-6)
    scale = np.abs(own.table).max()
    np.testing.assert_allclose(table.arrays.regrets, own.table[:, REGRET], rtol=1e-5, atol=scale * ROUNDING)
    np.testing.assert_allclose(sums_of(table), own.table[:, SUM], rtol=1e-5, atol=scale * ROUNDING)


def test_two_walkers_on_one_table_come_as_close_to_equilibrium_as_one_alone(tmp_path):
    """Nine cards, 100,000 iterations in pieces that take turns; NashConv in chips by exact best responses."""
    game = nine_cards()
    table, own = SharedTable(game.blueprint, tmp_path), BlueprintSampler(game.blueprint, SamplerSettings(), 1)
    walkers = [SharedSampler(game.blueprint, SamplerSettings(), 1, mapped(table, game.blueprint)) for _ in range(2)]
    for piece in range(100):
        walkers[piece % 2].run(1000 * piece, 1000)
    own.run(0, 100_000)
    both = new_table(game.blueprint)
    both[:, SUM] = sums_of(table)
    shared, alone = (exploitability(game.flat, flat_policy(values)).nash_conv for values in (both, own.table))
    assert alone / 1.5 < shared < 1.5 * alone
    assert shared < 0.06


def test_sums_of_the_first_streets_grow_beyond_what_float32_can_count(tmp_path):
    """2**24 + 1 is no float32."""
    game = nine_blueprint()
    table = SharedTable(game, tmp_path)
    table.arrays.sums.long[:] = 2.0**24
    before = table.arrays.sums.long.sum()
    SharedSampler(game, SamplerSettings(is_linear=0), 3, mapped(table, game)).run(0, 100)
    assert table.layout.n_long == sum(game.tree.sizes.entries[:2])
    assert table.arrays.sums.long.sum() - before >= 100.0  # the first decision is the button's, in the other's walks


def test_a_look_at_the_table_counts_what_was_changed_and_adds_regrets_up_part_by_part(tmp_path, monkeypatch):
    monkeypatch.setattr(shared_table, "BLOCK_ENTRIES", 500)
    game = nine_blueprint()
    table, own = SharedTable(game, tmp_path), new_table(game)
    SharedSampler(game, SamplerSettings(), 3, mapped(table, game)).run(0, 300)
    own[:, REGRET], own[:, SUM] = table.arrays.regrets, sums_of(table)
    changed = np.add.reduceat((own != 0.0).any(axis=1), game.offsets[:-1]) > 0

    parts = [table.look(1) for _ in range(-(-game.n_entries // 500) + 1)]
    assert table.n_known == np.count_nonzero(changed)
    assert 0 < table.n_known < game.n_infosets
    assert parts[-1] == pytest.approx(ready(largest_regrets)(game.offsets, own))
    assert parts == sorted(parts)
    assert parts[0] < parts[-1]


def test_the_policy_is_that_of_the_sums_and_uniform_where_there_are_none(tmp_path, monkeypatch):
    monkeypatch.setattr(shared_table, "BLOCK_ENTRIES", 500)
    game = nine_blueprint()
    table, own = SharedTable(game, tmp_path), new_table(game)
    SharedSampler(game, SamplerSettings(), 3, mapped(table, game)).run(0, 300)
    own[:, SUM] = sums_of(table)
    blocks = list(table)
    assert len(blocks) > 3
    np.testing.assert_allclose(np.concatenate(blocks), average_policy(game, own), atol=1e-3)


def test_what_is_restored_is_what_was_captured(tmp_path):
    game = nine_blueprint()
    table, other = SharedTable(game, tmp_path), SharedTable(game, tmp_path)
    SharedSampler(game, SamplerSettings(), 3, mapped(table, game)).run(0, 300)
    table.look(game.n_entries)
    other.restore({name: [(0, array.copy())] for name, array in table.capture().items()})
    for name, array in table.capture().items():
        np.testing.assert_array_equal(other.capture()[name], array)
    assert other.n_known == table.n_known > 0
    broken = {name: [(0, array.copy())] for name, array in table.capture().items()}
    broken["regrets"][0][1][7] = np.nan
    with pytest.raises(ValueError, match="regrets has numbers that are not finite"):
        other.restore(broken)


def test_memory_is_what_the_layout_says_and_is_gone_with_the_table(tmp_path):
    game = nine_blueprint()
    sizes, layout = game.tree.sizes, layout_of_table(game.tree.sizes)
    assert layout.n_bytes == HEADER_BYTES + 8 * sizes.n_entries + 4 * sum(sizes.entries[:2])
    assert layout.n_bytes == HEADER_BYTES + sum(shared_table.bytes_by_street(sizes))
    table = SharedTable(game, tmp_path)
    path = table.memory.path
    assert os.stat(path).st_size == layout.n_bytes
    assert list(tmp_path.iterdir()) == []
    del table
    assert not os.path.exists(path)


def test_where_memory_has_no_path_the_table_is_a_file_of_the_run_and_removed_with_it(tmp_path, monkeypatch):
    def refuse(*words: object) -> int:
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(os, "memfd_create", refuse)
    game = nine_blueprint()
    (tmp_path / shared_table.FILE).write_text("left over")
    table = SharedTable(game, tmp_path)
    assert table.memory.is_file
    SharedSampler(game, SamplerSettings(), 3, mapped(table, game)).run(0, 10)
    assert table.arrays.regrets.any()
    assert [path.name for path in tmp_path.iterdir()] == [shared_table.FILE]
    del table
    assert list(tmp_path.iterdir()) == []


def test_nothing_but_the_table_of_this_game_is_mapped(tmp_path):
    game, other = nine_blueprint(), without_cards("1", stack=20)
    table, path = SharedTable(game, tmp_path), tmp_path / "file"
    with pytest.raises(AsyncplayError, match=r"cannot be mapped: No such file"):
        map_table(str(path), table.n_bytes, game)
    path.write_bytes(bytes(table.n_bytes - 1))
    with pytest.raises(AsyncplayError, match=r"bytes, [\d,]+ are wanted"):
        map_table(str(path), table.n_bytes, game)
    with pytest.raises(AsyncplayError, match=r"bytes, [\d,]+ are wanted"):
        mapped(table, other)
    path.write_bytes(bytes(table.n_bytes))
    with pytest.raises(AsyncplayError, match=f"is of another abstraction than {game.digest[:16]}"):
        map_table(str(path), table.n_bytes, game)
