"""Progress of work that takes longer than a second: a bar, rates and the time left."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import get_ident
from typing import Self

from kraftops.display.sizes import number_text, size_text
from kraftops_terminal.console import Console
from kraftops_terminal.escaping import escaped
from kraftops_terminal.status import Status

_PATIENCE = 1.0  # seconds, before anything is shown
_INTERVAL = 0.1  # seconds between two drawings: it moves smoothly
_BAR = 30  # columns
_LEAST_BAR = 5  # columns; a shorter bar tells nothing
_LONGEST = 100 * 3600  # seconds left that are shown

BYTES = "bytes"


@dataclass
class Task:
    """A part of the work."""

    total: int
    """What there is to do; 0 if that is unknown."""
    unit: str = BYTES
    """The things that are counted, in the plural; `bytes` have sizes and a rate."""
    name: str = ""
    files: int = 0
    """The number of files, if they are counted."""
    note: str = ""
    """Text after the numbers."""
    done: int = 0
    begun: set[str] = field(default_factory=set)
    """The files of which something is done."""

    def text(self, seconds: float) -> str:
        """Return what is done after some seconds, as text."""
        is_bytes = self.unit == BYTES
        amount = size_text if is_bytes else number_text
        text = amount(self.done)
        share = min(self.done / self.total, 1.0) if self.total else 0.0
        if self.total:
            text = f"{share:4.0%}  {text} of {amount(self.total)}"
        if not is_bytes:
            text += f" {self.unit}"
        elif seconds:
            text += f"  {size_text(int(self.done / seconds))}/s"
        if share and (seconds_to_go := seconds * (1 - share) / share) < _LONGEST:
            text += f"  {_time(seconds_to_go)} left"
        if self.files > 1 and self.begun:
            text += f"  file {len(self.begun)} of {self.files}"
        return text + (f"  {self.note}" if self.note else "")


class Progress:
    """Bars of tasks; a context manager that erases them at the end.

    Other threads may note what is done; only the one that made this draws.
    """

    def __init__(
        self,
        status: Status,
        *,
        is_shown: bool,
        clock: Callable[[], float] = time.monotonic,
        patience: float = _PATIENCE,
    ) -> None:
        """Begin without tasks.

        Args:
            status: Where bars are drawn.
            is_shown: Whether anything is shown at all.
            clock: Returns seconds.
            patience: Seconds before anything is shown.
        """
        self._status = status
        self._is_shown = is_shown
        self._clock = clock
        self._tasks: list[Task] = []
        self._console = Console(str, status.fd, is_terminal=True)
        self._thread = get_ident()
        self._start = clock()
        self._next = self._start + patience

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._is_shown = False  # who goes on after the end shows nothing
        self._status.erase()

    @property
    def seconds(self) -> float:
        """Seconds since the beginning."""
        return self._clock() - self._start

    def add(self, task: Task) -> Task:
        """Add a task, below the others."""
        self._tasks.append(task)
        return task

    def advance(self, task: Task, size: int, file: str | None = None) -> None:
        """Note that *size* more is done of a task, in a file."""
        task.done += size
        if file is not None:
            task.begun.add(file)
        if get_ident() == self._thread:
            self.draw()

    def draw(self) -> None:
        """Draw what is done, if it is time to."""
        if self._is_shown and (now := self._clock()) >= self._next:
            self._next = now + _INTERVAL
            self._draw(now - self._start)

    def _draw(self, seconds: float) -> None:
        self._status.show_lines(self._line(task, seconds) for task in self._tasks)

    def _line(self, task: Task, seconds: float) -> str:
        room = self._status.room
        name = f"{escaped(task.name)}  " if task.name else ""
        tail = task.text(seconds)
        width = min(room - len(name) - len(tail) - 2, _BAR)
        if not task.total or width < _LEAST_BAR:
            return f"{name}{tail}"[:room]
        from rich.progress_bar import ProgressBar

        bar = ProgressBar(
            total=task.total,
            completed=task.done,
            width=width,
            style="muted",
            complete_style="good",
            finished_style="good",
        )
        return f"{name}{self._console.drawn(bar).rstrip()}  {tail}"


def _time(seconds: float) -> str:
    minutes, rest = divmod(int(seconds + 0.5), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
