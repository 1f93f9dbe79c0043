"""Record batches of magic 2: header and records, read and written (KIP-98).

Layout from Kafka's `DefaultRecordBatch` and `DefaultRecord`. Byte 16 is the magic in all versions,
so that `Batch` also carries batches of magic 0 and 1, which `kraftops.log.legacy` reads.
"""

from collections.abc import Iterable, Iterator
from struct import Struct
from typing import NamedTuple

from google_crc32c import value as crc32c

from kraftops.errors import BatchLimitError, DecodeError, Underflow
from kraftops.log.codecs import CODECS, decompress
from kraftops.memory import LEAST, Meter
from kraftops.varint import read_uvarint, read_varint, read_varlong, varint_bytes

LOG_OVERHEAD = 12  # the base offset and the length, which are not counted in the length
HEADER_SIZE = 61  # `DefaultRecordBatch.RECORD_BATCH_OVERHEAD`
SMALLEST_LENGTH = 14  # of a message of magic 0; Kafka calls smaller lengths corrupt
CRC_START = 21  # the attributes: base offset, length, epoch, magic and CRC are not in the CRC
LARGE_PART = 1 << 18  # bytes of a key or value that is not copied out of its batch
MOST_HEADERS = 1 << 16  # of a record: a few bytes can promise millions
FREE_RECORDS, RECORDS_PER_BYTE = 64, 8
"""Records in a compressed batch that are never too many, and those for each of its bytes.

Producers reach three for a byte; identical records could be a thousand. A control batch of Kafka
has few records, and half of one for each byte here. The same in the crate.
"""

# Bits of the attributes (`DefaultRecordBatch`).
CODEC_MASK = 0x07
LOG_APPEND_TIME = 0x08
TRANSACTIONAL = 0x10
CONTROL = 0x20
DELETE_HORIZON = 0x40  # KAFKA-8522: the base timestamp is the time to remove tombstones

HEADER = Struct(">qiibIhiqqqhii")

_LEAST, _MOST = -0x8000000000000000, 0x7FFFFFFFFFFFFFFF


_new = tuple.__new__  # of a named tuple: half the time of its own constructor


class Header(NamedTuple):
    """The header of a batch of magic 2, field by field."""

    base_offset: int
    length: int
    leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    record_count: int

    @property
    def last_offset(self) -> int:
        """The offset of the last record, kept by compaction even where that record is gone."""
        return self.base_offset + self.last_offset_delta

    @property
    def codec(self) -> int:
        """The number of the codec; see `kraftops.log.codecs.CODECS`."""
        return self.attributes & CODEC_MASK

    @property
    def is_control(self) -> bool:
        return bool(self.attributes & CONTROL)


class Batch(NamedTuple):
    """Batch as it lies in a source.

    *data* has `size` bytes. It has more if the stated size is less than a header, and only the
    header if the batch is larger than the reader holds in memory; *crc* is then its computed
    checksum.
    """

    position: int
    size: int
    data: bytes
    crc: int | None = None

    @property
    def is_legacy(self) -> bool:
        """Whether the magic is 0 or 1, or, as a signed byte, less."""
        return not 1 < self.data[16] < 128

    @property
    def header(self) -> Header:
        """The header of a batch of magic 2.

        Raises:
            Underflow: the source ends inside it.
        """
        if len(self.data) < HEADER_SIZE:
            raise Underflow(f"a batch header where {len(self.data)} bytes are left")
        return _new(Header, HEADER.unpack_from(self.data))


class Record(NamedTuple):
    """A record of any magic; *headers* are (key, value) pairs of bytes."""

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[bytes, bytes | None], ...] = ()


def is_valid(batch: Batch, crc: int) -> bool:
    """Tell whether a batch of magic 2 is whole and *crc*, from its header, is its CRC-32C."""
    _, size, data, computed = batch
    if size < HEADER_SIZE:
        return False
    return crc == (crc32c(data[CRC_START:]) if computed is None else computed)


