"""``--option KEY=VALUE`` of train, bench, eval and games: what is meant, and what is refused in one line."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from asyncplay import cli, games
from asyncplay.bench import search
from asyncplay.bench.loads import bench_config
from asyncplay.config.loading import load
from asyncplay.config.sections import Config
from asyncplay.methods.game_options import lay_over
from asyncplay.methods.selfplay.network import load_game, save_weights
from asyncplay.methods.sizes import net_shape
from asyncplay.model.nets import build as build_net
from asyncplay.model.nets import snapshot
from asyncplay.rating import evaluate
from asyncplay.rundir.layout import read_config
from asyncplay.rundir.resume import write_config

CONFIGS = Path(__file__).parents[2] / "configs"
MAY_COMPILE = pytest.mark.timeout(400)  # kernels, where they are not in the cache
HELPS = (["games"], ["eval"], ["bench", "search"], ["bench", "workers"], ["bench", "selfplay"], ["bench", "cfr"])


def train(*options: str, flags: tuple[str, ...] = ()) -> list[str]:
    return ["train", *flags, *(word for option in options for word in ("--option", option))]


def bench(name: str, game: str, *options: str) -> list[str]:
    return ["bench", name, "--game", game, *(word for option in options for word in ("--option", option))]


def describe(*words: str) -> list[str]:
    return ["games", *words]


def game(name: str) -> tuple[str, str]:
    return "--game.name", name


TABULAR = ("--solve.method", "external")
CARDS = "must be a whole number from 1 to 13 with players=4"
BAD_TRAIN = [
    (train("cards"), "--option cards: must be KEY=VALUE, such as players=3"),
    (train("=5"), "--option =5: must be KEY=VALUE"),
    (train("="), "--option =: must be KEY=VALUE"),
    (train("crads=3"), "'crads' is no option of blob, did you mean 'cards'? known are players, cards, whole, dealer"),
    (train("cards card=3"), "'cards card' is no option of blob, did you mean 'cards'?"),
    (train("Cards=3"), "'Cards' is no option of blob, did you mean 'cards'?"),
    (train("x" * 5000 + "=3"), f"'{'x' * 37}...' is no option of blob, did you mean"),
    (train("cards="), f"option cards of blob is empty, {CARDS}"),
    (train("cards=0"), f"option cards of blob is 0, {CARDS}"),
    (train("cards=14"), f"option cards of blob is 14, {CARDS}"),
    (train("cards=-5"), f"option cards of blob is -5, {CARDS}"),
    (train("cards=3.5"), f"option cards of blob is 3.5, {CARDS}"),
    (train("cards=five"), f"option cards of blob is five, {CARDS}"),
    (train("cards=1e1"), f"option cards of blob is 1e1, {CARDS}"),
    (train("cards=0x5"), f"option cards of blob is 0x5, {CARDS}"),
    (train("cards=1_0"), f"option cards of blob is 1_0, {CARDS}"),
    (train("cards=٣"), f"option cards of blob is ٣, {CARDS}"),
    (train("cards=true"), f"option cards of blob is true, {CARDS}"),
    (train("cards=3\n4"), f"option cards of blob is 3 4, {CARDS}"),
    (train("cards=\x1b[2J"), r"option cards of blob is \x1b[2J, must be"),
    (train("cards=" + "9" * 5000), f"option cards of blob is {'9' * 37}..., must be"),
    (train("players=2"), "option players of blob is 2, must be a whole number from 3 to 8"),
    (train("players=9"), "option players of blob is 9, must be a whole number from 3 to 8"),
    (train("players=8", "cards=7"), "option cards of blob is 7, must be a whole number from 1 to 6 with players=8"),
    (train("dealer=4"), "option dealer of blob is 4, must be a whole number from -1 to 3 with players=4"),
    (train("dealer=-2"), "option dealer of blob is -2, must be a whole number from -1"),
    (train("trump=stars"), "option trump of blob is stars, must be one of any, spades, hearts, clubs, diamonds, none"),
    (train("trump=Spades"), "option trump of blob is Spades, must be one of any, spades"),
    (train("trump=-1"), "option trump of blob is -1, must be one of any, spades"),
    (train("whole=1"), "option whole of blob is 1, must be true or false"),
    (train("whole=yes"), "option whole of blob is yes, must be true or false"),
    (train("cards=3", "cards=4"), "--option cards=3 and --option cards=4 are about the same; leave one out"),
    (train("cards=3", "players=3", "cards=03"), "--option cards=3 and --option cards=03 are about the same"),
    (["train", "--option"], 'Command "train" parameter --option requires an argument.'),
    (["train", "--option", ""], "--option is empty"),
    (["train", "--option="], "--option is empty"),
    (["train", "--options", "cards=3"], "--options is no known option; did you mean --option?"),
    (["train", "--opton", "cards=3"], "--opton is no known option; did you mean --option?"),
    (
        ["train", "--game.options", "cards=3"],
        "--game.options is cards=3, must be a table, which only a file can hold; a",
    ),
    (train("players=2", flags=game("connect4")), "'players' is no option of connect4: it has none"),
    (train("side=4", flags=game("tictactoe")), "'side' is no option of tictactoe: it has none"),
    (train("players=3", flags=game("bolb")), "'bolb' is no game, did you mean 'blob'? known are blob, connect4"),
    (train("slots=3", flags=game("synthetic")), "'slots' is no option of synthetic: it has none"),
    (train("players=5", flags=("kuhn",)), "option players of kuhn is 5, must be a whole number from 2 to 4"),
    (train("players=two", flags=("leduc",)), "option players of leduc is two, must be a whole number from 2 to 3"),
    (train("face=6", flags=(*game("liarsdice"), *TABULAR)), "'face' is no option of liarsdice, did you mean 'faces'?"),
    (train("depth=30", flags=(*game("forest"), *TABULAR)), "option depth of forest is 30, must be a whole number from"),
    (train("seed=-1", flags=(*game("forest"), *TABULAR)), "option seed of forest is -1, must be a whole number from 0"),
    (train("depth=3", flags=game("forest")), "game.name is forest, which has a table and no search; set solve.method"),
]
BAD_ELSEWHERE = [
    (bench("search", "conect4"), "'conect4' is no game, did you mean 'connect4'?"),
    (bench("search", "connect4", "players=3"), "'players' is no option of connect4: it has none"),
    (bench("search", "blob", "cards=0"), f"option cards of blob is 0, {CARDS}"),
    (bench("search", "kuhn", "players=3"), "kuhn has no tree search"),
    (bench("workers", "blobb"), "--game: 'blobb' is no game with a load to measure, did you mean 'blob'? known are"),
    (bench("workers", "blob", "card=3"), "'card' is no option of blob, did you mean 'cards'?"),
    (bench("selfplay", "blob", "players=9"), "option players of blob is 9, must be a whole number from 3 to 8"),
    (bench("selfplay", "tictactoe", "side"), "--option side: must be KEY=VALUE"),
    ([*bench("selfplay", "blob", "trump=x"), "--backend", "sim"], "option trump of blob is x, must be one of any"),
    (bench("cfr", "kuhnn"), "--game: 'kuhnn' is no game to race in, did you mean 'kuhn'? known are kuhn, leduc"),
    (bench("cfr", "kuhn", "players=7"), "option players of kuhn is 7, must be a whole number from 2 to 4"),
    (bench("cfr", "liarsdice", "faces=1"), "option faces of liarsdice is 1, must be a whole number from 2 to 11"),
    (["bench", "wire", "--option", "x=1"], "Unknown option: --option."),
    (["bench", "search", "--optoin", "cards=3"], "Unknown option: --optoin. Did you mean --option?"),
    (describe("bolb"), "'bolb' is no game, did you mean 'blob'? known are blob, connect4, holdem, kuhn, leduc"),
    (describe("synthetic"), "'synthetic' is no game, did you mean"),
    (describe("../games"), "'../games' is no game"),
    (describe("spec"), "'spec' is no game"),
    (describe("blob", "kuhn"), "Unused Tokens: ['kuhn']."),
    (describe("blob", "--option", "crads=3"), "'crads' is no option of blob, did you mean 'cards'?"),
    (describe("blob", "--option", "players=2"), "option players of blob is 2, must be a whole number from 3 to 8"),
    (describe("kuhn", "--option", "players=x", "--json"), "option players of kuhn is x, must be a whole number"),
    (describe("--option", "players=3"), "--option players=3: of which game? wanted is games NAME --option KEY=VALUE"),
    (describe(""), "what follows games is empty"),
    (["eval", "nowhere", "--option", "cards=3"], "nowhere is no run folder with trained weights; train one"),
    (["eval", "nowhere", "--option"], 'Command "eval" parameter --option requires an argument.'),
]


@pytest.fixture
def begun(monkeypatch) -> list[Config]:
    """The configurations of runs that would have begun."""
    configs: list[Config] = []
    monkeypatch.setattr("asyncplay.cli.training._see_through", lambda config, *rest: configs.append(config) or 0)
    return configs


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch, tmp_path) -> None:
    monkeypatch.chdir(tmp_path)


def line_about(words: list[str], capsys) -> str:
    assert cli.main(words) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    (line,) = printed.err.splitlines()
    return line.removeprefix("asyncplay: ")


def told(capsys, *words: object) -> dict:
    assert cli.main([str(word) for word in words] + ["--json"]) == 0
    return json.loads(capsys.readouterr().out)


def files_of(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("words", "wanted"),
    [*BAD_TRAIN, *BAD_ELSEWHERE],
    ids=lambda part: repr(" ".join(part))[1:60] if isinstance(part, list) else "",
)
def test_a_mistake_is_one_line_and_nothing_begins(words, wanted, begun, capsys, tmp_path):
    assert line_about(words, capsys).startswith(wanted)
    assert begun == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "options"),
    [
        (train("cards=3"), {"cards": 3}),
        (train("cards=3", "cards = 3"), {"cards": 3}),
        (train("whole=true", "dealer=-1", "trump=none"), {"whole": True, "dealer": -1, "trump": "none"}),
        (train("cards=3", flags=("blob",)), {"players": 4, "cards": 3}),
        (train("players=8", "cards=6", flags=("blob",)), {"players": 8, "cards": 6}),
        (train("players=3", flags=("kuhn",)), {"players": 3}),
        (train("faces=3", flags=(*game("liarsdice"), *TABULAR)), {"faces": 3}),
        (train("deals=4", "depth=5", flags=(*game("forest"), *TABULAR)), {"deals": 4, "depth": 5}),
    ],
)
def test_options_go_over_those_of_the_file_and_are_written_down_with_their_types(words, options, begun, tmp_path):
    assert cli.main([*words, "--run", "run"]) == 0
    (config,) = begun
    assert config.game.options == options
    assert [type(value) for value in config.game.options.values()] == [type(value) for value in options.values()]
    assert read_config(tmp_path / "run").game == config.game


@pytest.mark.parametrize(
    "text",
    ["{crads = 3}", "{cards = true}", "{cards = 3.0}", f"{{cards = 0x{'f' * 5000}}}", '{trump = "x"}', "{whole = 1}"],
)
def test_options_of_a_file_are_checked_by_the_same_declarations(text, begun, capsys, tmp_path):
    (tmp_path / "some.toml").write_text(f'[game]\nname = "blob"\noptions = {text}\n')
    assert re.match(
        r"option \w+ of blob is .*, must be |'crads' is no option of blob", line_about(["train", "some.toml"], capsys)
    )
    assert begun == []
    assert not (tmp_path / "runs").exists()


def test_a_load_that_is_no_game_has_no_options_in_a_file_either(begun, capsys, tmp_path):
    (tmp_path / "some.toml").write_text('[game]\nname = "synthetic"\noptions = {slots = 3}\n')
    assert line_about(["train", "some.toml"], capsys) == "'slots' is no option of synthetic: it has none"
    assert begun == []


@pytest.fixture
def blob_run(tmp_path: Path) -> Path:
    """Rounds of two cards for three, by a network that has learned nothing."""
    sections = {
        "pool": {"kind": "inline", "workers": "1"},
        "search": {"simulations": "2"},
        "net": {"kind": "mlp", "width": "8", "blocks": "1"},
        "device": {"backend": "torch", "threads": "1"},
    }
    config = lay_over(load(CONFIGS / "blob-quick.toml", sections), ["dealer=0"])
    shape = net_shape(config, load_game(config))
    folder = tmp_path / "blob-run"
    folder.mkdir()
    write_config(config, folder)
    save_weights(folder, 1, snapshot(build_net(shape, 1)), shape)
    return folder


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        (
            ["players=4"],
            "--option players=4: the network of {run} is of blob with players=3 and does not fit; leave it",
        ),
        (
            ["cards=3", "players=5"],
            "--option players=5 cards=3: the network of {run} is of blob with players=3 cards=2",
        ),
        (["players=2"], "option players of blob is 2, must be a whole number from 3 to 8"),
        (["trumps=none"], "'trumps' is no option of blob, did you mean 'trump'?"),
        (["cards=18"], "option cards of blob is 18, must be a whole number from 1 to 13 with players=3"),
        (["cards"], "--option cards: must be KEY=VALUE"),
    ],
)
def test_a_match_is_refused_in_a_game_that_the_network_does_not_fit(options, wanted, blob_run, capsys):
    before = files_of(blob_run)
    words = ["eval", str(blob_run), *(word for option in options for word in ("--option", option))]
    assert line_about(words, capsys).startswith(wanted.format(run=blob_run))
    assert files_of(blob_run) == before


@MAY_COMPILE
def test_a_match_is_played_with_the_options_that_the_network_fits(blob_run, monkeypatch, capsys):
    """A round of one card brings each seat 0, 10 or 11 points; one of two cards brings more."""
    played, play = [], evaluate.play

    async def watched(match, config, *rest):
        played.append(config.game.options)
        return await play(match, config, *rest)

    monkeypatch.setattr(evaluate, "play", watched)
    flags = ("--games", 6, "--simulations", 2)
    found = told(capsys, "eval", blob_run, *flags, "--option", "cards=1", "--option", "trump=spades")
    assert found["options"] == "cards=1 trump=spades"
    assert found["games"] == 6
    assert max(found["points_by_seat"]) <= 11
    assert played == [{"players": 3, "cards": 1, "dealer": 0, "trump": "spades"}]
    assert "options" not in told(capsys, "eval", blob_run, *flags)
    assert played[1] == {"players": 3, "cards": 2, "dealer": 0}
    assert read_config(blob_run).game.options == played[1]


@pytest.fixture
def kuhn_run(tmp_path: Path, capsys) -> Path:
    """Kuhn's poker for three, solved for a moment."""
    flags = ("kuhn", "--run", "kuhn-run", "--iters", "50", "--pool.kind", "inline", "--workers", "1", "--headless")
    assert cli.main(train("players=3", flags=flags)) == 0
    capsys.readouterr()
    return tmp_path / "kuhn-run"


