"""Programs in a terminal whose screen is emulated, so that tests see what people see."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
from collections.abc import Callable, Mapping
from contextlib import suppress
from time import monotonic
from typing import Any, Self

import pyte

from tests.helpers.tools.console import ENVIRONMENT

PATIENCE = 20.0  # seconds, before a test gives up
_MAIN_SCREEN, _ALTERNATE_SCREEN = b"\x1b[?1049l", b"\x1b[?1049h"


class Emulator:
    """A terminal with a program in it; a context manager that ends the program.

    The terminal stays open when the program ends, so that its state can be looked at.
    """

    def __init__(
        self,
        *command: str,
        columns: int = 80,
        rows: int = 24,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._master, self.terminal = pty.openpty()
        self._screen = pyte.Screen(columns, rows)
        # It says where the cursor is when it is asked, not after what was written meanwhile.
        self._screen.write_process_input = self.send
        self._stream = pyte.ByteStream(self._screen)
        self.raw = b""
        self._set_size(rows, columns)
        self.modes_before = self.modes
        terminal = self.terminal

        def own_terminal() -> None:
            fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)

        self.process = subprocess.Popen(
            command,
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            env={**_colourful(), "TERM": "xterm", **(environment or {})},
            start_new_session=True,
            preexec_fn=own_terminal,  # noqa: PLW1509 - there is no other way
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._master)
        os.close(self.terminal)

    @property
    def modes(self) -> list[Any]:
        """The attributes of the terminal."""
        return termios.tcgetattr(self.terminal)

    @property
    def lines(self) -> list[str]:
        """What is on the screen."""
        return [line.rstrip() for line in self._screen.display]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    @property
    def is_as_before(self) -> bool:
        """Whether the program has left the terminal as it was: modes, cursor and main screen."""
        main, alternate = self.raw.rfind(_MAIN_SCREEN), self.raw.rfind(_ALTERNATE_SCREEN)
        has_wrap = pyte.modes.DECAWM in self._screen.mode
        has_cursor = not self._screen.cursor.hidden
        return self.modes == self.modes_before and has_cursor and has_wrap and main >= alternate

    def send(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def resize(self, rows: int, columns: int) -> None:
        self._screen.resize(rows, columns)
        self._set_size(rows, columns)

    def signal(self, number: int) -> None:
        self.process.send_signal(number)

    def wait(self, until: Callable[[Self], object]) -> str:
        """Read until something is true; return the text of the screen."""
        end = monotonic() + PATIENCE
        while not until(self):
            assert monotonic() < end, f"waited in vain; there is\n{self.text}"
            self._read()
        return self.text

    def wait_for(self, text: str) -> str:
        return self.wait(lambda screen: text in screen.text)

    def wait_for_end(self) -> int:
        """Wait until the program is over; return its exit code, less than 0 for a signal."""
        end = monotonic() + PATIENCE
        while self.process.poll() is None:
            assert monotonic() < end, f"it goes on; there is\n{self.text}"
            self._read()
        self._read()
        return int(self.process.returncode)

    def _set_size(self, rows: int, columns: int) -> None:
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def _read(self) -> None:
        if select.select([self._master], [], [], 0.05)[0]:
            with suppress(OSError):
                output = os.read(self._master, 1 << 16)
                self.raw += output
                self._stream.feed(output)


def styled(screen: pyte.Screen) -> list[str]:
    """Return what is on a screen; parts with attributes are in braces, after their names."""
    return [_styled_row(screen, row) for row in range(screen.lines)]


def _styled_row(screen: pyte.Screen, row: int) -> str:
    shown, last = "", ""
    for column in range(screen.columns):
        cell = screen.buffer[row][column]
        names = [name for name in ("bold", "underscore", "reverse") if getattr(cell, name)]
        if cell.fg != "default":
            names.append(cell.fg)
        style = " ".join(names)
        if style != last:
            shown += ("}" if last else "") + (f"{{{style}:" if style else "")
            last = style
        shown += cell.data
    return (shown + ("}" if last else "")).rstrip()


def emulated(text: str, columns: int, rows: int) -> list[str]:
    """Return what a terminal of this size shows after *text*, with styles, as `styled`."""
    screen = pyte.Screen(columns, rows)
    screen.set_mode(pyte.modes.LNM)  # a line feed begins a line, as with a terminal's own driver
    pyte.Stream(screen).feed(text)
    return styled(screen)


def _colourful() -> dict[str, str]:
    return {name: value for name, value in ENVIRONMENT.items() if name != "NO_COLOR"}