def most_records(batch: Batch, header: Header) -> int | None:
    """Return how many records are read of a batch that counts too many for its size; else None."""
    most = batch.size // 2 if header.is_control else RECORDS_PER_BYTE * batch.size
    most += FREE_RECORDS
    return most if header.codec and header.record_count > most else None


def inflated(batch: Batch, header: Header, meter: Meter) -> tuple[bytes, int]:
    """Return bytes with the records of a batch of magic 2, and the index of the first record.

    Raises:
        DecodeError: the codec is unknown, or the compressed bytes are damaged.
        BatchLimitError: it counts too many records for its size, or has more bytes than its source,
            which *meter* counts, may have.
    """
    if (most := most_records(batch, header)) is not None:
        raise BatchLimitError(
            f"{header.record_count} records in a compressed batch of {batch.size} bytes, more than"
            f" the {most} that are read of one"
        )
    return inflated_anyway(batch, header, meter)


def inflated_anyway(batch: Batch, header: Header, meter: Meter) -> tuple[bytes, int]:
    """Inflate like `inflated`, but however many records the batch counts."""
    _, size, data, _ = batch
    if len(data) < size:
        raise BatchLimitError(f"a batch of {size} bytes is more than a quarter of --max-memory")
    if size < HEADER_SIZE:
        raise Underflow(f"a batch of {size} bytes is smaller than its header")
    codec = header.attributes & CODEC_MASK
    if not codec:
        return data, HEADER_SIZE
    if codec >= len(CODECS):
        raise DecodeError(f"unknown codec {codec}")
    return decompress(codec, data[HEADER_SIZE:], meter), 0


def read_record(
    buffer: bytes,
    pos: int,
    base_offset: int,
    base_timestamp: int,
    *,
    skips_headers: bool = False,
) -> tuple[Record, int]:
    """Return the record at *pos* and the position after it.

    Most lengths and deltas take one byte, and are read here without a call. *skips_headers* takes
    the record's length for granted.

    Raises:
        DecodeError: its length, or a length inside it, is impossible.
    """
    last = len(buffer) - 1
    number = buffer[pos] if pos <= last else 128  # a longer read reports that there are no bytes
    if number < 128:
        size, start = number >> 1 ^ -(number & 1), pos + 1
    else:
        size, start = read_varint(buffer, pos)
    if size > last + 1 - start:
        raise Underflow(f"a record of {size} bytes where {last + 1 - start} are left")
    pos = start + 1  # after the attributes, which are unused
    number = buffer[pos] if pos <= last else 128
    if number < 128:
        timestamp, pos = base_timestamp + (number >> 1 ^ -(number & 1)), pos + 1
    else:
        delta, pos = read_varlong(buffer, pos)
        timestamp = base_timestamp + delta
    number = buffer[pos] if pos <= last else 128
    if number < 128:
        offset, pos = base_offset + (number >> 1 ^ -(number & 1)), pos + 1
    else:
        delta, pos = read_varint(buffer, pos)
        offset = base_offset + delta
    if pos <= last and buffer[pos] == 1:  # no key
        key, pos = None, pos + 1
    else:
        key, pos = _read_bytes(buffer, pos, "key")
    value, pos = _read_bytes(buffer, pos, "value")
    has_no_headers = pos <= last and buffer[pos] == 0
    end = start + size if skips_headers else None
    headers, pos = ((), pos + 1) if has_no_headers else _read_headers(buffer, pos, end)
    if pos - start != size:
        raise DecodeError(f"a record of {size} bytes whose fields take {pos - start}")
    if not (_LEAST <= offset <= _MOST and _LEAST <= timestamp <= _MOST):
        offset, timestamp = int64(offset), int64(timestamp)
    return _new(Record, (offset, timestamp, key, value, headers)), pos


def read_record_head(
    buffer: bytes, pos: int, base_offset: int, base_timestamp: int
) -> tuple[int, int]:
    """Return offset and timestamp of the record at *pos*, and read no more of it.

    Raises:
        DecodeError: a number in it is impossible.
    """
    _, pos = read_uvarint(buffer, pos)
    timestamp, pos = read_varlong(buffer, pos + 1)  # after the attributes, which are unused
    offset, _ = read_varint(buffer, pos)
    return int64(base_offset + offset), int64(base_timestamp + timestamp)


