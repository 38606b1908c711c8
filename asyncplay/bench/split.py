"""No iteration is lost in the split: every pair by arithmetic, a few with real processes."""

import tempfile
from pathlib import Path
from typing import Any

from asyncplay.config.loading import load
from asyncplay.engine.ledger import shares
from asyncplay.engine.loop import run_loop
from asyncplay.methods.mccfr.run import MccfrRun

MOST_ITERATIONS, MOST_WORKERS = 1000, 256
REAL = ((100, 8), (100, 128), (1000, 3))


def measure() -> dict[str, Any]:
    pairs = [(total, workers) for total in range(1, MOST_ITERATIONS + 1) for workers in range(1, MOST_WORKERS + 1)]
    return {
        "pairs": len(pairs),
        "lost": sum(abs(total - sum(shares(total, workers))) for total, workers in pairs),
        "real": [run_really(*pair) for pair in REAL],
    }


def run_really(iterations: int, workers: int) -> dict[str, int]:
    """One round of a run with a process for each worker that gets a share; ``reported`` is the workers' own count."""
    config = load(
        None,
        {
            "game": {"name": "kuhn"},
            "solve": {"method": "external", "batch": str(iterations), "exact_every_s": "0", "snapshot_every_s": "0"},
            "train": {"units": str(iterations)},
            "pool": {"workers": str(workers)},
        },
    )

    async def main(folder: Path) -> MccfrRun:
        run = MccfrRun(config, folder, lambda line: None)
        await run.run()
        return run

    with tempfile.TemporaryDirectory() as place:
        run = run_loop(main(Path(place)))
    done, reported = run.engine.ledger.books.done, run.rounds.stats.iterations
    return {"iterations": iterations, "workers": workers, "done": done, "reported": reported}
