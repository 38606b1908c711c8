"""Exports against the store they come from."""

import json
import sys
from datetime import datetime
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from stored import START_S, make_run

from asyncplay import cli
from asyncplay.data.reader import ALL, GameFilter, StoredGame, count_games, read_games, reading
from asyncplay.payloads import unpack


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    """60 games, one a minute, ten of each version 0 to 5."""
    folder = tmp_path_factory.mktemp("export") / "run"
    make_run(folder, range(60)).close()
    return folder


def games_of(run: Path, choice: GameFilter = ALL) -> list[StoredGame]:
    with reading(run) as connection:
        games = list(read_games(connection, choice))
        assert count_games(connection, choice) == len(games)
    return games


def export(run: Path, out: Path, *words: str) -> int:
    return cli.main(["data", str(run), "export", "--out", str(out), *words])


def test_an_npz_has_every_game_whole(run, tmp_path):
    assert export(run, tmp_path / "all.npz") == 0
    with np.load(tmp_path / "all.npz") as arrays:
        columns = dict(arrays)
    games = games_of(run)
    assert columns["number"].tolist() == [game.number for game in games]
    assert columns["returns"].tolist() == [json.loads(game.returns) for game in games]
    assert columns["reason"].tolist() == [game.reason for game in games]
    for place, game in enumerate(games):
        record = unpack(game.record)
        actions = slice(*columns["action_offsets"][place : place + 2])
        rows = slice(*columns["row_offsets"][place : place + 2])
        entries = slice(*columns["policy_offsets"][[rows.start, rows.stop]])
        np.testing.assert_array_equal(columns["actions"][actions], record.actions)
        np.testing.assert_array_equal(columns["row_seats"][rows], record.seats)
        np.testing.assert_array_equal(columns["policies"][entries], record.policies)


def test_parquet_has_every_game_whole(run, tmp_path):
    assert export(run, tmp_path / "all.parquet") == 0
    table = pd.read_parquet(tmp_path / "all.parquet")
    games = games_of(run)
    assert table["number"].tolist() == [game.number for game in games]
    for row, game in zip(table.itertuples(), games, strict=True):
        record = unpack(game.record)
        assert row.returns.tolist() == json.loads(game.returns)
        np.testing.assert_array_equal(row.actions, record.actions)
        np.testing.assert_array_equal(row.policy_counts, record.counts)
        np.testing.assert_array_equal(row.policies, record.policies)


@pytest.mark.parametrize(
    ("choice", "units"),
    [
        (GameFilter(first_version=2, last_version=3), range(20, 40)),
        (GameFilter(first_version=5), range(50, 60)),
        (GameFilter(since_s=START_S + 600, until_s=START_S + 900), range(10, 15)),
        (GameFilter(limit=7), range(7)),
        (GameFilter(last_version=0, limit=3), range(3)),
        (GameFilter(seats=2, reason="rules"), range(60)),
        (GameFilter(seats=3), range(0)),
        (GameFilter(reason="limit"), range(0)),
    ],
)
def test_a_choice_takes_these_games_and_no_others(run, choice, units):
    assert [game.unit for game in games_of(run, choice)] == list(units)


def test_the_options_of_the_command_choose(run, tmp_path, capsys):
    since = datetime.fromtimestamp(START_S + 1500).isoformat()  # between units 24 and 25, or on 25
    assert export(run, tmp_path / "some.npz", "--versions", "2-4", "--since", since, "--limit", "12") == 0
    with np.load(tmp_path / "some.npz") as arrays:
        assert arrays["unit"].tolist() == list(range(25, 37))
    assert capsys.readouterr().err == f"12 games in {tmp_path / 'some.npz'}\n"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--out", "x.csv"], "--out is x.csv, must end with .npz or .parquet, or say --format"),
        (["--out", "x.npz", "--versions", "new"], "--versions is new, must be a number or a range like 3-9"),
        (["--out", "x.npz", "--seats", "9"], "{run} has no such games; `asyncplay data {run} stats` says what it has"),
        (["--out", "x.npz", "--reason", "foo"], "--reason is foo, the games of {run} ended by rules"),
        (["--out", "{run}/no/where.npz"], "--out {run}/no/where.npz: cannot be written: No such file or directory"),
        ([], 'Command "data export" parameter --out requires an argument.'),
    ],
)
def test_a_mistake_is_one_line(run, words, told, capsys):
    assert cli.main(["data", str(run), "export", *(word.format(run=run) for word in words)]) == 2
    assert capsys.readouterr().err == f"asyncplay: {told.format(run=run)}\n"


def test_without_pyarrow_a_line_says_how_to_get_it(run, tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert export(run, tmp_path / "all.parquet") == 2
    assert capsys.readouterr().err == (
        "asyncplay: Parquet needs pyarrow: pip install 'asyncplay[parquet]', or --format npz\n"
    )
    assert list(tmp_path.iterdir()) == []