def int64(value: int) -> int:
    """Return *value* as a Java long, which wraps around."""
    if _LEAST <= value <= _MOST:
        return value
    return (value + 0x8000000000000000) % 0x10000000000000000 - 0x8000000000000000


def _read_bytes(buffer: bytes, pos: int, what: str) -> tuple[bytes | None, int]:
    number = buffer[pos] if pos < len(buffer) else 128
    if number < 128:
        size, pos = number >> 1 ^ -(number & 1), pos + 1
    else:
        size, pos = read_varint(buffer, pos)
    if size < 0:
        return None, pos
    end = pos + size
    if end > len(buffer):
        raise Underflow(f"a {what} of {size} bytes where {len(buffer) - pos} are left")
    return buffer[pos:end], end


def _read_headers(
    buffer: bytes, pos: int, end: int | None
) -> tuple[tuple[tuple[bytes, bytes | None], ...], int]:
    """Return headers and the position after them; none are read where *end* has it already."""
    if end is not None:
        return (), end
    count, pos = read_varint(buffer, pos)
    if not 0 <= count <= len(buffer) - pos:
        raise DecodeError(f"{count} headers where {len(buffer) - pos} bytes are left")
    if count > MOST_HEADERS:
        raise DecodeError(f"{count} headers, more than the {MOST_HEADERS} that are read")
    headers = []
    for _ in range(count):
        key, pos = _read_bytes(buffer, pos, "header key")
        if key is None:
            raise DecodeError("a header without a key")
        value, pos = _read_bytes(buffer, pos, "header value")
        headers.append((key, value))
    return tuple(headers), pos


def records(batch: Batch, meter: Meter | None = None) -> Iterator[Record]:
    """Yield the records of a batch of magic 2; *meter* counts its source, if that has others.

    Raises:
        DecodeError: the batch does not hold exactly the records that it counts.
        BatchLimitError: it inflates beyond the budget.
    """
    header = batch.header
    buffer, pos = inflated(batch, header, meter or LEAST.meter())
    for _ in range(header.record_count):
        record, pos = read_record(buffer, pos, header.base_offset, header.base_timestamp)
        if header.attributes & LOG_APPEND_TIME:
            record = record._replace(timestamp=header.max_timestamp)
        yield record
    if header.record_count and pos != len(buffer):
        raise DecodeError(f"{len(buffer) - pos} bytes are left after {header.record_count} records")


def record_bytes(record: Record, base_offset: int, base_timestamp: int) -> bytes:
    parts = [
        b"\0",
        varint_bytes(record.timestamp - base_timestamp),
        varint_bytes(record.offset - base_offset),
    ]
    for part in (record.key, record.value):
        parts += [b"\x01"] if part is None else [varint_bytes(len(part)), part]
    parts.append(varint_bytes(len(record.headers)))
    for key, value in record.headers:
        parts += [varint_bytes(len(key)), key]
        parts += [b"\x01"] if value is None else [varint_bytes(len(value)), value]
    body = b"".join(parts)
    return varint_bytes(len(body)) + body


def batch_bytes(  # noqa: PLR0913 - the fields of a batch header, by name
    records: Iterable[Record],
    *,
    attributes: int = 0,
    leader_epoch: int = 0,
    producer_id: int = -1,
    producer_epoch: int = -1,
    base_sequence: int = -1,
) -> bytes:
    """Encode a batch of magic 2 with *records*, at least one, in the order of their offsets.

    The base timestamp is the timestamp of the first record.
    """
    records = list(records)
    first = records[0]
    body = b"".join(record_bytes(record, first.offset, first.timestamp) for record in records)
    checked = Struct(">hiqqqhii").pack(
        attributes,
        records[-1].offset - first.offset,
        first.timestamp,
        max(record.timestamp for record in records),
        producer_id,
        producer_epoch,
        base_sequence,
        len(records),
    )
    checked += body
    head = Struct(">qiibI").pack(first.offset, len(checked) + 9, leader_epoch, 2, crc32c(checked))
    return head + checked
