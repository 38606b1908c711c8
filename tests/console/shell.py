"""Job control as a shell does it, but nothing is put back: what a program leaves behind in a terminal can be seen.

``shell.py REPORTS ORDERS COMMAND...`` with descriptors of two pipes. Reports ``stopped`` or ``ended STATUS``; after
``stopped`` an order is one character: f brings the program to the foreground, b lets it go on behind.
"""

import contextlib
import fcntl
import os
import signal
import sys
import termios


def start(command: list[str]) -> int:
    pid = os.fork()
    if pid == 0:
        take_foreground()
        signal.signal(signal.SIGTTOU, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # which whatever runs the tests may ignore
        os.execvp(command[0], command)
    return pid


def take_foreground() -> None:
    os.setpgid(0, 0)
    os.tcsetpgrp(0, os.getpgrp())


def go_on(pid: int, order: bytes) -> None:
    if order == b"f":
        os.tcsetpgrp(0, pid)
    os.killpg(pid, signal.SIGCONT)


def main(reports: int, orders: int, command: list[str]) -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)  # a shell may touch its terminal from behind
    signal.signal(signal.SIGHUP, lambda number, frame: None)  # tell of the program's end even then
    pid = start(command)
    while True:
        _, status = os.waitpid(pid, os.WUNTRACED)
        with contextlib.suppress(OSError):  # the terminal is gone
            os.tcsetpgrp(0, os.getpgrp())
        if not os.WIFSTOPPED(status):
            os.write(reports, b"ended %d\n" % os.waitstatus_to_exitcode(status))
            return
        os.write(reports, b"stopped\n")
        go_on(pid, os.read(orders, 1))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
