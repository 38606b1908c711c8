"""The first code of a worker's process: small, so that it runs early."""

import os
import pickle
import signal
import socket
from collections.abc import Callable

Entry = Callable[[int, socket.socket, socket.socket], None]
"""A worker's main function: its number, the data pipe, the control pipe. Never returns."""


def live(parent: int, entry: str, number: int, data: int, control: int) -> None:
    """Run ``entry``, a pickled Entry in hexadecimal, unless the coordinator is gone already."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the coordinator handles Ctrl-C
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # and a closed terminal
    if os.getppid() != parent:
        os._exit(0)
    run: Entry = pickle.loads(bytes.fromhex(entry))  # imports for a second or more
    run(number, socket.socket(fileno=data), socket.socket(fileno=control))
