"""Events of a change in many steps: lines on standard error; for programs, also in the answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from kraftops.reassign.events import Event
from kraftops_cli.terminal.streams import Terminal
from kraftops_terminal.progress import Progress, Task
from kraftops_terminal.status import is_seen

_INTERVAL = 10.0  # seconds between two lines of progress that is not news


class EventPrinter:
    """Prints events; progress on a terminal stays on one line, and is not in the answer."""

    def __init__(
        self, terminal: Terminal, *, is_json: bool, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Make one for the output of the terminal's command; *clock* returns seconds."""
        self.events: list[Mapping[str, object]] = []
        """The events so far, for programs."""
        self._terminal = terminal
        self._is_json = is_json
        if is_json:
            terminal.answer(terminal.command, {"events": self.events})
        self._clock = clock
        self._is_live = is_seen(-1) and not is_json
        self._last = ("", 0.0)
        self._progress = Progress(terminal.status, is_shown=False)
        self._task: Task | None = None

    def __call__(self, event: Event) -> None:
        """Print an event."""
        now = self._clock()
        text = event.text
        if event.name == "progress":
            if not self._is_live and text == self._last[0] and now < self._last[1] + _INTERVAL:
                return
            self._last = (text, now)
        elif self._is_json:
            self.events.append({"event": event.name, **event.known, "text": text})
        if event.name == "progress" and self._is_live:
            self._draw(event)
        else:
            self._terminal.line(text)

    def _draw(self, event: Event) -> None:
        """Draw a bar of the partitions that are done since the first progress."""
        remaining = sum(_number(event, name) for name in ("partitions", "waiting"))
        if self._task is None or remaining > self._task.total:
            self._progress = Progress(
                self._terminal.status, is_shown=True, clock=self._clock, patience=0.0
            )
            self._task = self._progress.add(Task(remaining, unit="partitions", note=event.text))
        self._task.note = event.text
        self._progress.advance(self._task, self._task.total - remaining - self._task.done)


def _number(event: Event, name: str) -> int:
    value = event.known.get(name)
    return value if isinstance(value, int) else 0
