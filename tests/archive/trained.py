"""Small runs that were really trained, and commands as a person types them."""

import contextlib
import io
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from asyncplay import cli

CONFIGS = Path(__file__).parent.parent.parent / "configs"
PATIENCE_S = 200.0  # of a machine that does six other things
N_GAMES, N_MORE = 40, 8
NEURAL = {
    "pool.kind": "inline",
    "pool.workers": "2",
    "train.units": str(N_GAMES),
    "train.seed": "3",
    "search.games": "4",
    "search.simulations": "4",
    "net.width": "16",
    "net.blocks": "1",
    "learn.minimum-rows": "60",
    "learn.batch-rows": "32",
    "learn.publish-steps": "3",
    "device.backend": "torch",
    "device.threads": "1",
    "arena.every-s": "0",
    "store.durability": "process",
}
TABULAR = {"pool.kind": "inline", "pool.workers": "2", "train.units": "400", "solve.batch": "100"}


class Trained(NamedTuple):
    """Folders of runs; nobody writes into them."""

    neural: Path
    tabular: Path


def flags(settings: dict[str, str]) -> list[str]:
    return [word for name, value in settings.items() for word in (f"--{name}", value)]


def answer(*words: object) -> tuple[int, str]:
    """A command in this process: its exit status, and all that it says; one that hangs is an error."""
    said = io.StringIO()

    def ring(*_: object) -> None:
        raise TimeoutError(f"{words} hangs")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE_S)
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            status = cli.main([str(word) for word in words])
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    return status, said.getvalue()


def train_both(place: Path) -> Trained:
    """A run that trains a network and one that solves by table."""
    both = Trained(place / "neural", place / "tabular")
    for run, config, settings in zip(both, ("smoke.toml", "kuhn.toml"), (NEURAL, TABULAR), strict=True):
        status, said = answer("train", CONFIGS / config, "--run", run, "--headless", *flags(settings))
        assert status == 0, said
    return both


def looks(run: Path, elsewhere: Path, *, is_tabular: bool) -> Iterator[list[object]]:
    """All commands that look at a run and leave it as it is."""
    yield ["runs", run.parent]
    yield ["data", run, "stats"]
    yield ["data", run, "verify"]
    yield ["data", run, "export", "--out", elsewhere / "games.npz"]
    yield ["data", run, "export", "--out", elsewhere / "games.parquet"]
    yield ["report", run, "--out", elsewhere / "report.html"]
    yield ["eval", run] if is_tabular else ["eval", run, "--games", 4, "--simulations", 2]


def resume(run: Path, *, is_tabular: bool = False) -> list[object]:
    return ["train", "--resume", run, "--headless", "--train.units", 500 if is_tabular else N_GAMES + N_MORE]
