"""Average policies of a tabular run: one safetensors file for each time they are saved."""

from collections.abc import Mapping
from pathlib import Path

from safetensors.numpy import save

from asyncplay.data import files as disk
from asyncplay.payloads import Array

FOLDER = "policies"


def save_policy(run_folder: Path, iterations: int, arrays: Mapping[str, Array]) -> Path:
    """Write ``policies/ITERATIONS.safetensors`` whole or not at all."""
    place = run_folder / FOLDER
    place.mkdir(exist_ok=True)
    path = place / f"{iterations:015d}.safetensors"
    disk.replace(path, save(dict(arrays)), draft=place / "draft")
    return path
