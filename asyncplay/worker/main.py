"""A worker as a process: the core between two blocking pipes.

The main thread owns the data pipe. A second thread owns the control pipe: it answers pings with everybody's
stack while the main thread computes, and ends the process when the coordinator is gone. The kernels release
the GIL, so it is never locked out for long; where Linux has it, the pool's leash is the second line.
"""

import contextlib
import gc
import os
import socket
import sys
import threading
import time
import traceback
from collections.abc import Mapping

from asyncplay.wire.codec import decode, encode, frames
from asyncplay.wire.messages import Ping, Pong
from asyncplay.wire.pipe import BlockingPipe
from asyncplay.worker.core import MakePlayer, Worker


def run(roles: Mapping[str, MakePlayer], number: int, data: socket.socket, control: socket.socket) -> None:
    """Be worker ``number`` with these roles until told to stop; never returns, the process ends here."""
    gc.freeze()  # the collector need not walk through what was imported
    threading.Thread(target=_answer_pings, args=(BlockingPipe(control),), daemon=True).start()
    with contextlib.suppress(EOFError):
        serve(Worker(number, os.getpid(), roles), BlockingPipe(data))
    os._exit(0)  # without the interpreter's own end, which would wait for threads


def serve(worker: Worker, pipe: BlockingPipe) -> None:
    """Carry frames both ways until the worker is over; EOFError when the coordinator is gone."""
    while True:
        messages, pause_s = worker.advance(time.monotonic())
        for message in messages:
            for frame in frames(message):
                pipe.send(frame)
        if worker.is_over and not messages:
            return
        body = pipe.receive(0 if worker.is_over else pause_s)
        while body is not None:
            worker.receive(body)
            body = pipe.receive(0)


def _answer_pings(pipe: BlockingPipe) -> None:
    """Runs in a thread of its own until the coordinator hangs up, and then ends the process."""
    try:
        while True:
            body = pipe.receive(None)
            assert body is not None, "a wait without a limit came back empty"
            message = decode(body)
            if isinstance(message, Ping):
                pipe.send(encode(Pong(message.ticket, _stacks())))
    finally:
        os._exit(0)


def _stacks() -> str:
    """Where every thread but this one is."""
    here = threading.get_ident()
    frames = {ident: frame for ident, frame in sys._current_frames().items() if ident != here}
    return "\n".join("".join(traceback.format_stack(frame)) for frame in frames.values())
