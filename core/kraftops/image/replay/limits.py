"""Limits of a replay, and the records of a batch that are within them."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from kraftops.errors import DecodeError
from kraftops.image.state.store import InflatedBatch
from kraftops.log.batch import read_record

_OLDEST = -(1 << 63)
_KEPT_BYTES = 1 << 20
"""The largest batch whose records' places are kept: a history reads batches several times, and
lists of places take more memory than the records of a small batch."""


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
    first, last, newest, begin = 0, -1, _OLDEST, batch.start
    number = 0
    for offset, stamp, end in _places(batch):
        time = stamp if batch.append_time is None else batch.append_time
        if offset > limits.until or time > limits.time:
            return RecordSpan(
                first=first, stop=number, position=begin, last_offset=last, time=newest
            ), True
        number += 1
        if offset <= limits.after:
            first, begin = number, end
        last, newest = offset, max(newest, time)
    return RecordSpan(
        first=first, stop=number, position=begin, last_offset=last, time=newest
    ), False


def _places(batch: InflatedBatch) -> Iterator[tuple[int, int, int]]:
    """Yield offset, time and end of each record of a batch.

    Raises:
        DecodeError: the batch does not hold the records that it counts.
    """
    if len(batch.data) > _KEPT_BYTES:
        yield from _read_places(batch)
        return
    places, error = _kept_places(batch)
    yield from zip(*places, strict=True)
    if error is not None:
        raise DecodeError(error)


@lru_cache(maxsize=4)
def _kept_places(batch: InflatedBatch) -> tuple[tuple[array[int], ...], str | None]:
    """Return offset, time and end of records, and the error after them; a history repeats it."""
    places = array("q"), array("q"), array("q")
    try:
        for place in _read_places(batch):
            for numbers, number in zip(places, place, strict=True):
                numbers.append(number)
    except DecodeError as error:
        return places, error.message
    return places, None


def _read_places(batch: InflatedBatch) -> Iterator[tuple[int, int, int]]:
    end = batch.start
    for _ in range(batch.records):
        record, end = read_record(batch.data, end, batch.base_offset, batch.base_timestamp)
        yield record.offset, record.timestamp, end


def readable_span(batch: InflatedBatch, span: RecordSpan) -> RecordSpan:
    """Cut a span before its first malformed record."""
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
