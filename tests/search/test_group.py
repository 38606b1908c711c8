"""Groups of games: independence, orders from outside, limits, what never reaches the network."""

import numpy as np
import pytest
from search.drive import play_all, policies, roomy_group, shortened, think

from asyncplay import games
from asyncplay.games.spec import GAME_OVER
from asyncplay.search import layout
from asyncplay.search.group import Group, make_settings, make_sizes

CONNECT4, TICTACTOE = games.load("connect4"), games.load("tictactoe")
SEEDS = list(range(10, 22))


def slots(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.int32)


def answer_evenly(group: Group) -> np.ndarray:
    """One select, answered by a network that knows nothing; return the seats of the rows."""
    rows = group.select()
    n = len(rows.slots)
    group.backup(np.full(len(rows.legal), 1 / 7, np.float32), np.zeros((n, 2), np.float32), 0)
    return rows.seats


def begin(group: Group, *seeds: int, outside: int = 0) -> None:
    """Start a game in each of the first slots."""
    group.start(slots(*range(len(seeds))), np.array(seeds, np.uint64), outside)
    group.advance()


@pytest.mark.parametrize("leaves", [1, 3])
def test_a_game_does_not_depend_on_its_company(leaves):
    settings = make_settings(CONNECT4, simulations=16, leaves=leaves)
    alone, _ = play_all(Group(CONNECT4, settings, 1), SEEDS)
    together, _ = play_all(Group(CONNECT4, settings, 5), SEEDS)

    for one, other in zip(alone, together, strict=True):
        assert one.actions.tolist() == other.actions.tolist()
        assert policies(one) == policies(other)


def test_different_seeds_give_different_games():
    records, _ = play_all(Group(CONNECT4, make_settings(CONNECT4, simulations=16), 4), SEEDS)

    assert len({record.actions.tobytes() for record in records}) > len(SEEDS) // 2


def test_every_decision_has_its_simulations():
    """Visits at the root: one simulation evaluates a new root, all others go through an edge."""
    settings = make_settings(TICTACTOE, simulations=20, keeps_tree=0)
    records, _ = play_all(Group(TICTACTOE, settings, 4), SEEDS)

    for record in records:
        for visits in policies(record)[:-1]:
            assert sum(visits.values()) == 19


def test_a_kept_tree_adds_to_the_visits():
    """With reuse all simulations of a later decision go through edges, on top of those kept."""
    records, _ = play_all(Group(TICTACTOE, make_settings(TICTACTOE, simulations=20), 4), SEEDS)

    for record in records:
        second = policies(record)[1]
        assert sum(second.values()) >= 20


def test_forced_and_finished_positions_are_never_asked():
    """Rows have at least two legal actions; the last cell of tic-tac-toe is played without a policy."""
    settings = make_settings(TICTACTOE, simulations=60, temperatures=[1.0, 0.0])
    group = Group(TICTACTOE, settings, 16)
    begin(group, *range(16))
    records = []
    while len(records) < 16:
        rows = group.select()
        assert (np.diff(rows.offsets) >= 2).all()
        assert (rows.features.sum(axis=1) <= 7).all()
        n = len(rows.slots)
        group.backup(np.full(len(rows.legal), 0.5, np.float32), np.zeros((n, 2), np.float32), 0)
        for slot in group.advance():
            records.append(group.take(int(slot)))
            group.stop(slots(slot))
    full = [record for record in records if len(record.actions) == 9]
    assert full
    assert all(policies(record)[8] == {} for record in full)


def test_several_leaves_are_different_positions():
    """Virtual losses drive the descents of one select apart."""
    group = roomy_group(CONNECT4, make_settings(CONNECT4, simulations=200, leaves=8), 1)
    begin(group, 1)
    think(group)
    for _ in range(5):
        rows = group.select()
        assert len({row.tobytes() for row in rows.features}) == len(rows.features) > 1
        group.backup(np.full(len(rows.legal), 0.1, np.float32), np.zeros((len(rows.slots), 2), np.float32), 0)


