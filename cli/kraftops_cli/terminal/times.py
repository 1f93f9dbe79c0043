"""Times in options, told on standard error where they depend on a clock or the end of a log."""

from collections.abc import Callable

from kraftops.display.times import iso_time
from kraftops.query.times import needs_end, parse_time, span_end, time_note
from kraftops_cli.terminal.streams import Terminal

TIMES = (
    "ISO 8601 (UTC); by the end of the log 14:02, on its last day, or -2h, two hours before it; by "
    "the clock of this host 2h, two hours ago, yesterday, or 'yesterday 14:02' (UTC)"
)
"""What is a time, for the help of options."""


def read_span(
    since: str | None,
    until: str | None,
    now: int,
    end: Callable[[], int | None],
    terminal: Terminal,
) -> tuple[int | None, int | None]:
    """Return the times of `--since` and `--until` in ms; the rest is as of `read_time`."""
    first = None if since is None else read_time(since, now, end, terminal)
    if until is None:
        return first, None
    return first, read_time(until, now, lambda: span_end(until, first, end()), terminal)


def note_earlier_end(since: int | None, end: Callable[[], int | None], terminal: Terminal) -> None:
    """Say of a log that ends before *since*, in ms, that it does: nothing is in the span."""
    last = None if since is None else end()
    if since is not None and last is not None and last < since:
        terminal.error(
            f"note: the log ends at {iso_time(last)}, before {iso_time(since)} (--since)",
            hint="-1h is the last hour of the log",
        )


def read_time(text: str, now: int, end: Callable[[], int | None], terminal: Terminal) -> int:
    """Return a time in ms; arguments and errors as `kraftops.query.times.parse_time`."""
    last = end() if needs_end(text) else None
    time = parse_time(text, now, lambda: last)
    if note := time_note(text, time, last):
        terminal.error(f"note: {note}")
    return time
