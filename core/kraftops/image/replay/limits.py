"""Limits of a replay, and the records of a batch that are within them."""

from __future__ import annotations

from typing import NamedTuple

from kraftops.errors import DecodeError
from kraftops.image.state.store import InflatedBatch
from kraftops.log.batch import read_record

_OLDEST = -(1 << 63)


class Limits(NamedTuple):
    """The records that count: after offset *after*, up to *until*, and not newer than *time*."""

    after: int = -1
    until: int = 1 << 63
    time: int = 1 << 63


class RecordSpan(NamedTuple):
    """Records *first* up to *stop* of a batch, from byte *position* on.

    *last_offset* is the offset of the last of them, *time* the newest time in ms.
    """

    first: int
    stop: int
    position: int
    last_offset: int
    time: int


def span_within(batch: InflatedBatch, limits: Limits) -> tuple[RecordSpan, bool]:
    """Return the records of a batch that are within limits, and whether one is beyond them.

    Raises:
        DecodeError: the batch does not hold the records that it counts.
    """
    span = RecordSpan(0, 0, batch.start, -1, _OLDEST)
    end = batch.start
    for number in range(batch.records):
        record, after = read_record(batch.data, end, batch.base_offset, batch.base_timestamp)
        time = record.timestamp if batch.append_time is None else batch.append_time
        if record.offset > limits.until or time > limits.time:
            return span, True
        if record.offset <= limits.after:
            span = span._replace(first=number + 1, position=after)
        newest = max(span.time, time)
        span = span._replace(stop=number + 1, last_offset=record.offset, time=newest)
        end = after
    return span, False


def readable_span(batch: InflatedBatch, span: RecordSpan) -> RecordSpan:
    """Return the records of a span that come before the first malformed one."""
    whole = span._replace(stop=span.first, last_offset=-1, time=_OLDEST)
    end = span.position
    try:
        for number in range(span.first, span.stop):
            record, end = read_record(batch.data, end, batch.base_offset, batch.base_timestamp)
            time = record.timestamp if batch.append_time is None else batch.append_time
            newest = max(whole.time, time)
            whole = whole._replace(stop=number + 1, last_offset=record.offset, time=newest)
    except DecodeError:
        pass
    return whole
