"""Bad input of every kind to every command: one line that names the culprit, exit status 2, and nothing begins."""

from collections.abc import Iterator

import pytest
from cyclopts import App
from cyclopts.field_info import signature_parameters

from asyncplay import cli
from asyncplay.cli.entry import app
from asyncplay.cli.training import DEFAULT_CONFIG
from asyncplay.config.loading import keys, load
from asyncplay.config.sections import Config
from asyncplay.rundir.resume import write_config

HUGE = "99999999999999999999"
TABULAR = ["--game.name", "kuhn", "--solve.method", "external"]
SYNTHETIC = ["--game.name", "synthetic"]


@pytest.fixture(autouse=True)
def nothing_begins(monkeypatch, tmp_path):
    """On a machine with two cores and 4 GB."""

    def begin(*details: object) -> None:
        raise AssertionError("it was not refused")

    monkeypatch.setattr("asyncplay.cli.training.run_loop", begin)
    monkeypatch.setattr("asyncplay.machine.at_hand", lambda: 4 << 30)
    monkeypatch.setattr("asyncplay.methods.preflight.usable_cores", lambda: 2)
    monkeypatch.chdir(tmp_path)


def line_about(words: list[str], capsys) -> str:
    assert cli.main(words) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    (line,) = printed.err.splitlines()
    return line.removeprefix("asyncplay: ")


def train(*words: str) -> list[str]:
    return ["train", *words]


def evaluate(*words: str) -> list[str]:
    return ["eval", "some-run", *words]


def export(*words: str) -> list[str]:
    return ["data", "some-run", "export", "--out", "games.npz", *words]


