"""Packages with games, as pip would have installed them into a folder."""

from pathlib import Path

TINY = """
import numpy as np
from asyncplay.games import tictactoe
from dataclasses import replace

OPTIONS = ()

def spec():
    return replace(tictactoe.spec(), name="{name}")
"""
"""A module whose game is tic-tac-toe under another name."""


def install(folder: Path, package: str, points: str, modules: dict[str, str] | None = None) -> None:
    """Put modules, path to text, into a folder, and the metadata of a package of version 1.0 that brings them."""
    for path, text in (modules or {}).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    metadata = folder / f"{package}-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[asyncplay.games]\n{points}\n")
