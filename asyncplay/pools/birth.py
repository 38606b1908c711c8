"""The first thing that a worker's process does: small, so that little can happen before it."""

import os
import pickle
import signal
import socket
from collections.abc import Callable

Entry = Callable[[int, socket.socket, socket.socket], None]
"""A worker's main function: its number, the data pipe, the control pipe. Never returns."""


def live(parent: int, entry: str, number: int, data: int, control: int) -> None:
    """Be what ``entry`` says, a pickled Entry in hexadecimal, unless the coordinator is gone already."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the coordinator's business,
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # a closed terminal too
    if os.getppid() != parent:
        os._exit(0)
    run: Entry = pickle.loads(bytes.fromhex(entry))  # imports for a second or more
    run(number, socket.socket(fileno=data), socket.socket(fileno=control))