@MAY_COMPILE
def test_a_run_keeps_its_options(kuhn_run, capsys):
    """It may be told what it has; what would make another game of it is refused, and nothing changes."""
    resume = ("--resume", str(kuhn_run), "--iters", "60", "--headless")
    before = files_of(kuhn_run)
    for option, wanted in (
        ("players=2", f"--option players=2: {kuhn_run} is of kuhn with players=3; leave it out or train a new run"),
        ("players=5", "option players of kuhn is 5, must be a whole number from 2 to 4"),
        ("seats=3", "'seats' is no option of kuhn, did you mean 'players'? known are players"),
    ):
        assert line_about(train(option, flags=resume), capsys) == wanted
        assert files_of(kuhn_run) == before
    assert cli.main(train("players=3", flags=resume)) == 0
    assert read_config(kuhn_run).game.options == {"players": 3}
    capsys.readouterr()

    assert len(told(capsys, "eval", kuhn_run)["values"]) == 3
    assert told(capsys, "eval", kuhn_run, "--option", "players=3")["iterations"] == 60
    line = line_about(["eval", str(kuhn_run), "--option", "players=4"], capsys)
    assert (
        line
        == f"--option players=4: the table of {kuhn_run} is of kuhn with players=3; leave it out or train a new run"
    )


