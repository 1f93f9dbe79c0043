"""The lines that Kafka's tool prints of a batch's records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from kraftops.dump.batchline import BOOL, add_sequence
from kraftops.dump.payloads import Decode, payload_decoder
from kraftops.dump.query import Query
from kraftops.dump.report import Report
from kraftops.dump.runs import PAUSE, UNFIT_RECORDS, FastLines, Run
from kraftops.errors import DecodeError
from kraftops.javatext import decode_utf8
from kraftops.log import batch as v2
from kraftops.log.batch import Batch, Header, Record, read_record
from kraftops.records.user import DEFAULT_DECODER

if TYPE_CHECKING:
    from kraftops.log.legacy import LegacyRecord

Append = Callable[[str], None]


class Means(NamedTuple):
    """What prints the records that a query asks for; it remembers what repeats."""

    decode: Decode | None
    fast: FastLines | None


class RecordLines:
    """Prints the records of one file's batches, in order."""

    def __init__(self, path: str, query: Query, report: Report, means: Means | None = None) -> None:
        """Print records of the file *path*, by *means* that another one has used, or its own."""
        self._path = path
        self._query = query
        self._report = report
        self.means = means or Means(payload_decoder(query), _fast_lines(query))
        self._decode, self._fast = self.means
        self.first_offset: int | None = None
        """Of all records so far, as is the last."""
        self.last_offset: int | None = None

    def add_legacy(self, batch: Batch, append: Append) -> Iterator[None]:
        """Append the lines of a batch of magic 0 or 1; pause now and then.

        Raises:
            DecodeError: Kafka's tool dies of the batch.
        """
        from kraftops.log import legacy

        time_type = legacy.header(batch).timestamp_type
        messages = legacy.records(batch, self._query.max_inflated_bytes)
        for number, message in enumerate(messages, 1):
            self.add_message(message, batch.position, time_type, append)
            if not number % PAUSE:
                yield

    def add_message(
        self, message: LegacyRecord, position: int, time_type: str, append: Append
    ) -> None:
        """Append the line of a message of magic 0 or 1, whose batch is at *position*."""
        record = message.record
        self._see(record.offset)
        metadata = (
            f"{time_type}: {record.timestamp} keySize: {message.key_size} "
            f"valueSize: {message.value_size} isValid: {BOOL[message.is_valid]} "
            f"crc: {message.crc}"
        )
        append(self._line(record, metadata, position, overrun=message.overrun))

    def add(self, batch: Batch, header: Header, append: Append) -> Iterable[None]:
        """Append the lines of a batch of magic 2 or later; iterate over the rest of a large one.

        Raises:
            DecodeError: Kafka's tool dies of the batch; what is whole before that is appended.
        """
        count = header.record_count
        if not count and batch.size >= v2.HEADER_SIZE:
            return ()
        buffer, pos = v2.inflated(batch, header, self._query.max_inflated_bytes)
        if count < 0:
            raise DecodeError(f"the batch counts {count} records")
        done = 0
        if self._fast and count <= PAUSE:  # most are small: no generator for them
            pos, done = self._fast.add(Run(buffer, pos, 0, count, header), append)
            if done:
                self._saw(header.base_offset, done)
            if done == count and pos == len(buffer):
                return ()
        return self._rest(batch, header, append, buffer, pos, done)

    def _rest(
        self, batch: Batch, header: Header, append: Append, buffer: bytes, pos: int, done: int
    ) -> Iterator[None]:
        """Append the lines of a batch's records from number *done* on, which begins at *pos*."""
        fast, base_offset, count = self._fast, header.base_offset, header.record_count
        unfit = 0
        while done < count:
            if fast:
                run = Run(buffer, pos, done, min(done + PAUSE, count), header)
                pos, printed = fast.add(run, append)
                if printed > done:
                    self._saw(base_offset + done, printed - done)
                    done = printed
                    if done < count:
                        yield
                    continue
            try:
                record, pos = read_record(buffer, pos, base_offset, header.base_timestamp)
            except DecodeError as error:
                raise DecodeError(f"record {done + 1} of {count}: {error.message}") from None
            done += 1
            unfit += 1
            if unfit > UNFIT_RECORDS:
                fast = None
            self.add_record(record, batch.position, header, append)
            if not done % PAUSE:
                yield
        if pos != len(buffer):
            raise DecodeError(
                f"{len(buffer) - pos} bytes are left after the {count} records of the batch"
            )

    def _saw(self, first: int, count: int) -> None:
        """Remember offsets that follow each other."""
        if self.last_offset != first - 1:
            self._see(first)
        self.last_offset = first + count - 1

    def add_record(self, record: Record, position: int, header: Header, append: Append) -> None:
        """Append the line of a record of magic 2, whose batch is at *position*."""
        self._see(record.offset)
        time_type = "CreateTime"
        if header.attributes & v2.LOG_APPEND_TIME:
            time_type, record = "LogAppendTime", record._replace(timestamp=header.max_timestamp)
        sequence = header.base_sequence
        if sequence >= 0:
            sequence = add_sequence(sequence, record.offset - header.base_offset)
        else:
            sequence = -1
        _, timestamp, key, value, headers = record
        keys = ",".join([decode_utf8(name) for name, _ in headers])
        metadata = (
            f"{time_type}: {timestamp} keySize: {-1 if key is None else len(key)} "
            f"valueSize: {-1 if value is None else len(value)} sequence: {sequence} "
            f"headerKeys: [{keys}]"
        )
        append(self._line(record, metadata, position, is_control=header.is_control))

    def _line(
        self,
        record: Record,
        metadata: str,
        position: int,
        *,
        is_control: bool = False,
        overrun: str = "",
    ) -> str:
        text, lead = "", "| "
        if not self._query.skip_record_metadata:
            text, lead = f"| offset: {record.offset} {metadata}", " "
        try:
            if is_control:
                from kraftops.records.control import control_text

                return f"{text} {control_text(record.key, record.value)}\n" if text else "\n"
            if self._decode is None:
                return f"{text}\n"
            shown_key, shown_value = self._decode(record, overrun)
            if self._query.check and self._query.decoder != "user":
                self._note_undecoded(record.offset, position, shown_key, shown_value)
        except DecodeError as error:
            self._report.failure(self._path, position, f"offset {record.offset}: {error.message}")
            return f"{text} <undecodable: {error.message}>\n"
        if shown_key is not None:
            text, lead = f"{text}{lead}key: {shown_key}", " "
        if shown_value is not None:
            text = f"{text}{lead}payload: {shown_value}"
        return f"{text}\n"

    def _note_undecoded(self, offset: int, position: int, *texts: str | None) -> None:
        for text in texts:
            if text is not None and text.startswith(("Error at ", "Unknown record type ")):
                reason = text.partition("skipping. ")[2] or text.partition(" at offset")[0]
                self._report.finding(self._path, position, f"offset {offset}: {reason}")

    def _see(self, offset: int) -> None:
        """Remember an offset, and report where it does not follow the last one."""
        if self.last_offset is None:
            self.first_offset = offset
        elif offset != v2.int64(self.last_offset + 1):
            self._report.gap(self._path, self.last_offset, offset)
        self.last_offset = offset


def _fast_lines(query: Query) -> FastLines | None:
    if query.decoder == "metadata":
        from kraftops.dump.metadatalines import text_lines

        return text_lines(query)
    is_text = query.key_decoder == query.value_decoder == DEFAULT_DECODER
    if query.decoder == "user" and is_text and not query.skip_record_metadata:
        from kraftops.dump.textlines import TextLines

        return TextLines()
    return None
