"""Checkpoints: numbered folders, each of them whole or not there.

A checkpoint is a folder ``NNNNNN`` with named arrays (``arrays.safetensors``), plain values (``state.json``) and
``manifest.json``, which has the size and sha256 of both and of itself. Large arrays are files of their own, written and
checked piece by piece (large_arrays.py) and listed in the manifest too. It is written under another name, synced and
renamed, so a process killed at any moment leaves the old ones alone. Nothing in it is pickled.
"""

import hashlib
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeVar

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from safetensors import SafetensorError
from safetensors import numpy as safetensors_numpy

from asyncplay.config.sections import CheckpointSettings
from asyncplay.data import files as disk
from asyncplay.data import large_arrays
from asyncplay.data.files import read_file
from asyncplay.errors import AsyncplayError
from asyncplay.payloads import Array

DEFAULT = CheckpointSettings()
FORMAT = 1
ARRAYS, STATE, MANIFEST = "arrays.safetensors", "state.json", "manifest.json"
DRAFT, DISCARDED = "draft", "discarded"
MANIFEST_BYTES, MOST_DIGITS = 1 << 23, 19


class Checkpoint(NamedTuple):
    """What a checkpoint holds. What changes of its arrays while it is being saved is saved as it is when it is written;
    large ones of a checkpoint that was read are mapped, and read from the disk as they are used."""

    arrays: Mapping[str, Array]
    state: Mapping[str, Any]  # what JSON can say


class Found(NamedTuple):
    """The newest checkpoint that is whole."""

    number: int
    snapshot: Checkpoint


class Damaged(AsyncplayError):
    """A checkpoint that is not what was saved; the message says which and why."""


def save(folder: Path, snapshot: Checkpoint, keep: CheckpointSettings = DEFAULT) -> int:
    """Write the next checkpoint below ``folder``, remove outdated ones and return its number.

    OSError if it cannot be written; nothing of it is left then.
    """
    if not folder.is_dir():
        folder.mkdir()
        disk.sync(folder.parent)  # or a power cut may take the folder with all that is in it
    for name in (DRAFT, DISCARDED):
        disk.remove(folder / name)  # left over from a save that was cut short
    number = max(numbers(folder), default=0) + 1
    arrays = {name: np.asarray(array, order="C") for name, array in snapshot.arrays.items()}
    large = {name: array for name, array in arrays.items() if array.nbytes >= large_arrays.LEAST_BYTES}
    small = {name: array for name, array in arrays.items() if name not in large}
    files = {ARRAYS: safetensors_numpy.save(small), STATE: json.dumps(snapshot.state).encode()}
    listed = {name: [len(data), _digest(data)] for name, data in files.items()}
    draft = folder / DRAFT
    draft.mkdir()
    try:
        pieces = large_arrays.write(draft, large)
        for name, data in (*files.items(), (MANIFEST, _manifest(listed, pieces))):
            disk.write(draft / name, data)
        disk.sync(draft)
    except OSError:
        shutil.rmtree(draft, ignore_errors=True)
        raise
    draft.rename(folder / f"{number:06d}")
    disk.sync(folder)
    *older, _ = numbers(folder)
    recent = set(older[max(0, len(older) + 1 - keep.keep_last) :])
    for old in older:
        if old not in recent and not (keep.keep_every and old % keep.keep_every == 0):
            (folder / f"{old:06d}").rename(folder / DISCARDED)
            shutil.rmtree(folder / DISCARDED)
    return number


