"""The records of a batch, one by one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from kraftops.errors import DecodeError
from kraftops.log import batch as v2
from kraftops.log.batch import Batch, Header, Record, read_record
from kraftops.records.long_text import LONG
from kraftops.varint import read_varint


def records(batch: Batch, header: Header) -> Iterator[Record]:
    """Yield the records of a batch of magic 2 or later.

    They have their own timestamps, also in batches with the append time. Keys and values of more
    than 256 KiB are views of the inflated batch.

    Raises:
        DecodeError: the batch does not hold exactly the records that it counts; the whole records
            before the error are yielded.
    """
    count = header.record_count
    if not count and batch.size >= v2.HEADER_SIZE:
        return
    buffer, pos = v2.inflated(batch, header)
    if count < 0:
        raise DecodeError(f"the batch counts {count} records")
    number = 0
    try:
        for number in range(1, count + 1):  # noqa: B007 - for the message
            record, pos = _read(buffer, pos, header)
            yield record
    except DecodeError as error:
        raise DecodeError(f"record {number} of {count}: {error.message}") from None
    if pos != len(buffer):
        raise DecodeError(
            f"{len(buffer) - pos} bytes are left after the {count} records of the batch"
        )


def sized_records(buffer: bytes, pos: int, header: Header) -> Iterator[tuple[Record, int]]:
    """Yield the records of an inflated batch from *pos* on, as `records`, each with its size.

    Raises:
        DecodeError: the bytes are not exactly the records that the batch counts.
    """
    for _ in range(header.record_count):
        record, end = _read(buffer, pos, header)
        yield record, end - pos
        pos = end
    if pos != len(buffer):
        raise DecodeError(f"{len(buffer) - pos} bytes are left after {header.record_count} records")


def _read(buffer: bytes, pos: int, header: Header) -> tuple[Record, int]:
    """Return the record at *pos* and the position after it."""
    base_offset, base_timestamp = header.base_offset, header.base_timestamp
    if len(buffer) > LONG and read_varint(buffer, pos)[0] > LONG:
        # A slice of a view copies nothing.
        view = cast("bytes", memoryview(buffer))
        record, pos = read_record(view, pos, base_offset, base_timestamp)
        return _with_short_bytes(record), pos
    return read_record(buffer, pos, base_offset, base_timestamp)


def _with_short_bytes(record: Record) -> Record:
    """Return a record from a view with all parts as bytes but long keys and values."""

    def shortened(part: bytes | None) -> bytes | None:
        return part if part is None or len(part) > LONG else bytes(part)

    headers = tuple(
        (bytes(key), None if value is None else bytes(value)) for key, value in record.headers
    )
    return record._replace(
        key=shortened(record.key), value=shortened(record.value), headers=headers
    )
