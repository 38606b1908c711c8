"""Average policies of a tabular run: one safetensors file for each time they are saved."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
from safetensors.numpy import save

from asyncplay.data import files as disk
from asyncplay.errors import AsyncplayError
from asyncplay.payloads import Array

FOLDER = "policies"
MOST_HEADER_BYTES = 1 << 16


class MappedPolicy(NamedTuple):
    """An average policy of a blueprint; its odds are read from the disk as they are used."""

    iterations: int
    odds: Array  # uint16[E], the bits of float16
    digest: str  # of the abstraction that it is of


def save_policy(run_folder: Path, iterations: int, arrays: Mapping[str, Array]) -> Path:
    """Write ``policies/ITERATIONS.safetensors`` whole or not at all."""
    place = run_folder / FOLDER
    place.mkdir(exist_ok=True)
    path = place / f"{iterations:015d}.safetensors"
    disk.replace(path, save(dict(arrays)), draft=place / "draft")
    return path


def newest_policy(run_folder: Path, iterations: int | None = None) -> MappedPolicy:
    """The latest policy of a run of hold'em, or that of so many iterations; AsyncplayError if there is none, or it is
    no such file."""
    paths = sorted((run_folder / FOLDER).glob("[0-9]*.safetensors"))
    if not paths:
        raise AsyncplayError(f"{run_folder} has no policy yet; a run saves one at its end")
    path = paths[-1] if iterations is None else run_folder / FOLDER / f"{iterations:015d}.safetensors"
    if path not in paths:
        known = ", ".join(str(int(one.stem)) for one in paths if one.stem.isdecimal())
        raise AsyncplayError(f"{run_folder} has no policy of {iterations} iterations; it has {known}")
    try:
        with path.open("rb") as file:
            size = int.from_bytes(file.read(8), "little")
            header = json.loads(file.read(min(size, MOST_HEADER_BYTES)))
        places = {name: (header[name]["dtype"], *header[name]["data_offsets"]) for name in ("policy", "digest")}
        (kind, first, end), (_, digest_first, digest_end) = places["policy"], places["digest"]
        mapped = np.memmap(path, np.uint8, "c", offset=8 + size)  # kernels take no read-only arrays
        if kind != "F16" or not 0 <= first <= end <= len(mapped) or (end - first) % 2:
            raise ValueError
        odds = np.asarray(mapped[first:end]).view(np.uint16)
        return MappedPolicy(int(path.stem), odds, mapped[digest_first:digest_end].tobytes().hex())
    except OSError as error:
        raise AsyncplayError(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, RecursionError):
        raise AsyncplayError(f"{path} is damaged: it is no policy of a blueprint") from None
