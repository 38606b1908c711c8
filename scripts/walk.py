"""The walk: what one finished game passes through until the weights learned from it answer.

    scripts/dev python scripts/walk.py [--list]

An inline run plays tic-tac-toe up to its first standstill. The game that ends there is the last one under way and its
rows are just enough for the first training step, so there is nothing else to do than to store it, train and publish.
Counted is each function of the package in which something ran, on whatever thread, from the call of ``Group.take``,
which copies the finished game out of the search, to the return of the backend's ``swap``, which puts the new weights
in place: it was entered, resumed or left in between. Comprehensions and lambdas are not counted, and of what is
compiled only what Python calls. What waits for the standstill is counted too.
"""

import argparse
import contextlib
import io
import sqlite3
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import asyncplay
from asyncplay.cli import main as run_command

ROOT = f"{Path(asyncplay.__file__).parent}/"
START, END = "Group.take", ".swap"
GAMES_AT_ONCE = 2
STANDSTILL_GAMES = 8 * GAMES_AT_ONCE  # an inline run waits for training to rest whenever so many are played
NEVER_ROWS = 10**6
SMOKE = Path(__file__).parent.parent / "configs" / "smoke.toml"
FLAGS = [
    *("--headless", "--tensorboard=false", "--arena.every-s=0", "--store.durability=process"),
    *("--pool.kind=inline", "--pool.workers=1", f"--search.games={GAMES_AT_ONCE}", "--search.simulations=4"),
    *("--net.width=8", "--net.blocks=1", "--device.backend=torch", "--device.threads=1"),
    *("--learn.batch-rows=16", "--learn.publish-steps=1", "--learn.publish-distance=0"),
]


class Recorder:
    """A profile function for all threads, which begins anew with each finished game until weights are published."""

    def __init__(self) -> None:
        self.met: dict[str, None] = {}  # in this order
        self.n_games = 0
        self.is_over = False

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if self.is_over or event not in ("call", "return") or not code.co_filename.startswith(ROOT):
            return
        if event == "call" and code.co_qualname == START:
            self.met.clear()
            self.n_games += 1
        if self.n_games and not code.co_name.startswith("<"):
            self.met[f"{code.co_filename.removeprefix(ROOT)}:{code.co_qualname}"] = None
            self.is_over = event == "return" and code.co_qualname.endswith(END)


def walk() -> list[str]:
    """The functions in the order they are met, as ``search/group.py:Group.take``."""
    n_rows = _play(STANDSTILL_GAMES, minimum_rows=NEVER_ROWS)
    _play(STANDSTILL_GAMES + 1, minimum_rows=n_rows)  # for all that is slow the first time
    recorder = Recorder()
    with _profiling(recorder):
        _play(STANDSTILL_GAMES + 1, minimum_rows=n_rows)
    assert recorder.is_over, "no weights were published"
    assert recorder.n_games == STANDSTILL_GAMES, "weights were published while games were under way"
    return list(recorder.met)


def _play(n_games: int, *, minimum_rows: int) -> int:
    """Return how many rows the games have."""
    said = io.StringIO()
    units = [f"--train.units={n_games}", f"--learn.minimum-rows={minimum_rows}"]
    with tempfile.TemporaryDirectory() as place:
        with contextlib.redirect_stderr(said):
            status = run_command(["train", str(SMOKE), "--run", f"{place}/run", *FLAGS, *units])
        assert status == 0, said.getvalue()
        with contextlib.closing(sqlite3.connect(f"{place}/run/run.sqlite")) as store:
            return int(store.execute("SELECT SUM(rows) FROM games").fetchone()[0])


@contextlib.contextmanager
def _profiling(recorder: Recorder) -> Iterator[None]:
    threading.setprofile(recorder)
    sys.setprofile(recorder)
    try:
        yield
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="name the functions, in the order they are met")
    wanted = parser.parse_args()
    functions = walk()
    if wanted.list:
        print("\n".join(functions))
    n_files = len({function.partition(":")[0] for function in functions})
    print(f"walk from {START} to {END.removeprefix('.')}: {n_files} files, {len(functions)} functions")
    return 0


if __name__ == "__main__":
    sys.exit(main())
