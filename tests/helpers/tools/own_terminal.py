"""A terminal of its own, for code of this process."""

import fcntl
import os
import pty
import struct
import termios
from contextlib import suppress
from typing import Self


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

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._seen)
        os.close(self.fd)
