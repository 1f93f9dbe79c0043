"""A terminal of its own, for code of this process."""

import fcntl
import os
import pty
import re
import struct
import termios
from contextlib import suppress
from typing import Self

from kraftops_terminal.console import Console


class OwnTerminal:
    """A terminal; a context manager that closes it."""

    def __init__(self, columns: int = 80) -> None:
        self._seen, self.fd = pty.openpty()
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        os.set_blocking(self._seen, False)

    def shown(self) -> str:
        """Return what came since the last look."""
        came = b""
        with suppress(BlockingIOError):
            while True:
                came += os.read(self._seen, 1 << 16)
        return came.decode()

    @property
    def console(self) -> Console:
        """The terminal as a console; what is written to it is lost."""
        return Console(str, self.fd, is_terminal=True, environment={"TERM": "xterm"})

    @staticmethod
    def plain(text: str) -> str:
        """Return text without colours, and without blanks at the ends of lines."""
        return re.sub(r" *\x1b\[[\d;]*m *(?=\n)|\x1b\[[\d;]*m", "", text)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._seen)
        os.close(self.fd)


def pipe() -> Console:
    """Return a console that is not a terminal."""
    return Console(str, -1, is_terminal=False, environment={})
