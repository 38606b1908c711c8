"""Small games of OpenSpiel solved through their own rules come out as ours do."""

import pytest

from asyncplay import games
from asyncplay.errors import AsyncplayError
from asyncplay.solve.cfr import VARIANTS, Walker
from asyncplay.solve.exact import exploitability
from asyncplay.solve.flatten import flatten
from asyncplay.solve.regret import average_policy

pytest.importorskip("pyspiel")

CASES = {
    "kuhn": ("kuhn", {}, "openspiel:kuhn_poker"),
    "kuhn of three": ("kuhn", {"players": 3}, "openspiel:kuhn_poker(players=3)"),
    "leduc": ("leduc", {}, "openspiel:leduc_poker"),
    "leduc without suits": ("leduc", {}, "openspiel:leduc_poker(suit_isomorphism=True)"),
    "liar's dice": ("liarsdice", {"faces": 3}, "openspiel:liars_dice(numdice=1,dice_sides=3)"),
}


@pytest.mark.parametrize("case", CASES)
def test_the_same_walks_come_to_the_same_nash_conv(case):
    """To 1e-9 after a hundred iterations of CFR+; in as many infosets, unless suits are told apart."""
    ours, options, theirs = CASES[case]
    found = []
    for game in (flatten(games.load(ours, options)), flatten(games.load(theirs))):
        walker = Walker(game, VARIANTS["cfr+"])
        walker.run(100)
        found.append((game.n_infosets, game.n_entries, exploitability(game, average_policy(game, walker.table))))
    (infosets, entries, mine), (other_infosets, other_entries, other) = found
    assert (infosets, entries) == (other_infosets, other_entries) or (case == "leduc" and other_infosets == 936)
    assert mine.nash_conv == pytest.approx(other.nash_conv, abs=1e-9)
    assert mine.nash_conv < 0.2
    assert mine.values == pytest.approx(other.values, abs=1e-9)


@pytest.mark.parametrize("name", ["python:games.nim:Nim"])
def test_what_does_not_say_who_knows_what_has_no_table(name):
    with pytest.raises(AsyncplayError, match="solved by table"):
        flatten(games.load(name))
