"""Messages of magic 0 and 1, alone or as a compressed set in a wrapper (Kafka's `LegacyRecord`)."""

from collections.abc import Iterator
from struct import Struct
from typing import NamedTuple, cast
from zlib import crc32

from kraftops.errors import BatchLimitError, DecodeError, Underflow
from kraftops.log.batch import (
    CODEC_MASK,
    LARGE_PART,
    LOG_APPEND_TIME,
    LOG_OVERHEAD,
    Batch,
    Record,
    int64,
)
from kraftops.log.codecs import CODECS, decompress
from kraftops.memory import Meter

NO_TIMESTAMP = -1  # `RecordBatch.NO_TIMESTAMP`
_OVERHEAD = (14, 22)  # of a message by its magic: crc, magic, attributes, (timestamp), two lengths
_HEAD = Struct(">qiIbb")
_START = Struct(">qi").unpack_from  # offset, size
_FREE_MESSAGES = 16
"""Messages in a wrapper that are never too many, in addition to one for two of its bytes.

Producers reach one for three.
"""


class LegacyHeader(NamedTuple):
    """Header of a message or wrapper; a wrapper has the *offset* of its last message."""

    offset: int
    size: int
    crc: int
    magic: int
    attributes: int
    timestamp: int

    @property
    def codec(self) -> int:
        """The number of the codec; see `kraftops.log.codecs.CODECS`."""
        return self.attributes & CODEC_MASK

    @property
    def timestamp_type(self) -> str:
        """Kafka's name of the type of the timestamp (`TimestampType`)."""
        if self.magic == 0:
            return "NoTimestampType"
        return "LogAppendTime" if self.attributes & LOG_APPEND_TIME else "CreateTime"


class LegacyRecord(NamedTuple):
    """Message with its CRC-32, and the stored sizes of key and value.

    If the value is longer than the message, *overrun* has Java's text for it, and the record has no
    value.
    """

    record: Record
    crc: int
    is_valid: bool
    magic: int
    key_size: int
    value_size: int
    overrun: str


def header(batch: Batch) -> LegacyHeader:
    return _header(batch.data, 0)


def is_valid(batch: Batch) -> bool:
    """Tell whether the CRC-32 of a message or wrapper is right."""
    computed = crc32(batch.data[16 : batch.size]) if batch.crc is None else batch.crc
    return int.from_bytes(batch.data[12:16]) == computed


def records(batch: Batch, meter: Meter) -> Iterator[LegacyRecord]:
    """Return the messages of a batch: itself, or those inside a wrapper, which *meter* counts.

    Raises:
        DecodeError: a length is impossible, or Kafka does not read this kind of wrapper.
        BatchLimitError: it is larger than the budget allows, or inflates to more.
    """
    if len(batch.data) < batch.size:
        raise BatchLimitError(
            f"a batch of {batch.size} bytes is more than a quarter of --max-memory"
        )
    head = header(batch)
    outer, _ = _read(batch.data[: batch.size], 0)
    if not head.codec:
        yield outer
        return
    yield from _wrapped(head, outer, meter)


