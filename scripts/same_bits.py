"""Run two commits with the same seeds on this machine and say which bits differ.

    scripts/dev python scripts/same_bits.py OLD [NEW]

NEW is HEAD unless given. Each commit plays an inline neural run of a board and of a card game, a synchronous tabular
run with two processes, and the same three once more, stopped half-way and resumed. Compared are weights, policies,
the arrays of checkpoints and what was stored of each game; times and process ids are not. The card game learns from its
deals as they are, also where a commit would exchange their suits.
"""

import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from commits import checked_out, run
from safetensors.numpy import load_file

NEURAL = [
    *("--pool.kind=inline", "--pool.workers=2", "--seed=3", "--device.backend=torch", "--device.threads=1"),
    *("--search.games=16", "--learn.minimum-rows=100", "--learn.batch-rows=64", "--learn.publish-steps=3"),
    *("--learn.publish-distance=0", "--arena.every-s=0", "--tensorboard=false"),
]
TABULAR = ["--pool.workers=2", "--seed=3", "--solve.batch=500", "--tensorboard=false"]
STORED = {
    "games": "number, unit, worker, seed, seats, length, reason, returns, outcome, first_row, rows, record",
    "versions": "version, step, games",
}


class Load(NamedTuple):
    config: str
    flags: list[str]
    units: int


LOADS = {
    "board": Load("configs/smoke.toml", [*NEURAL, "--search.simulations=12"], 256),
    "cards": Load("configs/blob-quick.toml", [*NEURAL, "--search.root=gumbel"], 256),
    "table": Load("configs/leduc.toml", TABULAR, 4000),
}


def main() -> int:
    """Return 0 when every bit is the same."""
    if not 2 <= len(sys.argv) <= 3:
        sys.exit(__doc__)
    commits = [sys.argv[1], *(sys.argv[2:] or ["HEAD"])]
    with tempfile.TemporaryDirectory() as place:
        found = [_play_all(commit, Path(place) / str(number)) for number, commit in enumerate(commits)]
    names = sorted(found[0].keys() | found[1].keys())
    differences = [name for name in names if found[0].get(name) != found[1].get(name)]
    for name in differences:
        print(f"different: {name}")
    print(f"{len(found[0])} values of {commits[0]} compared with {commits[1]}: {len(differences)} differ")
    return 1 if differences or not found[0] else 0


def _play_all(commit: str, place: Path) -> dict[str, object]:
    """What every run of a commit left behind, by name."""
    place.mkdir()
    with checked_out(commit, place / "tree") as tree:
        return dict(pair for name, load in LOADS.items() for pair in _play(name, load, tree, place))


def _play(name: str, load: Load, tree: Path, place: Path) -> Iterator[tuple[str, object]]:
    """One run in one go, and one that is stopped half-way and resumed."""
    if name == "cards" and "symmetries: bool" in (tree / "asyncplay/config/sections.py").read_text(encoding="utf-8"):
        load = load._replace(flags=[*load.flags, "--learn.symmetries=false"])
    whole, halved = place / name, place / f"{name}-resumed"
    train = ["train", "--headless"]
    run(tree, [*train, load.config, *load.flags, f"--train.units={load.units}", "--run", str(whole)])
    run(tree, [*train, load.config, *load.flags, f"--train.units={load.units // 2}", "--run", str(halved)])
    run(tree, [*train, "--resume", str(halved), f"--train.units={load.units}"])
    for folder in (whole, halved):
        yield from ((f"{folder.name}/{key}", value) for key, value in _contents(folder))


def _contents(folder: Path) -> Iterator[tuple[str, object]]:
    for path in sorted(folder.rglob("*.safetensors")):
        for name, array in load_file(path).items():
            yield f"{path.relative_to(folder)}:{name}", _bits(array)
    for path in sorted(folder.rglob("*.npz")):
        with np.load(path) as arrays:
            for name in arrays.files:
                yield f"{path.relative_to(folder)}:{name}", _bits(arrays[name])
    with sqlite3.connect(f"file:{folder / 'run.sqlite'}?mode=ro", uri=True) as store:
        for table, columns in STORED.items():
            for number, row in enumerate(store.execute(f"SELECT {columns} FROM {table} ORDER BY 1")):
                yield f"{table}:{number}", row


def _bits(array: np.ndarray) -> tuple[str, tuple[int, ...], bytes]:
    return str(array.dtype), array.shape, array.tobytes()


if __name__ == "__main__":
    sys.exit(main())
