"""Real runs from outside: tuned, paused, resized, detached, talked nonsense to."""

import contextlib
import json
import os
import random
import re
import signal
import socket
import sqlite3
import time

import psutil
import pytest
from runs import LONG_S, PATIENT, SYNTHETIC, look_until, running, tune, tuned, visit
from test_control import nonsense

from asyncplay import cli
from asyncplay.monitor import address

pytestmark = pytest.mark.process

BOOKS = re.compile(r"^done ([\d,]+) in .*: issued ([\d,]+) = done [\d,]+ \+ lost ([\d,]+) \+", re.MULTILINE)


def books(said: str) -> list[int]:
    """Done, issued and lost."""
    (numbers,) = BOOKS.findall(said)
    return [int(number.replace(",", "")) for number in numbers]


def test_a_run_is_listed_changed_paused_and_stopped_from_another_terminal(tmp_path):
    folder = tmp_path / "run"
    with running(folder, *SYNTHETIC) as run:
        visit(run, lambda remote: look_until(remote, lambda shot: shot.throughput.total > 0))

        listed = tune(folder).stdout.splitlines()
        assert [line.split()[:2] for line in listed[:4]] == [
            ["key", "value"],
            ["batch.timeout_ms", "auto"],
            ["batch.max_rows", "1024"],
            ["pool.workers", "2"],
        ]
        assert "longest wait of a batch for company" in listed[1]

        assert tuned(folder, "pause=on") == {"text": "pause off -> on"}
        still = visit(run, lambda remote: look_until(remote, lambda shot: shot.throughput.per_s == 0))
        assert (still.state, still.verdict.bound) == ("paused", "paused")
        assert tuned(folder, "pause") == {"text": "going on"}
        total = still.throughput.total
        visit(run, lambda remote: look_until(remote, lambda shot: shot.throughput.total > total + 1000))

        assert tune(folder, "stop").stdout == "stopping; what is under way is saved\n"
        assert run.process.wait(LONG_S) == 0
        done, issued, lost = books(run.said)
        assert done == issued > 0
        assert lost == 0
        assert "\x1b" not in run.said
        assert not (folder / "control.sock").exists()


def test_workers_come_and_go_and_no_unit_is_lost(tmp_path):
    with running(tmp_path / "run", *SYNTHETIC) as run:

        async def resize(remote) -> None:
            await look_until(remote, lambda shot: [worker.state for worker in shot.workers] == ["ready"] * 2)
            await remote.do("set", "pool.workers=3")
            await look_until(remote, lambda shot: [worker.state for worker in shot.workers] == ["ready"] * 3)
            await look_until(remote, lambda shot: shot.workers[2].games > 0)
            await remote.do("set", "pool.workers=1")
            alone = await look_until(remote, lambda shot: len(shot.workers) == 1)
            assert alone.workers[0].restarts == 0
            await look_until(remote, lambda shot: shot.throughput.units > alone.throughput.units + 1000)
            await remote.do("stop")

        visit(run, resize)
        assert run.process.wait(LONG_S) == 0
        done, issued, lost = books(run.said)
        assert issued == done + lost


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["batch.timeout_ms=soon"], "batch.timeout_ms is 'soon', wanted a number from 0 to 10000 or auto"),
        (["net.blocks=3"], "net.blocks cannot be changed in a run"),
        (["faster"], "'faster' is no KEY=VALUE"),
        (["undo"], "nothing to undo"),
        (["checkpoint"], "a synthetic load has nothing to save"),
    ],
)
def test_a_mistake_in_tuning_is_one_line_and_exit_code_2(words, told, synthetic_folder, capsys):
    assert cli.main(["tune", str(synthetic_folder), *words]) == 2
    printed = capsys.readouterr()
    (line,) = printed.err.splitlines()
    assert line.startswith(f"asyncplay: {told}")
    assert printed.out == ""


@pytest.fixture(scope="module")
def synthetic_folder(tmp_path_factory):
    """A run that goes on for as long as the tests of this module need it."""
    folder = tmp_path_factory.mktemp("live") / "run"
    with running(folder, *SYNTHETIC) as run:
        visit(run, lambda remote: remote.look())
        yield folder


def test_tuning_where_no_run_is_is_one_line_and_exit_code_2(tmp_path, capsys):
    assert cli.main(["tune", str(tmp_path), "batch.max_rows=3"]) == 2
    assert capsys.readouterr().err == f"asyncplay: {tmp_path}: no run goes on here: it has no control.sock\n"


def test_a_killed_run_leaves_a_socket_that_is_known_to_be_stale(tmp_path, capsys):
    folder = tmp_path / "run"
    with running(folder, *SYNTHETIC) as run:
        visit(run, lambda remote: remote.look())
        run.process.kill()
        run.process.wait()
        assert cli.main(["tune", str(folder)]) == 2
        assert "the run has ended without a word" in capsys.readouterr().err


