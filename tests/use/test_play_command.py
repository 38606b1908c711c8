"""``asyncplay play`` and ``data RUN show`` on a pseudo-terminal, with runs that were really trained."""

import io
import re
import sys
from pathlib import Path

import pytest
from archive.trained import answer
from console.desk import Desk

PLAYER = Path(__file__).with_name("player.py")
PATIENCE_S = 280.0  # of a machine that does six other things
PROMPT, CODES = "your action > ", re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]|[\r\x07]")
WRONG = ("", "nonsense", "hint now", "undo", "why because", "load /nowhere/game.json", "save", "#123456789")


class Guest(Desk):
    """A person who plays."""

    def __init__(self, *words: object) -> None:
        super().__init__([sys.executable, str(PLAYER), *map(str, words)])
        self._read_to = 0

    @property
    def said(self) -> str:
        return CODES.sub("", self.raw.decode(errors="replace"))

    def hear(self, *words: str) -> str:
        """Wait for one of these behind what was heard before; return all up to it."""
        pattern = re.compile("|".join(map(re.escape, words)))

        def found() -> re.Match[str] | None:
            return pattern.search(self.said, self._read_to)

        with self._changed:
            assert self._changed.wait_for(found, PATIENCE_S), f"{words} did not come:\n{self.said[self._read_to :]}"
            heard = self.said[self._read_to : found().end()]
        self._read_to += len(heard)
        return heard

    def play_on(self) -> str:
        """Stay in the game by the tamest action until it ends; return the last that was heard."""
        heard = self.hear(PROMPT, "ended with ")
        while heard.endswith(PROMPT):
            legal = re.findall(r"legal: (.+)", heard)[-1].split(", ")
            tame = [action for action in legal if action in ("check", "call", "liar")]
            self.press(f"{(tame or legal)[0]}\n")
            heard = self.hear(PROMPT, "ended with ")
        return heard


@pytest.fixture
def guest(request):
    guests = []

    def invite(*words: object) -> Guest:
        guests.append(Guest(*words))
        return guests[-1]

    yield invite
    for one in guests:
        one.close()


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.timeout(900)
@pytest.mark.parametrize("kind", ["tictactoe", "blob", "kuhn", "leduc", "holdem", "treasurehunt"])
def test_a_whole_game_is_played_with_wrong_input_on_the_way(kind, guest, request, tmp_path):
    run, file = request.getfixturevalue(kind), tmp_path / "g.json"
    person = guest("play", run, "--seed", 4, "--seat", "random", "--simulations", 4)
    heard = person.hear(PROMPT)
    assert f"{kind} against version " in heard
    for typed in WRONG:
        person.press(f"{typed}\n")
        lines = [line for line in person.hear(PROMPT).split("\n")[1:-1] if line]
        assert len(lines) == 1, typed
    for typed, reply in (
        ("?", "why last"),
        ("hint", "hint: "),
        ("why", "values for each seat"),
        (f"save {file}", "saved"),
    ):
        person.press(f"{typed}\n")
        assert reply in person.hear(PROMPT)
    person.press(f"load {file}\n")
    heard = person.play_on()
    assert heard.count("result: ") == 1
    assert f"asyncplay play {run} --seat " in heard
    assert f"asyncplay eval {run}" in heard
    person.hear("0")
    assert person.report() == "ended 0"
    assert "Traceback" not in person.said
    person.check_terminal_is_given_back()


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.timeout(900)
def test_leaving_by_quit_by_the_end_of_the_input_and_by_ctrl_c(guest, kuhn, tictactoe):
    person = guest("play", kuhn, "/", "play", kuhn, "/", "play", kuhn, "/", "data", tictactoe, "show")
    for key, status in (("quit\n", "0"), ("\x04", "0"), ("\x03", "130")):
        person.hear(PROMPT)
        person.press(key)
        person.hear("ended with ")
        assert person.hear("\n").strip() == status
    assert "decision 0 of " in person.hear("quit > ")
    for key, shown in (
        ("\n", "decision 1 of"),
        ("l\n", "over: "),
        ("n\n", "there is no position"),
        ("b\n", "to act"),
        ("2\n", "decision 2 of"),
        ("9999\n", "there is no position 9999"),
        ("x\n", "'x' is no step"),
        ("f\n", "decision 0 of"),
    ):
        person.press(key)
        assert shown in person.hear("quit > ")
    person.press("q\n")
    person.hear("ended with 0")
    assert "Traceback" not in person.said


def test_a_game_can_be_played_by_a_script(kuhn, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("nonsense\nundo\ncheck\ncall\ncheck\n"))
    status, said = answer("play", kuhn, "--seed", 4)
    assert status == 0
    assert "seat 0, your action > nonsense\n'nonsense' is not legal here; legal are check, bet\n" in said
    assert "there is no decision of yours to take back" in said
    assert "result: you " in said
    again = f"  asyncplay play {kuhn} --seat 0 --seed 4\n"
    assert said.endswith(f"next:\n{again}  asyncplay play {kuhn} --seat random\n  asyncplay eval {kuhn}\n")


def test_the_end_of_the_input_is_no_failure(kuhn, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    status, said = answer("play", kuhn, "--seed", 4)
    assert status == 0
    assert "result" not in said


def test_bytes_that_are_no_text_and_endless_lines_are_wrong_input_like_any_other(kuhn, monkeypatch):
    typed = b"\xff\xfe\n" + b"x" * 100_000 + b"\n\0\x1b[2J\nquit\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(typed), encoding="utf-8"))
    status, said = answer("play", kuhn, "--seed", 4)
    assert status == 0
    assert said.count("is not legal here; legal are check, bet\n") == 3
    assert max(map(len, said.split("\n"))) < 600
    assert "\x1b" not in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--seat", "2"], "asyncplay: --seat is 2, must be 0 to 1 or random\n"),
        (["--seat", "first"], "asyncplay: --seat is first, must be 0 to 1 or random\n"),
        (
            ["--simulations", "5", "--seconds", "1"],
            "asyncplay: --simulations 5 and --seconds 1 cannot both be kept; leave one out\n",
        ),
        (["--seconds", "0"], "asyncplay: --seconds is 0, must be a number from 0.01 to 86400\n"),
    ],
)
def test_wrong_flags_are_one_line_and_status_2(words, said, kuhn):
    assert answer("play", kuhn, *words) == (2, said)


def test_a_folder_that_is_no_run_is_one_line_and_status_2(tmp_path):
    status, said = answer("play", tmp_path)
    assert status == 2
    assert said == f"asyncplay: {tmp_path} is no folder of a run: it has no config.toml\n"