NO_OPTION = "is no known option; did you mean"
TYPING_ERRORS = [
    (train("--headles"), f"--headles {NO_OPTION} --headless?"),
    (train("--headles", "--games", "3"), f"--headles {NO_OPTION} --headless?"),
    (train("--headles", "some.toml"), f"--headles {NO_OPTION} --headless?"),
    (train("--no-tensorbord"), f"--no-tensorbord {NO_OPTION} --no-tensorboard?"),
    (train("--jsonlines"), f"--jsonlines {NO_OPTION} --json-lines?"),
    (train("--worker", "2"), f"--worker {NO_OPTION} --workers?"),
    (train("--time-budgt", "3"), f"--time-budgt {NO_OPTION} --time-budget?"),
    (train("--resme", "run"), f"--resme {NO_OPTION} --resume?"),
    (train("--simulations", "3"), f"--simulations {NO_OPTION} --search.simulations?"),
    (train("--train.seed.x", "3"), f"--train.seed.x {NO_OPTION} --train.seed?"),
    (train("--trian.seed"), f"--trian.seed {NO_OPTION} --train.seed?"),
    (train("--search.simulation", "3"), "--search.simulation is no known key; did you mean search.simulations?"),
    (train("--seach.simulations", "3"), "--seach is no known key; did you mean search?"),
    (train("--train.seed"), 'Command "train" parameter --train.seed requires an argument.'),
    (train("--workers"), 'Command "train" parameter --workers requires an argument.'),
    (train("--workers", "1", "--workers", "2"), "Parameter --workers specified multiple times."),
    (evaluate("--game", "5"), "Unknown option: --game. Did you mean --games?"),
    (["runs", "--jso"], "Unknown option: --jso. Did you mean --json?"),
    (["doctor", "--rn", "x"], "Unknown option: --rn. Did you mean --run?"),
    (["bench", "store", "--quik"], "Unknown option: --quik. Did you mean --quick?"),
    (["data", "some-run", "verify", "--repar"], "Unknown option: --repar. Did you mean --repair?"),
    (
        ["data", "some-run", "foo"],
        "foo cannot be done to the data of a run; wanted is data RUN stats|verify|export|show",
    ),
    (["data", "some-run", "stat"], "stat cannot be done to the data of a run; did you mean stats?"),
    (["data", "stat", "some-run"], "stat cannot be done to the data of a run; did you mean stats?"),
    (["data", "some-run"], "data some-run does not say what to do; wanted is data RUN stats|verify|export|show"),
    (["data", "some-run", "--json"], "data some-run does not say what to do;"),
    (["tune", "some-run", "stp"], "'stp' is no KEY=VALUE; did you mean stop?"),
    (["tune", "some-run", "batch.max_rows"], "'batch.max_rows' is no KEY=VALUE"),
]
NUMBERS = [
    (train("--workers", "1.5"), "--workers is 1.5, must be a whole number"),
    (train("--workers", "1e3"), "--workers is 1e3, must be a whole number"),
    (train("--workers", "٣"), "--workers is ٣, must be a whole number"),
    (train("--workers", HUGE), f"--workers is {HUGE}, must be at most 1024"),
    (train("--games", "1.5"), "--games is 1.5, must be a whole number"),
    (train("--games", HUGE), f"--games is {HUGE}, must be at most 1099511627776"),
    (train("--games", "9" * 5000), "--games is 999"),
    (train("--seed", HUGE), f"--seed is {HUGE}, must be less than 4611686018427387904"),
    (train("--time-budget", "nan"), "--time-budget is nan, must be a finite number"),
    (train("--time-budget", "inf"), "--time-budget is inf, must be a finite number"),
    (train("--time-budget", "1e308"), "--time-budget is 1e308, must be at most 1000000000"),
    (train("--time-budget", "1 hour"), "--time-budget is 1 hour, must be seconds, or like 90s, 20m, 1h30m"),
    (train("--search.simulations", HUGE), f"--search.simulations is {HUGE}, must be at most 10000000"),
    (train("--search.warm-decisions", HUGE), f"--search.warm-decisions is {HUGE}, must be at most 10000"),
    (train("--search.games", "1000000000000"), "--search.games is 1000000000000, must be at most 10000000"),
    (train("--net.width", "1000000"), "--net.width is 1000000, must be at most 65536"),
    (train("--learn.learning-rate", "1e308"), "--learn.learning-rate is 1e308, must be at most 1000"),
    (train("--game.options", "{players=3}"), "--game.options is {players=3}, must be a table, which only a file"),
    (evaluate("--games", "0"), "--games is 0, must be a whole number from 1 to 10000000"),
    (evaluate("--games", "-1"), "--games is -1, must be a whole number from 1"),
    (evaluate("--games", "1.5"), "--games is 1.5, must be a whole number from 1"),
    (evaluate("--simulations", HUGE), f"--simulations is {HUGE}, must be a whole number from 1"),
    (evaluate("--version", "-1"), "--version is -1, must be a whole number from 0"),
    (evaluate("--seed", "-1"), "--seed is -1, must be a whole number from 0"),
    (export("--limit", "-1"), "--limit is -1, must be a whole number from 1"),
    (export("--limit", "0"), "--limit is 0, must be a whole number from 1"),
    (export("--limit", HUGE), f"--limit is {HUGE}, must be a whole number from 1"),
    (export("--seats", HUGE), f"--seats is {HUGE}, must be a whole number from 1 to 64"),
    (export("--versions", HUGE), f"--versions is {HUGE}, must be a number or a range like 3-9"),
    (export("--versions", "²"), "--versions is ², must be a number or a range like 3-9"),
    (export("--versions", "9-3"), "--versions is 9-3, must be a number or a range like 3-9"),
    (export("--since", "0001-01-01"), "--since is 0001-01-01 00:00:00, which is out of all bounds"),
    (export("--since", "yesterday"), "Invalid value for --since"),
    (["bench", "workers", "--rounds", "1.5"], "--rounds is 1.5, must be a whole number from 1"),
    (["bench", "strategies", "--seconds", "nan"], "--seconds is nan, must be a number from 0.1 to 86400"),
    (["bench", "strategies", "--seconds", "-1"], "--seconds is -1, must be a number from 0.1"),
    (["bench", "selfplay", "--host-ms", "inf"], "--host-ms is inf, must be a number from 0 to 60000"),
    (["bench", "duel", "some-run", "--rounds", HUGE], f"--rounds is {HUGE}, must be a whole number from 1"),
    (["bench", "duel", "some-run", "--seed", "-1"], "--seed is -1, must be a whole number from 0"),
]
CONFLICTS = [
    (train("--workers", "1", "--pool.workers", "2"), "--pool.workers 2 and --workers 1 are about the same"),
    (train("--seed", "1", "--train.seed", "2"), "--train.seed 2 and --seed 1 are about the same; leave one out"),
    (train("--games", "1", "--train.units", "2"), "--train.units 2 and --games 1 are about the same"),
    (train("--iters", "1", "--train.units", "2", *TABULAR), "--train.units 2 and --iters 1 are about the same"),
    (train("--iters", "1", "--games", "2"), "--iters 1 and --games 2 are about the same"),
    (train("--time-budget", "1m", "--train.time-budget-s", "61"), "--train.time-budget-s 61 and --time-budget 60 are"),
    (train("--time-budget", "1m", "--train.time_budget_s", "61"), "--train.time-budget-s 61 and --time-budget 60 are"),
    (train("--tensorboard", "--train.tensorboard", "false"), "--train.tensorboard false and --tensorboard True are"),
    (train("--iters", "5"), "--iters counts nothing in this run of blob; use --games"),
    (train("--games", "5", *TABULAR), "--games counts nothing in this run of kuhn; use --iters"),
    (train("--resume", "some-run", "--run", "x"), "--resume some-run has its own configuration and folder"),
]
EMPTY = [
    (train(""), "what follows train is empty"),
    (train("--run", ""), "--run is empty"),
    (train("--run="), "--run is empty"),
    (train("--resume", ""), "--resume is empty"),
    (train("--game.name", " "), "--game.name is empty"),
    (["eval", ""], "what follows eval is empty"),
    (["runs", ""], "what follows runs is empty"),
    (["report", "some-run", "--out", ""], "--out is empty"),
    (export("--versions", ""), "--versions is empty"),
]
SIZES = [
    (train("--learn.batch-rows", "1000000000"), "learn.batch_rows is 1000000000: it would need 2,414 GB of memory"),
    (train("--search.simulations", "10000000"), "search.simulations is 10000000: it would need"),
    (train("--net.width", "65536"), "net.width is 65536: it would need"),
    (train("--search.games", "10000000"), "search.games is 10000000: it would need"),
    (train("--workers", "1024"), "pool.workers is 1024: it would need"),
    (train(*SYNTHETIC, "--load.row-bytes", "1048576"), "load.row_bytes is 1048576: a worker would ask for 256 MB"),
]
FOLDERS = [
    (train("nowhere.toml"), "nowhere.toml: no such file"),
    (train("."), ".: cannot be read: Is a directory"),
    (train("x" * 5000 + ".toml"), "xxx"),
    (train("--run", "/dev/null"), "--run /dev/null: cannot be written"),
    (train("--resume", "/nowhere"), "--resume /nowhere: there is no such folder"),
    (["data", "/nowhere", "stats"], "/nowhere/run.sqlite: there is no store"),
    (["runs", "/nowhere"], "/nowhere: no such folder"),
    (["report", "/nowhere"], "/nowhere/run.sqlite: there is no store"),
    (["tune", "/nowhere"], "/nowhere: no such run folder"),
    (["bench", "cfr", "--game", "chess"], "--game: 'chess' is no game to race in, did you mean"),
    (["bench", "search", "--game", "kuhn"], "kuhn has no tree search"),
]


