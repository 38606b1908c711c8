"""The command line as a user meets it: exit codes, single lines instead of tracebacks, Ctrl-C."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import psutil
import pytest

import asyncplay
from asyncplay import cli
from asyncplay.cli.interrupts import Interrupts
from asyncplay.config.loading import load

LOAD = ["--game.name", "synthetic", "--load.slots", "64", "--workers", "2", "--headless"]
LONG_S = 200.0  # for what takes seconds on a machine with nothing else to do
ENDLESS_THOUGHT = ["--load.law", "constant", "--load.think-ms", "60000"]
BOOKS = re.compile(
    r"^done ([\d,]+) in [\d.]+ s: issued ([\d,]+) = done ([\d,]+)(?: \+ cut short ([\d,]+))? \+ lost ([\d,]+)"
    r" \+ outstanding ([\d,]+); issued again ([\d,]+), set aside ([\d,]+)$",
    re.MULTILINE,
)


def mistakes(capsys, *words: str) -> list[str]:
    """Run a command that must be refused; return what is said about it."""
    assert cli.main(list(words)) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "Traceback" not in printed.err
    lines = printed.err.splitlines()
    assert all(line.startswith("asyncplay: ") for line in lines)
    return [line.removeprefix("asyncplay: ") for line in lines]


def test_help_is_no_mistake(capsys):
    assert cli.main(["--help"]) == 0
    assert "train" in capsys.readouterr().out


def test_the_version_is_that_of_the_package(capsys):
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out == f"{asyncplay.__version__}\n"


def test_a_configuration_has_a_name(monkeypatch, tmp_path):
    found = []
    monkeypatch.setattr("asyncplay.cli.training.train", lambda config, **rest: found.append(config.game.name))
    monkeypatch.chdir(tmp_path)
    for words in ([], ["leduc"], ["configs/leduc.toml"]):
        cli.main(["train", *words])
    assert found == ["blob", "leduc", "leduc"]


def test_the_help_of_train_lists_every_key(capsys):
    assert cli.main(["train", "--help"]) == 0
    words = capsys.readouterr().out
    assert "--batch.timeout-ms" in words
    assert "--load.straggler-share" in words


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["trian"], 'Unknown command "trian". Did you mean "train"?'),
        (["bench", "wier"], 'Unknown command "wier". Did you mean "wire"?'),
        (["train", "--foo", "3"], "--foo is no known option; a key of the configuration is --SECTION.KEY VALUE"),
        (["train", "--train", "3"], "--train is no known option; a key of the configuration is --SECTION.KEY VALUE"),
        (["train", "--batch.a.b", "3"], "--batch.a.b is no known option"),
        (["train", "--foo"], "--foo is no known option; a key of the configuration is --SECTION.KEY VALUE"),
        (["train", "a.toml", "b.toml"], "Unused Tokens: ['b.toml']."),
        (["train", "--workers", "two"], "--workers is two, must be a whole number"),
        (["train", "--workers", "-1"], "--workers is -1, must be at least 0"),
        (["train", "--iters", "-5"], "--iters is -5, must be at least 0"),
        (["train", "--games", "-5"], "--games is -5, must be at least 0"),
        (["train", "--train.units", "-5"], "--train.units is -5, must be at least 0"),
        (["train", "--seed", "-1"], "--seed is -1, must be at least 0"),
        (["train", "--time-budget", "-5"], "--time-budget is -5, must be at least 0"),
        (["train", "--time-budget", "soon"], "--time-budget is soon, must be seconds, or like 90s, 20m, 1h30m"),
        (["train", "--batch.max-rows", "many"], "--batch.max-rows is many, must be a whole number"),
        (["train", "--batch.max-rows"], 'Command "train" parameter --batch.max-rows requires an argument.'),
        (["train", "--batch.max-row", "3"], "--batch.max-row is no known key; did you mean batch.max_rows?"),
        (["train", "--bacth.max-rows", "3"], "--bacth is no known key; did you mean batch?"),
        (["train", "nowhere.toml"], "nowhere.toml: no such file"),
        (["train", "."], ".: cannot be read: Is a directory"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(words, told, capsys):
    (line,) = mistakes(capsys, *words)
    assert line.startswith(told)


def test_several_mistakes_are_several_lines(capsys):
    lines = mistakes(capsys, "train", "--batch.max-rows", "0", "--pool.kind", "cloud", "--train.seed", "x")
    assert lines == [
        "--train.seed is x, must be a whole number",
        "--pool.kind is cloud, must be 'local' or 'inline'",
        "--batch.max-rows is 0, must be at least 1",
    ]


@pytest.mark.parametrize("content", [b"[batch", b"\xff\xfe\x00[", b"[batch]\nmax_rows = 0\n"])
def test_a_bad_file_is_one_line_that_names_it(content, tmp_path, capsys):
    path = tmp_path / "bad.toml"
    path.write_bytes(content)
    (line,) = mistakes(capsys, "train", str(path))
    assert line.startswith(f"{path}: ")


@pytest.mark.parametrize("below", ["", "/deeper", "/deeper/still"])
def test_a_run_folder_that_cannot_be_written_is_one_line(below, tmp_path, capsys):
    (tmp_path / "file").write_text("in the way")
    folder = f"{tmp_path}/file{below}"
    (line,) = mistakes(capsys, "train", *LOAD, "--run", folder)
    assert re.fullmatch(rf"--run {folder}: cannot be written: (File exists|Not a directory)", line)


def test_a_log_that_cannot_be_written_is_one_line_too(tmp_path, capsys):
    (tmp_path / "run.log").mkdir()
    (line,) = mistakes(capsys, "train", *LOAD, "--run", str(tmp_path))
    assert line == f"--run {tmp_path}: cannot be written: Is a directory"


SEEING = ["--game.name", "connect4", "--net.hidden-features", "true"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--game.name", "chess"], "'chess' is no game"),
        (["--game.name", "kuhn"], "kuhn has no tree search"),
        (["--game.name", "blob", "--net.kind", "resnet"], "net.kind is resnet, but blob has no board"),
        ([*SEEING, "--net.kind", "resnet"], "net.hidden_features is true, but a resnet has no value trunk of its own"),
        ([*SEEING, "--net.kind", "mlp"], "net.hidden_features is true, but connect4 encodes nothing hidden; leave it"),
    ],
)
def test_a_run_that_cannot_begin_leaves_no_folder(words, told, tmp_path, capsys):
    (line,) = mistakes(capsys, "train", *words, "--run", str(tmp_path / "run"))
    assert line.startswith(told)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(("text", "wanted"), [("20", 20), ("1.5", 1.5), ("90s", 90), ("20m", 1200), ("1h30m", 5400)])
def test_a_time_budget_has_units(text, wanted, monkeypatch):
    budgets = []
    monkeypatch.setattr(
        "asyncplay.cli.training.train", lambda config, **rest: budgets.append(config.train.time_budget_s)
    )
    cli.main(["train", "--time-budget", text])
    assert budgets == [wanted]


def test_the_first_ctrl_c_drains_the_second_halts_and_the_third_leaves(monkeypatch):
    done: list[object] = []
    monkeypatch.setattr(os, "_exit", done.append)
    interrupts = Interrupts(
        drain=lambda: done.append("drain"),
        halt=lambda: done.append("halt"),
        say=lambda line: None,
        farewell=lambda: done.append("farewell"),
    )
    for _ in range(3):
        interrupts.interrupt()
    assert done == ["drain", "halt", "farewell", 130]


def test_ctrl_c_while_a_command_loads_is_no_traceback(monkeypatch, capsys, tmp_path):
    def interrupted(*details: object, **more: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("asyncplay.cli.training.train", interrupted)
    with pytest.raises(SystemExit) as caught:
        cli.main(["train", *LOAD, "--run", str(tmp_path)])
    assert caught.value.code == 130
    assert capsys.readouterr().err == ""


class Command:
    """The real command as a process of its own session, as a terminal has it."""

    def __init__(self, folder: Path, *words: str) -> None:
        script = Path(sys.executable).with_name("asyncplay")
        self.folder = folder
        self.heard = folder.with_name(f"{folder.name}.err")
        with self.heard.open("wb") as stderr:
            command = [str(script), "train", *LOAD, "--run", str(folder), *words]
            self.process = subprocess.Popen(command, stderr=stderr, start_new_session=True)

    @property
    def said(self) -> str:
        return self.heard.read_text()

    def logged(self, words: str) -> int:
        """How often the run's log says it."""
        path = self.folder / "run.log"
        return path.read_text().count(words) if path.exists() else 0

    def strike(self, blow: signal.Signals) -> None:
        """What Ctrl-C does: everybody in the foreground is struck, workers too."""
        os.killpg(self.process.pid, blow)

    def end(self) -> int:
        return self.process.wait(LONG_S)

    def family(self) -> list[psutil.Process]:
        return [process for process in psutil.process_iter() if session_of(process.pid) == self.process.pid]


