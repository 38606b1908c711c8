"""A person at a terminal: a real program on a pseudo-terminal, its screen read by a terminal emulator."""

import contextlib
import fcntl
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
import threading
from collections.abc import Callable
from pathlib import Path

import psutil
import pyte

LIMIT_S = 60.0
SHELL = Path(__file__).with_name("shell.py")
PLAIN = {"TERM": "xterm-256color", "NO_COLOR": "", "CI": "", "COLORTERM": ""}


class Desk:
    """A program in the foreground of its own terminal. Whatever is waited for has a generous limit."""

    def __init__(self, command: list[str], columns: int = 80, rows: int = 24, **environment: str) -> None:
        self.master, self.slave = pty.openpty()
        self._screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self._screen)
        self._changed = threading.Condition()
        self._raw = b""
        self._set_size(columns, rows)
        self.settings = termios.tcgetattr(self.slave)
        self._reports, self._orders = self._start(command, {**os.environ, **PLAIN, **environment})
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _start(self, command: list[str], environment: dict[str, str]) -> tuple[int, int]:
        reports, says = os.pipe()
        hears, orders = os.pipe()
        self.shell = subprocess.Popen(
            [sys.executable, str(SHELL), str(says), str(hears), *command],
            stdin=self.slave,
            stdout=self.slave,
            stderr=self.slave,
            env=environment,
            pass_fds=(says, hears),
            start_new_session=True,
        )
        os.close(says)
        os.close(hears)
        return reports, orders

    def _read(self) -> None:
        with contextlib.suppress(OSError):  # the terminal was closed
            while piece := os.read(self.master, 65_536):
                with self._changed:
                    self._raw += piece
                    self._stream.feed(piece)
                    self._changed.notify_all()

    @property
    def shown(self) -> str:
        return "\n".join(self._screen.display)

    @property
    def is_alternate(self) -> bool:
        """Whether the program has the screen for itself."""
        return self._raw.rfind(b"\x1b[?1049h") > self._raw.rfind(b"\x1b[?1049l")

    @property
    def is_cursor_hidden(self) -> bool:
        return bool(self._screen.cursor.hidden)

    @property
    def raw(self) -> bytes:
        return self._raw

    def until(self, words: str | Callable[[str], object]) -> str:
        """Wait until the screen says it; return the screen."""
        holds = words if callable(words) else lambda shown: words in shown
        with self._changed:
            came = self._changed.wait_for(lambda: holds(self.shown), LIMIT_S)
            assert came, f"{words!r} did not come to be shown:\n{self.shown}"
            return self.shown

    def press(self, keys: str) -> None:
        os.write(self.master, keys.encode())

    def resize(self, columns: int, rows: int) -> None:
        with self._changed:
            self._screen.resize(rows, columns)
            self._set_size(columns, rows)

    def _set_size(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def report(self) -> str:
        """The shell's next word: that the program was stopped, or with which status it ended."""
        heard: list[bytes] = []
        listener = threading.Thread(target=lambda: heard.append(_line(self._reports)), daemon=True)
        listener.start()
        listener.join(LIMIT_S)
        assert heard, f"the shell said nothing:\n{self.shown}"
        return heard[0].decode()

    def order(self, letter: str) -> None:
        os.write(self._orders, letter.encode())

    def program(self) -> psutil.Process:
        """The one that the shell started."""
        (child,) = psutil.Process(self.shell.pid).children()
        return child

    def check_terminal_is_given_back(self) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: not self.is_alternate, LIMIT_S), "the screen was not given back"
            assert self._changed.wait_for(lambda: not self.is_cursor_hidden, LIMIT_S)
        assert termios.tcgetattr(self.slave) == self.settings

    def hang_up(self) -> None:
        """The window is closed."""
        os.close(self.slave)
        os.close(self.master)
        self.master = self.slave = -1

    def close(self) -> None:
        """Whatever happened, nothing stays behind."""
        for process in _session(self.shell.pid):
            with contextlib.suppress(psutil.NoSuchProcess):
                process.send_signal(signal.SIGKILL)
        self.shell.wait()
        for descriptor in (self.master, self.slave, self._reports, self._orders):
            if descriptor >= 0:
                os.close(descriptor)
        self._reader.join(LIMIT_S)


def _session(leader: int) -> list[psutil.Process]:
    return [process for process in psutil.process_iter() if _session_of(process.pid) == leader]


def _session_of(pid: int) -> int | None:
    with contextlib.suppress(ProcessLookupError):
        return os.getsid(pid)
    return None


def _line(descriptor: int) -> bytes:
    """Read to the end of a line, a character at a time: the next one is somebody else's."""
    line = b""
    while (letter := os.read(descriptor, 1)) not in (b"\n", b""):
        line += letter
    return line