@pytest.mark.parametrize(
    ("words", "told"),
    [*TYPING_ERRORS, *NUMBERS, *CONFLICTS, *EMPTY, *SIZES, *FOLDERS],
    ids=lambda part: " ".join(part)[:60] if isinstance(part, list) else "",
)
def test_a_mistake_is_one_line_and_nothing_begins(words, told, capsys, tmp_path):
    assert line_about(words, capsys).startswith(told)
    assert list(tmp_path.iterdir()) == []


FILES = [
    (b"\xef\xbb\xbf[train]\r\nbogus = 1\r\n", ["train.bogus is no known key"]),
    (b"\xff\xfe[\x00t\x00", ["is no TOML: "]),
    (bytes(range(256)), ["is no TOML: "]),
    (b"[train]\nunits = 1\nunits = 2\n", ["is no TOML: Cannot overwrite a value"]),
    (b"[train]\nunits = 1\n[train]\nseed = 2\n", ["is no TOML: Cannot declare"]),
    (b"[train]\nunits = " + b"9" * 5000, ["is no TOML: "]),
    (
        b"[train]\nunits = true\nseed = 1979-05-27\n",
        ["train.seed is 1979-05-27", "train.units is True, must be a whole"],
    ),
    (b"[train]\ntime_budget_s = inf\n", ["train.time_budget_s is inf, must be a finite number"]),
    (
        b'[game]\nname = 3\n[load]\nchecked = "maybe"\n',
        ["game.name is 3, must be text", "load.checked is maybe, must be true or false"],
    ),
    (b"train = []\nunits = 3\n", ["train is [], must be a section", "units is no known key"]),
    (
        b"[learn]\nbatch_row = 3\n[tarin]\nseed = 1\n",
        ["learn.batch_row is no known key; did", "tarin is no known key; did"],
    ),
]


