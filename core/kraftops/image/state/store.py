"""The raw records of an image, read again by their addresses.

An address is the number of a batch and a position in its inflated bytes. Batches of files are read
again when they are asked for; batches of a stream, which can be read only once, stay in memory.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from copy import copy
from typing import NamedTuple
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
    read_record_head,
)
from kraftops.log.log_file import LogFile
from kraftops.memory import Budget, Meter

_POSITION_MASK = (1 << POSITION_BITS) - 1
_FILE_SHIFT = 48  # a place is the number of a file above a position in it
_CACHE_BYTES = 16 << 20  # of inflated batches: leaves of neighbours are read from the same ones
_CRC_POSITION = 17  # in a batch of magic 2: after base offset, length, epoch and magic


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


class _Batches:
    """The sources and batches that a store and its copies share; each knows a beginning of them.

    The files stay open as long as this object exists.
    """

    def __init__(self) -> None:
        self.files: list[LogFile | None] = []
        self.to_close: list[LogFile | None] = []
        finalize(self, _close, self.to_close)
        self.names: list[str] = []
        self.end_offsets: list[int | None] = []
        self.places: array[int] = array("q")  # the file's number and the position in it
        self.crcs: array[int] = array("I")
        self.cache: dict[int, InflatedBatch] = {}
        self.cached_bytes = 0
        self.streamed: dict[int, Batch] = {}
        self.origin: _Batches | None = None

    def beginning(self, sources: int, batches: int) -> _Batches:
        """Return a new store with the first *sources* and *batches* of this one."""
        prefix = _Batches()
        prefix.files += self.files[:sources]
        prefix.names = self.names[:sources]
        prefix.end_offsets = self.end_offsets[:sources]
        prefix.places, prefix.crcs = self.places[:batches], self.crcs[:batches]
        prefix.streamed = {key: batch for key, batch in self.streamed.items() if key < batches}
        prefix.origin = self  # it closes these files
        return prefix


class RecordStore:
    """Numbers batches, and finds records by their addresses.

    Its files stay open as long as the store, or a copy of it, exists.
    """

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self._all = _Batches()
        self._source_count = 0
        self._count = 0  # of batches

    def copy(self) -> RecordStore:
        """Return an independent store that begins with the same batches.

        Batches that are added to both, as by two readings of one log, are kept once.
        """
        return copy(self)

    def shares_batches(self, other: RecordStore) -> bool:
        """Tell whether addresses in both stores mean the same records."""
        return self._all is other._all

    def add_source(self, name: str, file: LogFile | None, end_offset: int | None = None) -> int:
        """Return the number of a new source, read again through *file* if there is one.

        A snapshot has an *end_offset*; its records have no offsets of the log.
        """
        kept, number = self._all, self._source_count
        is_kept = number < len(kept.names)
        if is_kept and (kept.names[number], kept.end_offsets[number]) != (name, end_offset):
            kept = self._all = kept.beginning(number, self._count)
            is_kept = False
        if is_kept and file is None:
            is_kept = kept.files[number] is None
        if not is_kept:
            kept.files.append(file)
            kept.to_close.append(file)
            kept.names.append(name)
            kept.end_offsets.append(end_offset)
        self._source_count += 1
        return number

    def sources(self) -> range:
        return range(self._source_count)

    def source(self, number: int) -> tuple[str, int | None]:
        """Return the name of a source, and its end offset if it is a snapshot."""
        return self._all.names[number], self._all.end_offsets[number]

    def add(self, source: int, batch: Batch, inflated: InflatedBatch) -> int:
        """Return the address of the batch's first byte; record addresses add their positions.

        *inflated* are its records: many are kept, since they would be inflated once more.
        """
        number = self._count
        crc = int.from_bytes(batch.data[_CRC_POSITION:CRC_START])
        self.add_many(source, [batch.position], [crc])
        if self._all.files[source] is None:
            self._all.streamed[number] = batch
        if len(inflated.data) > _CACHE_BYTES:
            self._keep(number, inflated)
        return number << POSITION_BITS

    def can_read_again(self, source: int) -> bool:
        """Tell whether a source is a file; a stream such as standard input is read once."""
        return self._all.files[source] is not None

    def holds(self, source: int, file: LogFile) -> bool:
        """Tell whether a source is read again through this very file object."""
        return self._all.files[source] is file

    def add_many(self, source: int, positions: Iterable[int], crcs: Iterable[int]) -> None:
        """Add batches that can be read again: their positions in the source and checksums."""
        first_byte = source << _FILE_SHIFT
        places = array("q", [first_byte | position for position in positions])
        checksums = array("I", crcs)
        kept, count = self._all, self._count
        shared = min(len(kept.places) - count, len(places))
        if shared and (
            kept.places[count : count + shared] != places[:shared]
            or kept.crcs[count : count + shared] != checksums[:shared]
        ):
            kept, shared = kept.beginning(self._source_count, count), 0
            self._all = kept
        kept.places.extend(places[shared:])
        kept.crcs.extend(checksums[shared:])
        self._count += len(places)

    def numbers(self) -> range:
        return range(self._count)

    def record(self, address: int) -> LoggedRecord:
        """Return the record at an address.

        Raises:
            SourceError: its file can no longer be read, or has changed.
        """
        batch = self.batch(address >> POSITION_BITS)
        record, _ = read_record(
            batch.data, address & _POSITION_MASK, batch.base_offset, batch.base_timestamp
        )
        timestamp = record.timestamp if batch.append_time is None else batch.append_time
        return LoggedRecord(record.offset, timestamp, batch.epoch, record.key, record.value)

    def head(self, address: int) -> tuple[int, int, int]:
        """Return offset, timestamp and epoch of the record at an address; errors as `record`."""
        batch = self.batch(address >> POSITION_BITS)
        offset, timestamp = read_record_head(
            batch.data, address & _POSITION_MASK, batch.base_offset, batch.base_timestamp
        )
        return offset, timestamp if batch.append_time is None else batch.append_time, batch.epoch

    def batch(self, number: int) -> InflatedBatch:
        """Return the records of the batch of this number.

        Raises:
            SourceError: its file can no longer be read, or has changed.
        """
        inflated = self._all.cache.get(number)
        if inflated is None:
            self.drop_large()
            inflated = self._read(number)
            self._keep(number, inflated)
        return inflated

    def _keep(self, number: int, inflated: InflatedBatch) -> None:
        kept = self._all
        if number in kept.cache:  # a copy of this store has read it
            return
        kept.cache[number] = inflated
        kept.cached_bytes += len(inflated.data)
        while len(kept.cache) > 1 and kept.cached_bytes > _CACHE_BYTES:
            oldest = kept.cache.pop(next(iter(kept.cache)))
            kept.cached_bytes -= len(oldest.data)

    def drop_large(self) -> None:
        """Free the batch that is kept inflated alone, before another one is inflated."""
        if self._all.cached_bytes > _CACHE_BYTES:
            self.drop_inflated()

    def drop_inflated(self) -> None:
        """Free the batches that are kept inflated, of all copies; they are read again if needed."""
        self._all.cache.clear()
        self._all.cached_bytes = 0

    def place(self, address: int) -> tuple[str, int, int | None]:
        """Return the source's name, the batch's position in it, and a snapshot's end offset."""
        source, position = self.source_of(address)
        return self._all.names[source], position, self._all.end_offsets[source]

    def source_of(self, address: int) -> tuple[int, int]:
        """Return the source's number, and the batch's position in it."""
        place = self._all.places[address >> POSITION_BITS]
        return place >> _FILE_SHIFT, place & (1 << _FILE_SHIFT) - 1

    def _read(self, number: int) -> InflatedBatch:
        source, position = self.source_of(number << POSITION_BITS)
        file = self._all.files[source]
        if file is None:
            return inflated_batch(self._all.streamed[number], self.budget.meter())
        changed = SourceError(f"{file.path} has changed since it was read (position {position})")
        head = file.read_at(position, HEADER_SIZE)
        if len(head) < HEADER_SIZE:
            raise changed
        size = int.from_bytes(head[8:12]) + LOG_OVERHEAD
        data = head + file.read_at(position + HEADER_SIZE, size - HEADER_SIZE)
        again = Batch(position, size, data)
        crc = self._all.crcs[number]
        if again.header.crc != crc or not is_valid(again, crc):
            raise changed
        return inflated_batch(again, self.budget.meter())


def _close(files: list[LogFile | None]) -> None:
    """Close the files of a store that is gone."""
    for file in files:
        if file is not None:
            file.__exit__()


def inflated_batch(batch: Batch, meter: Meter) -> InflatedBatch:
    """Return the records of a batch of magic 2.

    Raises:
        DecodeError: they cannot be inflated, or to more than the memory budget has for a batch.
    """
    header = batch.header
    data, start = inflated(batch, header, meter)
    append_time = header.max_timestamp if header.attributes & LOG_APPEND_TIME else None
    return InflatedBatch(
        data=data,
        start=start,
        records=header.record_count,
        base_offset=header.base_offset,
        base_timestamp=header.base_timestamp,
        append_time=append_time,
        epoch=header.leader_epoch,
    )
