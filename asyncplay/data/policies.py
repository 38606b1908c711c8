"""Average policies of a tabular run: one safetensors file for each time they are saved.

The policy of a large table is made and written block by block, and read from the disk as it is used.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from asyncplay.data import files as disk
from asyncplay.errors import AsyncplayError
from asyncplay.payloads import Array

FOLDER = "policies"
MOST_HEADER_BYTES = 1 << 16
KINDS = {"float16": "F16", "float32": "F32", "uint8": "U8", "int32": "I32", "uint64": "U64"}
"""As the format calls them."""


class MappedPolicy(NamedTuple):
    """An average policy of a blueprint; its odds are read from the disk as they are used."""

    iterations: int
    odds: Array  # uint16[E], the bits of float16
    digest: str  # of the abstraction that it is of


class BlockArray(NamedTuple):
    """An array of one dimension that is made block by block while it is written."""

    dtype: np.dtype[Any]
    length: int
    blocks: Iterable[Array]


def save_policy(
    run_folder: Path, iterations: int, arrays: Mapping[str, Array | BlockArray], *, keep_last: int = 0
) -> Path:
    """Write ``policies/ITERATIONS.safetensors`` whole or not at all; only so many of the newest are kept, 0: all."""
    place = run_folder / FOLDER
    place.mkdir(exist_ok=True)
    path = place / f"{iterations:015d}.safetensors"
    disk.replace_by(path, _safetensors(arrays), draft=place / "draft")
    for old in _all(run_folder)[:-keep_last] if keep_last else []:
        old.unlink()
    return path


def _safetensors(arrays: Mapping[str, Array | BlockArray]) -> Iterator[bytes | memoryview]:
    """A file of that format, block by block: the length of a header, the header, and the arrays one after another."""
    named = {
        name: array if isinstance(array, BlockArray) else BlockArray(array.dtype, len(array), [array])
        for name, array in arrays.items()
    }
    header, place = {}, 0
    for name, (dtype, length, _) in named.items():
        end = place + length * dtype.itemsize
        header[name] = {"dtype": KINDS[dtype.name], "shape": [length], "data_offsets": [place, end]}
        place = end
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    yield len(text).to_bytes(8, "little") + text
    for array in named.values():
        yield from (np.ascontiguousarray(block).data.cast("B") for block in array.blocks)


def _all(run_folder: Path) -> list[Path]:
    """The oldest first."""
    return sorted((run_folder / FOLDER).glob("[0-9]*.safetensors"))


def newest_policy(run_folder: Path, iterations: int | None = None) -> MappedPolicy:
    """The latest policy of a run of hold'em, or that of so many iterations; AsyncplayError if there is none, or it is
    no such file."""
    paths = _all(run_folder)
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