def _wrapped(head: LegacyHeader, outer: LegacyRecord, meter: Meter) -> Iterator[LegacyRecord]:
    """Yield the messages inside a wrapper."""
    if head.codec >= len(CODECS):
        raise DecodeError(f"unknown codec {head.codec}")
    if CODECS[head.codec] == "zstd":
        raise DecodeError(f"zstd in a batch of magic {head.magic}")
    if outer.record.value is None:
        raise DecodeError(outer.overrun or "a compressed set of messages without a value")
    buffer = decompress(head.codec, bytes(outer.record.value), meter, head.magic)
    # Kafka too reads all of them before it prints one.
    last = _last_offset(buffer, _FREE_MESSAGES + head.size // 2)
    first = 0
    if head.magic and head.offset:
        if head.offset < last:
            raise DecodeError(f"a wrapper with offset {head.offset} around a message with {last}")
        first = int64(head.offset - last)
    for position in _inner(buffer):
        if buffer[position + 17] & CODEC_MASK:
            raise DecodeError("a compressed set of messages inside another")
        yield _in_wrapper(_read(buffer, position)[0], first, head)


def _last_offset(buffer: bytes, most: int) -> int:
    """Return the offset of the last of at most so many messages of a set."""
    position = -1
    for number, position in enumerate(_inner(buffer)):  # noqa: B007 - the last one is used
        if number == most:
            raise BatchLimitError(
                f"a compressed set of more than {most} messages, too many to be read"
            )
    if position < 0:
        raise DecodeError("a compressed set of messages that holds none")
    offset: int = _START(buffer, position)[0]
    return offset


def _header(buffer: bytes, pos: int) -> LegacyHeader:
    offset, size, crc, magic, attributes = _HEAD.unpack_from(buffer, pos)
    timestamp = NO_TIMESTAMP
    if magic != 0:
        timestamp = int.from_bytes(buffer[pos + 18 : pos + 26], signed=True)
    return LegacyHeader(offset, size, crc, magic, attributes, timestamp)


def _read(buffer: bytes, pos: int) -> tuple[LegacyRecord, int]:
    """Return the message at *pos* and the position after it."""
    remaining = len(buffer) - pos - LOG_OVERHEAD
    if remaining < _OVERHEAD[0]:
        raise Underflow(f"a message where {remaining + LOG_OVERHEAD} bytes are left")
    head = _header(buffer, pos)
    if not _OVERHEAD[0] <= head.size <= remaining:
        raise DecodeError(f"a message of {head.size} bytes where {remaining} are left")
    end = pos + LOG_OVERHEAD + head.size
    field_at = pos + 26 if head.magic != 0 else pos + 18
    key_size, field_at = _read_size(buffer, field_at, end, "key")
    key = None if key_size < 0 else _part(buffer, field_at, field_at + key_size)
    value_size, field_at = _read_size(buffer, field_at + max(key_size, 0), end, "value")
    overrun = ""
    if value_size > end - field_at:
        overrun = f"newLimit > capacity: ({value_size} > {end - field_at})"
    value = None if value_size < 0 or overrun else _part(buffer, field_at, field_at + value_size)
    is_valid = head.crc == crc32(memoryview(buffer)[pos + 16 : end])
    record = Record(head.offset, head.timestamp, key, value)
    return LegacyRecord(record, head.crc, is_valid, head.magic, key_size, value_size, overrun), end


def _part(buffer: bytes, start: int, end: int) -> bytes:
    """Return bytes of a message; many are a view."""
    if end - start > LARGE_PART:
        return cast("bytes", memoryview(buffer)[start:end])
    return buffer[start:end]


def _read_size(buffer: bytes, pos: int, end: int, what: str) -> tuple[int, int]:
    if pos + 4 > end:
        raise Underflow(f"the length of a {what} where {max(end - pos, 0)} bytes are left")
    return int.from_bytes(buffer[pos : pos + 4], signed=True), pos + 4


def _inner(buffer: bytes) -> Iterator[int]:
    """Yield where the messages of a set begin; one cut short is the end."""
    pos, last = 0, len(buffer) - LOG_OVERHEAD
    while pos <= last:
        size: int = _START(buffer, pos)[1]
        if size < _OVERHEAD[0]:
            raise DecodeError(f"a message of {size} bytes inside a compressed set")
        if size > last - pos:
            return
        yield pos
        pos += LOG_OVERHEAD + size


def _in_wrapper(message: LegacyRecord, first: int, wrapper: LegacyHeader) -> LegacyRecord:
    """Return a message of magic 1 with its absolute offset and, by the log's clock, its time."""
    (offset, timestamp, key, value, _), crc, is_valid, magic, key_size, value_size, overrun = (
        message
    )
    if wrapper.attributes & LOG_APPEND_TIME and wrapper.magic == magic == 1:
        timestamp = wrapper.timestamp
    record = Record(int64(first + offset), timestamp, key, value)
    return LegacyRecord(record, crc, is_valid, magic, key_size, value_size, overrun)
