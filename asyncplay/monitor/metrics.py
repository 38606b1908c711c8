"""The figures of a snapshot under the names that the store, TensorBoard and the JSON lines know them by."""

from asyncplay.monitor.snapshot import Snapshot


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
    for part in shot.parts.values():
        for name, figure in part.FIGURES.items():
            if figure.kind in ("counter", "gauge"):
                found[f"{part.NAME}/{name}"] = float(getattr(part, name))
            elif figure.kind == "gauges":
                found |= {f"{part.NAME}/{name}_{entry}": value for entry, value in enumerate(getattr(part, name))}
    found["workers/ready"] = sum(worker.state == "ready" for worker in shot.workers)
    found["workers/restarts"] = sum(worker.restarts for worker in shot.workers)
    for result in shot.results:
        found[f"strength/{result.series}"] = result.value
    return found
