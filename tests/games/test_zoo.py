"""PettingZoo both ways: its environments in blocks, our games as its environments."""

import warnings

import numpy as np
import pytest
from games.environments import CHECKS, Case, random_episodes

from asyncplay import games
from asyncplay.errors import AsyncplayError
from asyncplay.games import environments
from asyncplay.games.tictactoe import spec as tictactoe

pytest.importorskip("pettingzoo")
pytestmark = pytest.mark.filterwarnings("ignore")  # of other people's packages

TICTACTOE, ROCKS = "pettingzoo:pettingzoo.classic.tictactoe_v3", "pettingzoo:pettingzoo.classic.rps_v2"
PARALLEL = "pettingzoo:games.zoo_parallel"


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__.removeprefix("check_"))
@pytest.mark.parametrize(
    ("name", "options"),
    [
        (TICTACTOE, {}),
        (TICTACTOE, {"frames": 3}),
        (ROCKS, {"arguments": '{"max_cycles": 6}'}),
        (PARALLEL, {"longest": 12}),
    ],
)
def test_blocks_of_pettingzoo_keep_the_contract_of_environments(name, options, check):
    """In turns (tic-tac-toe, with masks) and all at once (rock, paper, scissors)."""
    world = environments.load(name, options)
    check(Case(world.make_block, world.features, world.actions, world.frames, world.longest))


def test_tictactoe_of_pettingzoo_has_our_legal_actions_and_results():
    """Theirs numbers cells by columns; the same random games end with the same winner."""
    world, ours = environments.load(TICTACTOE, {}), tictactoe()
    for episode in random_episodes(world.make_block(6), list(range(6)), list(range(6))):
        state, room = ours.new_state(), ours.new_room()
        for decision in episode.decisions:
            legal = np.zeros(9, np.int32)
            n_legal = ours.kernels.legal(ours.rules, state, legal, room)
            assert {3 * (cell % 3) + cell // 3 for cell in legal[:n_legal].tolist()} == set(decision.legal)
            assert ours.kernels.to_move(ours.rules, state) == decision.seat
            ours.kernels.play(ours.rules, state, 3 * (decision.action % 3) + decision.action // 3, room)
        ours.kernels.returns(ours.rules, state, paid := np.zeros(2))
        np.testing.assert_array_equal(paid, episode.returns)


def test_an_episode_is_cut_off_at_its_longest():
    world = environments.load(ROCKS, {"longest": 5})
    assert len(random_episodes(world.make_block(1), [1], [0])[0].decisions) == 5


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("pettingzoo:no.such.module", {}, "no.such.module cannot be imported"),
        ("pettingzoo:json", {}, "json has neither env nor parallel_env"),
        (TICTACTOE, {"arguments": "{"}, "must be JSON"),
        (TICTACTOE, {"arguments": '{"x": 1}'}, "option arguments of"),
        (TICTACTOE, {"longest": 0}, "option longest of"),
    ],
)
def test_a_module_that_cannot_be_used_is_one_line(name, options, words):
    with pytest.raises(AsyncplayError, match=words):
        environments.load(name, options)


@pytest.mark.parametrize("name", ["treasurehunt", "tictactoe"])
def test_pettingzoos_own_tests_pass_on_our_games(name, capsys):
    from pettingzoo.test import api_test, seed_test

    from asyncplay.games import zoo_env

    options = {"turns": 6} if name == "treasurehunt" else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        api_test(zoo_env.env(name, **options), num_cycles=20)
        seed_test(lambda: zoo_env.env(name, **options), num_cycles=20)
    assert "Passed" in capsys.readouterr().out


def test_our_environment_pays_what_the_block_pays():
    """The same episode by the kernels in a block and through PettingZoo's interface."""
    from asyncplay.games import zoo_env

    ours = environments.load("treasurehunt", {"turns": 5})
    (episode,) = random_episodes(ours.make_block(1), [9], [0])
    theirs = zoo_env.env("treasurehunt", turns=5, render_mode="ansi")
    theirs.reset(seed=9)
    for decision in episode.decisions:
        assert theirs.agent_selection == f"agent_{decision.seat}"
        np.testing.assert_array_equal(theirs.last()[0], decision.features)
        theirs.step(decision.action)
        assert [theirs.rewards[f"agent_{seat}"] for seat in range(5)] == decision.rewards.tolist()
    assert all(theirs.terminations.values())
    assert len(theirs.render().splitlines()) == 11
    assert games.load("treasurehunt").players == 5