def load(path: Path) -> Checkpoint:
    """Read one checkpoint, or raise Damaged; the result equals what was saved, to the bit."""
    text = _read(path / MANIFEST, MANIFEST_BYTES)
    try:
        known = json.loads(text)
        listed, number = known["files"], known["format"]
        sizes = {name: (int(listed[name][0]), str(listed[name][1])) for name in (ARRAYS, STATE)}
        pieces = known.get("large", {})
    except (ValueError, KeyError, TypeError, IndexError, OverflowError, RecursionError):
        raise Damaged(f"{path} is damaged: {MANIFEST} cannot be understood") from None
    if number != FORMAT or text != _manifest(listed, pieces) or len(listed) != len(sizes):
        raise Damaged(f"{path} is damaged: {MANIFEST} is not what was written, or of another format than {FORMAT}")
    data = {name: _checked(path / name, *sizes[name]) for name in (ARRAYS, STATE)}
    try:
        arrays = safetensors_numpy.load(data[ARRAYS])
        state = json.loads(data[STATE])
    except (SafetensorError, ValueError, KeyError, TypeError, RecursionError):
        raise Damaged(f"{path} is damaged: its files cannot be understood") from None
    if not isinstance(state, dict):
        raise Damaged(f"{path} is damaged: {STATE} cannot be understood")
    try:
        large = large_arrays.read(path, pieces)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise Damaged(f"{path} is damaged: {getattr(error, 'strerror', None) or error}") from None
    return Checkpoint({name: np.array(array) for name, array in arrays.items()} | large, state)


class State(BaseModel):
    """The plain values of a kind of run, as a checkpoint must have them."""

    model_config = ConfigDict(allow_inf_nan=False)


Count = Annotated[int, Field(ge=0, lt=2**62)]
Kind = TypeVar("Kind", bound=State)


def understand(kind: type[Kind], snapshot: Checkpoint) -> Kind:
    """The plain values, checked: digests do not prove which program wrote a checkpoint."""
    try:
        return kind.model_validate(snapshot.state)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise unfit(f"{'.'.join(map(str, first['loc']))} is {first['input']!r:.80}: {first['msg']}") from None


def unfit(what: str) -> Damaged:
    return Damaged(f"the newest checkpoint is damaged: {what}; put it away to go on from the one before")


def newest(folder: Path) -> tuple[Found | None, list[str]]:
    """The newest checkpoint that verifies, and a line for each newer one that does not."""
    complaints: list[str] = []
    for number in reversed(numbers(folder)):
        try:
            return Found(number, load(folder / f"{number:06d}")), complaints
        except Damaged as damage:
            complaints.append(str(damage))
    return None, complaints


def numbers(folder: Path) -> list[int]:
    """Of all checkpoints below ``folder``, whole or not, ascending."""
    names = (path.name for path in folder.glob("[0-9]*")) if folder.is_dir() else ()
    return sorted(int(name) for name in names if name.isascii() and name.isdecimal() and len(name) < MOST_DIGITS)


def _manifest(listed: Mapping[str, Any], large: Mapping[str, Any]) -> bytes:
    """The only way to write a manifest: one with the same values that looks different is damaged."""
    body = {"format": FORMAT, "files": listed} | ({"large": large} if large else {})
    return json.dumps(body | {"sha256": _digest(json.dumps(body).encode())}, indent=1).encode()


def _checked(path: Path, size: int, digest: str) -> bytes:
    data = _read(path, size)
    if len(data) != size:
        raise Damaged(f"{path.parent} is damaged: {path.name} has {len(data):,} bytes, {size:,} were written")
    if _digest(data) != digest:
        raise Damaged(f"{path.parent} is damaged: {path.name} is not what was written")
    return data


def _read(path: Path, most_bytes: int) -> bytes:
    try:
        return read_file(path, most_bytes)
    except OSError as error:
        raise Damaged(f"{path.parent} is damaged: {path.name}: {error.strerror}") from None


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def named(prefix: str, arrays: Mapping[str, Array]) -> dict[str, Array]:
    """The arrays of one part among those of others."""
    return {f"{prefix}/{name}": array for name, array in arrays.items()}


def named_below(prefix: str, arrays: Mapping[str, Array]) -> dict[str, Array]:
    """One part's arrays by their own names."""
    start = f"{prefix}/"
    return {name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)}