def test_a_winning_move_is_found_without_any_help():
    """Three in a column, a network that knows nothing: nearly all visits end on the fourth stone."""
    group = roomy_group(CONNECT4, make_settings(CONNECT4, simulations=200, noise_weight=0.0), 1)
    begin(group, 1)
    for action in [3, 0, 3, 0, 3, 1]:
        group.force(slots(0), np.array([action], np.int32))
        group.advance()
    for _ in range(200):
        answer_evenly(group)

    assert group.visits(0)[3] > 150


def test_a_full_pool_decides_with_what_it_has():
    settings = make_settings(CONNECT4, simulations=64)
    sizes = make_sizes(CONNECT4, settings, 2)._replace(nodes_per_tree=20, edges_per_tree=60)
    group = Group(CONNECT4, settings, 2, sizes)
    records, _ = play_all(group, SEEDS[:4])

    assert sum(record.shortened for record in records) > 20
    for record in records:
        assert record.returns.sum() == 0
        assert 0 < sum(policies(record)[0].values()) < 20


def test_a_tree_that_would_leave_no_room_is_not_kept():
    """A kept tree never takes more than half of the pool, so every decision gets its simulations."""
    settings = make_settings(CONNECT4, simulations=32, noise_weight=0.0, temperatures=[0.0])
    sizes = make_sizes(CONNECT4, settings, 1)._replace(nodes_per_tree=66)
    group = Group(CONNECT4, settings, 1, sizes)
    begin(group, 5)
    while not len(group.advance()):
        assert group.memory.forest.trees["n_nodes"][0] <= 33 + 33
        think(group)
    record = group.take(0)
    assert shortened(group) == 0
    assert all(sum(visits.values()) >= 31 for visits in policies(record) if visits)


def test_policies_that_do_not_fit_are_left_out_and_counted():
    settings = make_settings(TICTACTOE, simulations=40)
    sizes = make_sizes(TICTACTOE, settings, 1)._replace(policy_entries=12, most_policy_entries=12)
    (record,), _ = play_all(Group(TICTACTOE, settings, 1, sizes), [3])
    (whole,), _ = play_all(Group(TICTACTOE, settings, 1), [3])

    assert len(record.policy_actions) <= 12
    assert policies(record)[0]
    assert policies(record)[-1] == {}
    assert record.actions.tolist() == whole.actions.tolist()
    assert record.unrecorded == sum(map(bool, policies(whole))) - sum(map(bool, policies(record)))
    assert whole.unrecorded == 0


def test_space_for_policies_grows_with_the_games():
    settings = make_settings(TICTACTOE, simulations=40)
    sizes = make_sizes(TICTACTOE, settings, 3)
    seeds = [3, 4, 5, 6, 7]
    whole, _ = play_all(Group(TICTACTOE, settings, 3, sizes), seeds)
    grown, _ = play_all(Group(TICTACTOE, settings, 3, sizes._replace(policy_entries=1)), seeds)

    assert [policies(record) for record in grown] == [policies(record) for record in whole]


