"""Games of this folder, made known to ``games.load`` as if they were the package's own, in workers too."""

import sys
from dataclasses import dataclass
from importlib import import_module
from socket import socket

from asyncplay import games
from asyncplay.methods.roles import be_worker
from asyncplay.wire import codec


def register(name: str) -> None:
    """In this process."""
    sys.modules[f"asyncplay.games.{name}"] = import_module(f"games.{name}")
    if name not in games.NAMES:
        games.NAMES = (*games.NAMES, name)


@dataclass
class ForeignEntry:
    """A worker's entry that knows a game, and cuts messages into parts of its own size."""

    name: str
    part_bytes: int = codec.PART_BYTES

    def __call__(self, number: int, data: socket, control: socket) -> None:
        register(self.name)
        codec.PART_BYTES = self.part_bytes
        be_worker(number, data, control)