@pytest.mark.parametrize(("text", "told"), FILES)
def test_a_bad_file_is_a_line_for_each_mistake(text, told, capsys, tmp_path):
    path = tmp_path / "bad.toml"
    path.write_bytes(text)
    assert cli.main(["train", str(path)]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == len(told)
    for line, words in zip(lines, told, strict=True):
        assert line.startswith(f"asyncplay: {path}: {words}")


@pytest.mark.parametrize(
    "section", ["[learn]\nbatch_rows = 1_000_000_000", "[search]\nsimulations = 10_000_000", "[net]\nwidth = 65_536"]
)
def test_a_file_that_asks_for_too_much_memory_is_refused_too(section, capsys, tmp_path):
    path = tmp_path / "large.toml"
    path.write_text(f'{section}\n[game]\nname = "connect4"\n')
    assert " would fit" in line_about(["train", str(path), "--run", str(tmp_path / "run")], capsys)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--learn.batch-rows", "1000000000"], "learn.batch_rows is 1000000000: it would need "),
        (["--workers", "1024"], "pool.workers is 1024: it would need "),
        (["--iters", "5"], "--iters counts nothing in this run of blob; use --games"),
        (["--workers", "1", "--pool.workers", "2"], "--pool.workers 2 and --workers 1 are about the same"),
    ],
)
def test_flags_of_a_resumed_run_are_refused_before_they_are_written_down(words, told, capsys, tmp_path):
    write_config(load(DEFAULT_CONFIG), tmp_path)
    before = (tmp_path / "config.toml").read_bytes()
    assert line_about(["train", "--resume", str(tmp_path), *words], capsys).startswith(told)
    assert (tmp_path / "config.toml").read_bytes() == before


@pytest.mark.parametrize("words", [["--workers", "2", "--pool.workers", "2"], ["--seed", "3", "--train.seed", "3"]])
def test_saying_the_same_twice_is_no_mistake(words, monkeypatch):
    begun: list[Config] = []
    monkeypatch.setattr("asyncplay.cli.training.train", lambda config, **rest: begun.append(config))
    assert cli.main(["train", *words]) == 0
    assert len(begun) == 1


def test_the_help_of_train_tells_what_a_plain_train_does(monkeypatch, capsys):
    begun: list[Config] = []
    monkeypatch.setattr("asyncplay.cli.training.train", lambda config, **rest: begun.append(config))
    monkeypatch.setenv("COLUMNS", "400")
    assert cli.main(["train"]) == 0
    assert cli.main(["train", "--help"]) == 0
    (config,), said = begun, " ".join(capsys.readouterr().out.split())
    for name, default, meaning in keys():
        section, _, key = name.partition(".")
        value = getattr(getattr(config, section), key)
        other = "" if value == default else f"; {default} in a CONFIG that leaves it out"
        assert f"--{name.replace('_', '-')} (default {value}{other}): {meaning.replace('``', '')}" in said


def commands_of(app: App) -> Iterator[App]:
    for name in app:
        if not name.startswith("-"):
            yield app[name]
            yield from commands_of(app[name])


def test_every_word_of_a_command_line_is_checked_somewhere():
    """A command that reads a plain number would round 1.5 and take -1."""
    functions = [command.default_command for command in commands_of(app) if command.default_command is not None]
    names = {function.__name__ for function in functions}
    assert len(functions) > 20
    assert {"train", "evaluate", "export", "command"} <= names  # those of benches have the last one
    for function in functions:
        for name, option in signature_parameters(function).items():
            assert option.annotation not in (int, float, int | None, float | None), f"{function.__name__}: {name}"
