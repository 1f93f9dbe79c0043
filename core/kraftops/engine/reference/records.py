"""The records of a batch, one by one."""

from collections.abc import Iterator
from typing import cast

from kraftops.errors import DecodeError
from kraftops.log import batch as v2
from kraftops.log.batch import Batch, Header, Record, read_record
from kraftops.memory import Meter
from kraftops.records.long_text import LONG
from kraftops.varint import read_varint

_FEW = 16
"""Records of a damaged batch that are never too many, whatever the ratio of their sizes says."""
_MOST_KNOWN = 4096
"""Records of up to 64 bytes that are known at a time: under 1 MiB, and enough for the few values
that logs of small records repeat. Beyond it, all are forgotten."""


def records(batch: Batch, header: Header, meter: Meter) -> Iterator[Record]:
    """Yield the records of a batch of magic 2 or later.

    They have their own timestamps, also in batches with the append time. Keys and values of more
    than 256 KiB are views of the inflated batch.

    Raises:
        DecodeError: the batch does not hold exactly the records that it counts, or counts too many
            for its size; the whole records before the error are yielded, but few of a batch with
            more than a record for four compressed bytes.
    """
    count = header.record_count
    if not count and batch.size >= v2.HEADER_SIZE:
        return
    buffer, pos = v2.inflated_anyway(batch, header, meter)
    if count < 0:
        raise DecodeError(f"the batch counts {count} records")
    few = _FEW + batch.size // 4
    if not header.codec or count <= few or _is_readable(batch, header, buffer):
        few = count
    number = 0
    try:
        for number in range(1, min(count, few) + 1):  # noqa: B007 - for the message
            record, pos = _read(buffer, pos, header)
            yield record
    except DecodeError as error:
        raise DecodeError(f"record {number} of {count}: {error.message}") from None
    if number < count:
        raise DecodeError(
            f"record {number + 1} of {count}: no more are read of {batch.size} compressed bytes,"
            " damaged or with too many records"
        )
    if pos != len(buffer):
        raise DecodeError(
            f"{len(buffer) - pos} bytes are left after the {count} records of the batch"
        )


def _is_readable(batch: Batch, header: Header, buffer: bytes) -> bool:
    """Tell whether an inflated batch holds exactly the records that it counts, and not too many.

    Records that are many for their compressed bytes are mostly equal: those are read once.
    """
    if v2.most_records(batch, header) is not None:
        return False
    records_read: set[bytes] = set()
    pos, size = 0, len(buffer)
    try:
        for _ in range(header.record_count):
            # The length of a short record takes one byte, and an even one is positive.
            end = pos + 1 + (buffer[pos] >> 1) if pos < size and not buffer[pos] & 0x81 else pos
            short = buffer[pos:end]
            if short in records_read:
                pos = end
                continue
            _, pos = _read(buffer, pos, header)
            if short:
                if len(records_read) == _MOST_KNOWN:
                    records_read.clear()
                records_read.add(short)
    except DecodeError:
        return False
    return pos == size


def sized_records(
    buffer: bytes, pos: int, header: Header, *, skips_headers: bool = False
) -> Iterator[tuple[Record, int]]:
    """Yield the records of an inflated batch from *pos* on, as `records`, each with its size.

    *skips_headers* is for records that were read before: 65,000 headers a record take seconds here.

    Raises:
        DecodeError: the bytes are not exactly the records that the batch counts.
    """
    for _ in range(header.record_count):
        record, end = _read(buffer, pos, header, skips_headers=skips_headers)
        yield record, end - pos
        pos = end
    if pos != len(buffer):
        raise DecodeError(f"{len(buffer) - pos} bytes are left after {header.record_count} records")


def _read(
    buffer: bytes, pos: int, header: Header, *, skips_headers: bool = False
) -> tuple[Record, int]:
    base_offset, base_timestamp = header.base_offset, header.base_timestamp
    if len(buffer) > LONG and read_varint(buffer, pos)[0] > LONG:
        # A slice of a view copies nothing.
        view = cast("bytes", memoryview(buffer))
        record, pos = read_record(
            view, pos, base_offset, base_timestamp, skips_headers=skips_headers
        )
        return _with_short_bytes(record), pos
    return read_record(buffer, pos, base_offset, base_timestamp, skips_headers=skips_headers)


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
