"""Gumbel root selection: against its twin, against the counts of sequential halving, against its theorem."""

from functools import cache

import numpy as np
import pytest
from games import pig
from search.drive import check_twin, order, play_all, policies, roomy_group, think
from search.gumbel_twin import GumbelTwin
from search.twin import Network, even_network, network

from asyncplay import games
from asyncplay.games.contract import GuardedGame
from asyncplay.search.group import Group, make_settings, make_sizes

TICTACTOE, BLOB = games.load("tictactoe"), games.load("blob", {"players": 4, "cards": 3})
SPECS = {"tictactoe": TICTACTOE, "pig": pig.spec(), "blob": BLOB}
VARIANTS = {
    "plain": {"noise_weight": 0.0, "keeps_tree": 0},
    "noise": {"keeps_tree": 0, "gumbel_actions": 5},
    "reuse": {"gumbel_scale": 0.1},
    "several leaves": {"leaves": 4, "virtual_loss": 0.7},
    "cooling": {"temperatures": [1.0, 0.5, 0.0], "gumbel_visits": 10.0},
    "one simulation more than a root": {"simulations": 2},
    "fewer simulations than actions": {"simulations": 5},
    "three worlds": {"worlds": 3, "simulations": 12},
    "two worlds of several leaves": {"worlds": 2, "leaves": 3, "simulations": 13, "gumbel_actions": 4},
    "playout cap": {"worlds": 2, "quick_simulations": 5, "full_share": 0.4, "simulations": 12},
}


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("name", SPECS)
def test_the_twin_plays_the_same_games(name, variant):
    spec = SPECS[name]
    settings = make_settings(spec, **{"simulations": 24, "is_gumbel": 1} | VARIANTS[variant])
    check_twin(GumbelTwin, spec, settings, 3, [1, 2, 3, 4])


def remembered(features: np.ndarray, legal: np.ndarray, _n_players: int) -> tuple[np.ndarray, np.ndarray]:
    """The twin's network for games of two, asked once for each position."""
    return _opinion(features.tobytes(), legal.tobytes())


@cache
def _opinion(features: bytes, legal: bytes) -> tuple[np.ndarray, np.ndarray]:
    return network(np.frombuffer(features, np.uint8), np.frombuffer(legal, np.int32), 2)


def decide(group: Group, opinion: Network = network) -> np.ndarray:
    """Take the next decision of slot 0; return the visits of each legal action, over all worlds."""
    n_decisions = group.memory.games.slots["decisions"][0]
    while group.memory.games.slots["decisions"][0] == n_decisions:
        think(group, opinion=opinion)
        visits = group.visits(0)
        group.advance()
    return visits


def first_decision(seed: int = 1, opinion: Network = network, **changes: float) -> tuple[np.ndarray, np.ndarray, int]:
    """On the empty board: the visits of each cell, the policy to learn, and the cell played."""
    settings = make_settings(TICTACTOE, **{"is_gumbel": 1} | changes)
    group = Group(TICTACTOE, settings, 1)
    order(group, np.zeros(1, np.int32), [seed])
    group.advance()
    visits = decide(group, opinion)
    note, policy = group.memory.records.decisions[0, 0], np.zeros(9)
    entries = group.memory.records.policies[0, : note["policy_end"]]
    policy[entries["action"]] = entries["visits"] / max(entries["visits"].sum(), 1)
    return visits, policy, int(note["action"])


def first_actions(n_games: int, **changes: float) -> np.ndarray:
    """The cells played on the empty board in games of different seeds."""
    group = Group(TICTACTOE, make_settings(TICTACTOE, **{"is_gumbel": 1} | changes), n_games)
    order(group, np.arange(n_games, dtype=np.int32), list(range(n_games)))
    group.advance()
    while not group.memory.games.slots["decisions"].all():
        think(group, opinion=remembered)
        group.advance()
    return group.memory.records.decisions["action"][:, 0]


