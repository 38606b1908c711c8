"""Full walks: known values, known rates of convergence, and the same steps as open_spiel."""

import numpy as np
import pyspiel
import pytest
from games import spiel
from solve.test_mccfr import compiled

from asyncplay import games
from asyncplay.solve.cfr import VARIANTS, Walker
from asyncplay.solve.exact import exploitability
from asyncplay.solve.regret import REGRET, SUM, average_policy, discount, new_table

LEDUC_VALUE = -0.0856  # to the first player, from the literature


def solved(name: str, variant: str, iterations: int):
    game = compiled(name)
    walker = Walker(game, VARIANTS[variant])
    walker.run(iterations)
    return exploitability(game, average_policy(game, walker.table))


def test_cfr_plus_finds_the_value_of_kuhn_poker_to_a_millionth():
    assert solved("kuhn", "cfr+", 5_000).values[0] == pytest.approx(-1 / 18, abs=1e-6)


def test_cfr_plus_solves_leduc_poker_to_a_thousandth():
    found = solved("leduc", "cfr+", 1_000)

    assert found.values[0] == pytest.approx(LEDUC_VALUE, abs=1e-4)
    assert found.nash_conv < 1e-3


@pytest.mark.parametrize(
    ("variant", "nash_conv"), [("cfr", 0.03), ("cfr+", 7e-4), ("linear", 0.015), ("discounted", 5e-4)]
)
def test_a_thousand_iterations_of_leduc_poker_come_this_close(variant, nash_conv):
    """The order is the one of Brown and Sandholm 2019. Nothing is drawn, so these are always the same numbers."""
    assert nash_conv / 3 < solved("leduc", variant, 1_000).nash_conv < nash_conv


@pytest.mark.parametrize(("variant", "solver"), [("cfr", pyspiel.CFRSolver), ("cfr+", pyspiel.CFRPlusSolver)])
def test_the_average_policy_is_open_spiels_after_each_iteration(variant, solver):
    spec, game, theirs = games.load("kuhn"), compiled("kuhn"), solver(pyspiel.load_game("kuhn_poker"))
    walker = Walker(game, VARIANTS[variant])
    infoset_of = {key: infoset for infoset, key in enumerate(game.keys.tolist())}
    for _ in range(20):
        walker.run(1)
        theirs.evaluate_and_update_policy()
        average, policy = theirs.average_policy(), average_policy(game, walker.table)
        for pair in spiel.histories(spec, "kuhn_poker"):
            if pair.mover >= 0:
                first = game.flat.offsets[infoset_of[spec.kernels.key(spec.rules, pair.ours, pair.mover)]]
                wanted = [odds for _, odds in average.get_state_policy(pair.theirs)]
                np.testing.assert_allclose(policy[first : first + 2], wanted, atol=1e-9)


def test_three_players_of_kuhn_poker_come_near_an_equilibrium():
    """Nothing promises it for more than two players; for this game it is known to happen."""
    game = compiled("kuhn", players=3)
    walker = Walker(game, VARIANTS["cfr+"])
    walker.run(3_000)
    found = exploitability(game, average_policy(game, walker.table))

    assert found.values.sum() == pytest.approx(0.0, abs=1e-12)
    assert found.nash_conv < 0.01


def test_a_discount_is_the_formula():
    table = new_table(compiled("kuhn"))
    table[0], table[1] = (10.0, 4.0), (-10.0, 4.0)

    discount(table, 4, 1.5, 0.5, 2.0)

    np.testing.assert_allclose(table[:2, REGRET], [10 * 8 / 9, -10 * 2 / 3])
    np.testing.assert_allclose(table[:2, SUM], 4 * 0.8**2)
