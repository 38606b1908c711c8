"""Several leaves a tree: they fill blocks that games cannot fill, and nothing else."""

import numpy as np
import pytest
from search.drive import order, policies, roomy_group, think
from search.twin import Twin

from asyncplay import games
from asyncplay.search.examples import PlayedGame
from asyncplay.search.group import Group, SelectedRows, make_settings

CONNECT4, TICTACTOE, BLOB = games.load("connect4"), games.load("tictactoe"), games.load("blob", {"cards": 3})
EVERY_TIME = 1 << 40  # rows that no block has


def begun(group: Group, n_games: int) -> Group:
    order(group, np.arange(group.sizes.games, dtype=np.int32), list(range(n_games)))
    group.advance()
    return group


def select_and_answer(group: Group) -> SelectedRows:
    """One select and its answers by a network that knows nothing."""
    rows = group.select()
    rows = rows._replace(slots=rows.slots.copy(), is_extra=rows.is_extra.copy())
    values = np.zeros((len(rows.slots), group.spec.players), np.float32)
    group.backup(np.full(len(rows.legal), 0.14, np.float32), values, 0)
    return rows


def test_with_plenty_of_games_eight_leaves_are_as_good_as_one():
    """There is always a new game, so that nobody has to fill a block: every game is the same to the last visit."""

    def play(leaves: int) -> list[PlayedGame]:
        settings = make_settings(CONNECT4, simulations=8, leaves=leaves, fill_rows=6)
        group, records = begun(Group(CONNECT4, settings, 16), 16), []
        while len(records) < 20:
            assert think(group) >= 6
            finished = group.advance()
            records += [group.take(int(slot)) for slot in finished]
            order(group, finished, list(range(1000 + len(records), 1000 + len(records) + len(finished))))
        return records

    for one, other in zip(play(1), play(8), strict=True):
        assert one.seed == other.seed
        assert one.actions.tolist() == other.actions.tolist()
        assert policies(one) == policies(other)


def test_few_games_fill_a_block_evenly():
    """Three trees, 16 rows wanted: 3 first leaves, then 5 more for each until the block is full; 5, 5 and 3."""
    settings = make_settings(CONNECT4, simulations=300, leaves=8, fill_rows=16, noise_weight=0.0)
    group = begun(roomy_group(CONNECT4, settings, 3), 3)
    assert select_and_answer(group).is_extra.tolist() == [0, 0, 0], "a root that waits has no other leaf"
    sizes = []
    for _ in range(20):
        rows = select_and_answer(group)
        sizes.append(len(rows.slots))
        assert rows.is_extra.tolist() == [0] * 3 + [1] * (len(rows.slots) - 3)
    assert np.bincount(rows.slots).tolist() == [6, 6, 4]
    assert max(sizes) == sizes[-1] == 16


@pytest.mark.parametrize(("leaves", "fill_rows", "wanted"), [(8, EVERY_TIME, 8), (3, EVERY_TIME, 3), (8, 1, 1)])
def test_a_tree_never_has_more_leaves_than_it_may(leaves, fill_rows, wanted):
    """A block that is never full takes all of them every time, one that is always full the first alone."""
    settings = make_settings(CONNECT4, simulations=200, leaves=leaves, fill_rows=fill_rows, noise_weight=0.0)
    group = begun(roomy_group(CONNECT4, settings, 4), 4)
    for _ in range(15):
        rows = select_and_answer(group)

    assert np.bincount(rows.slots).tolist() == [wanted] * 4
    assert rows.is_extra.sum() == 4 * (wanted - 1)


@pytest.mark.parametrize(
    ("spec", "changes"),
    [
        (TICTACTOE, {"leaves": 6, "fill_rows": 3}),
        (CONNECT4, {"leaves": 4, "fill_rows": 2}),
        (BLOB, {"leaves": 4, "fill_rows": 7, "worlds": 3}),
        (BLOB, {"leaves": 3, "fill_rows": 4, "worlds": 3, "quick_simulations": 5, "full_share": 0.5}),
    ],
    ids=["tictactoe", "connect4", "blob", "blob with a playout cap"],
)
def test_the_twin_fills_blocks_alike(spec, changes):
    """A game alone fills its blocks by itself."""
    settings = make_settings(spec, simulations=16, **changes)
    group = roomy_group(spec, settings, 1)
    for seed in range(4):
        order(group, np.zeros(1, np.int32), [seed])
        n_rows = 0
        while not len(group.advance()):
            n_rows += think(group)
        record, twin = group.take(0), Twin(spec, settings, seed)
        twin.play()
        assert record.actions.tolist() == twin.actions
        assert policies(record) == twin.visits
        assert n_rows == twin.rows
