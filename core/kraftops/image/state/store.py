"""Where the raw records of an image lie, and how to read one of them again.

An address is the number of a batch and a position in its inflated bytes. Batches of files are read
again when they are asked for; those of sources that can be read only once are held.
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
from kraftops.log.reader import LogFile

_POSITION_MASK = (1 << POSITION_BITS) - 1
_FILE_SHIFT = 48
_KEPT_BYTES = 16 << 20
_CRC_AT = 17


class LoggedRecord(NamedTuple):
    """A record and where it is in the log; *timestamp* is in ms, *epoch* the leader's."""

    offset: int
    timestamp: int
    epoch: int
    key: bytes | None
    value: bytes | None


class Held(NamedTuple):
    """The inflated records of a batch, from byte *start* of *data*, and what its header says.

    There should be as many as *records* says. *append_time* is the time of all of them where the
    log's time counts.
    """

    data: bytes
    start: int
    records: int
    base_offset: int
    base_timestamp: int
    append_time: int | None
    epoch: int


class RecordStore:
    """Gives numbers to batches, and finds records by their addresses.

    Its files are open as long as it is there.
    """

    def __init__(self) -> None:
        self._files: list[LogFile | None] = []
        finalize(self, _close, self._files)
        self._names: list[str] = []
        self._shifts: list[int | None] = []
        self._batches: array[int] = array("q")  # the file's number and the position in it
        self._crcs: array[int] = array("I")
        self._kept: dict[int, Held] = {}
        self._kept_bytes = 0
        self._held: dict[int, Batch] = {}

    def add_source(self, name: str, file: LogFile | None, end_offset: int | None = None) -> int:
        """Return the number of a source, read again through *file* if there is one.

        *end_offset* is that of a snapshot, whose own records have no offsets of the log.
        """
        self._files.append(file)
        self._names.append(name)
        self._shifts.append(end_offset)
        return len(self._files) - 1

    def sources(self) -> range:
        """Return the numbers of all sources, in the order in which they were added."""
        return range(len(self._names))

    def source(self, number: int) -> tuple[str, int | None]:
        """Return the name of a source, and its end offset if it is a snapshot."""
        return self._names[number], self._shifts[number]

    def add(self, source: int, batch: Batch) -> int:
        """Return the address of the batch's first byte, to which positions are added."""
        number = len(self._batches)
        self._batches.append(source << _FILE_SHIFT | batch.position)
        self._crcs.append(int.from_bytes(batch.data[_CRC_AT:CRC_START]))
        if self._files[source] is None:
            self._held[number] = batch
        return number << POSITION_BITS

    def can_read_again(self, source: int) -> bool:
        """Tell whether the batches of a source need not be held."""
        return self._files[source] is not None

    def is_current(self, source: int) -> bool:
        """Tell whether a source's name still stands for the file that is open."""
        file = self._files[source]
        return file is None or file.is_current()

    def add_many(self, source: int, positions: Iterable[int], crcs: Iterable[int]) -> None:
        """Add batches that can be read again: their positions in the source and checksums."""
        place = source << _FILE_SHIFT
        self._batches.extend([place | position for position in positions])
        self._crcs.extend(iter(crcs))

    def forget(self) -> None:
        """Give up all batches; their numbers come again."""
        del self._batches[:], self._crcs[:]
        self._kept.clear()
        self._kept_bytes = 0
        self._held.clear()

    def numbers(self) -> range:
        """Return the numbers of all batches, in the order in which they were added."""
        return range(len(self._batches))

    def record(self, address: int) -> LoggedRecord:
        """Return the record at an address.

        Raises:
            SourceError: its file cannot be read any more, or has changed.
        """
        held = self.batch(address >> POSITION_BITS)
        record, _ = read_record(
            held.data, address & _POSITION_MASK, held.base_offset, held.base_timestamp
        )
        timestamp = record.timestamp if held.append_time is None else held.append_time
        return LoggedRecord(record.offset, timestamp, held.epoch, record.key, record.value)

    def offset(self, address: int) -> int:
        """Return the offset of the record at an address, be it long; errors as `record`."""
        held = self.batch(address >> POSITION_BITS)
        view = cast("bytes", memoryview(held.data))  # a slice of it copies nothing
        record, _ = read_record(
            view, address & _POSITION_MASK, held.base_offset, held.base_timestamp
        )
        return record.offset

    def batch(self, number: int) -> Held:
        """Return the records of the batch of this number.

        Raises:
            SourceError: its file cannot be read any more, or has changed.
        """
        found = self._kept.get(number)
        if found is None:
            found = self._read(number)
            self._kept_bytes += len(found.data)
            while self._kept and self._kept_bytes > _KEPT_BYTES:
                oldest = self._kept.pop(next(iter(self._kept)))
                self._kept_bytes -= len(oldest.data)
            self._kept[number] = found
        return found

    def place(self, address: int) -> tuple[str, int, int | None]:
        """Return the source's name, the batch's position in it, and a snapshot's end offset."""
        source, position = self.source_of(address)
        return self._names[source], position, self._shifts[source]

    def source_of(self, address: int) -> tuple[int, int]:
        """Return the source's number, and the batch's position in it."""
        place = self._batches[address >> POSITION_BITS]
        return place >> _FILE_SHIFT, place & (1 << _FILE_SHIFT) - 1

    def _read(self, number: int) -> Held:
        source, position = self.source_of(number << POSITION_BITS)
        file = self._files[source]
        if file is None:
            return held(self._held[number])
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
        return held(again)


def _close(files: list[LogFile | None]) -> None:
    """Close the files that nobody will read any more."""
    for file in files:
        if file is not None:
            file.__exit__()


def held(batch: Batch) -> Held:
    """Return the records of a batch of magic 2.

    Raises:
        DecodeError: they cannot be inflated, or to more than `MAX_INFLATED_METADATA_BYTES`.
    """
    header = batch.header
    data, start = inflated(batch, header, MAX_INFLATED_METADATA_BYTES)
    append_time = header.max_timestamp if header.attributes & LOG_APPEND_TIME else None
    return Held(
        data,
        start,
        header.record_count,
        header.base_offset,
        header.base_timestamp,
        append_time,
        header.leader_epoch,
    )
