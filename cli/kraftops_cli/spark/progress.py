"""Progress of a job of Spark, on standard error."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Self

from kraftops_cli.terminal.progress import is_wanted

if TYPE_CHECKING:
    from kraftops.spark.session.status_tracker import JobProgress

_ERASE = b"\r\x1b[K"
_WIDTH = 80


class SparkProgress:
    """Line with the number of finished splits; a context manager that erases it at the end."""

    def __init__(self, fd: int = 2) -> None:
        """Show nothing yet, and never if *fd* is no terminal."""
        self._fd = fd
        self._is_shown = is_wanted(-1, fd)
        self._start: float | None = None
        self._is_drawn = False

    def __enter__(self) -> Self:
        self._write("Spark starts …")
        return self

    def __exit__(self, *_: object) -> None:
        self.erase()

    def erase(self) -> None:
        """Erase the line, before others are written."""
        if self._is_drawn:
            self._is_drawn = False
            with suppress(OSError):
                os.write(self._fd, _ERASE)

    def show(self, state: JobProgress) -> None:
        """Show the progress; the time of Spark's start does not count."""
        now = time.monotonic()
        if self._start is None:
            self._start = now
        self._write(progress_line(state, now - self._start))

    def _write(self, text: str) -> None:
        if not self._is_shown:
            return
        try:
            width = os.get_terminal_size(self._fd).columns or _WIDTH
            os.write(self._fd, b"\r" + text[: width - 1].encode() + b"\x1b[K")
            self._is_drawn = True
        except OSError:
            self._is_shown = False  # the terminal is gone


def progress_line(state: JobProgress, seconds: float) -> str:
    """Return the line about a job that has run for some seconds."""
    share = state.done / state.total if state.total else 1.0
    line = f"{share:4.0%}  {state.done} of {state.total} splits, {state.running} running"
    if state.records and seconds:
        line += f"  {state.records / seconds:,.0f} records/s"
    if state.damaged:
        line += f"  {state.damaged} damaged"
    return line
