"""The walk: what one finished game passes through until the weights learned from it answer.

    scripts/dev python scripts/walk.py [--list]

An inline run plays tic-tac-toe up to its first barrier. The game that ends there is the last one under way and its
examples are just enough for the first training step, so there is nothing else to do than to store it, train and
publish. Looked at is each function of the package, on whatever thread, from the call of ``Group.take``, which copies
the finished game out of the search, to the return of the backend's ``swap``, which puts the new weights in place.

The walk is made of the functions that carry the game: an argument or the result is the game, a message or record of
it, its examples, a batch of them, or weights (CARRIERS, bytes of a frame, tensors). ``--all`` lists everything that
ran meanwhile too. Comprehensions and lambdas are not counted, and of what is compiled only what Python calls.
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
from typing import NamedTuple

import numpy as np
import torch

import asyncplay
from asyncplay.cli import main as run_command

ROOT = f"{Path(asyncplay.__file__).parent}/"
START, END = "Group.take", ".swap"
CARRIERS = {
    *("PlayedGame", "GameRows", "Rerun", "Rows", "Game", "Arrival", "GameEntry", "Record", "Policies"),
    *("Examples", "Draw", "StepReport", "Prepared"),
}
SHORT_BYTES = 100  # of a digest, a header or a watermark; a frame or a packed record has more
GAMES_AT_ONCE = 2
BARRIER_GAMES = 8 * GAMES_AT_ONCE  # an inline run waits for training to rest whenever so many are played
NEVER_ROWS = 10**6
SMOKE = Path(__file__).parent.parent / "configs" / "smoke.toml"
FLAGS = [
    *("--headless", "--tensorboard=false", "--arena.every-s=0", "--store.durability=process"),
    *("--pool.kind=inline", "--pool.workers=1", f"--search.games={GAMES_AT_ONCE}", "--search.simulations=4"),
    *("--net.width=8", "--net.blocks=1", "--device.backend=torch", "--device.threads=1"),
    *("--learn.batch-rows=16", "--learn.publish-steps=1", "--learn.publish-distance=0"),
]


class Walk(NamedTuple):
    """Functions in the order they are met, as ``search/group.py:Group.take``."""

    carrying: list[str]
    all: list[str]


class Recorder:
    """A profile function for all threads, which begins anew with each finished game until weights are published."""

    def __init__(self) -> None:
        self.carrying: dict[str, None] = {}
        self.met: dict[str, None] = {}
        self.n_games = 0
        self.is_over = False

    def __call__(self, frame: FrameType, event: str, result: object) -> None:
        code = frame.f_code
        if self.is_over or event not in ("call", "return") or not code.co_filename.startswith(ROOT):
            return
        if event == "call" and code.co_qualname == START:
            self.met.clear()
            self.carrying.clear()
            self.n_games += 1
        if self.n_games and not code.co_name.startswith("<"):
            name = f"{code.co_filename.removeprefix(ROOT)}:{code.co_qualname}"
            self.met[name] = None
            arguments = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
            values = [frame.f_locals.get(argument) for argument in arguments if argument != "self"]
            if any(map(carries, values if event == "call" else [result])):
                self.carrying[name] = None
            self.is_over = event == "return" and code.co_qualname.endswith(END)


def carries(value: object, depth: int = 0) -> bool:
    """Whether a value is the game or what was made of it."""
    if isinstance(value, bytes | bytearray | memoryview):
        return len(value) > SHORT_BYTES
    if isinstance(value, torch.Tensor) or type(value).__name__ in CARRIERS:
        return True
    if isinstance(value, dict):
        return bool(value) and all(isinstance(entry, np.ndarray) for entry in value.values())
    return isinstance(value, list | tuple) and depth < 2 and any(carries(entry, depth + 1) for entry in value)


def walk() -> Walk:
    n_rows = _play(BARRIER_GAMES, minimum_rows=NEVER_ROWS)
    _play(BARRIER_GAMES + 1, minimum_rows=n_rows)  # for all that is slow the first time
    recorder = Recorder()
    with _profiling(recorder):
        _play(BARRIER_GAMES + 1, minimum_rows=n_rows)
    assert recorder.is_over, "no weights were published"
    assert recorder.n_games == BARRIER_GAMES, "weights were published while games were under way"
    return Walk(list(recorder.carrying), list(recorder.met))


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
    parser.add_argument("--list", action="store_true", help="name the functions that carry the game, in order")
    parser.add_argument("--all", action="store_true", help="name everything that ran meanwhile, in order")
    wanted = parser.parse_args()
    found = walk()
    if wanted.list or wanted.all:
        print("\n".join(found.all if wanted.all else found.carrying))
    files, ran = ({function.partition(":")[0] for function in functions} for functions in found)
    print(
        f"walk of a finished game: {len(files)} files, {len(found.carrying)} functions carry it; "
        f"{len(ran)} files, {len(found.all)} functions ran meanwhile"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