@pytest.mark.parametrize(
    ("n_considered", "n_simulations", "wanted"),
    [
        (4, 16, [6, 6, 2, 2, 0, 0, 0, 0, 0]),  # two rounds of four, four of two
        (8, 24, [7, 7, 3, 3, 1, 1, 1, 1, 0]),  # one round of eight, two of four, four of two
        (16, 9, [1, 1, 1, 1, 1, 1, 1, 1, 1]),  # all that are legal, and nothing left for a second phase
        (16, 5, [1, 1, 1, 1, 1, 0, 0, 0, 0]),  # not even the first phase
        (2, 7, [4, 3, 0, 0, 0, 0, 0, 0, 0]),  # a last round cut short
        (16, 1, [1, 0, 0, 0, 0, 0, 0, 0, 0]),
    ],
)
def test_visits_are_those_of_sequential_halving(n_considered, n_simulations, wanted):
    """One simulation more is for the root itself; every other one is spent as planned, whatever the values."""
    for seed in range(4):
        visits, _, _ = first_decision(seed, simulations=n_simulations + 1, gumbel_actions=n_considered)
        assert sorted(visits, reverse=True) == wanted


def test_several_leaves_do_not_change_the_visits():
    """A phase waits for its answers before the next one begins."""
    visits, _, _ = first_decision(simulations=25, gumbel_actions=8, leaves=6)

    assert sorted(visits, reverse=True) == [7, 7, 3, 3, 1, 1, 1, 1, 0]


def test_visits_from_the_last_decision_do_not_count_in_the_halving():
    """Every later decision spends its 24 simulations on eight cells, or on all that are left: the same plan."""
    group = roomy_group(TICTACTOE, make_settings(TICTACTOE, is_gumbel=1, simulations=24, gumbel_actions=8), 1)
    order(group, np.zeros(1, np.int32), [3])
    group.advance()
    decide(group)
    before = group.visits(0)
    assert before.sum() > 0
    visits = decide(group)

    assert sorted(visits - before, reverse=True) == [7, 7, 3, 3, 1, 1, 1, 1]


def test_every_world_gives_an_action_as_many_simulations():
    """Halving is common: 2 + 4 rounds of the survivors in each of three worlds."""
    group = Group(BLOB, make_settings(BLOB, is_gumbel=1, simulations=17, worlds=3, gumbel_actions=4), 1)
    order(group, np.zeros(1, np.int32), [5])
    group.advance()
    assert len(group.legal(0)) == 4
    visits = decide(group)

    assert sorted(visits, reverse=True) == [18, 18, 6, 6]


def flat_network(features: np.ndarray, legal: np.ndarray, n_players: int) -> tuple[np.ndarray, np.ndarray]:
    """An opinion on actions, none on values."""
    return network(features, legal, n_players)[0], np.zeros(n_players, np.float32)


def test_without_an_opinion_on_values_the_priors_are_learned():
    """Sixteen simulations reach no end of the game, so all values are 0."""
    _, policy, _ = first_decision(opinion=flat_network, simulations=17)
    priors = flat_network(np.zeros(TICTACTOE.features, TICTACTOE.feature_dtype), np.arange(9), 2)[0]

    np.testing.assert_allclose(policy, priors, atol=2**-20)


def true_values(opinion: Network) -> tuple[np.ndarray, np.ndarray]:
    """The priors of the empty board, and what each cell is worth to the first player in the network's eyes."""
    desk = GuardedGame(TICTACTOE)
    desk.reset(1)
    priors, values = opinion(desk.encode(0), desk.legal(), 2)[0], np.zeros(9)
    for cell in range(9):
        desk.reset(1)
        desk.play(cell)
        values[cell] = opinion(desk.encode(1), desk.legal(), 2)[1][1]  # whose turn it is not
    return priors, values


@pytest.mark.parametrize("opinion_seed", range(8))
def test_the_policy_learned_is_worth_more_than_the_priors(opinion_seed):
    """The theorem: where each action was tried once, so that its value is known, nothing can get worse."""

    def opinion(features, legal, n_players):
        return network(np.append(features, np.uint8(opinion_seed)), legal, n_players)

    priors, values = true_values(opinion)
    _, policy, _ = first_decision(opinion=opinion, simulations=10, gumbel_scale=0.1)

    assert policy @ values > priors @ values + 0.1
    assert (np.diff((policy / priors)[np.argsort(values)]) >= 0).all()


