"""Read a log, or a part of one, into a summary."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from typing import cast

from kraftops.dump.summary.amounts import Amount, framed_amounts
from kraftops.dump.summary.summary import Summary
from kraftops.errors import DecodeError
from kraftops.log import batch as v2
from kraftops.log import legacy
from kraftops.log.batch import Batch, Header, Record, read_record
from kraftops.log.codecs import CODECS
from kraftops.log.files import FileKind, file_name
from kraftops.log.log_file import LogFile
from kraftops.log.reader import EndReason
from kraftops.log.salvage import Gap, salvaged
from kraftops.log.streams import LogStream, open_log
from kraftops.query.query import Query
from kraftops.records.control import control_type_name
from kraftops.records.decoder import Decoder
from kraftops.records.decoders.framed import FramedDecoder
from kraftops.records.internal_topics import USER
from kraftops.records.meaning import IN_ROWS, LARGEST_DECODED, Label, size_error
from kraftops.varint import read_varint

_SMALLEST_RECORD = 7  # bytes: a length and six fields of one byte
_USER = Label(USER, None)
_UNREAD = Label("UNREAD", None)
_MARKERS = ("ABORT", "COMMIT")


def summarise(
    source: str | LogFile | LogStream,
    query: Query | None = None,
    *,
    start: int = 0,
    stop: int | None = None,
) -> Summary:
    """Return the summary of a log or snapshot, or of its bytes from *start* to *stop*.

    Damaged bytes are counted as damage and as nothing else.

    Args:
        source: a path, or an open log, which is not closed.
        query: decoder, dialect, and the limit of inflated bytes. With `salvage`, batches after
            damage are counted too; a stream is then copied to a temporary file.
        start: the position of the first batch.
        stop: the end, exclusive; None is the end of the file.

    Raises:
        SourceError: the source cannot be read.
        UsageError: there is no such dialect.
    """
    query = query or Query()
    summary = Summary(query.decoder or USER)
    with open_log(source) if isinstance(source, str) else nullcontext(source) as log:
        counter = _FileCounter(summary, log.path, query.record_decoder, query.max_inflated_bytes)
        if not query.salvage:
            _add_batches(counter, log, start, stop)
        elif isinstance(log, LogStream):
            with log.spooled() as spooled:
                _add_salvaged(counter, spooled, start, stop)
                if spooled.damage:
                    summary.add_damage(log.path, spooled.size, 0, spooled.damage)
        else:
            _add_salvaged(counter, log, start, stop)
    return summary


def _add_batches(
    counter: _FileCounter, log: LogFile | LogStream, start: int, stop: int | None
) -> None:
    """Count the batches of a log up to the first damage, and the bytes behind them."""
    batches = log.batches(start, stop)
    for batch in batches:
        counter.add(batch)
    end = batches.end
    assert end is not None
    counter.summary.add_file(log.path, end.position + end.left - start)
    if end.reason is EndReason.PADDING:
        counter.summary.padding += end.left
    elif end.reason is not EndReason.END:
        counter.summary.add_damage(log.path, end.position, end.left, end.detail or "no whole batch")


def _add_salvaged(counter: _FileCounter, log: LogFile, start: int, stop: int | None) -> None:
    """Count all whole batches of a log, and the bytes between them as damage."""
    stop = log.size if stop is None else min(stop, log.size)
    end = start
    for found in salvaged(log, start, stop):
        end = found.position + found.size
        if isinstance(found, Gap):
            counter.summary.add_damage(log.path, found.position, found.size, found.reason)
        else:
            counter.add(found)
    counter.summary.add_file(log.path, stop - start)
    counter.summary.padding += stop - end


class _FileCounter:
    """Counts the batches of one file in a summary."""

    def __init__(self, summary: Summary, path: str, decoder: Decoder, limit: int) -> None:
        self.summary = summary
        self._path = path
        self._limit = limit
        name = file_name(path)
        self._in_log = name is None or name.kind is not FileKind.CHECKPOINT
        self._decoder = decoder
        self._label = decoder.label_reader()

    def add(self, batch: Batch) -> None:
        """Count a batch."""
        try:
            if batch.is_legacy:
                self._add_legacy(batch)
            else:
                self._add(batch, batch.header)
        except DecodeError as error:
            self._damage(batch, error.message)
        except MemoryError:
            self._damage(batch, "the batch needs more memory than there is")

    def _damage(self, batch: Batch, reason: str) -> None:
        self.summary.add_damage(self._path, batch.position, batch.size, reason)

    def _add(self, batch: Batch, header: Header) -> None:
        summary = self.summary
        if not v2.is_valid(batch, header.crc):
            raise DecodeError("a wrong checksum")
        if header.codec >= len(CODECS):
            raise DecodeError(f"unknown codec {header.codec}")
        size, amounts = self._records(batch, header)
        if header.producer_id >= 0 and not header.is_control:
            summary.transactions.add_batch(header)
        summary.add_records(amounts)
        summary.add_batch(header, batch, size, in_log=self._in_log)

    def _records(self, batch: Batch, header: Header) -> tuple[int, dict[Label, Amount]]:
        """Return the inflated size of a batch's records, and their amounts by label."""
        count = header.record_count
        if len(batch.data) < batch.size and not header.is_control:  # too large to be held
            size = batch.size - v2.HEADER_SIZE
            return size, {_UNREAD: Amount(count, size)}
        buffer, pos = v2.inflated(batch, header, self._limit) if count else (b"", 0)
        size = len(buffer) - pos
        if not 0 <= count <= size // _SMALLEST_RECORD:
            raise DecodeError(f"{count} records in {size} bytes")
        if header.is_control:
            self._add_control(batch, header, buffer, pos)
            return size, {}
        if not count:
            return 0, {}
        if isinstance(self._decoder, FramedDecoder):
            amounts = framed_amounts(self._decoder, buffer, pos, count)
            if size > LARGEST_DECODED:
                self._check_sizes(batch, header, buffer, pos)
            return size, amounts
        if not self._decoder.has_types:
            return size, {_USER: Amount(count, size)}
        return size, self._decoded(batch, header.producer_id, list(_walk(buffer, pos, header)))

    def _add_control(self, batch: Batch, header: Header, buffer: bytes, pos: int) -> None:
        summary = self.summary
        view = cast("bytes", memoryview(buffer))  # a slice of it copies nothing
        for _ in _walk(view, pos, header):
            pass  # if one cannot be read, none of them counts
        for record, size in _walk(view, pos, header):
            name = control_type_name(record.key)
            summary.add_control(name, size)
            self._check_size(batch, record, size)
            if name in _MARKERS:
                is_commit = name == "COMMIT"
                summary.transactions.add_marker(header, is_commit=is_commit)
                summary.details.add_marker(header.producer_id, is_commit=is_commit)

    def _decoded(
        self, batch: Batch, producer_id: int, records: list[tuple[Record, int]]
    ) -> dict[Label, Amount]:
        """Add records to the details of the summary; return their amounts by label."""
        amounts: dict[Label, Amount] = {}
        for record, size in records:
            amounts.setdefault(self._label(record), Amount()).add(1, size)
            if not self._check_size(batch, record, size):
                continue
            try:
                self.summary.details.add_record(record, producer_id)
            except DecodeError as error:
                self._undecodable(batch, record, size, error.message)
        return amounts

    def _check_sizes(self, batch: Batch, header: Header, buffer: bytes, pos: int) -> None:
        """Count the records of a batch that are too large for their decoder."""
        view = cast("bytes", memoryview(buffer))  # a slice of it copies nothing
        for _ in range(header.record_count):
            size, start = read_varint(buffer, pos)
            end = start + size
            if size > LARGEST_DECODED:
                record, _ = read_record(view, pos, header.base_offset, header.base_timestamp)
                self._check_size(batch, record, end - pos)
            pos = end

    def _check_size(self, batch: Batch, record: Record, size: int) -> bool:
        """Return whether a record can be decoded; count it if it is too large."""
        error = size_error(record.key, record.value, IN_ROWS)
        if error is not None:
            self._undecodable(batch, record, size, error)
        return error is None

    def _undecodable(self, batch: Batch, record: Record, size: int, error: str) -> None:
        reason = f"offset {record.offset}: {error}"
        self.summary.add_undecodable(self._path, batch.position, size, reason)

    def _add_legacy(self, batch: Batch) -> None:
        if not legacy.is_valid(batch):
            raise DecodeError("a wrong checksum")
        head = legacy.header(batch)
        records = [
            (message.record, _legacy_size(message))
            for message in legacy.records(batch, self._limit)
        ]
        amounts = {_USER: Amount(len(records), sum(size for _, size in records))}
        if self._decoder.has_types:
            amounts = self._decoded(batch, -1, records)
        self.summary.add_records(amounts)
        offsets = [record.offset for record, _ in records]
        first_time = min(record.timestamp for record, _ in records)
        size = sum(size for _, size in records)
        self.summary.add_legacy(head, batch, offsets, first_time, size)


def _walk(buffer: bytes, pos: int, header: Header) -> Iterator[tuple[Record, int]]:
    """Yield the records of a batch and their sizes.

    Raises:
        DecodeError: it does not hold exactly as many records as its header says.
    """
    for _ in range(header.record_count):
        record, end = read_record(buffer, pos, header.base_offset, header.base_timestamp)
        yield record, end - pos
        pos = end
    if header.record_count and pos != len(buffer):
        raise DecodeError(f"{len(buffer) - pos} bytes are left after {header.record_count} records")


def _legacy_size(message: legacy.LegacyRecord) -> int:
    """Return the size of a message in bytes, with its offset and size fields."""
    overhead = v2.LOG_OVERHEAD + (22 if message.magic else 14)
    return overhead + max(message.key_size, 0) + max(message.value_size, 0)
