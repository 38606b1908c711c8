"""The interface of a pool: workers that exchange frames with the coordinator, wherever they run."""

from collections.abc import Callable
from typing import Protocol

OnFrame = Callable[[memoryview | bytes], None]
OnLost = Callable[[str], None]


class Link(Protocol):
    """The coordinator's connection to one worker."""

    def send(self, frame: bytes) -> None:
        """Queue a frame; one to a worker that is gone is dropped."""

    def send_control(self, frame: bytes) -> None:
        """The same on the control pipe, which a busy worker reads too."""

    def pause(self) -> None:
        """Stop reading, so that the worker's next send waits."""

    def resume(self) -> None: ...

    def refuse(self, why: str) -> None:
        """Close the link because of an invalid frame from the worker."""

    def kill(self) -> None:
        """End the worker at once."""

    async def reap(self) -> None:
        """After the link is lost: return when the worker is gone and its resources are released."""


class Pool(Protocol):
    """Opens links. ``on_frame`` gets the bodies in order of arrival, on the loop; ``on_lost`` is called once.

    Neither is called before ``open`` has returned; if ``open`` is cancelled, no worker is left behind."""

    async def open(self, number: int, on_frame: OnFrame, on_lost: OnLost) -> Link: ...
