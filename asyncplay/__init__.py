"""Self-play training: one asyncio process owns the model, worker processes play.

``load(RUN)`` is the door to what was trained; docs/use.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # a program that only asks for the version loads neither torch nor numba
    from os import PathLike

    from asyncplay.trained.agent import TrainedAgent

__version__ = "0.1.0"
__all__ = ["__version__", "load"]


def load(run: str | PathLike[str], version: int | None = None) -> TrainedAgent:
    """The agent that a run has trained, with the latest weights unless ``version`` names others.

    AsyncplayError says in one line what is wrong with a folder or a version.
    """
    from asyncplay.trained.loading import load as read

    return read(run, version)
