"""The figures of a snapshot under the names that the store, TensorBoard and the JSON lines know them by."""

from dataclasses import asdict

from asyncplay.monitor.snapshot import Snapshot

PARTS = ("batch", "learn", "rounds", "store")


def metrics(shot: Snapshot) -> dict[str, float]:
    """ "batch/mean_rows" and so on; what does not apply to this run is not there."""
    flow = shot.throughput
    found: dict[str, float] = {
        f"throughput/{flow.name}_per_s": flow.per_s,
        f"throughput/{flow.unit}_per_min": flow.units_per_min,
        f"throughput/{flow.name}": flow.total,
        f"throughput/{flow.unit}_done": flow.units,
    }
    if flow.limit_per_s:
        found["throughput/of_limit"] = flow.per_s / flow.limit_per_s
    for name in PARTS:
        part = getattr(shot, name)
        if part is not None:
            found |= {f"{name}/{key}": float(value) for key, value in asdict(part).items() if _is_number(value)}
    found["workers/ready"] = sum(worker.state == "ready" for worker in shot.workers)
    found["workers/restarts"] = sum(worker.restarts for worker in shot.workers)
    return found | {f"strength/{_rival(result.name)}": result.value for result in shot.results}


def _rival(name: str) -> str:
    """One series for all earlier versions, whichever it was."""
    return "vs earlier version" if name.startswith("vs version ") else name


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