def test_a_default_that_is_said_is_no_change_of_a_run(begun, capsys, tmp_path):
    """Its configuration does not name the option, and goes on not naming it."""
    assert cli.main(["train", *game("blob"), "--run", "run"]) == 0
    assert cli.main(train("cards=5", "players=4", flags=("--resume", "run"))) == 0
    assert [config.game.options for config in begun] == [{}, {}]
    capsys.readouterr()
    assert line_about(train("cards=4", flags=("--resume", "run")), capsys) == (
        "--option cards=4: run is of blob with cards=5; leave it out or train a new run"
    )


@pytest.mark.parametrize("name", ["search", "rules", "workers", "selfplay", "cfr"])
def test_every_bench_with_a_game_hands_its_options_on_and_shows_them(name, monkeypatch, capsys):
    monkeypatch.setattr(f"asyncplay.bench.{name}.measure", lambda *, option, **rest: {"given": option})
    words = ["cards=3", "trump=none"]
    assert told(capsys, *bench(name, "blob", *words)) == {"given": words, "options": "cards=3 trump=none"}
    assert told(capsys, *bench(name, "blob")) == {"given": None}


def test_the_load_of_a_bench_has_the_options_of_the_game():
    config = bench_config("blob", "sim", option=["players=3", "cards=2"], learns=True)
    assert config.game.options == {"players": 3, "cards": 2}
    assert load_game(config).players == 3
    assert bench_config("blob", "sim").game.options == {}


