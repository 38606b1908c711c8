"""Average policies of a tabular run as files that anybody can read: one safetensors file for each moment."""

import os
from collections.abc import Mapping
from pathlib import Path

from safetensors.numpy import save

from asyncplay.payloads import Array

FOLDER = "policies"


def save_policy(run_folder: Path, iterations: int, arrays: Mapping[str, Array]) -> Path:
    """Write ``policies/ITERATIONS.safetensors`` whole or not at all."""
    place = run_folder / FOLDER
    place.mkdir(parents=True, exist_ok=True)
    draft, path = place / "draft", place / f"{iterations:015d}.safetensors"
    with draft.open("wb") as file:
        file.write(save(dict(arrays)))
        file.flush()
        os.fsync(file.fileno())
    draft.rename(path)
    return path
