"""Small runs of each kind that were really trained, once for all tests here."""

from pathlib import Path

import pytest
from archive.trained import NEURAL, TABULAR, answer, flags
from methods.mccfr.holdem_runs import small_config, write_buckets
from methods.mccfr.test_tabular import solve
from methods.population.test_run import tiny
from methods.population.test_run import train as train_population

from asyncplay import games
from asyncplay.config.loading import dump
from asyncplay.search import entries

CONFIGS = Path(__file__).parents[2] / "configs"


def train(run: Path, config: str, settings: dict[str, str], *words: str) -> Path:
    status, said = answer("train", CONFIGS / config, "--run", run, "--headless", *flags(settings), *words)
    assert status == 0, said
    return run


@pytest.fixture(scope="session")
def tictactoe(tmp_path_factory) -> Path:
    return train(tmp_path_factory.mktemp("runs") / "tictactoe", "smoke.toml", NEURAL)


@pytest.fixture(scope="session")
def kuhn(tmp_path_factory) -> Path:
    return train(tmp_path_factory.mktemp("runs") / "kuhn", "kuhn.toml", TABULAR)


@pytest.fixture(scope="session")
def leduc(tmp_path_factory) -> Path:
    return train(tmp_path_factory.mktemp("runs") / "leduc", "leduc.toml", TABULAR)


@pytest.fixture(scope="session")
def liarsdice(tmp_path_factory) -> Path:
    words = ["--game.name", "liarsdice", "--option", "faces=3"]
    return train(tmp_path_factory.mktemp("runs") / "liarsdice", "kuhn.toml", TABULAR, *words)


@pytest.fixture(scope="session")
def treasurehunt(tmp_path_factory) -> Path:
    run = tmp_path_factory.mktemp("runs") / "treasurehunt"
    train_population(tiny(), run)
    return run


@pytest.fixture(scope="session")
def holdem(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    config = small_config(write_buckets(folder / "drawn.buckets"), units=1000)
    solve(config, folder / "run")
    (folder / "run" / "config.toml").write_text(dump(config))
    return folder / "run"


@pytest.fixture(scope="session")
def blob(tmp_path_factory) -> Path:
    entries.warm(games.load("blob"))  # on a busy machine longer than a command may take
    words = ["--game.name", "blob", "--option", "players=3", "--option", "cards=2"]
    return train(tmp_path_factory.mktemp("runs") / "blob", "smoke.toml", NEURAL, *words)
