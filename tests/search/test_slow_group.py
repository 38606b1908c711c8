"""The slow lane's search against the twin, and against the compiled search in the games that both lanes have."""

import numpy as np
import pytest
from search.drive import play_all, policies
from search.gumbel_twin import GumbelTwin
from search.test_twin import VARIANTS
from search.twin import Twin, network

from asyncplay import games, rng
from asyncplay.agents.agent import DecisionPoint
from asyncplay.agents.mcts import MctsAgent
from asyncplay.games.spec import GameSpec
from asyncplay.search import layout
from asyncplay.search.group import Group, make_settings, make_sizes
from asyncplay.search.layout import KernelSettings
from asyncplay.search.slow_group import SlowGroup

pytest.importorskip("pyspiel")

PLENTY = 1 << 20  # nodes of a tree
GUMBEL = {
    "gumbel": {},
    "gumbel in three worlds": {"worlds": 3, "simulations": 12},
    "gumbel with a cap": {"leaves": 3, "quick_simulations": 6, "full_share": 0.5},
    "gumbel of a match": {"noise_weight": 0.0, "temperatures": [0.0]},
}
NAMES = ("openspiel:tic_tac_toe", "openspiel:pig(winscore=12)", "openspiel:leduc_poker(players=3)")
QUICK = {
    "openspiel:tic_tac_toe": ("reuse", "several leaves", "few priors", "cooling"),
    "openspiel:pig(winscore=12)": ("reuse", "playout cap"),
    "openspiel:leduc_poker(players=3)": ("three worlds", "two worlds of several leaves"),
}


def roomy(spec: GameSpec, settings: KernelSettings, n_games: int) -> SlowGroup:
    return SlowGroup(spec, settings, n_games, make_sizes(spec, settings, n_games)._replace(nodes_per_tree=PLENTY))


def check(kind: type[Twin], name: str, changes: dict, seeds: list[int]) -> None:
    """The same actions, visits, values and returns, and as many rows."""
    spec = games.load(name)
    settings = make_settings(spec, **{"simulations": 20} | changes)
    records, n_rows = play_all(roomy(spec, settings, 2), seeds)
    n_twin_rows = 0
    for record in records:
        twin = kind(spec, settings, record.seed)
        np.testing.assert_array_equal(record.returns, twin.play())
        assert record.actions.tolist() == twin.actions
        assert policies(record) == twin.visits
        np.testing.assert_allclose(record.values, twin.values, rtol=1e-6, atol=1e-12)
        n_twin_rows += twin.rows
    assert n_rows == n_twin_rows


@pytest.mark.parametrize(("name", "variant"), [(name, variant) for name in NAMES for variant in QUICK[name]])
def test_the_twin_plays_the_same_games_in_plain_python(name, variant):
    """A board, dice between decisions, and hidden cards for three."""
    check(Twin, name, VARIANTS[variant], [1, 2])


@pytest.mark.parametrize("name", ["openspiel:tic_tac_toe", "openspiel:leduc_poker(players=3)"])
def test_the_twin_halves_alike(name):
    check(GumbelTwin, name, GUMBEL["gumbel in three worlds"] | {"is_gumbel": 1}, [1, 2])


@pytest.mark.slow
@pytest.mark.parametrize("variant", [*VARIANTS, *GUMBEL])
@pytest.mark.parametrize("name", NAMES)
def test_the_twin_plays_the_same_games_whatever_the_settings(name, variant):
    if variant in GUMBEL:
        check(GumbelTwin, name, GUMBEL[variant] | {"is_gumbel": 1}, [3, 4])
    else:
        check(Twin, name, VARIANTS[variant], [3, 4])


def seen_as_ours(ours: str):
    """A network for OpenSpiel's features that says what the twin's says of ours: a function of the position."""
    side = {"tictactoe": (3, 3), "connect4": (6, 7)}[ours]

    def opinion(features: np.ndarray, legal: np.ndarray, n_players: int) -> tuple[np.ndarray, np.ndarray]:
        planes, mover = features[:-2].reshape(3, *side), int(features[-1])
        seats = [planes[2], planes[1]] if ours == "tictactoe" else [planes[0], planes[1]]  # planes of seats 0 and 1
        assert features[-2:].sum() == 1.0
        assert seats[0].sum() - seats[1].sum() == mover  # seat 0 begins
        return network(np.array([seats[mover], seats[1 - mover]], np.uint8), legal, n_players)

    return opinion


