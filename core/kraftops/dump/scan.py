"""Batches to rows: every record that is asked for, and what is damaged."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from kraftops.dump import meanings
from kraftops.dump.batchline import add_sequence
from kraftops.dump.checking import check_crc
from kraftops.dump.needles import holders, needles
from kraftops.dump.otherrecords import not_passed, odd_types
from kraftops.dump.query import Query
from kraftops.dump.report import Report
from kraftops.dump.rows import Row, RowHead, damage_row, file_text, record_row, row_head
from kraftops.dump.runs import PAUSE, UNFIT_RECORDS, FastRows, Run
from kraftops.errors import DecodeError
from kraftops.log import batch as v2
from kraftops.log.batch import Batch, Header, Record, read_record
from kraftops.log.codecs import CODECS
from kraftops.records.dialects import dialect

if TYPE_CHECKING:
    from kraftops.log.legacy import LegacyHeader, LegacyRecord


class RowMaker:
    """Makes the rows of one file's batches."""

    def __init__(
        self, path: str, query: Query, report: Report, fast: FastRows | None = None
    ) -> None:
        """Make rows of the file *path* as *query* asks for; what is damaged goes to *report*.

        What is plain, *fast* makes.
        """
        self._path = path
        self._file = file_text(path)
        self._report = report
        self._limit = query.max_inflated_bytes
        self._filter = query.filter
        self._is_all = query.filter.is_empty
        self._check = query.check
        self._mean = meanings.reader(query)
        self._fast = fast
        self._head: tuple[Batch | None, RowHead] = None, RowHead((), (), ())
        self._peek = _type_peek(query) if query.filter.types else None
        self._needles = needles(query)
        self._odd_types = b""
        if query.filter.types and query.decoder == "metadata" and query.dialect == "kafka":
            self._odd_types = odd_types(dialect(query.dialect), query.filter.types)

    def rows(self, batch: Batch) -> Iterator[Row]:
        """Yield the rows of a batch; what cannot be read is a row of damage."""
        try:
            if self._check:
                check_crc(self._path, batch, self._report)
            if batch.is_legacy:
                yield from self._legacy_rows(batch)
            else:
                header = batch.header
                if self._filter.may_match(header):
                    yield from self._rows(batch, header)
        except (DecodeError, MemoryError) as error:
            yield from self.damage(batch, reason_of(error))

    def _rows(self, batch: Batch, header: Header) -> Iterator[Row]:
        buffer, pos = self.buffer(batch, header)
        asked, fast = self._filter, None if self._needles else self._fast
        places = None
        if not fast or not asked.holds_for_all(header):
            places = self.places(header, buffer, pos)
        if places is not None:
            for done, at in places:
                row, _ = self.next_row(batch, header, buffer, at, done)
                if row:
                    yield row
            return
        found: list[Row] = []
        append, head = found.append, self._head_of(batch, header)
        # Nothing stands where a record's type is not asked for.
        is_asked = (lambda row: row and asked.fits_row(row)) if asked.needs_rows else None
        spread = self.spread(
            batch, header, buffer, pos, append, append, fast=fast, head=head, middle=""
        )
        try:
            for _ in spread:
                yield from filter(is_asked, found)
                found.clear()
        except (DecodeError, MemoryError):
            yield from filter(is_asked, found)
            raise
        yield from filter(is_asked, found)

    def spread(
        self,
        batch: Batch,
        header: Header,
        buffer: bytes,
        pos: int,
        append: Callable[[Any], None],
        add_row: Callable[[Row], None],
        *,
        fast: FastRows | None,
        head: object,
        middle: str,
    ) -> Iterator[None]:
        """Append what *fast* makes of records, and add the rows of others; pause now and then.

        Raises:
            DecodeError: a record cannot be read.
        """
        if not self._filter.holds_for_all(header):
            fast = None
        count, done, unfit = header.record_count, 0, 0
        while done < count:
            if fast:
                run = Run(buffer, pos, done, min(done + PAUSE, count), header)
                pos, made = fast.add(run, append, head, middle)
                if made > done:
                    done = made
                    if done < count:
                        yield
                    continue
            row, pos = self.next_row(batch, header, buffer, pos, done)
            if row:
                add_row(row)
            done += 1
            unfit += 1
            if unfit > UNFIT_RECORDS:
                fast = None
            if not done % PAUSE:
                yield
        check_end(header, buffer, pos)

    def places(self, header: Header, buffer: bytes, pos: int) -> Iterator[tuple[int, int]] | None:
        """Return number and position of the records worth a look, or None where all may be.

        What is left out was not looked at, be it damaged or not.
        """
        if self._needles:
            return holders(buffer, pos, header.record_count, self._needles)
        if self._odd_types and not header.is_control:
            return not_passed(buffer, pos, header.record_count, self._odd_types)
        return None

    def damage(self, batch: Batch, reason: str) -> Iterator[Row]:
        """Yield the row of a batch that cannot be read, or not further."""
        self._report.failure(self._path, batch.position, reason)
        base_offset = int.from_bytes(batch.data[:8], signed=True)
        at = f"position {batch.position}" if batch.position >= 0 else f"offset {base_offset}"
        row = damage_row(
            self._file, batch.position, base_offset, f"{at}, {batch.size} bytes: {reason}"
        )
        if self._filter.matches(row):
            yield row

    def buffer(self, batch: Batch, header: Header) -> tuple[bytes, int]:
        """Return the records of a batch, inflated, and where they begin.

        Raises:
            DecodeError: they cannot be had.
        """
        if not header.record_count and batch.size >= v2.HEADER_SIZE:
            return b"", 0
        if header.codec >= len(CODECS):
            raise DecodeError(f"unknown codec {header.codec}")
        if header.record_count < 0:
            raise DecodeError(f"the batch counts {header.record_count} records")
        return v2.inflated(batch, header, self._limit)

    def next_row(
        self, batch: Batch, header: Header, buffer: bytes, pos: int, done: int
    ) -> tuple[Row | None, int]:
        """Return the row of record number *done*, which begins at *pos*, and where it ends.

        There is no row where the record is not asked for.

        Raises:
            DecodeError: there is no such record.
        """
        record, pos = self.next_record(header, buffer, pos, done)
        return self.row(batch, header, record), pos

    def next_record(self, header: Header, buffer: bytes, pos: int, done: int) -> tuple[Record, int]:
        """Return record number *done*, which begins at *pos*, and where it ends.

        Raises:
            DecodeError: there is no such record.
        """
        try:
            return read_record(buffer, pos, header.base_offset, header.base_timestamp)
        except DecodeError as error:
            count = header.record_count
            raise DecodeError(f"record {done + 1} of {count}: {error.message}") from None

    def row(self, batch: Batch, header: Header, record: Record) -> Row | None:
        """Return the row of a record of magic 2, or None where it is not asked for."""
        is_control = header.is_control
        if not self._is_all:
            is_appended = header.attributes & v2.LOG_APPEND_TIME
            time = header.max_timestamp if is_appended else record.timestamp
            if not self._filter.fits_place(record.offset, time):
                return None
            if self._peek and not is_control and not self._filter.fits_type(self._peek(record)):
                return None
        sequence = header.base_sequence
        if sequence >= 0:
            sequence = add_sequence(sequence, record.offset - header.base_offset)
        meaning = meanings.control(record) if is_control else self._mean(record)
        row = record_row(self._head_of(batch, header), header, record, sequence, meaning)
        return self._asked(row, batch)

    def _head_of(self, batch: Batch, header: Header) -> RowHead:
        if self._head[0] is not batch:
            self._head = batch, row_head(self._file, batch.position, header)
        return self._head[1]

    def _asked(self, row: Row, batch: Batch) -> Row | None:
        if not self._is_all and not self._filter.matches(row):
            return None
        if self._check and row.error:
            self._report.finding(self._path, batch.position, row.error)
        return row

    def _legacy_rows(self, batch: Batch) -> Iterator[Row]:
        from kraftops.log import legacy

        head = legacy.header(batch)
        if head.magic < 0:
            raise DecodeError(f"magic {head.magic}")
        for message in legacy.records(batch, self._limit):
            row = self.legacy_row(batch, head, message)
            if row:
                yield row

    def legacy_row(self, batch: Batch, head: LegacyHeader, message: LegacyRecord) -> Row | None:
        """Return the row of a message of magic 0 or 1, or None where it is not asked for."""
        record = message.record
        found = self._mean(record)
        if message.overrun:
            found = found._replace(value=None, error=message.overrun)
        row = Row(
            self._file,
            batch.position,
            head.offset,
            record.offset,
            None if message.magic == 0 else record.timestamp,
            None if message.magic == 0 else head.timestamp_type,
            transactional=False,
            control=False,
            codec=CODECS[head.codec],
            key_size=None if record.key is None else len(record.key),
            value_size=None if record.value is None else len(record.value),
        )._replace(**found._asdict())
        return self._asked(row, batch)


