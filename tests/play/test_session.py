"""A person plays: what is typed and what is answered, with an agent that takes the first legal action."""

import json

import pytest

from asyncplay import games
from asyncplay.agents.search import Thought
from asyncplay.games.position import Position
from asyncplay.play.session import HELP, PlaySession, Strength


class FirstLegal:
    """An agent that thinks nothing; it notes how it was asked."""

    def __init__(self, name: str, **options) -> None:
        self.game, self.options, self.asked = games.load(name, options), options, []

    def think(self, position: Position, *, simulations, seconds, seed) -> Thought:
        self.asked.append((simulations, seconds, seed))
        legal = position.legal
        share = [1 / len(legal)] * len(legal)
        values = [0.25] + [None] * (self.game.players - 1)
        return Thought(legal[0], legal, share, [*range(len(legal))], [0.5] * len(legal), values, 7)


def sit_down(name: str = "tictactoe", *, seat: int = 0, seed: int = 5, **options) -> PlaySession:
    agent = FirstLegal(name, **options)
    return PlaySession(agent, options, seat=seat, seed=seed, strength=Strength(simulations=7))


def test_a_whole_game_ends_with_its_result():
    session = sit_down()
    assert session.go_on().lines[-1] == "legal: a1, b1, c1, a2, b2, c2, a3, b3, c3"
    assert session.answer("a3").lines[0] == "O: a1"
    session.answer("b3")
    reply = session.answer("9")
    assert reply.is_end
    assert reply.lines[-1] == "result: you won: X (you) +1, O -1"


def test_the_agent_begins_where_its_seat_does_and_is_as_strong_as_was_said():
    agent = FirstLegal("tictactoe")
    session = PlaySession(agent, {}, seat=1, seed=9, strength=Strength(None, 0.5))
    assert session.go_on().lines[0] == "X: a1"
    assert agent.asked == [(None, 0.5, 9)]
    assert session.prompt == "O, your action > "


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("", "'' is not legal here; legal are a1, b1, c1, a2, b2, c2, a3, b3, c3; `help` lists what else can be typed"),
        ("d9", "'d9' is not legal here; legal are a1, b1, c1, a2, b2, c2, a3, b3, c3"),
        ("undo", "there is no decision of yours to take back"),
        ("why not", "why 'not' has no answer; wanted is why or why last"),
        ("why last", "the agent has not decided yet"),
        ("hint please", "'please' is too much; this command stands alone"),
        ("save", "save needs the name of a file"),
        ("save /nowhere/here.json", "/nowhere/here.json: No such file or directory"),
        ("load", "load needs the name of a file"),
        ("load /nowhere/here.json", "/nowhere/here.json: No such file or directory"),
        ("load .", ".: Is a directory"),
    ],
)
def test_what_cannot_be_done_is_one_line_and_changes_nothing(typed, said):
    session = sit_down()
    before = session.position
    reply = session.answer(typed)
    assert (reply.lines, reply.is_end) == ([said], False)
    assert session.position is before


def test_hints_and_reasons_are_those_of_the_agent():
    session = sit_down()
    assert session.answer("hint").lines == ["hint: a1"]
    why = session.answer("why").lines
    assert why[1] == "  c3           8   11.1%  +0.500"
    assert why[9] == "* a1           0   11.1%  +0.500"
    assert why[-1] == "* a1; values for each seat: X +0.250, O -"
    session.answer("b2")
    assert session.answer("why last").lines[-1].startswith("* a1; values")
    how = "           a cell such as b2, column and row from the top, or 1 to 9 row by row"
    assert session.answer("help").lines == [HELP[0], how, *HELP[1:]]
    assert session.answer("words").lines == ["X to act", "X on b2", "O on a1"]
    assert session.answer("moves").lines == ["b1, c1, a2, c2, a3, b3, c3"]
    assert session.answer("board").lines[2] == "1[O]  .   ."


def test_why_last_does_not_tell_what_others_hold():
    session = sit_down("kuhn", seat=1)
    session.go_on()
    assert session.answer("why last").lines == ["kuhn hides what others know: `why` explains your own position"]
    assert session.answer("why").lines[0].split() == ["action", "visits", "prior", "value"]


def test_undo_goes_back_to_the_decision_before_and_may_be_repeated():
    session = sit_down()
    session.go_on()
    session.answer("b2")
    session.answer("c3")
    assert session.position.actions == (4, 0, 8, 1)
    session.answer("undo")
    assert session.position.actions == (4, 0)
    session.answer("undo")
    assert session.position.actions == ()
    assert session.answer("undo").lines == ["there is no decision of yours to take back"]


def test_a_saved_game_goes_on_where_it_was(tmp_path):
    file, session = tmp_path / "game.json", sit_down("kuhn", seat=1, seed=8, players=3)
    session.go_on()
    assert session.answer(f"save {file}").lines == [f"saved in {file}"]
    assert json.loads(file.read_text()) == {
        "format": 1,
        "game": "kuhn",
        "options": {"players": 3},
        "seed": 8,
        "seat": 1,
        "actions": [0],
    }
    other = sit_down("kuhn", seat=2, seed=1, players=3)
    other.go_on()
    reply = other.answer(f"load {file}")
    assert reply.lines[0] == f"loaded {file}: seat 1, seed 8"
    assert other.answer("board").lines == session.answer("board").lines
    assert (other.seat, other.position.actions) == (1, (0,))


GOOD = {"format": 1, "game": "tictactoe", "options": {}, "seed": 5, "seat": 0, "actions": [4, 0]}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"format": 2}, "format is 2, this version reads 1"),
        ({"game": "go"}, "game is 'go', this run plays tictactoe"),
        ({"options": []}, "options is [], must be an object"),
        ({"seed": -1}, "seed is -1, must be a whole number from 0 to 4611686018427387903"),
        ({"seat": 2}, "seat is 2, must be a whole number from 0 to 1"),
        ({"seat": True}, "seat is True, must be a whole number from 0 to 1"),
        ({"actions": 3}, "actions is 3, must be a list"),
        ({"actions": [4, 4]}, "action 1 is 4, which is not legal there"),
        ({"actions": [4, "a1"]}, "action 1 is 'a1', which is not legal there"),
        ({"actions": [1.0]}, "action 0 is 1.0, which is not legal there"),
    ],
)
def test_a_bad_file_is_one_line_that_says_what_is_wrong(changed, said, tmp_path):
    file, session = tmp_path / "game.json", sit_down()
    file.write_text(json.dumps(GOOD | changed))
    reply = session.answer(f"load {file}")
    assert (reply.lines, reply.is_end) == ([f"{file}: {said}"], False)
    assert session.position.actions == ()


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"format": 1}', b"\xff\xfe", b"[" * 100_000])
def test_a_file_that_is_no_saved_game_is_refused(content, tmp_path):
    file, session = tmp_path / "game.json", sit_down()
    file.write_bytes(content)
    reply = session.answer(f"load {file}")
    assert len(reply.lines) == 1
    assert "is no saved game" in reply.lines[0]


def test_a_game_with_other_options_is_refused(tmp_path):
    file = tmp_path / "game.json"
    sit_down("kuhn", players=3).answer(f"save {file}")
    assert sit_down("kuhn").answer(f"load {file}").lines == [
        f"{file}: options are {{'players': 3}}, this run plays kuhn with others"
    ]


def test_several_players_are_told_their_place():
    session = sit_down("kuhn", seat=0, players=3)
    session.go_on()
    reply = session.answer("check")
    assert reply.is_end
    assert reply.lines[0] == "seat 1: check"
    assert reply.lines[-1].startswith("result: place ")
