"""The next step of a stream: how far each log is read, within a number of bytes."""

from __future__ import annotations

from collections.abc import Mapping

from kraftops.spark.stream.ends import limited_mark
from kraftops.spark.stream.logs import StreamLog
from kraftops.spark.stream.marks import Mark, Marks
from kraftops.spark.stream.places import Loss, place_of, read_on


def next_marks(
    logs: Mapping[str, StreamLog], start: Marks, ends: Mapping[str, Mark], most: int | None
) -> Marks:
    """Return the marks up to which the next batch reads.

    Logs share *most* bytes by what is left of each, and each reads at least one batch. A log that
    is gone is left out; one that has become shorter gets its end, which tells of the loss.

    Raises:
        SourceError: a segment cannot be read.
    """
    found: Marks = {}
    behind: dict[str, int] = {}
    for name, log in logs.items():
        first, end = start.get(name), ends.get(name)
        if end is None or (first is not None and not first.is_before(end)):
            kept = first if first is None or end is None else _kept(log, first, end)
            found |= {} if kept is None else {name: kept}
            continue
        if first is not None and first.is_unread_snapshot and end.offset < first.offset:
            found[name] = limited_mark(log, first, end, 0)  # it is newer than the ends
            continue
        found[name] = end
        behind[name] = _bytes_left(log, first or log.beginning)
    total = sum(behind.values())
    if most is None or total <= most:
        return found
    for name, size in behind.items():
        first = start.get(name) or logs[name].beginning
        found[name] = limited_mark(logs[name], first, found[name], most * size // total)
    return found


def _kept(log: StreamLog, first: Mark, end: Mark) -> Mark:
    """Return the mark of a log that has nothing new: its end, if that tells of a loss."""
    if first == end or not isinstance(place_of(log, first), Loss):
        return first
    return end


def _bytes_left(log: StreamLog, mark: Mark) -> int:
    place = read_on(log, mark)
    return max(1, sum(file.size for file in place.files) - place.position)