def reason_of(error: DecodeError | MemoryError) -> str:
    """Return why a batch cannot be read."""
    if isinstance(error, DecodeError):
        return error.message
    return "the batch needs more memory than there is"


def check_end(header: Header, buffer: bytes, pos: int) -> None:
    """Look at where the records of a batch end.

    Raises:
        DecodeError: not with its bytes.
    """
    count = header.record_count
    if count and pos != len(buffer):
        raise DecodeError(
            f"{len(buffer) - pos} bytes are left after the {count} records of the batch"
        )


def _type_peek(query: Query) -> Callable[[Record], str | None] | None:
    """Return a function of a record to its type, read from as few bytes as can be."""
    if query.decoder in ("metadata", "remote"):
        from kraftops.records.dialects import type_name

        name = query.dialect if query.decoder == "metadata" else "remote-log-metadata"
        spoken = dialect(name)

        def framed(record: Record) -> str | None:
            try:
                message = spoken.messages.get(spoken.read_frame(record.value or b"").type)
            except DecodeError:
                return None
            return type_name(message) if message else None

        return framed
    if query.decoder in ("offsets", "transaction", "share"):
        from kraftops.records.coordinator import type_names

        known = type_names(query.decoder)

        def keyed(record: Record) -> str | None:
            return known.get(int.from_bytes((record.key or b"\xff\xff")[:2], signed=True))

        return keyed
    return None
