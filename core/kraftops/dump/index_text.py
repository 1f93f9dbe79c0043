"""The text of Kafka's tool for indexes and producer snapshots."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator
from typing import Self

from kraftops.dump.report import Report, TimeProblem
from kraftops.engine.reference.batch_line import subtract_sequence
from kraftops.engine.reference.records import records
from kraftops.errors import DecodeError, SourceError, Underflow
from kraftops.log import batch as v2
from kraftops.log import legacy
from kraftops.log.batch import Batch
from kraftops.log.files import FileKind, FileName
from kraftops.log.indexes import OffsetIndex, TimeEntry, TimeIndex, TxnIndex
from kraftops.log.log_file import LogFile
from kraftops.log.producers import CrcMismatch, read_producers
from kraftops.query.query import Query


def index_lines(name: FileName, query: Query, report: Report) -> Iterator[str]:
    """Yield the lines of a file that is not a log.

    Raises:
        SourceError: it, or a file that it belongs to, cannot be read.
        UsageError: its name has no offset.
    """
    kinds = {
        FileKind.INDEX: _offset_index,
        FileKind.TIME_INDEX: _time_index,
        FileKind.TXN_INDEX: _txn_index,
        FileKind.PRODUCER_SNAPSHOT: _producers,
    }
    return kinds[name.kind](name, query, report)


def _offset_index(name: FileName, query: Query, report: Report) -> Iterator[str]:
    path, base_offset = name.path, name.base_offset
    with LogFile(name.sibling(FileKind.LOG)) as log, LogFile(path) as file:
        index = OffsetIndex(file, base_offset)
        if not len(index):
            yield f"{query.shown(path)} is empty.\n"
            return
        if query.index_sanity_check:
            yield from _checked_offset_index(path, index, query, report)
            return
        _check_end(path, index, query, report)
        is_unused = query.check and index.is_unused
        check = _OffsetCheck(log, path, query, report)
        previous = None
        for number, (offset, position) in enumerate(index):
            if number and offset == base_offset:
                return
            if query.check and previous is not None and offset <= previous:
                reason = f"offset {offset} is not beyond {previous}, that of the entry before"
                report.finding(path, number * index.layout.size, reason)
            previous = offset
            if not is_unused:
                check.entry(number, offset, position)
            if not query.verify_index_only:
                yield f"offset: {offset} position: {position}\n"


class _OffsetCheck:
    """Comparison of the entries of an offset index with their batches."""

    def __init__(self, log: LogFile, path: str, query: Query, report: Report) -> None:
        self._log, self._path = log, path
        self._query, self._report = query, report
        self._walk = _Walk(log, 0)

    def entry(self, number: int, offset: int, position: int) -> None:
        try:
            last = _last_offset_at(self._log, position, self._query.max_message_size)
            if last == offset or (self._query.check and self._covers(offset, position)):
                return
        except DecodeError as error:
            self._report.failure(self._path, number * 8, f"offset {offset}: {error.message}")
        else:
            self._report.index_mismatch(self._path, offset, last)

    def _covers(self, offset: int, position: int) -> bool:
        """Tell whether an entry is for several batches from *position* on: the last ends there.

        Those were appended at once, by compaction or from a leader. Kafka's tool looks at the first
        one only.

        Raises:
            DecodeError: bytes before the last are not a batch.
        """
        batch = self._walk.first_reaching(offset, 0)
        return (
            batch is not None
            and _last_offset(batch) == offset
            and batch.position >= position
            and self._walk.passes(position)
        )


def _checked_offset_index(
    path: str, index: OffsetIndex, query: Query, report: Report
) -> Iterator[str]:
    """Check an offset index as a server does when it starts."""
    last, base_offset = index.last().offset, index.base_offset
    if last < base_offset:
        reason = f"the last offset {last} is below the base offset {base_offset}"
        report.failure(path, (len(index) - 1) * 8, reason)
    elif index.left_over:
        report.failure(path, len(index) * 8, f"{index.left_over} bytes are not an entry")
    else:
        yield f"{query.shown(path)} passed sanity check.\n"


def _time_index(name: FileName, query: Query, report: Report) -> Iterator[str]:
    path, base_offset = name.path, name.base_offset
    with LogFile(name.sibling(FileKind.LOG)) as log, LogFile(path) as file:
        index = TimeIndex(file, base_offset)
        if query.index_sanity_check:
            yield from _checked_time_index(path, index, query, report)
            return
        _check_end(path, index, query, report)
        is_unused = query.check and index.is_unused
        with _BatchSearch(log, name, query, report) as search:
            previous = -1  # what Kafka takes for no timestamp
            for number, entry in enumerate(index):
                if number and entry.offset == base_offset:
                    return
                try:
                    if not is_unused:
                        _check_time(path, entry, previous, search, is_strict=not query.check)
                except DecodeError as error:
                    report.failure(path, number * 12, f"offset {entry.offset}: {error.message}")
                if not query.verify_index_only:
                    yield f"timestamp: {entry.timestamp} offset: {entry.offset}\n"
                previous = entry.timestamp


def _check_end(
    path: str, index: OffsetIndex | TimeIndex | TxnIndex, query: Query, report: Report
) -> None:
    """With `--check`, report bytes after the last entry; Kafka's tool skips them."""
    if query.check and index.left_over:
        position = len(index) * index.layout.size
        report.finding(path, position, f"{index.left_over} bytes are not an entry")


