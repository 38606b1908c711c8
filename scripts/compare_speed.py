"""Measure two commits in turn on this machine and say how fast the new one is beside the old one.

    scripts/dev python scripts/compare_speed.py OLD [NEW] [--pairs N] [--only NAME ...] [--brief]

NEW is HEAD unless given. Each figure is one that leaves the machine out as far as it can: a ratio that the bench
measures in neighbouring windows, or CPU time. The two commits take turns, first the one and then the other, and the
order changes from pair to pair. blob-games and connect4-games play the same games in one process, to the same bits if
the commits do the same, with a network that costs next to nothing: what our own code spends on a game is seen,
whatever other programs do to the machine. ``new/old`` is the speed of the new commit in that of the old one, above 1
where it is faster, the median over pairs with the least and the most. What the machine adds to it is seen by comparing
a commit with itself. One wire bench takes a minute, one of self-play some minutes, and the windows of one console bench
alone nearly eight. ``--brief`` takes ten short windows of self-play after 15 s instead of those of a whole round of
games, none while learning, and 15 pairs of windows of the console instead of 200: an hour for all.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any, NamedTuple

from commits import checked_out, run


class Bench(NamedTuple):
    words: list[str]
    figure: str  # what it is called
    read: Callable[[dict[str, Any]], float]  # from what the command prints as JSON
    is_cost: bool = False  # less is faster
    brief: str = ""  # statements that make it shorter, in every commit since 27e938b
    always: str = ""  # statements that it needs in any case


class Pair(NamedTuple):
    old: float
    new: float


def _mean_cost_us(result: dict[str, Any]) -> float:
    """Over all sizes of rows and messages."""
    return geometric_mean(row["coordinator_us_per_row"] for row in result["rows"])


FEW_WINDOWS = """
from asyncplay.bench import selfplay, tally
tally.Tally.games_per_min = tally.Tally.rows_per_game = 1.0  # no game may end
sessions = []
async def windows(watched, limit):
    await watched.until_asked()
    await selfplay.asyncio.sleep(15)
    return [await selfplay._pair(watched, limit) for _ in range(10)]
async def watch(config, look, watch=selfplay._watch):
    sessions.append(sessions[0] if sessions else await watch(config, windows))
    return sessions[0]
selfplay.SEQUENTIAL_S, selfplay.WINDOW_S, selfplay.LIMIT_S, selfplay._watch = 0.2, 3.0, 1.5, watch
"""
SAME_GAMES = """
import contextlib, importlib, io, json, time
from pathlib import Path
home = "engine.lane" if Path("asyncplay/engine").exists() else "coordinator.lane"  # as it was before 0cf9633
Lane = importlib.import_module("asyncplay." + home).Lane
spent = []
async def timed(self, run=Lane.run):
    began = time.process_time()
    try:
        await run(self)
    finally:
        spent.append(time.process_time() - began)
Lane.run = timed
def main(main=main):
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
        main()
    print(json.dumps({"cpu_s": spent[0]}))
"""
FEW_PAIRS = "from asyncplay.bench import console; console.measure.__defaults__ = (15,)"

SAME = [
    *("--headless", "--pool.kind=inline", "--seed=3", "--device.backend=torch", "--device.threads=1"),
    *("--net.kind=mlp", "--net.width=32", "--net.blocks=1", "--search.games=64", "--arena.every-s=0"),
    *("--learn.minimum-rows=1000", "--learn.batch-rows=64", "--tensorboard=false"),
]
BLOB = ["--search.simulations=30", "--search.worlds=3", "--search.exact-decisions=14", "--games=4000"]

BENCHES = {
    "blob-games": Bench(
        ["train", "configs/blob-quick.toml", *SAME, *BLOB],
        "CPU seconds of the same games",
        lambda found: found["cpu_s"],
        is_cost=True,
        always=SAME_GAMES,
    ),
    "connect4-games": Bench(
        ["train", "configs/connect4.toml", *SAME, "--search.simulations=32", "--games=1000"],
        "CPU seconds of the same games",
        lambda found: found["cpu_s"],
        is_cost=True,
        always=SAME_GAMES,
    ),
    "blob": Bench(
        ["bench", "selfplay", "--game", "blob", "--backend", "onnx-fp32", "--json"],
        "share of limit",
        lambda found: found["share_of_limit"],
        brief=FEW_WINDOWS,
    ),
    "connect4": Bench(
        ["bench", "selfplay", "--game", "connect4", "--json"],
        "share of limit",
        lambda found: found["share_of_limit"],
        brief=FEW_WINDOWS,
    ),
    "wire": Bench(["bench", "wire", "--json"], "coordinator us a row", _mean_cost_us, is_cost=True),
    "cfr": Bench(["bench", "cfr", "--game", "leduc", "--json"], "times open_spiel", lambda found: found["ratio"]),
    "console": Bench(
        ["bench", "console", "--json"], "rows/s left by the console", lambda found: 1 - found["cost"], brief=FEW_PAIRS
    ),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new", nargs="?", default="HEAD")
    parser.add_argument("--pairs", type=int, default=5, metavar="N", help="how often each bench runs for each commit")
    parser.add_argument("--only", action="append", choices=BENCHES, help="this bench and no other; repeatable")
    parser.add_argument("--brief", action="store_true", help="fewer windows of self-play and of the console")
    wanted = parser.parse_args()
    if wanted.pairs < 1:
        parser.error(f"--pairs {wanted.pairs}: at least 1")
    with tempfile.TemporaryDirectory() as place, ExitStack() as stack:
        trees = [
            stack.enter_context(checked_out(commit, Path(place) / name))
            for name, commit in (("old", wanted.old), ("new", wanted.new))
        ]
        for name in wanted.only or BENCHES:
            bench = BENCHES[name] if wanted.brief else BENCHES[name]._replace(brief="")
            pairs = [_measure(bench, trees, is_turned=number % 2 == 1) for number in range(wanted.pairs)]
            print(_line(name, bench, pairs), flush=True)
    return 0


def _measure(bench: Bench, trees: list[Path], *, is_turned: bool) -> Pair:
    """``is_turned``: the new commit first."""
    found: dict[Path, float] = {}
    for tree in reversed(trees) if is_turned else trees:
        found[tree] = bench.read(json.loads(run(tree, bench.words, bench.brief + bench.always)))
    return Pair(*(found[tree] for tree in trees))


def _line(name: str, bench: Bench, pairs: list[Pair]) -> str:
    speeds = [pair.old / pair.new if bench.is_cost else pair.new / pair.old for pair in pairs]
    old, new = median(pair.old for pair in pairs), median(pair.new for pair in pairs)
    spread = f"{min(speeds):.3f} to {max(speeds):.3f}, pairs {len(pairs)}"
    return f"{name}, {bench.figure}: old {old:.4g}, new {new:.4g}; new/old {median(speeds):.3f}, {spread}"


if __name__ == "__main__":
    sys.exit(main())
