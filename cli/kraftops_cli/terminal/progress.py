"""Progress bar on standard error, for work that takes longer than a second."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Self

_PATIENCE = 1.0  # seconds, before anything is shown
_INTERVAL = 0.1
_WIDTH = 80  # if the terminal does not know its own
_BAR = 40
_LONGEST = 100 * 3600  # seconds left that are shown
_ERASE = b"\r\x1b[K"
_UNITS = ("B", "kB", "MB", "GB", "TB", "PB")


def is_wanted(output: int, error: int = 2) -> bool:
    """Tell whether a bar on the descriptor *error* is seen, and does not disturb the output.

    Output on a terminal shows the progress by itself.
    """
    return os.environ.get("TERM") != "dumb" and _is_terminal(error) and not _is_terminal(output)


class Progress:
    """Bar with the share of bytes that are done; a context manager that erases it at the end."""

    def __init__(
        self,
        total: int,
        *,
        is_shown: bool,
        fd: int = 2,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin with nothing done.

        Args:
            total: Bytes to do, or 0 if unknown.
            is_shown: Whether a bar is shown at all.
            fd: The terminal.
            clock: Returns seconds.
        """
        self._total = total
        self._is_shown = is_shown
        self._fd = fd
        self._clock = clock
        self._done = 0
        self._start = clock()
        self._next = self._start + _PATIENCE
        self._is_drawn = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.erase()

    def advance(self, size: int) -> None:
        """Note that *size* more bytes are done."""
        self._done += size
        if self._is_shown and (now := self._clock()) >= self._next:
            self._next = now + _INTERVAL
            self._draw(now - self._start)

    def erase(self) -> None:
        """Erase the bar, before a line is written; later it is drawn again."""
        if self._is_drawn:
            self._is_drawn = False
            self._write(_ERASE)

    def _draw(self, seconds: float) -> None:
        with suppress(OSError):  # no job control
            if os.tcgetpgrp(self._fd) != os.getpgrp():
                return  # another job has the terminal now
        self._is_drawn = True
        text = progress_line(self._done, self._total, seconds, self._columns())
        self._write(b"\r" + text.encode("ascii") + b"\x1b[K")

    def _columns(self) -> int:
        try:
            return os.get_terminal_size(self._fd).columns or _WIDTH
        except OSError:
            return _WIDTH

    def _write(self, data: bytes) -> None:
        try:
            os.write(self._fd, data)
        except OSError:
            self._is_shown = False  # the terminal is gone


def progress_line(done: int, total: int, seconds: float, columns: int) -> str:
    """Return the line about *done* of *total* bytes, shorter than *columns*."""
    speed = f"{_size(int(done / seconds))}/s"
    if not total:
        return f"{_size(done)}  {speed}"[: columns - 1]
    share = min(done / total, 1.0)
    tail = f"{share:4.0%}  {_size(done)} of {_size(total)}  {speed}"
    if done and (left := seconds * (1 - share) / share) < _LONGEST:
        tail += f"  {_time(left)} left"
    width = min(columns - 1 - len(tail) - 3, _BAR)
    if width < 5:
        return tail[: columns - 1]
    full = int(width * share)
    return f"[{'#' * full}{'.' * (width - full)}] {tail}"


def _size(count: int) -> str:
    number, unit = float(count), 0
    while number >= 999.5 and unit < len(_UNITS) - 1:
        number /= 1000
        unit += 1
    return f"{number:.{1 if unit > 0 and number < 99.95 else 0}f} {_UNITS[unit]}"


def _time(seconds: float) -> str:
    minutes, rest = divmod(int(seconds + 0.5), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _is_terminal(fd: int) -> bool:
    try:
        return os.isatty(fd)
    except OSError:
        return False
