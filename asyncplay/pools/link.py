"""What a pool offers: workers that exchange frames, wherever they live."""

from collections.abc import Callable
from typing import Protocol

OnFrame = Callable[[memoryview | bytes], None]
OnLost = Callable[[str], None]


class Link(Protocol):
    """The coordinator's hold on one worker."""

    def send(self, frame: bytes) -> None:
        """Queue a frame; one to a worker that is gone is dropped."""

    def send_control(self, frame: bytes) -> None:
        """The same, past whatever the worker is busy with."""

    def pause(self) -> None:
        """Stop reading, so that the worker's next send waits."""

    def resume(self) -> None: ...

    def refuse(self, why: str) -> None:
        """Hang up because of what the worker sent."""

    def kill(self) -> None:
        """End the worker whatever it is doing."""

    async def reap(self) -> None:
        """After the link is lost: return when the worker is gone and nothing of it is left."""


class Pool(Protocol):
    """Opens links. ``on_frame`` gets the bodies in order of arrival, on the loop; ``on_lost`` is called once.

    Neither is called before ``open`` has returned, and whoever cancels it leaves no worker behind."""

    async def open(self, number: int, on_frame: OnFrame, on_lost: OnLost) -> Link: ...
