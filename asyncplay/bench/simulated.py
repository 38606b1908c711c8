"""A load on the simulated accelerator, set to a GPU of the middle range: real workers, pipes, queue and store.

Only the device is simulated: its answers are hashes, there when such a GPU would have given them. Figures from here
are to be called simulated.
"""

from collections.abc import Sequence
from typing import Any

from asyncplay.bench.loads import bench_config
from asyncplay.bench.watched import play_rounds
from asyncplay.engine.loop import run_loop
from asyncplay.errors import AsyncplayError
from asyncplay.methods import parts as build

ROWS_PER_S = 220_000  # of a full device
SECONDS = 20.0


def measure(
    game: str = "blob",
    search: dict[str, str] | None = None,
    *,
    option: Sequence[str] | None = None,
    host_ms: float = 0.1,
    seconds: float = SECONDS,
) -> dict[str, Any]:
    """``share_of_device_max``: of what the device does when every batch is full. ``search``: keys other than the load
    has them."""
    if host_ms < 0:
        raise AsyncplayError(f"--host-ms {host_ms}: must be at least 0")
    device = {"sim_host_ms": str(host_ms), "sim_rows_per_s": str(ROWS_PER_S)}
    config = bench_config(game, "sim", option=option, device=device, search=search or {})
    tally = run_loop(play_rounds(config, seconds))
    max_rows, fixed_s = config.batch.max_rows, config.device.sim_device_ms / 1000
    device_max = max_rows / (fixed_s + max_rows / ROWS_PER_S)
    return {
        "game": game,
        "backend": "sim",
        "is_simulated": True,
        "host_ms": host_ms,
        "games_per_min": tally.games_per_min,
        "rows_per_s": tally.rows_per_s,
        "device_max_rows_per_s": device_max,
        "share_of_device_max": tally.rows_per_s / device_max,
        "mean_batch": tally.mean_batch,
        "exact_decisions": config.search.exact_decisions,
        "rows_per_game": tally.rows_per_game,
        "workers": build.n_workers(config),
    }
