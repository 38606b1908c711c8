"""Small runs of hold'em with 24 cards, whose buckets are drawn and not built."""

from pathlib import Path

import numpy as np

from asyncplay.config.loading import load
from asyncplay.config.sections import Config
from asyncplay.methods.buckets.build import plan
from asyncplay.solve.abstraction.bucket_file import HEADER_BYTES, digest_of, header_of, layout_of

COUNTS = (3, 4, 4, 3)
OPTIONS = {"stack": 12, "deck": 24}


def write_buckets(path: Path, counts: tuple[int, ...] = COUNTS, seed: int = 0) -> Path:
    """A whole file in which every hand is in some bucket."""
    parameters = plan(24, counts, seed)
    places, random = layout_of(parameters), np.random.default_rng(seed)
    stats = np.tile([1.0, 0.5, 0.1], (sum(counts), 1))
    tables = [random.integers(count, size=n, dtype=places.dtype) for count, n in zip(counts, places.hands, strict=True)]
    path.write_bytes(bytes(HEADER_BYTES) + stats.tobytes() + b"".join(table.tobytes() for table in tables))
    header = header_of(parameters, digest_of(path, parameters))
    with path.open("r+b") as file:
        file.write(header)
    return path


def small_config(file: Path, *, units: int = 1500, workers: int = 2, **overrides: dict[str, object]) -> Config:
    sections: dict[str, dict[str, object]] = {
        "game": {"name": "holdem", "options": OPTIONS},
        "abstraction": {"buckets": "/".join(map(str, COUNTS)), "file": str(file)},
        "pool": {"kind": "inline", "workers": workers},
        "train": {"units": units, "seed": 3},
        "solve": {"method": "external", "snapshot_every_s": 0, "prune_below": 500, "prune_after": 300},
        "supervise": {"silence_floor_s": 60},
    }
    for section, keys in overrides.items():
        sections[section] = {**sections.get(section, {}), **keys}
    return load(None, sections)