def test_a_search_is_measured_in_the_game_with_the_options_chosen(monkeypatch):
    searched: list[int] = []
    monkeypatch.setattr(
        "asyncplay.bench.search._Player.__init__", lambda self, spec, load: searched.append(spec.players)
    )
    monkeypatch.setattr("asyncplay.bench.search._Player.play_for", lambda self, seconds: 1.0)
    assert search.measure("blob", option=["players=7"])["sims_per_s"] == 1.0
    assert searched == [7]


def test_the_facts_of_a_game_are_those_with_the_options_chosen(capsys):
    by_default, chosen = told(capsys, "games", "blob"), told(capsys, "games", "blob", "--option", "players=8")
    assert (by_default["players"], by_default["longest"], by_default["hidden"]) == (4, 24, True)
    assert (chosen["players"], chosen["longest"]) == (8, 48)
    cards = {entry["name"]: entry for entry in chosen["options"]}["cards"]
    assert cards == {
        "name": "cards",
        "type": "int",
        "least": 1,
        "most": 6,
        "choices": None,
        "values": "1 to 6 with players=8",
        "default": 5,
        "value": 5,
        "meaning": "Dealt to each player in the first round.",
    }
    assert told(capsys, "games", "connect4")["symmetries"] == 2


def test_all_games_are_listed_as_each_is_by_itself(capsys):
    assert told(capsys, "games") == [told(capsys, "games", name) for name in games.NAMES]


def test_every_game_and_its_options_read_as_before(golden, capsys):
    for name in games.NAMES:
        assert cli.main(["games", name]) == 0
    golden("games.txt", capsys.readouterr().out)


@pytest.mark.process
def test_the_help_of_commands_with_options_reads_as_before(golden, capsys):
    """Without frames, which are drawn by a library; in a process of its own, as the library asks how wide the terminal
    is only once."""
    code = f"from asyncplay.cli import main\nfor words in {HELPS!r}:\n    assert main([*words, '--help']) == 0"
    wide = os.environ | {"COLUMNS": "400"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=wide, timeout=120, check=True
    )
    lines = [" ".join(line.strip("│╭╮╰╯─ ").split()) for line in done.stdout.splitlines()]
    golden("help.txt", "".join(f"{line}\n" for line in lines if line))
    assert cli.main(["train", "--help"]) == 0
    assert "--option KEY=VALUE An option of the game, such as players=3" in " ".join(capsys.readouterr().out.split())