def session_of(pid: int) -> int | None:
    with contextlib.suppress(ProcessLookupError):
        return os.getsid(pid)
    return None


@pytest.fixture
def command(tmp_path) -> Iterator[Callable[..., Command]]:
    started: list[Command] = []

    def start(*words: str) -> Command:
        started.append(Command(tmp_path / f"run{len(started)}", *words))
        return started[-1]

    yield start
    for each in started:
        for process in each.family():
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        each.process.wait()


def until(condition: Callable[[], object]) -> None:
    deadline_s = time.monotonic() + LONG_S
    while not condition():
        assert time.monotonic() < deadline_s, "it did not come to pass"
        time.sleep(0.02)


class Books(NamedTuple):
    done: int
    issued: int
    done_again: int
    cut_short: int
    lost: int
    outstanding: int
    reissued: int
    set_aside: int


def books(run: Command) -> Books:
    (line,) = BOOKS.findall(run.said)
    return Books(*(int(number.replace(",", "") or 0) for number in line))


def check_it_is_gone(run: Command) -> None:
    until(lambda: not run.family())
    assert "Traceback" not in run.said


@pytest.mark.process
def test_a_bounded_run_ends_with_exact_books_and_leaves_no_process(command):
    run = command("--train.units", "2000", "--train.seed", "3")
    assert run.end() == 0
    check_it_is_gone(run)

    assert books(run) == Books(2000, 2000, 2000, 0, 0, 0, 0, 0)
    assert run.said.startswith(f"run folder: {run.folder}\n")
    resolved = load(run.folder / "config.toml")
    assert (resolved.train.units, resolved.train.seed, resolved.load.slots) == (2000, 3, 64)
    assert 1 <= run.logged("is ready after") <= 2  # one may have done it all before the other was there
    assert run.logged("DEBUG") == 0


