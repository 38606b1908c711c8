"""Games of others: their names, what is refused and why, and the contract behind them."""

import sys

import numpy as np
import pytest

from asyncplay import games, rng
from asyncplay.errors import AsyncplayError
from asyncplay.games.slow import HEAD, WORDS, Chances
from asyncplay.games.spec import CHANCE_TURN, GAME_OVER, end_reason

pytest.importorskip("pyspiel")
pytestmark = pytest.mark.filterwarnings("ignore")  # of other people's packages

REFUSED = {
    "openspiel:conect_four": "did you mean 'connect_four'",
    "openspiel:hex(bord_size=5)": "'bord_size' is no parameter of hex, did you mean 'board_size'",
    "openspiel:hex(board_size=x)": "cannot be loaded: Wrong type for parameter board_size",
    "openspiel:hex(board_size=5": "must be like openspiel:hex(KEY=VALUE",
    "openspiel:hex(board_size=0)": "it has 0 actions",
    "openspiel:breakthrough(rows=99999,columns=99999)": "which no game here can have",
    "openspiel:goofspiel": "move at the same time",
    "openspiel:catch": "is for 1 player(s)",
    "openspiel:mfg_crowd_modelling": "is a mean field game",
    "openspiel:": "did you mean",
    "python:games.nim": "must be python:MODULE:CLASS",
    "python:no_such_module:Game": "no_such_module cannot be imported",
    "python:games.nim:Nom": "has no class Nom",
    "python:games.nim:Mute": "has no method start",
    "python:games.nim:Odd": "legal actions [7], must ascend within 0 to 2",
    "python:games.nim:Shapeless": "10 features, its shape says 3",
    "python:games.nim:Generous": "returns [5.0, -5.0], wanted are 2 from -1 to 1",
    "pettingzoo:pettingzoo.classic.rps_v2": "move at the same time",
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_played_is_one_line_that_says_why(name, capfd):
    with pytest.raises(AsyncplayError) as caught:
        games.load(name)
    assert REFUSED[name] in str(caught.value)
    assert "\n" not in str(caught.value)
    assert capfd.readouterr().err == ""  # OpenSpiel writes its own errors there


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("openspiel:tic_tac_toe", {"longest": -1}, "option longest of openspiel:tic_tac_toe is -1"),
        ("openspiel:tic_tac_toe", {"longst": 1}, "did you mean 'longest'"),
        ("python:games.nim:Nim", {"arguments": "[]"}, "must be JSON"),
        ("python:games.nim:Nim", {"arguments": '{"sice": 5}'}, "unexpected keyword argument 'sice'"),
        ("pettingzoo:pettingzoo.classic.tictactoe_v3", {"frames": 2}, "a search sees one"),
    ],
)
def test_options_that_cannot_be_are_refused(name, options, words):
    with pytest.raises(AsyncplayError, match="option") as caught:
        games.load(name, options)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("package", "name"), [("pyspiel", "openspiel:hex"), ("pettingzoo.utils", "pettingzoo:pettingzoo.classic.go_v5")]
)
def test_without_the_package_one_line_names_the_extra(package, name, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(AsyncplayError, match=r"pip install 'asyncplay\[(openspiel|pettingzoo)\]'"):
        games.load(name)


@pytest.mark.parametrize(
    ("name", "why"),
    [("openspiel:liars_dice", "cannot draw its hidden positions anew"), ("openspiel:kuhn_poker", "")],
)
def test_hidden_games_are_searched_where_worlds_can_be_drawn(name, why):
    spec = games.load(name)
    assert spec.is_hidden
    assert bool(why) == bool(spec.unsearchable)
    assert why in spec.unsearchable


LONGEST = {"openspiel:pig(winscore=20)": 5}


@pytest.mark.parametrize(
    "name",
    [
        "openspiel:tic_tac_toe",
        "openspiel:pig(winscore=20)",
        "openspiel:leduc_poker",
        "python:games.nim:LuckyNim",
        "pettingzoo:pettingzoo.classic.tictactoe_v3",
    ],
)
def test_random_games_keep_the_contract_and_are_functions_of_their_seeds(name):
    """A copy of the history is a copy of the position, also to kernels that never met it."""
    limit = LONGEST.get(name)
    spec = games.load(name, {} if limit is None else {"longest": limit})
    fresh = games.load(name, {} if limit is None else {"longest": limit})
    ends = []
    for seed in (1, 2, 1):
        numbers, happens, state = rng.stream(seed, 3), rng.stream(seed, 0), spec.new_state()
        actions, row, n_decisions = np.zeros(spec.max_legal, np.int32), np.zeros(spec.features, np.float32), 0
        while (mover := spec.kernels.to_move(spec.rules, state)) != GAME_OVER:
            if mover == CHANCE_TURN:
                spec.kernels.chance(spec.rules, state, happens)
                continue
            n_legal = spec.kernels.legal(spec.rules, state, actions, spec.new_room())
            legal = actions[:n_legal].tolist()
            assert legal == sorted(set(legal))
            spec.kernels.encode(spec.rules, state, mover, row, spec.new_room())
            other = np.full_like(row, 7.0)
            fresh.kernels.encode(fresh.rules, state.copy(), mover, other, fresh.new_room())
            np.testing.assert_array_equal(row, other)
            spec.kernels.play(spec.rules, state, legal[rng.below(numbers, n_legal)], spec.new_room())
            n_decisions += 1
        assert n_decisions <= spec.max_decisions
        gains = np.zeros(spec.players)
        spec.kernels.returns(spec.rules, state, gains)
        assert (np.abs(gains * spec.value_scale + spec.value_offset) <= 1.0).all()
        assert end_reason(spec, state) == ("limit" if n_decisions == limit else "rules")
        ends.append(state[HEAD : HEAD + state[WORDS]].tolist())
    assert ends[0] == ends[2] != ends[1]


def test_outcomes_are_drawn_by_their_odds():
    chances = Chances([4, 7, 9], [0.5, 0.75, 1.0])
    assert [chances.draw(share) for share in (0.0, 0.49, 0.5, 0.74, 0.75, 0.999999)] == [4, 4, 7, 7, 9, 9]
