"""A person's terminal, borrowed: alternate screen, single keys, and everything put back whatever happens."""

import contextlib
import os
import select
import termios
import threading
from collections.abc import Callable, Sequence
from typing import Any

ENTER = b"\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J"  # alternate screen, no cursor, no wrapping, all blank
LEAVE = b"\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l"
QUIET_S = 1.0  # how long a frame under way may take before it is thrown away
ESCAPE = b"\x1b"

OnKey = Callable[[str], None]


class Terminal:
    """The screen and the keyboard.

    Lifetime: from ``enter`` to ``leave``, any number of times; doing either twice does no harm. Two threads serve it
    in between. One reads keys: under uvloop ``add_reader`` would make the terminal non-blocking for all processes. One
    writes frames, so that a terminal which takes nothing (Ctrl-S) holds up no other task. Limit: while a frame is being
    written, newer ones are dropped. End: the settings are those of before, on the screen of before.
    """

    def __init__(self, keyboard: int, screen: int, on_key: OnKey, on_hangup: Callable[[], None]) -> None:
        """``keyboard`` and ``screen`` are descriptors of one terminal; the callbacks run in a thread of ours."""
        self._keyboard, self._screen = keyboard, screen
        self._on_key, self._on_hangup = on_key, on_hangup
        self._saved: list[Any] | None = None
        self._lines: list[str] = []
        self._reader: _Reader | None = None
        self._writer: _Writer | None = None

    @property
    def is_entered(self) -> bool:
        return self._saved is not None

    @property
    def is_ours(self) -> bool:
        """Whether we are in the foreground; the system stops a background process that touches the terminal.

        A terminal that does not control us has no background.
        """
        try:
            return os.tcgetpgrp(self._keyboard) == os.getpgrp()
        except OSError:
            return os.isatty(self._keyboard)

    def size(self) -> tuple[int, int]:
        """Columns and lines."""
        with contextlib.suppress(OSError):
            columns, lines = os.get_terminal_size(self._screen)
            if columns and lines:
                return columns, lines
        return 80, 24

    def enter(self) -> None:
        if self.is_entered:
            return
        self._saved = termios.tcgetattr(self._keyboard)
        *flags, characters = self._saved
        flags[3] &= ~(termios.ICANON | termios.ECHO)  # single keys; Ctrl-C and Ctrl-Z stay signals,
        characters = list(characters)  # Ctrl-\ does not: it would leave the screen as it is
        characters[termios.VMIN], characters[termios.VTIME], characters[termios.VQUIT] = 1, 0, b"\0"
        termios.tcsetattr(self._keyboard, termios.TCSANOW, [*flags, characters])
        self._lines = []
        self._writer = _Writer(self._screen)
        self._writer.write(ENTER)
        self._reader = _Reader(self._keyboard, self._on_key, self._on_hangup)

    def leave(self) -> None:
        """Put everything back; of a terminal that is gone only our threads are left to end."""
        if self._saved is None or self._reader is None or self._writer is None:
            return
        saved, self._saved = self._saved, None
        self._reader.end()
        with contextlib.suppress(OSError, termios.error):
            termios.tcflow(self._screen, termios.TCOON)  # whatever Ctrl-S has stopped
        is_quiet = self._writer.end(QUIET_S)
        with contextlib.suppress(OSError, termios.error):
            if not is_quiet:
                termios.tcflush(self._screen, termios.TCOFLUSH)
            _write_all(self._screen, LEAVE)
            termios.tcflush(self._keyboard, termios.TCIFLUSH)  # keys meant for us are not for the shell
            termios.tcsetattr(self._keyboard, termios.TCSANOW, saved)

    def paint(self, lines: Sequence[str]) -> None:
        """Show a frame, which is as many lines as the screen has; only what differs is written."""
        if self._writer is None or not self.is_entered or self._writer.is_busy:
            return
        self._writer.write(difference(self._lines, lines).encode(errors="replace"))
        self._lines = list(lines)

    def forget(self) -> None:
        """The next frame is painted whole: another program has written here, or the size has changed."""
        self._lines = []


def difference(before: Sequence[str], after: Sequence[str]) -> str:
    """Return what turns one frame into the next; a frame of another height is written whole."""
    if len(before) != len(after):
        return "\x1b[2J" + "".join(_line(number, text) for number, text in enumerate(after))
    return "".join(_line(number, text) for number, text in enumerate(after) if before[number] != text)


def _line(number: int, text: str) -> str:
    """Clear the line first: after its last cell the cursor is still on that cell, and clearing would erase it."""
    return f"\x1b[{number + 1};1H\x1b[K{text}\x1b[0m"


class _Reader:
    """Reads keys in a thread until ``end``, which wakes it through a pipe."""

    def __init__(self, keyboard: int, on_key: OnKey, on_hangup: Callable[[], None]) -> None:
        self._keyboard, self._on_key, self._on_hangup = keyboard, on_key, on_hangup
        self._wake_reader, self._wake_writer = os.pipe()
        self._thread = threading.Thread(target=self._read, name="keys", daemon=True)
        self._thread.start()

    def end(self) -> None:
        os.write(self._wake_writer, b".")
        self._thread.join()
        os.close(self._wake_reader)
        os.close(self._wake_writer)

    def _read(self) -> None:
        while True:
            ready, _, _ = select.select([self._keyboard, self._wake_reader], [], [])
            if self._wake_reader in ready:
                return
            typed = b""
            with contextlib.suppress(OSError):  # the terminal is gone
                typed = os.read(self._keyboard, 256)
            if not typed:
                self._on_hangup()
                return
            for key in keys_in(typed):
                self._on_key(key)


def keys_in(typed: bytes) -> str:
    """The keys among what was typed; arrows, function keys and the like are none of ours."""
    return typed.partition(ESCAPE)[0].decode(errors="ignore")


class _Writer:
    """Writes one piece after another in a thread; there is no queue: a writer checks ``is_busy`` first."""

    def __init__(self, screen: int) -> None:
        self._screen = screen
        self._changed = threading.Condition()
        self._piece: bytes | None = None
        self._is_over = False
        self._thread = threading.Thread(target=self._write, name="screen", daemon=True)
        self._thread.start()

    @property
    def is_busy(self) -> bool:
        return self._piece is not None

    def write(self, piece: bytes) -> None:
        with self._changed:
            self._piece = piece
            self._changed.notify_all()

    def end(self, timeout_s: float) -> bool:
        """Return whether all was written in that time."""
        with self._changed:
            self._is_over = True
            self._changed.notify_all()
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _write(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._piece is not None or self._is_over)
                if self._piece is None:
                    return
            try:
                _write_all(self._screen, self._piece)
            except OSError:
                return  # the terminal is gone: the reader, or SIGHUP, says so
            with self._changed:
                self._piece = None


def _write_all(screen: int, piece: bytes) -> None:
    while piece:
        piece = piece[os.write(screen, piece) :]