def test_actions_played_are_worth_more_than_the_priors():
    """The same of what is played, over the noise of 64 decisions with four simulations."""
    priors, values = true_values(network)
    played = first_actions(64, simulations=5)

    assert len(set(played)) > 2
    assert values[played].mean() > priors @ values + 0.2


def test_at_full_temperature_actions_are_drawn_from_the_policy_learned():
    """With all actions tried once, the best of g + log P + sigma(q) is a draw from the softmax: 400 of them."""
    settings = {"simulations": 10, "gumbel_scale": 0.02}
    _, policy, _ = first_decision(**settings)
    played = first_actions(400, **settings)
    shares = np.bincount(played, minlength=9) / 400

    assert policy.max() < 0.7
    assert (np.abs(shares - policy) < 4 * np.sqrt(policy * (1 - policy) / 400) + 0.01).all()


def test_a_win_in_one_is_never_missed():
    """A network that knows nothing, 16 simulations: in all games, whoever can complete a line does."""
    settings = make_settings(TICTACTOE, is_gumbel=1, simulations=16)
    records, _ = play_all(Group(TICTACTOE, settings, 16), list(range(100)), even_network)
    n_chances = 0
    for record in records:
        desk = GuardedGame(TICTACTOE)
        desk.reset(record.seed)
        for decision, action in enumerate(record.actions):
            if any(wins(record.actions[:decision], cell) for cell in desk.legal()):
                n_chances += 1
                assert wins(record.actions[:decision], action)
            desk.play(int(action))
    assert n_chances > 50


def wins(actions: np.ndarray, last: int) -> bool:
    """Whether these actions and a last one end the game with a line."""
    desk = GuardedGame(TICTACTOE)
    desk.reset(1)
    for action in [*actions, last]:
        desk.play(int(action))
    return bool(desk.returns().any())


def test_without_noise_nothing_is_left_to_chance():
    """As in matches: two seeds, one game."""
    settings = make_settings(TICTACTOE, is_gumbel=1, simulations=12, noise_weight=0.0)
    records, _ = play_all(Group(TICTACTOE, settings, 2), [1, 2])

    assert records[0].actions.tolist() == records[1].actions.tolist()
    assert policies(records[0]) == policies(records[1])


def test_one_simulation_leaves_the_priors_to_decide():
    """The only simulation evaluates the root: nothing to learn, but a decision."""
    visits, policy, action = first_decision(simulations=1, noise_weight=0.0)
    priors = network(np.zeros(TICTACTOE.features, TICTACTOE.feature_dtype), np.arange(9), 2)[0]

    assert visits.sum() == policy.sum() == 0
    assert action == priors.argmax()


def test_a_prior_of_nothing_is_no_trouble():
    """A softmax may come down to 0; the action is then tried last, but tried."""

    def opinion(_features, legal, n_players):
        return np.eye(1, len(legal), dtype=np.float32)[0], np.zeros(n_players, np.float32)

    visits, policy, _ = first_decision(opinion=opinion, simulations=10)

    assert visits.tolist() == [1] * 9
    assert policy[0] == 1.0


def test_a_full_pool_decides_with_what_it_has():
    """A world without room waits for nobody and nobody waits for it."""
    settings = make_settings(BLOB, is_gumbel=1, simulations=40, worlds=2)
    sizes = make_sizes(BLOB, settings, 2)._replace(nodes_per_tree=14, edges_per_tree=60)
    group = Group(BLOB, settings, 2, sizes)
    records, _ = play_all(group, [1, 2, 3, 4])

    assert len(records) == 4
    assert sum(record.shortened for record in records) > 20


def test_the_way_of_choosing_at_the_root_cannot_change():
    group = Group(TICTACTOE, make_settings(TICTACTOE), 1)
    with pytest.raises(AssertionError, match="at the root is fixed"):
        group.settings = group.settings._replace(is_gumbel=1)