def test_outside_seats_wait_for_orders():
    """Seat 1 always takes the lowest legal column; its decisions have no policy."""
    group = Group(CONNECT4, make_settings(CONNECT4, simulations=8), 3)
    begin(group, 1, 2, 3, outside=0b10)
    finished: set[int] = set()
    while len(finished) < 3:
        waiting = group.waiting()
        group.force(waiting, np.array([group.legal(slot)[0] for slot in waiting], np.int32))
        finished |= set(group.advance().tolist())
        assert (answer_evenly(group) == 0).all()
    for slot in range(3):
        record = group.take(slot)
        assert all(policies(record)[1::2][i] == {} for i in range(len(record.actions) // 2))
        assert policies(record)[0] != {}


def test_an_illegal_order_is_refused():
    group = Group(TICTACTOE, make_settings(TICTACTOE, simulations=8), 1)
    begin(group, 1)
    group.force(slots(0), np.array([4], np.int32))
    group.advance()

    with pytest.raises(AssertionError, match="action 4 is not legal"):
        group.force(slots(0), np.array([4], np.int32))


def test_rows_must_be_answered_before_anything_else():
    group = Group(TICTACTOE, make_settings(TICTACTOE, simulations=8), 1)
    begin(group, 1)
    group.select()

    with pytest.raises(AssertionError, match="wait for their answers"):
        group.select()
    with pytest.raises(AssertionError, match="wait for their answers"):
        group.advance()


def test_answers_may_be_read_only():
    """Arrays that were made from a frame's bytes are."""
    group = Group(TICTACTOE, make_settings(TICTACTOE, simulations=8), 1)
    begin(group, 1)
    group.select()
    priors, values = np.full(9, 1 / 9, np.float32), np.zeros((1, 2), np.float32)
    priors.setflags(write=False)
    values.setflags(write=False)
    group.backup(priors, values, 0)

    assert len(group.select().slots) == 1


def test_idle_slots_ask_nothing():
    group = Group(TICTACTOE, make_settings(TICTACTOE, simulations=8), 4)
    begin(group, 1, 2)

    assert group.select().slots.tolist() == [0, 1]


def test_the_version_of_the_last_answer_is_recorded():
    group = Group(TICTACTOE, make_settings(TICTACTOE, simulations=4), 1)
    begin(group, 1)
    version = 0
    while not len(group.advance()):
        version += 1
        think(group, version)
    record = group.take(0)

    searched = np.array([bool(visits) for visits in policies(record)])
    assert (np.diff(record.versions[searched]) > 0).all()
    assert record.versions.max() <= version


def test_cold_games_are_greedy_and_repeat():
    """Temperature 0 and no noise leave nothing to chance: two seeds, one game."""
    settings = make_settings(CONNECT4, simulations=16, noise_weight=0.0, temperatures=[0.0])
    records, _ = play_all(Group(CONNECT4, settings, 2), [1, 2])

    assert records[0].actions.tolist() == records[1].actions.tolist()
    for visits, action in zip(policies(records[0]), records[0].actions, strict=True):
        assert not visits or visits[action] == max(visits.values())


def test_one_simulation_leaves_the_priors_to_decide():
    """The only simulation evaluates the root: no visits, no policy, but a decision."""
    settings = make_settings(TICTACTOE, simulations=1, keeps_tree=0, noise_weight=0.0, temperatures=[0.0])
    group = Group(TICTACTOE, settings, 1)
    begin(group, 1)
    group.select()
    priors = np.array([0, 0, 0, 0, 0, 0, 0.9, 0, 0.1], np.float32)
    group.backup(priors, np.zeros((1, 2), np.float32), 0)
    group.advance()

    assert group.state(0)[0] == 1 << 6


def test_settings_may_change_between_two_calls():
    group = roomy_group(CONNECT4, make_settings(CONNECT4, simulations=8), 1)
    begin(group, 1)
    for _ in range(8):
        think(group)
    group.settings = group.settings._replace(simulations=12)
    group.advance()

    assert group.memory.forest.trees["budget"][0] == 12


def test_settings_are_brought_into_the_types_kernels_want():
    settings = make_settings(TICTACTOE, simulations=8, c_puct=2, temperatures=(1, 0))

    assert isinstance(settings.c_puct, float)
    assert settings.temperatures.dtype == np.float64


def test_random_play_by_orders_leads_where_the_rules_lead():
    """A whole game by force alone, beside the bare rules."""
    group = Group(CONNECT4, make_settings(CONNECT4, simulations=4), 1)
    begin(group, 1, outside=0b11)
    state, numbers = CONNECT4.new_state(), np.random.default_rng(1)
    while CONNECT4.kernels.to_move(CONNECT4.rules, state) != GAME_OVER:
        np.testing.assert_array_equal(group.state(0), state)
        before = group.memory.games.slots["decisions"][0]
        action = int(numbers.choice(group.legal(0)))
        group.force(slots(0), np.array([action], np.int32))
        group.advance()
        for played in group.memory.records.decisions["action"][0, before : group.memory.games.slots["decisions"][0]]:
            CONNECT4.kernels.play(CONNECT4.rules, state, int(played), CONNECT4.new_room())
    assert group.memory.games.slots["status"][0] == layout.FINISHED