@pytest.mark.process
def test_a_time_budget_ends_a_run_with_everything_done(command):
    run = command("--time-budget", "1s", "--pool.kind", "inline")  # which is at work at once
    assert run.end() == 0
    check_it_is_gone(run)
    assert books(run).done == books(run).issued > 0


@pytest.mark.process
def test_the_same_run_can_be_done_inside_one_process_and_tell_who_got_which_units(command):
    run = command("--train.units", "2000", "--pool.kind", "inline", "--train.log-level", "debug")
    assert run.end() == 0
    assert books(run) == Books(2000, 2000, 2000, 0, 0, 0, 0, 0)
    pieces = re.findall(r" DEBUG .* job \d+: units (\d+) to (\d+) to worker \d", (run.folder / "run.log").read_text())
    assert sorted(unit for first, last in pieces for unit in range(int(first), int(last) + 1)) == list(range(2000))


@pytest.mark.process
def test_ctrl_c_once_finishes_what_is_under_way(command):
    run = command("--train.interval-s", "0.2")
    until(lambda: re.search(r"^rows [1-9]", run.said, re.MULTILINE))
    run.strike(signal.SIGINT)
    assert run.end() == 130
    check_it_is_gone(run)

    assert "stopping: finishing what is under way" in run.said
    final = books(run)
    assert final == Books(final.issued, final.issued, final.issued, 0, 0, 0, 0, 0)


@pytest.mark.process
def test_ctrl_c_twice_ends_at_once_and_cuts_short_what_was_under_way(command):
    run = command(*ENDLESS_THOUGHT)
    until(lambda: run.logged("is ready after") == 2)
    run.strike(signal.SIGINT)
    until(lambda: "stopping: finishing what is under way" in run.said)
    time.sleep(0.2)
    assert run.process.poll() is None
    run.strike(signal.SIGINT)
    assert run.end() == 130
    check_it_is_gone(run)

    final = books(run)
    assert final == Books(0, final.issued, 0, final.issued, 0, 0, 0, 0)
    assert final.issued == 2 * 16 * 32


@pytest.mark.process
def test_a_third_ctrl_c_leaves_even_where_the_workers_do_not(command):
    run = command(*ENDLESS_THOUGHT)
    until(lambda: run.logged("is ready after") == 2)
    pids = re.findall(r"is ready after .* pid (\d+)", (run.folder / "run.log").read_text())
    assert len(pids) == 2
    for pid in pids:
        os.kill(int(pid), signal.SIGSTOP)
    for words in ("stopping: finishing what is under way", "stopping now"):
        os.kill(run.process.pid, signal.SIGINT)
        until(lambda words=words: words in run.said)
    os.kill(run.process.pid, signal.SIGINT)
    assert run.end() == 130
    check_it_is_gone(run)


@pytest.mark.process
def test_sigterm_ends_at_once(command):
    run = command(*ENDLESS_THOUGHT)
    until(lambda: run.logged("is ready after") == 2)
    run.process.send_signal(signal.SIGTERM)
    assert run.end() == 130
    check_it_is_gone(run)

    final = books(run)
    assert (final.done, final.cut_short, final.lost, final.outstanding) == (0, final.issued, 0, 0)


@pytest.mark.process
def test_a_hang_up_finishes_what_is_under_way(command):
    """A terminal that closes strikes the workers too, and they go on."""
    run = command("--train.interval-s", "0.2")
    until(lambda: re.search(r"^rows [1-9]", run.said, re.MULTILINE))
    run.strike(signal.SIGHUP)
    assert run.end() == 130
    check_it_is_gone(run)

    final = books(run)
    assert final == Books(final.issued, final.issued, final.issued, 0, 0, 0, 0, 0)
    assert run.logged("died") == 0


@pytest.mark.process
@pytest.mark.parametrize("wait_s", [0.0, 0.1, 0.2, 0.3])
def test_ctrl_c_while_the_workers_start_is_no_drama(command, wait_s):
    """Neither they nor the coordinator die with a traceback, whatever they are just importing."""
    run = command()
    until((run.folder / "run.log").exists)
    time.sleep(wait_s)
    run.strike(signal.SIGINT)
    assert run.end() == 130
    check_it_is_gone(run)


@pytest.mark.process
def test_a_killed_coordinator_takes_its_workers_along(command):
    run = command()
    until(lambda: run.logged("is ready after") == 2)
    run.process.kill()
    assert run.end() == -signal.SIGKILL
    until(lambda: not run.family())
