"""Status: lines at the end of standard error that are replaced, and erased before other text."""

import os
from collections.abc import Iterable
from contextlib import suppress

from kraftops_terminal.descriptors import is_terminal, width_of
from kraftops_terminal.escaping import escaped

_ERASE_LINE = "\r\x1b[K"
_ERASE_LINE_ABOVE = "\x1b[A\x1b[K"


def is_seen(output: int, error: int = 2) -> bool:
    """Tell whether status on the descriptor *error* is seen, and does not disturb the output.

    Output on a terminal shows the progress by itself.
    """
    is_dumb = os.environ.get("TERM") == "dumb"
    return not is_dumb and is_terminal(error) and not is_terminal(output)


class Status:
    """Lines on the terminal *fd* that stand below all other text until they are erased."""

    def __init__(self, fd: int = 2) -> None:
        """Draw nothing yet; *fd* is the terminal."""
        self.fd = fd
        self._lines = 0
        self._is_gone = False

    @property
    def room(self) -> int:
        """Columns that a line can have."""
        return width_of(self.fd) - 1

    def show(self, text: str) -> None:
        """Draw a line of text from data, cut to the width of the terminal."""
        self.show_lines([escaped(text)[: self.room]])

    def show_lines(self, lines: Iterable[str]) -> None:
        """Draw lines, none longer than `room`, in place of those before.

        Nothing is drawn while another job has the terminal.
        """
        with suppress(OSError):  # no job control
            if os.tcgetpgrp(self.fd) != os.getpgrp():
                return
        drawn = list(lines)
        self._write(self._erasing() + "\n".join(drawn))
        self._lines = len(drawn)

    def erase(self) -> None:
        """Erase the lines, before others are written; later they may be drawn again."""
        if self._lines:
            self._write(self._erasing())
            self._lines = 0

    def _erasing(self) -> str:
        return _ERASE_LINE + _ERASE_LINE_ABOVE * (self._lines - 1)

    def _write(self, text: str) -> None:
        if self._is_gone:
            return
        try:
            os.write(self.fd, text.encode("utf-8", "replace"))
        except OSError:
            self._is_gone = True  # so is the terminal