@pytest.mark.parametrize(
    ("ours", "theirs", "changes"),
    [
        ("tictactoe", "openspiel:tic_tac_toe", {}),
        ("tictactoe", "openspiel:tic_tac_toe", {"is_gumbel": 1, "leaves": 2}),
        ("connect4", "openspiel:connect_four", {"temperatures": [1.0, 0.5, 0.0]}),
    ],
)
def test_both_lanes_play_the_same_games_with_the_same_seeds(ours, theirs, changes):
    """Trees of the usual sizes, kept from one decision to the next; the compiled group has its own rules."""
    spec, slow, seeds = games.load(ours), games.load(theirs), [1, 2, 3]
    chosen = {"simulations": 24, "noise_weight": 0.25} | changes
    board = {"tictactoe": (3, 3), "connect4": (6, 7)}[ours]
    mine, n_rows = play_all(Group(spec, make_settings(spec, **chosen), 2), seeds, as_planes(board))
    group = SlowGroup(slow, make_settings(slow, **chosen), 2)
    others, n_other_rows = play_all(group, seeds, seen_as_ours(ours))
    for one, other in zip(mine, others, strict=True):
        for part, same in zip(one, other, strict=True):
            np.testing.assert_array_equal(part, same)
    assert n_rows == n_other_rows


def as_planes(board: tuple[int, int]):
    """The twin's network on our features, folded as above."""

    def opinion(features: np.ndarray, legal: np.ndarray, n_players: int) -> tuple[np.ndarray, np.ndarray]:
        return network(features.reshape(2, *board), legal, n_players)

    return opinion


def test_rows_are_rebuilt_as_they_were_asked():
    spec = games.load("openspiel:pig(winscore=12)")
    group = SlowGroup(spec, make_settings(spec, simulations=8), 1)
    (record,), _ = play_all(group, [5])
    rows = group.examples(record)
    searched = np.flatnonzero(np.diff(record.policy_ends, prepend=0))
    assert rows.decisions.tolist() == searched.tolist()
    assert len(rows.features) == len(searched) > 3
    np.testing.assert_allclose(np.add.reduceat(rows.policy, rows.offsets[:-1]), 1.0, rtol=1e-6)
    for row, decision in enumerate(rows.decisions):
        shares = dict(
            zip(
                rows.legal[rows.offsets[row] : rows.offsets[row + 1]].tolist(),
                rows.policy[rows.offsets[row] : rows.offsets[row + 1]].tolist(),
                strict=True,
            )
        )
        counts = policies(record)[decision]
        assert {action for action, share in shares.items() if share} == counts.keys()
    np.testing.assert_array_equal(rows.values[:, 0], record.returns[rows.players].astype(np.float32))


def test_a_full_tree_decides_with_what_it_has():
    spec = games.load("openspiel:tic_tac_toe")
    settings = make_settings(spec, simulations=50, keeps_tree=0)
    group = SlowGroup(spec, settings, 1, make_sizes(spec, settings, 1)._replace(nodes_per_tree=20))
    (record,), _ = play_all(group, [1])
    assert record.shortened > 0
    assert sum(policies(record)[0].values()) == 19  # all nodes but the root, when no end is near


def test_decisions_from_outside_are_played():
    spec = games.load("openspiel:tic_tac_toe")
    group = SlowGroup(spec, make_settings(spec, simulations=4), 2)
    one = np.array([1], np.int32)
    group.start(one, np.array([3], np.uint64), outside=0b11)
    for cell in (4, 0, 3, 1, 5):
        assert group.advance().tolist() == []
        assert group.waiting().tolist() == [1]
        assert group.status(1) == layout.OUTSIDE
        assert cell in group.legal(1)
        group.force(one, np.array([cell], np.int32))
    assert group.advance().tolist() == [1]
    assert group.take(1).returns.tolist() == [1.0, -1.0]
    assert group.actions(1).tolist() == [4, 0, 3, 1, 5]
    assert group.state(1)[:7].tolist() == [5, 5, 4, 0, 3, 1, 5]
    group.stop(one)
    assert len(group.select().slots) == 0


def test_plain_mcts_decides_the_same_in_both_lanes():
    spec, slow = games.load("tictactoe"), games.load("openspiel:tic_tac_toe")
    ours, theirs, room = MctsAgent(spec, 60), MctsAgent(slow, 60), spec.new_room()
    for seed in range(4):
        state, words, actions = spec.new_state(), slow.new_state(), np.zeros(0, np.int32)
        numbers, legal = rng.stream(seed, 9), np.zeros(9, np.int32)
        for _ in range(4):
            n_legal = spec.kernels.legal(spec.rules, state, legal, room)
            point = DecisionPoint(state, actions, legal[:n_legal], seed)
            decision = ours.decide(point)
            assert theirs.decide(point._replace(state=words)) == decision
            action = int(legal[rng.below(numbers, n_legal)])
            spec.kernels.play(spec.rules, state, action, room)
            slow.kernels.play(slow.rules, words, action, room)
            actions = np.append(actions, np.int32(action))
