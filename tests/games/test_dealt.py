"""Kuhn's poker, Leduc poker and liar's dice are open_spiel's, history by history."""

import random

import pyspiel
import pytest
from games import spiel

from asyncplay import games
from asyncplay.errors import AsyncplayError
from asyncplay.games.spec import CHANCE_TURN, GAME_OVER

CASES = {
    "kuhn": ("kuhn", {}, "kuhn_poker", 58, 12),
    "kuhn of 3": ("kuhn", {"players": 3}, "kuhn_poker(players=3)", 617, 48),
    "leduc": ("leduc", {}, "leduc_poker", 9_457, 936),
    "liar's dice of 4 faces": ("liarsdice", {"faces": 4}, "liars_dice(numdice=1,dice_sides=4)", 8_181, 1_024),
    "liar's dice": ("liarsdice", {}, "liars_dice", 294_883, 24_576),
}


@pytest.mark.parametrize("case", CASES)
def test_every_history_is_the_same(case):
    """Who moves, what is legal, the odds of chance, the returns and who can tell which histories apart.

    In Leduc open_spiel shows suits: several of its infosets are one of ours, never the other way round.
    """
    name, options, spiel_name, n_histories, n_infosets = CASES[case]
    spec = games.load(name, options)
    pairs, keys = 0, {}
    for pair in spiel.histories(spec, spiel_name):
        pairs += 1
        if pair.mover == GAME_OVER:
            assert spiel.returns(spec, pair.ours) == pair.theirs.returns()
        elif pair.mover >= 0:
            infoset = (pair.mover, pair.theirs.information_state_string())
            key = spec.kernels.key(spec.rules, pair.ours, pair.mover)
            assert keys.setdefault(infoset, key) == key

    assert pairs == n_histories
    assert len(keys) == n_infosets
    assert len(set(keys.values())) == (288 if name == "leduc" else n_infosets)


def test_random_games_of_leduc_poker_for_three_are_the_same():
    """Its tree is too large for a test; these pass through every kind of ending."""
    spec, game = games.load("leduc", {"players": 3}), pyspiel.load_game("leduc_poker(players=3)")
    draws = random.Random(0)
    lengths = set()
    for _ in range(2_000):
        ours, theirs = spec.new_state(), game.new_initial_state()
        while (mover := spec.kernels.to_move(spec.rules, ours)) != GAME_OVER:
            is_chance = mover == CHANCE_TURN
            assert theirs.current_player() == mover
            choices = [one for one, _ in spiel.outcomes(spec, ours)] if is_chance else spiel.legal(spec, ours)
            assert choices == theirs.legal_actions()
            choice = draws.choice(choices)
            spiel.apply(spec, ours, choice, is_chance=is_chance)
            theirs.apply_action(choice)
        assert spiel.returns(spec, ours) == theirs.returns()
        lengths.add(len(theirs.history()))

    assert max(lengths) == 17, "four deals and 13 of at most 14 decisions"


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("kuhn", {"players": 5}, "option players of kuhn is 5, must be a whole number from 2 to 4"),
        ("leduc", {"players": 4}, "option players of leduc is 4, must be a whole number from 2 to 3"),
        ("liarsdice", {"faces": 1}, "option faces of liarsdice is 1, must be a whole number from 2 to 11"),
    ],
)
def test_options_out_of_range_are_refused(name, options, words):
    with pytest.raises(AsyncplayError, match=words):
        games.load(name, options)
