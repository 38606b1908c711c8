"""Several opponents at a time, other runs among them."""

import json

import pytest
from archive.trained import answer
from rating.test_wording import DUEL

from asyncplay.rating.wording import as_lines

QUICK = ("--games", 6, "--simulations", 4)


def test_several_opponents_are_met_at_a_time_and_told_in_one_table(tictactoe):
    first = min(int(path.stem) for path in (tictactoe / "weights").glob("*.safetensors"))
    names = ["random", str(first), str(tictactoe)]
    words = [word for name in names for word in ("--against", name)]
    status, said = answer("eval", tictactoe, *words, *QUICK, "--json")
    assert status == 0, said
    figures = json.loads(said.splitlines()[-1])
    assert [match["against"] for match in figures["matches"]] == names
    for match in figures["matches"]:
        assert match["games"] == match["wins"] + match["draws"] + match["losses"] == 6
        assert match["interval"][0] <= match["score"] <= match["interval"][1]


def test_the_table_of_several_matches_has_a_line_for_each():
    facts = {name: DUEL[name] for name in ("run", "game", "version")}
    matches = [
        {name: DUEL[name] for name in DUEL if name not in facts} | {"against": name} for name in ("random", "12")
    ]
    assert as_lines(facts | {"matches": matches}) == [
        "connect4, version 57, 64 simulations a decision",
        "score, 1 is won, 0 lost; 95 % intervals; won, drawn, lost",
        "against random      0.748 (0.690 to 0.805)  145 9 46 of 200",
        "against version 12  0.748 (0.690 to 0.805)  145 9 46 of 200",
    ]


@pytest.mark.parametrize(
    ("rival", "told"),
    [
        ("{kuhn}", "--against {kuhn}: it trains no network, as {run} does"),
        ("nobody", "'nobody' is no opponent; known are random, rules"),
        ("999", "{run} has no weights of version 999"),
    ],
)
def test_an_opponent_that_cannot_be_met_is_refused_in_one_line(tictactoe, kuhn, rival, told):
    status, said = answer("eval", tictactoe, "--against", "random", "--against", rival.format(kuhn=kuhn), *QUICK)
    assert status == 2
    assert said.startswith(f"asyncplay: {told.format(kuhn=kuhn, run=tictactoe)}")
    assert said.count("\n") == 1