@pytest.mark.slow
def test_ten_thousand_random_messages_do_not_disturb_a_run(tmp_path):
    source, folder = random.Random(5), tmp_path / "run"
    with running(folder, *SYNTHETIC) as run:
        visit(run, lambda remote: look_until(remote, lambda shot: shot.throughput.total > 0))
        with address.short_path(folder) as path:
            for _ in range(10_000):
                with socket.socket(socket.AF_UNIX) as link, contextlib.suppress(BrokenPipeError, ConnectionResetError):
                    link.connect(path)
                    link.sendall(nonsense(source))
        shot = visit(run, lambda remote: remote.look())
        assert [tunable.value for tunable in shot.tunables] == ["auto", "1024", "2", "off"]
        assert [worker.restarts for worker in shot.workers] == [0, 0]
        assert (shot.state, shot.trials) == ("running", ())
        assert tune(folder, "stop").returncode == 0
        assert run.process.wait(LONG_S) == 0
        done, issued, lost = books(run.said)
        assert (done, lost) == (issued, 0)
        assert "Traceback" not in run.said


def is_alive(pid: int) -> bool:
    """A zombie that nobody has fetched yet is not."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_a_detached_run_goes_on_by_itself_until_it_is_told_to_stop(tmp_path, capsys):
    folder = tmp_path / "run"
    assert cli.main(["train", *SYNTHETIC, "--run", str(folder), "--detach", "--train.interval-s", "0.5"]) == 0
    said = capsys.readouterr().err
    (pid,) = map(int, re.findall(r"^detached as process (\d+);", said, re.MULTILINE))
    try:
        assert said.startswith(f"run folder: {folder}\n")
        assert os.getsid(pid) == pid != os.getsid(0)
        assert tune(folder, "stop").returncode == 0
        deadline_s = time.monotonic() + LONG_S
        while is_alive(pid):
            assert time.monotonic() < deadline_s, "the detached run does not end"
            time.sleep(0.05)
        done, issued, lost = books((folder / "out.log").read_text())
        assert (done, lost) == (issued, 0)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
        os.waitpid(pid, 0)  # the command that detached it is this very process, which goes on


def test_a_detached_run_that_cannot_start_says_why(tmp_path, capsys):
    folder = tmp_path / "run"
    words = [*SYNTHETIC, "--run", str(folder), "--detach", "--device.backend", "torch"]
    assert cli.main(["train", *words]) == 2
    (_, line) = capsys.readouterr().err.splitlines()
    assert line.startswith("asyncplay: device.backend is torch, the synthetic load takes only sim; ")


def test_lines_for_programs_are_json_on_stdout_and_nothing_else_is_there(tmp_path):
    folder = tmp_path / "run"
    with running(folder, *SYNTHETIC, "--json-lines", "--train.interval-s", "0.3") as run:
        visit(run, lambda remote: look_until(remote, lambda shot: shot.elapsed_s > 2 and shot.throughput.total > 0))
        assert tune(folder, "stop").returncode == 0
        assert run.process.wait(LONG_S) == 0
    lines = [json.loads(line) for line in (tmp_path / "run.out").read_text().splitlines()]
    assert len(lines) > 1
    assert lines[-1]["throughput/rows"] > 0
    assert {"time_s", "state", "verdict", "throughput/rows_per_s", "batch/mean_rows"} <= lines[-1].keys()
    assert "rows/s" not in run.said.partition("done ")[0]


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_trials_and_figures_of_a_run_are_kept_in_its_store(tmp_path):
    folder = tmp_path / "run"
    words = ["configs/smoke.toml", *PATIENT, "--train.interval-s", "0.5", "--learn.samples-per-insert", "0.5"]
    with running(folder, *words) as run:

        async def meddle(remote) -> str:
            await look_until(remote, lambda shot: shot.parts["learn"].version > 0 and len(shot.throughput.history) > 4)
            outcome = await remote.act("set", "batch.max_rows=64")
            trial = await remote.trial(outcome.trial)
            assert (trial.state, trial.name) == ("done", "rows")
            assert await remote.do("checkpoint") == "a checkpoint is being saved"
            await remote.do("stop")
            return str(trial)

        told = visit(run, meddle)
        assert run.process.wait(LONG_S) == 0
    assert list((folder / "checkpoints").iterdir())
    with contextlib.closing(sqlite3.connect(folder / "run.sqlite")) as store:
        assert store.execute("SELECT text FROM events WHERE kind = 'trial'").fetchall() == [(told,)]
        (data,) = store.execute("SELECT data FROM events WHERE kind = 'trial'").fetchone()
        names = {name for (name,) in store.execute("SELECT DISTINCT name FROM metrics")}
    assert json.loads(data)["change"] == "max rows 1024 -> 64"
    assert {"throughput/rows_per_s", "batch/mean_rows", "learn/policy_loss", "store/games"} <= names
