"""Damaged and forged run folders through every command that reads them: one line and exit status 2, or success."""

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from forge import EVIL, Forgery, forge_game, forged_records, forgeries
from trained import N_GAMES, N_MORE, Trained, answer, looks, resume

from asyncplay.data.reader import read_games, reading
from asyncplay.data.store import FILE

SAMPLE, ALL = 60, 500
pytestmark = pytest.mark.timeout(3600)


def commands(run: Path, elsewhere: Path, *, is_tabular: bool) -> Iterator[list[object]]:
    """All that read a run, those that change it last."""
    yield from looks(run, elsewhere, is_tabular=is_tabular)
    yield ["tune", run]
    yield ["watch", run]
    yield [*resume(run, is_tabular=is_tabular), "--time-budget", "20s"]  # a forged pace may ask for endless training
    yield ["data", run, "verify", "--repair"]


def complaints(status: int, said: str, words: list[object], name: str) -> list[str]:
    """What is wrong with an answer."""
    lines = said.split("\n")
    wrong = [line for line in lines if line.startswith("Traceback")]
    wrong += [f"{line!r} is not printable" for line in lines if not line.isprintable()]
    told = [line for line in lines if line.startswith("asyncplay: ")]
    most = 100 if name.startswith("configs") or "configuration" in said or "config" in name else 1
    if status == 2 and not 1 <= len(told) <= most:
        wrong.append(f"{len(told)} lines for one mistake")
    if status not in ((0, 1, 2) if "verify" in words else (0, 2)):
        wrong.append(f"exit status {status}")
    return wrong


def judge(forgery: Forgery, trained: Trained, place: Path) -> list[str]:
    """Let every command read one forged run, which lies beside a sound one."""
    place.mkdir()
    run, wrong = place / "forged", []
    shutil.copytree(trained[forgery.is_tabular], run)
    shutil.copytree(trained.neural, place / "sound")
    forgery.harm(run)
    for words in commands(run, place, is_tabular=forgery.is_tabular):
        try:
            status, said = answer(*words)
            found = complaints(status, said, words, forgery.name)
            if words[0] == "runs" and not (status == 0 and f"{place / 'sound'} " in said):
                found.append("the sound run is hidden")
        except Exception as error:  # any at all is what is looked for
            found = [f"{type(error).__name__}: {error}"[:300]]
            said = ""
        wrong += [f"{forgery.name}: {' '.join(map(str, words))[:60]}: {line}\n{said[-600:]}" for line in found]
    shutil.rmtree(place)
    return wrong


def judge_all(n: int, trained: Trained, place: Path) -> None:
    wrong: list[str] = []
    for number, forgery in enumerate(forgeries(*trained, n)):
        wrong += judge(forgery, trained, place / str(number))
    assert wrong == [], f"{len(wrong)} of {n}:\n" + "\n".join(wrong)


@pytest.mark.slow
def test_60_forged_runs_through_every_command_are_one_line_or_success(trained, tmp_path):
    judge_all(SAMPLE, trained, tmp_path)


@pytest.mark.exhaustive
@pytest.mark.timeout(4 * 3600)
def test_500_forged_runs_through_every_command_are_one_line_or_success(trained, tmp_path):
    judge_all(ALL, trained, tmp_path)


@pytest.mark.parametrize(
    ("name", "columns"),
    [
        *((name, {}) for name in ("an action twice", "an action that is none", "too short", "other seats")),
        ("returns", {"returns": "[3.0, -3.0]"}),
        ("reason", {"reason": "limit"}),
        ("rows", {"rows": 1}),
        ("rows of another game", {"first_row": 0}),
        ("rows far away", {"first_row": 2**50}),
    ],
)
def test_a_game_that_cannot_be_played_again_is_set_aside_and_the_run_goes_on(trained, tmp_path, name, columns):
    """It was stored and acknowledged: the run could not be resumed, and repair kept it."""
    run, number = tmp_path / "run", N_GAMES // 2
    shutil.copytree(trained.neural, run)
    forge_game(run, number, **(columns or {"record": forged_records(run, number)[name]}))
    status, said = answer("data", run, "verify")
    assert status == 1
    assert f"game {number}: " in said

    status, said = answer("data", run, "verify", "--repair")
    assert status == 0
    assert f"set aside what cannot be played again: number {number}; only the old file has it" in said
    status, said = answer("data", run, "verify")
    assert said.splitlines()[:2] == [
        f"missing: number {number}",
        f"{N_GAMES - 1} games played again with the stored result",
    ]

    status, said = answer(*resume(run))
    assert status == 0, said
    with reading(run) as connection:
        units = sorted(game.unit for game in read_games(connection))
    assert units == list(range(N_GAMES + N_MORE))


def test_a_forged_mark_far_ahead_is_told_and_repaired_in_no_time(trained, tmp_path):
    """It says that more games are lost than any memory can list."""
    (forgery,) = [one for one in forgeries(*trained, 900) if one.name == "marks: mark far ahead" and not one.is_tabular]
    run = tmp_path / "run"
    shutil.copytree(trained.neural, run)
    forgery.harm(run)
    status, said = answer("data", run, "verify", "--repair")
    assert status == 0
    assert f"lost {2**61 - N_GAMES:,} games: number {N_GAMES + 1}-{2**61}" in said


def test_names_and_texts_with_escape_codes_are_shown_harmless(trained, tmp_path):
    place = tmp_path / EVIL.replace("/", "")
    run = place / "run\x1b[2J"
    shutil.copytree(trained.neural, run)
    with closing(sqlite3.connect(run / FILE, isolation_level=None)) as connection:
        connection.execute("UPDATE meta SET value = ? WHERE key = 'game'", (EVIL,))
        connection.execute("UPDATE games SET reason = ?", (EVIL,))
    for words in [
        ["runs", place],
        ["data", run, "stats"],
        ["data", run, "verify"],
        ["tune", run],
        ["data", place, "stats"],
    ]:
        _, said = answer(*words)
        assert "\\x1b[" in said
        assert all(line.isprintable() for line in said.split("\n"))
    assert answer("report", run, "--out", tmp_path / "report.html")[0] == 0


@pytest.mark.process
def test_a_pipe_in_the_place_of_each_file_holds_no_process_up(trained, tmp_path):
    """Through real processes, as nothing inside one could tell that it hangs."""
    for place in ("config.toml", FILE, f"{FILE}-mark", "lock"):
        run = tmp_path / place
        shutil.copytree(trained.neural, run)
        (run / place).unlink()
        os.mkfifo(run / place)
    words = [
        sys.executable,
        "-c",
        "import sys; from asyncplay.cli import main; sys.exit(main())",
        "runs",
        str(tmp_path),
    ]
    done = subprocess.run(words, check=False, capture_output=True, text=True, timeout=200)
    assert (done.returncode, done.stderr) == (0, "")
    states = dict(line.split()[:2] for line in done.stdout.splitlines()[1:5])
    names = {"config.toml": "damaged", FILE: "damaged", f"{FILE}-mark": "stopped", "lock": "stopped"}
    assert states == {str(tmp_path / name): state for name, state in names.items()}


def test_a_configuration_of_another_kind_than_the_checkpoint_is_refused_at_once(trained, tmp_path):
    """An empty one is that of the default run, whose kernels would have been compiled first."""
    run = tmp_path / "run"
    shutil.copytree(trained.tabular, run)
    (run / "config.toml").write_text("")
    status, said = answer(*resume(run))
    assert (status, said) == (
        2,
        f"asyncplay: --resume {run}: config.toml is of a neural run, the newest checkpoint is not\n",
    )
