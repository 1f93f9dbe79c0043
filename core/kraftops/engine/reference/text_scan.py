"""The text of Kafka's tool for batches and records.

With a filter or salvage, the line of a batch is there only with a selected record; without records
in the text, headers decide which batches have a line.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

from kraftops.engine.reference.batch_line import (
    BOOL,
    UndecodableBatch,
    add_sequence,
    batch_line,
    legacy_batch_line,
)
from kraftops.engine.reference.output import Output
from kraftops.engine.reference.records import records
from kraftops.engine.reference.selection import RowBuilder, check_batch, crc_is_valid
from kraftops.engine.scan_contract import Request
from kraftops.errors import DecodeError
from kraftops.java.text import decode_utf8
from kraftops.log import batch as v2
from kraftops.log import legacy
from kraftops.log.batch import Batch, Header, Record
from kraftops.log.legacy import LegacyRecord
from kraftops.memory import Meter
from kraftops.records.control import control_text
from kraftops.records.decoder import refuse_large, whole_record
from kraftops.records.long_text import LongText


class TextScan:
    """The scan of a file that makes the text of Kafka's tool."""

    def __init__(self, request: Request, output: Output, meter: Meter) -> None:
        self._query = query = request.query
        self._out, self._meter = output, meter
        self._is_chosen = request.is_chosen
        self._texts_of = query.record_decoder.text_reader() if query.decoder is not None else None
        if request.is_chosen:
            self._rows = RowBuilder(request.path, replace(query, check=False, columns=None))
        self._notes_undecoded = query.check and query.record_decoder.has_types
        self.first_offset: int | None = None
        self.last_offset: int | None = None
        self._last_gap: tuple[int, int] | None = None

    def batch(self, batch: Batch) -> Iterator[None]:
        """Write a batch; pause when the call should end."""
        try:
            if batch.is_legacy:
                yield from self._legacy_batch(batch)
            else:
                yield from self._current_batch(batch, batch.header)
        except UndecodableBatch as error:
            if not self._is_chosen or self._query.filter.is_empty:
                self._batch_line(f"{error.partial} <undecodable: {error.message}>\n")
            self._out.failure(batch.position, error.message)
        except (DecodeError, MemoryError) as error:
            self._out.lost_batch(batch.position, error)

    def _current_batch(self, batch: Batch, header: Header) -> Iterator[None]:
        query = self._query
        if self._is_chosen and self._is_ruled_out(header):
            self._check(batch)
            return
        if self._is_left_out(batch):
            return
        if self._is_chosen:
            self._check(batch)
            yield from self._chosen_batch(batch, header)
            return
        self._batch_line(batch_line(batch, header))
        self._check(batch)
        if query.deep_iteration:
            yield from self._records(batch, header)
        elif query.check:
            self._check_records(batch, header)

    def _chosen_batch(self, batch: Batch, header: Header) -> Iterator[None]:
        query, is_all = self._query, self._query.filter.is_empty
        if query.deep_iteration:
            if is_all:
                self._batch_line(batch_line(batch, header))
            yield from self._chosen_records(batch, header, is_line_due=not is_all)
            return
        self._batch_line(batch_line(batch, header))
        if query.check:
            self._check_records(batch, header)

    def _is_ruled_out(self, header: Header) -> bool:
        query, selection = self._query, self._query.filter
        is_late = not query.deep_iteration and header.base_timestamp >= selection.until
        return is_late or not selection.may_match(header)

    def _is_left_out(self, batch: Batch) -> bool:
        """Tell whether a batch is left out for its checksum, and note it then."""
        if not self._query.skip_invalid or crc_is_valid(batch):
            return False
        check_batch(batch, self._query, self._out)
        return True

    def _check(self, batch: Batch) -> None:
        if self._query.check:
            check_batch(batch, self._query, self._out)

    def _batch_line(self, text: str) -> None:
        self._out.line(text, is_batch=self._query.deep_iteration)

    def _record_line(self, line: str | Iterator[str]) -> Iterator[None]:
        """Write the line of a record; pause when the call should end."""
        out = self._out
        if self._query.is_one_line:
            line = _on_one_line(line, self._query.shown)
        if isinstance(line, str):
            out.line(line)
        else:
            yield from out.long_line(line)
        if out.is_full:
            yield

    def _records(self, batch: Batch, header: Header) -> Iterator[None]:
        due = None if self.last_offset is None else self.last_offset + 1
        self._last_gap = None
        for record in records(batch, header, self._meter):
            offset = record[0]
            if offset != due:
                self._note_gap(offset)
            self.last_offset = offset
            due = offset + 1
            line = self._line(record, self._metadata(record, header), batch.position, header)
            yield from self._record_line(line)

    def _chosen_records(self, batch: Batch, header: Header, *, is_line_due: bool) -> Iterator[None]:
        for record in records(batch, header, self._meter):
            if not self._rows.matches(batch, header, record):
                continue
            if is_line_due:
                self._batch_line(batch_line(batch, header))
                is_line_due = False
            line = self._line(record, self._metadata(record, header), batch.position, header)
            yield from self._record_line(line)

    def _note_gap(self, offset: int) -> None:
        """Note the first offset, or a gap before this one."""
        if self.last_offset is None:
            self.first_offset = offset
        elif offset != v2.int64(self.last_offset + 1):
            gap = self.last_offset, offset
            if gap != self._last_gap:  # a batch can have millions of records with one offset
                self._last_gap = gap
                self._out.gaps.extend(gap)

    def _metadata(self, record: Record, header: Header) -> str:
        """Return the part of a record's line before its key, for magic 2 or later."""
        if self._query.skip_record_metadata:
            return ""
        offset, timestamp, key, value, headers = record
        time_type, sequence = "CreateTime", header.base_sequence
        if header.attributes & v2.LOG_APPEND_TIME:
            time_type, timestamp = "LogAppendTime", header.max_timestamp
        sequence = add_sequence(sequence, offset - header.base_offset) if sequence >= 0 else -1
        keys = ",".join([decode_utf8(name) for name, _ in headers]) if headers else ""
        return (
            f"| offset: {offset} {time_type}: {timestamp} keySize: "
            f"{-1 if key is None else len(key)} valueSize: {-1 if value is None else len(value)} "
            f"sequence: {sequence} headerKeys: [{keys}]"
        )

    def _line(
        self, record: Record, text: str, position: int, header: Header | None, overrun: str = ""
    ) -> str | Iterator[str]:
        """Return the line of a record that begins with *text*, in pieces if it is long."""
        lead = " " if text else "| "
        try:
            if header and header.attributes & v2.CONTROL:
                return f"{text} {_control_text(record)}\n" if text else "\n"
            if self._texts_of is None:
                return f"{text}\n"
            key, value = self._texts_of(record, overrun)
        except DecodeError as error:
            self._out.failure(position, f"offset {record.offset}: {error.message}")
            return f"{text} <undecodable: {error.message}>\n"
        if self._notes_undecoded:
            self._note_undecoded(record.offset, position, key, value)
        if isinstance(key, LongText) or isinstance(value, LongText):
            return _pieces(text, lead, key, value)
        if key is not None:
            text, lead = f"{text}{lead}key: {key}", " "
        return f"{text}\n" if value is None else f"{text}{lead}payload: {value}\n"

    def _note_undecoded(self, offset: int, position: int, *texts: str | None) -> None:
        for text in texts:
            if text is not None and text.startswith(("Error at ", "Unknown record type ")):
                reason = text.partition("skipping. ")[2] or text.partition(" at offset")[0]
                self._out.finding(position, f"offset {offset}: {reason}")

    def _check_records(self, batch: Batch, header: Header) -> None:
        """Check records that are not printed.

        Raises:
            DecodeError: the records of the batch cannot be separated.
        """
        for record in records(batch, header, self._meter):
            if header.is_control:
                try:
                    _control_text(record)
                except DecodeError as error:
                    reason = f"offset {record.offset}: {error.message}"
                    self._out.failure(batch.position, reason)

    def _legacy_batch(self, batch: Batch) -> Iterator[None]:
        if self._is_left_out(batch):
            return
        if self._is_chosen:
            self._check(batch)
        line = legacy_batch_line(batch)
        if not self._is_chosen:
            self._batch_line(line)
            self._check(batch)
        if self._query.deep_iteration:
            yield from self._messages(batch, line)
            return
        if self._is_chosen:
            head = legacy.header(batch)
            time = head.timestamp if head.magic else None
            if not self._query.filter.fits_offset_and_time(head.offset, time):
                return
            self._batch_line(line)
        if self._query.check:
            self._check_messages(batch)

    def _messages(self, batch: Batch, batch_line: str) -> Iterator[None]:
        """Write the messages of a batch, with its line before the first selected one."""
        head = legacy.header(batch)
        is_line_due = self._is_chosen
        self._last_gap = None
        for message in legacy.records(batch, self._meter):
            if not self._is_chosen:
                self._note_gap(message.record.offset)
                self.last_offset = message.record.offset
            elif not self._rows.legacy_row(batch, head, message):
                continue
            if is_line_due:
                self._batch_line(batch_line)
                is_line_due = False
            line = self._message_line(message, batch.position, head.timestamp_type)
            yield from self._record_line(line)

    def _message_line(
        self, message: LegacyRecord, position: int, time_type: str
    ) -> str | Iterator[str]:
        record, text = message.record, ""
        if not self._query.skip_record_metadata:
            text = (
                f"| offset: {record.offset} {time_type}: {record.timestamp} "
                f"keySize: {message.key_size} valueSize: {message.value_size} "
                f"isValid: {BOOL[message.is_valid]} crc: {message.crc}"
            )
        return self._line(record, text, position, None, message.overrun)

    def _check_messages(self, batch: Batch) -> None:
        for message in legacy.records(batch, self._meter):
            if message.overrun:
                reason = f"offset {message.record.offset}: {message.overrun}"
                self._out.failure(batch.position, reason)


def _control_text(record: Record) -> str:
    refuse_large(record)
    _, _, key, value, _ = whole_record(record)
    return control_text(key, value)


def _on_one_line(line: str | Iterator[str], escape: Callable[[str], str]) -> str | Iterator[str]:
    """Return a line with the ends of lines in its keys and values as escapes."""
    if isinstance(line, str):
        return escape(line.removesuffix("\n")) + "\n"
    return _pieces_on_one_line(line, escape)


def _pieces_on_one_line(pieces: Iterator[str], escape: Callable[[str], str]) -> Iterator[str]:
    piece = next(pieces)
    for following in pieces:
        yield escape(piece)
        piece = following
    yield piece


def _pieces(text: str, lead: str, key: str | None, value: str | None) -> Iterator[str]:
    yield text
    for label, text_of_part in (("key", key), ("payload", value)):
        if text_of_part is None:
            continue
        yield f"{lead}{label}: "
        if isinstance(text_of_part, LongText):
            yield from text_of_part.pieces()
        else:
            yield text_of_part
        lead = " "
    yield "\n"
