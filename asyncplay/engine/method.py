"""What a way to train looks like to everything around it."""

from collections.abc import Mapping
from typing import Any, Protocol

from asyncplay.engine.engine import Engine
from asyncplay.monitor.figures import Figures
from asyncplay.rundir.folder import RunFolder


class Method(Protocol):
    """One run of a method: it makes the work of an engine, uses the results, and captures and restores its own state.

    Made on the loop from a configuration, a run folder and, where a run is resumed, a checkpoint to restore. The
    method's work (``engine.work``) says what workers are given and takes what they send; its messages are registered
    with the wire.
    """

    engine: Engine
    folder: RunFolder

    async def run(self) -> None:
        """Work until the engine ends; whatever ended it, a last checkpoint is captured and saved."""

    def drain(self) -> None:
        """The first Ctrl-C: end soon, with everything saved."""

    def checkpoint(self) -> None:
        """Save soon."""

    def figures(self) -> Figures:
        """What has been counted so far."""

    def note(self, kind: str, text: str, data: Mapping[str, Any] | None = None) -> None:
        """Store an event of the run."""

    def measure(self, values: Mapping[str, float]) -> None:
        """Store the present figures."""

    def summary(self, seconds: float) -> list[str]:
        """Lines that sum the run up at its end."""