def _checked_time_index(path: str, index: TimeIndex, query: Query, report: Report) -> Iterator[str]:
    """Check a time index as a server does when it starts."""
    end = len(index) * 12
    if len(index) and index.last().timestamp < index.first().timestamp:
        reason = f"the last timestamp {index.last().timestamp} is below the first"
        report.failure(path, end - 12, f"{reason}, {index.first().timestamp}")
    elif len(index) and index.last().offset < index.base_offset:
        reason = f"the last offset {index.last().offset} is below the base offset"
        report.failure(path, end - 12, f"{reason} {index.base_offset}")
    elif index.left_over:
        report.failure(path, end, f"{index.left_over} bytes are not an entry")
    else:
        yield f"{query.shown(path)} passed sanity check.\n"


def _check_time(
    path: str, entry: TimeEntry, previous: int, search: _BatchSearch, *, is_strict: bool
) -> None:
    """Compare an entry with the batch at its offset.

    *is_strict* is as Kafka's tool: no entry then fits a batch whose records were compacted away, or
    has the offset of a record, as brokers before 4.0 write it.

    Raises:
        DecodeError: this batch, or one before it, is damaged.
    """
    report = search.report
    batch = search.batch_with(entry.offset)
    if batch is None:
        report.time_problem(TimeProblem.NOT_FOUND, path, entry.offset, -1)
        return
    if is_strict or not _has_time(batch, entry):
        if (last := _last_offset(batch)) != entry.offset:
            report.time_problem(TimeProblem.NOT_FOUND, path, entry.offset, last)
            return
        if (largest := search.largest_timestamp(batch)) != entry.timestamp:
            report.time_problem(TimeProblem.MISMATCH, path, entry.timestamp, largest)
    if previous >= entry.timestamp:
        report.time_problem(TimeProblem.DISORDER, path, entry.timestamp, previous)


def _has_time(batch: Batch, entry: TimeEntry) -> bool:
    if batch.is_legacy:
        return False
    header = batch.header
    return header.base_offset <= entry.offset and header.max_timestamp == entry.timestamp


class _BatchSearch:
    """A search for batches of a log by offset, which begins at a position of its offset index."""

    def __init__(self, log: LogFile, name: FileName, query: Query, report: Report) -> None:
        self.report = report
        self._meter = query.budget.meter()
        self._log = log
        self._file: LogFile | None = None
        self._positions: OffsetIndex | None = None
        self._walk = _Walk(log, 0)
        self._largest = -1, legacy.NO_TIMESTAMP  # the last batch looked into, and what it gave
        path = name.sibling(FileKind.INDEX)
        try:
            self._file = LogFile(path)
        except SourceError as error:
            report.failure(name.path, 0, f"{error.message}; the log is searched from its start")
        else:
            self._positions = OffsetIndex(self._file, name.base_offset)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file:
            self._file.__exit__()

    def batch_with(self, offset: int) -> Batch | None:
        """Return the first batch that ends at *offset* or later: only its header.

        Raises:
            DecodeError: the log is damaged before it.
        """
        position = self._positions.position_below(offset) if self._positions else 0
        if not self._walk.passes(position):
            self._walk = _Walk(self._log, position)
        return self._walk.first_reaching(offset, position)

    def largest_timestamp(self, batch: Batch) -> int:
        """Return the largest timestamp of the records of a batch; *batch* has only its header.

        Raises:
            DecodeError: the batch is damaged, or inflates beyond the limit.
        """
        position, largest = self._largest
        if position != batch.position:
            size = min(batch.size, self._meter.budget.batch)
            whole = batch._replace(data=self._log.read_at(batch.position, size))
            if batch.is_legacy:
                times = (message.record.timestamp for message in legacy.records(whole, self._meter))
            else:
                header = whole.header
                is_appended = header.attributes & v2.LOG_APPEND_TIME
                times = (
                    header.max_timestamp if is_appended else record.timestamp
                    for record in records(whole, header, self._meter)
                )
            largest = max(times, default=legacy.NO_TIMESTAMP)
            self._largest = batch.position, largest
        return largest


