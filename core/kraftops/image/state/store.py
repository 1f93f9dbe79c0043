"""The raw records of an image, read again by their addresses.

An address is the number of a batch and a position in its inflated bytes. Batches of files are read
again when they are asked for; batches of a stream, which can be read only once, stay in memory.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import NamedTuple, cast
from weakref import finalize

from kraftops.engine.fold_contract import POSITION_BITS
from kraftops.errors import SourceError
from kraftops.log.batch import (
    CRC_START,
    HEADER_SIZE,
    LOG_APPEND_TIME,
    LOG_OVERHEAD,
    Batch,
    inflated,
    is_valid,
    read_record,
)
from kraftops.log.codecs import MAX_INFLATED_METADATA_BYTES
from kraftops.log.log_file import LogFile

_POSITION_MASK = (1 << POSITION_BITS) - 1
_FILE_SHIFT = 48
_CACHE_BYTES = 16 << 20
_CRC_POSITION = 17


class LoggedRecord(NamedTuple):
    """A record and its position in the log; *timestamp* is in ms, *epoch* the leader's."""

    offset: int
    timestamp: int
    epoch: int
    key: bytes | None
    value: bytes | None


class InflatedBatch(NamedTuple):
    """The inflated records of a batch, from byte *start* of *data*, and fields of its header.

    *records* is the header's count. *append_time* is the time of all records where the batch has
    log append time.
    """

    data: bytes
    start: int
    records: int
    base_offset: int
    base_timestamp: int
    append_time: int | None
    epoch: int


class RecordStore:
    """Numbers batches, and finds records by their addresses.

    Its files stay open as long as the store exists.
    """

    def __init__(self) -> None:
        self._files: list[LogFile | None] = []
        finalize(self, _close, self._files)
        self._names: list[str] = []
        self._end_offsets: list[int | None] = []
        self._batches: array[int] = array("q")  # the file's number and the position in it
        self._crcs: array[int] = array("I")
        self._cache: dict[int, InflatedBatch] = {}
        self._cached_bytes = 0
        self._streamed: dict[int, Batch] = {}

    def add_source(self, name: str, file: LogFile | None, end_offset: int | None = None) -> int:
        """Return the number of a new source, read again through *file* if there is one.

        A snapshot has an *end_offset*; its records have no offsets of the log.
        """
        self._files.append(file)
        self._names.append(name)
        self._end_offsets.append(end_offset)
        return len(self._files) - 1

    def sources(self) -> range:
        """Return the numbers of all sources, in the order in which they were added."""
        return range(len(self._names))

    def source(self, number: int) -> tuple[str, int | None]:
        """Return the name of a source, and its end offset if it is a snapshot."""
        return self._names[number], self._end_offsets[number]

    def add(self, source: int, batch: Batch) -> int:
        """Return the address of the batch's first byte; record addresses add their positions."""
        number = len(self._batches)
        self._batches.append(source << _FILE_SHIFT | batch.position)
        self._crcs.append(int.from_bytes(batch.data[_CRC_POSITION:CRC_START]))
        if self._files[source] is None:
            self._streamed[number] = batch
        return number << POSITION_BITS

    def can_read_again(self, source: int) -> bool:
        """Tell whether a source is a file, and no stream."""
        return self._files[source] is not None

    def is_current(self, source: int) -> bool:
        """Tell whether a source's name still leads to the file that is open."""
        file = self._files[source]
        return file is None or file.is_current()

    def add_many(self, source: int, positions: Iterable[int], crcs: Iterable[int]) -> None:
        """Add batches that can be read again: their positions in the source and checksums."""
        place = source << _FILE_SHIFT
        self._batches.extend([place | position for position in positions])
        self._crcs.extend(iter(crcs))

    def forget(self) -> None:
        """Forget all batches; numbers begin at 0 again."""
        del self._batches[:], self._crcs[:]
        self._cache.clear()
        self._cached_bytes = 0
        self._streamed.clear()

    def numbers(self) -> range:
        """Return the numbers of all batches, in the order in which they were added."""
        return range(len(self._batches))

    def record(self, address: int) -> LoggedRecord:
        """Return the record at an address.

        Raises:
            SourceError: its file cannot be read any more, or has changed.
        """
        batch = self.batch(address >> POSITION_BITS)
        record, _ = read_record(
            batch.data, address & _POSITION_MASK, batch.base_offset, batch.base_timestamp
        )
        timestamp = record.timestamp if batch.append_time is None else batch.append_time
        return LoggedRecord(record.offset, timestamp, batch.epoch, record.key, record.value)

    def offset(self, address: int) -> int:
        """Return the offset of the record at an address, without copying it; errors as `record`."""
        batch = self.batch(address >> POSITION_BITS)
        view = cast("bytes", memoryview(batch.data))  # a slice of it copies nothing
        record, _ = read_record(
            view, address & _POSITION_MASK, batch.base_offset, batch.base_timestamp
        )
        return record.offset

    def batch(self, number: int) -> InflatedBatch:
        """Return the records of the batch of this number.

        Raises:
            SourceError: its file cannot be read any more, or has changed.
        """
        found = self._cache.get(number)
        if found is None:
            found = self._read(number)
            self._cached_bytes += len(found.data)
            while self._cache and self._cached_bytes > _CACHE_BYTES:
                oldest = self._cache.pop(next(iter(self._cache)))
                self._cached_bytes -= len(oldest.data)
            self._cache[number] = found
        return found

    def place(self, address: int) -> tuple[str, int, int | None]:
        """Return the source's name, the batch's position in it, and a snapshot's end offset."""
        source, position = self.source_of(address)
        return self._names[source], position, self._end_offsets[source]

    def source_of(self, address: int) -> tuple[int, int]:
        """Return the source's number, and the batch's position in it."""
        place = self._batches[address >> POSITION_BITS]
        return place >> _FILE_SHIFT, place & (1 << _FILE_SHIFT) - 1

    def _read(self, number: int) -> InflatedBatch:
        source, position = self.source_of(number << POSITION_BITS)
        file = self._files[source]
        if file is None:
            return inflated_batch(self._streamed[number])
        changed = SourceError(f"{file.path} has changed since it was read (position {position})")
        head = file.read_at(position, HEADER_SIZE)
        if len(head) < HEADER_SIZE:
            raise changed
        size = int.from_bytes(head[8:12]) + LOG_OVERHEAD
        data = head + file.read_at(position + HEADER_SIZE, size - HEADER_SIZE)
        again = Batch(position, size, data)
        crc = self._crcs[number]
        if again.header.crc != crc or not is_valid(again, crc):
            raise changed
        return inflated_batch(again)


def _close(files: list[LogFile | None]) -> None:
    """Close the files of a store that is gone."""
    for file in files:
        if file is not None:
            file.__exit__()


def inflated_batch(batch: Batch) -> InflatedBatch:
    """Return the records of a batch of magic 2.

    Raises:
        DecodeError: they cannot be inflated, or to more than `MAX_INFLATED_METADATA_BYTES`.
    """
    header = batch.header
    data, start = inflated(batch, header, MAX_INFLATED_METADATA_BYTES)
    append_time = header.max_timestamp if header.attributes & LOG_APPEND_TIME else None
    return InflatedBatch(
        data,
        start,
        header.record_count,
        header.base_offset,
        header.base_timestamp,
        append_time,
        header.leader_epoch,
    )
