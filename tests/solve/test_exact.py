"""Values and best responses are open_spiel's."""

import numpy as np
import pyspiel
import pytest
from games import spiel

from asyncplay import games
from asyncplay.solve.exact import exploitability
from asyncplay.solve.flat import FlatGame
from asyncplay.solve.flatten import flatten
from asyncplay.solve.mccfr import Sampler, SamplerSettings
from asyncplay.solve.regret import average_policy

CASES = {
    "kuhn": ("kuhn", {}, "kuhn_poker"),
    "kuhn of 3": ("kuhn", {"players": 3}, "kuhn_poker(players=3)"),
    "leduc": ("leduc", {}, "leduc_poker"),
    "liar's dice": ("liarsdice", {"faces": 3}, "liars_dice(numdice=1,dice_sides=3)"),
}


def as_spiel_policy(spec, game: FlatGame, policy: np.ndarray, name: str) -> pyspiel.TabularPolicy:
    """A policy of ours as one of open_spiel's, infoset by infoset."""
    infoset_of = {key: infoset for infoset, key in enumerate(game.keys.tolist())}
    table = {}
    for pair in spiel.histories(spec, name):
        if pair.mover >= 0:
            infoset = infoset_of[spec.kernels.key(spec.rules, pair.ours, pair.mover)]
            entries = range(game.flat.offsets[infoset], game.flat.offsets[infoset + 1])
            table[pair.theirs.information_state_string()] = [
                (int(game.actions[entry]), float(policy[entry])) for entry in entries
            ]
    return pyspiel.TabularPolicy(table)


def random_policy(game: FlatGame, seed: int) -> np.ndarray:
    weights = np.random.default_rng(seed).random(game.n_entries)
    starts = game.flat.offsets[:-1]
    return weights / np.repeat(np.add.reduceat(weights, starts), np.diff(game.flat.offsets))


@pytest.mark.parametrize("case", CASES)
def test_nash_conv_and_values_of_random_policies_are_open_spiels(case):
    name, options, spiel_name = CASES[case]
    spec = games.load(name, options)
    game, theirs = flatten(spec), pyspiel.load_game(spiel_name)
    for seed in range(3):
        policy = random_policy(game, seed)
        same = as_spiel_policy(spec, game, policy, spiel_name)
        ours = exploitability(game, policy)

        assert ours.nash_conv == pytest.approx(pyspiel.nash_conv(theirs, same), abs=1e-9)
        values = pyspiel.expected_returns(theirs.new_initial_state(), same, -1, True)
        np.testing.assert_allclose(ours.values, values, atol=1e-9)


def test_open_spiel_finds_the_same_nash_conv_in_what_was_learned():
    spec = games.load("leduc")
    game = flatten(spec)
    sampler = Sampler(game, SamplerSettings(), seed=1)
    sampler.run(0, 30_000)
    policy = average_policy(game, sampler.table)
    ours = exploitability(game, policy).nash_conv

    assert 0.05 < ours < 0.4
    theirs = pyspiel.nash_conv(pyspiel.load_game("leduc_poker"), as_spiel_policy(spec, game, policy, "leduc_poker"))
    assert ours == pytest.approx(theirs, abs=1e-9)


def test_a_uniform_player_of_kuhn_poker_loses_eleven_twelfths_to_those_who_know():
    """open_spiel's own documentation gives 0.9167 for the NashConv of the uniform policy."""
    game = flatten(games.load("kuhn"))

    assert exploitability(game, np.full(game.n_entries, 0.5)).nash_conv == pytest.approx(11 / 12)