class _Walk:
    """A walk over batches that remembers their positions: no bytes are read twice."""

    def __init__(self, log: LogFile, start: int) -> None:
        self._log = log
        self._positions = array("q", [start])
        self._highest = array("q")  # last offset of the batch at each position or of one before

    def passes(self, position: int) -> bool:
        """Tell whether a batch of the walk so far, or the next one, begins at *position*."""
        index = bisect_left(self._positions, position)
        return index < len(self._positions) and self._positions[index] == position

    def first_reaching(self, offset: int, position: int) -> Batch | None:
        """Return the first batch from *position* on that ends at *offset* or later.

        Raises:
            DecodeError: the log is damaged before it.
        """
        index = bisect_left(self._positions, position)
        if not index or self._highest[index - 1] < offset:
            index = bisect_left(self._highest, offset, index)
        while batch := _batch_at(self._log, self._positions[index], self._log.size):
            last = _last_offset(batch)
            if index == len(self._highest):
                self._highest.append(max(last, self._highest[-1]) if index else last)
                self._positions.append(batch.position + batch.size)
            if last >= offset:
                return batch
            index += 1
        return None


def _last_offset_at(log: LogFile, position: int, max_size: int) -> int:
    """Return the last offset of the batch at *position*.

    Raises:
        DecodeError: no whole batch of at most *max_size* bytes is there.
    """
    batch = _batch_at(log, position, max_size)
    if batch is None:
        raise DecodeError(f"no whole batch at position {position} of {log.path}")
    return _last_offset(batch)


def _batch_at(log: LogFile, position: int, max_size: int) -> Batch | None:
    """Return the batch at *position* if *max_size* bytes hold it: only its header.

    Raises:
        DecodeError: Kafka's tool fails there.
    """
    if position < 0 or position > log.size:
        raise DecodeError(f"position {position} lies outside of {log.path}, of {log.size} bytes")
    remaining = min(max_size, log.size - position)
    if remaining < 18:
        return None
    head = log.read_at(position, v2.HEADER_SIZE)
    if len(head) < min(v2.HEADER_SIZE, log.size - position):
        raise DecodeError(f"{log.path} lost bytes from position {position} on")
    length = int.from_bytes(head[8:12], signed=True)
    if length < v2.SMALLEST_LENGTH:
        raise DecodeError(f"a batch length of {length} at position {position} of {log.path}")
    size = v2.LOG_OVERHEAD + length
    return Batch(position, size, head) if size <= remaining else None


def _last_offset(batch: Batch) -> int:
    if batch.is_legacy:
        return legacy.header(batch).offset
    return v2.int64(batch.header.last_offset)


def _txn_index(name: FileName, query: Query, report: Report) -> Iterator[str]:
    # Its offsets are absolute, but Kafka opens none whose name has no base offset.
    with LogFile(name.path) as file:
        index = TxnIndex(file, name.base_offset)
        _check_end(name.path, index, query, report)
        for number, txn in enumerate(index):
            version = txn.version >> 8  # Kafka looks at one byte of two
            if version > 0:
                report.failure(
                    name.path, number * 34, f"an aborted transaction of version {version}"
                )
            yield (
                f"version: {version} producerId: {txn.producer_id} "
                f"firstOffset: {txn.first_offset} lastOffset: {txn.last_offset} "
                f"lastStableOffset: {txn.last_stable_offset}\n"
            )


def _producers(name: FileName, query: Query, report: Report) -> Iterator[str]:
    with LogFile(name.path) as file:
        if file.size > query.budget.batch:
            raise SourceError(
                f"{name.path}: {file.size} bytes are too many for a producer snapshot, more than a"
                " quarter of --max-memory"
            )
        data = file.read_at(0, file.size)
    try:
        producers = read_producers(data)
    except CrcMismatch as error:
        reason = f"Snapshot is corrupt (CRC is no longer valid). {error.message}"
        report.remark(reason, is_damage=True)
        return
    except DecodeError as error:
        cause = Underflow.cause if isinstance(error, Underflow) else error.message
        report.remark(f"Snapshot failed schema validation: {cause}", is_damage=True)
        return
    for producer in producers:
        first_txn = producer.first_txn_offset
        open_txn = f"[{first_txn}]" if first_txn >= 0 else ".empty"
        line = (
            f"producerId: {producer.producer_id} producerEpoch: {producer.producer_epoch} "
            f"coordinatorEpoch: {producer.coordinator_epoch} "
            f"currentTxnFirstOffset: OptionalLong{open_txn} lastTimestamp: {producer.timestamp}"
        )
        if producer.last_offset >= 0:
            first_sequence = subtract_sequence(producer.last_sequence, producer.offset_delta)
            line += (
                f" firstSequence: {first_sequence} lastSequence: {producer.last_sequence} "
                f"lastOffset: {producer.last_offset} offsetDelta: {producer.offset_delta} "
                f"timestamp: {producer.timestamp}"
            )
        yield line + "\n"
