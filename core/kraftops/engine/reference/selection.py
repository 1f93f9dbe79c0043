"""Rows of the records that match the filter of a query."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kraftops.engine.reference.batch_line import add_sequence
from kraftops.engine.reference.output import Output
from kraftops.log import batch as v2
from kraftops.log import legacy
from kraftops.log.batch import Batch, Header, Record
from kraftops.log.codecs import CODECS
from kraftops.query.query import Query
from kraftops.query.record_rows import RowHead, origin_of, record_row, row_head
from kraftops.query.row import COLUMNS, Row
from kraftops.records.control import control_meaning
from kraftops.records.decoder import ReadMeaning

if TYPE_CHECKING:
    from kraftops.log.legacy import LegacyHeader, LegacyRecord

_NEWEST_MAGIC = 2  # `RecordBatch.CURRENT_MAGIC_VALUE`


def check_batch(batch: Batch, query: Query, output: Output) -> bool:
    """Return whether the checksum of a batch matches; note it if it does not, and another magic.

    Kafka's text without `--check` shows both itself.

    Raises:
        DecodeError: it has no whole header.
    """
    is_valid = crc_is_valid(batch)
    if query.check and not batch.is_legacy and batch.header.magic > _NEWEST_MAGIC:
        # The checksum does not cover it.
        output.finding(batch.position, f"magic {batch.header.magic} is not known")
    if not is_valid and query.notes_crc:
        left_out = "; it is left out" if query.skip_invalid else ""
        output.finding(batch.position, f"the CRC does not match{left_out}")
    return is_valid


def crc_is_valid(batch: Batch) -> bool:
    """Tell whether the checksum of a batch of any magic matches.

    Raises:
        DecodeError: it has no whole header.
    """
    return legacy.is_valid(batch) if batch.is_legacy else v2.is_valid(batch, batch.header.crc)


_VALUE_COLUMNS = frozenset(COLUMNS[Row._fields.index("key") :])


class RowBuilder:
    """Builds the rows of the matching records of one file."""

    def __init__(self, path: str, query: Query) -> None:
        """Build rows of the file *path* for a query."""
        self.origin = origin_of(path)
        self._filter = query.filter
        self._is_all = query.filter.is_empty
        self._is_by_offset_and_time = not (query.filter.types or query.filter.needs_rows)
        self._meaning_of = meaning_reader(query)
        self._type_of = query.record_decoder.type_reader() if query.filter.types else None
        self._head: tuple[Batch | None, RowHead] = None, RowHead((), (), ())
        self._checked: tuple[Batch | None, bool] = None, False

    def matches(self, batch: Batch, header: Header, record: Record) -> bool:
        if self._is_all or self._is_by_offset_and_time:
            return self._may_match(header, record)
        return self.row(batch, header, record) is not None

    def row(self, batch: Batch, header: Header, record: Record) -> Row | None:
        """Return the row of a record of magic 2; None if it does not match."""
        if not self._may_match(header, record):
            return None
        sequence = header.base_sequence
        if sequence >= 0:
            sequence = add_sequence(sequence, record.offset - header.base_offset)
        meaning = control_meaning(record) if header.is_control else self._meaning_of(record)
        if self._head[0] is not batch:
            is_valid = crc_is_valid(batch)
            self._head = batch, row_head(self.origin, batch.position, header, is_valid=is_valid)
        row = record_row(self._head[1], header, record, sequence, meaning)
        return row if self._is_all or self._filter.matches(row) else None

    def legacy_row(self, batch: Batch, head: LegacyHeader, message: LegacyRecord) -> Row | None:
        """Return the row of a message of magic 0 or 1; None if it does not match."""
        record = message.record
        meaning = self._meaning_of(record)
        if self._checked[0] is not batch:
            self._checked = batch, crc_is_valid(batch)
        if message.overrun:
            meaning = meaning._replace(value=None, error=message.overrun)
        row = Row(
            file=self.origin.file,
            position=batch.position,
            base_offset=head.offset,
            topic=self.origin.topic,
            partition=self.origin.partition,
            offset=record.offset,
            timestamp=None if message.magic == 0 else record.timestamp,
            timestamp_type=None if message.magic == 0 else head.timestamp_type,
            crc_valid=self._checked[1],
            transactional=False,
            control=False,
            codec=CODECS[head.codec],
            key_size=None if record.key is None else len(record.key),
            value_size=None if record.value is None else len(record.value),
        )._replace(**meaning._asdict())
        return row if self._is_all or self._filter.matches(row) else None

    def _may_match(self, header: Header, record: Record) -> bool:
        """Tell whether offset and time match, and the type, as far as few bytes show it."""
        if self._is_all:
            return True
        is_appended = header.attributes & v2.LOG_APPEND_TIME
        time = header.max_timestamp if is_appended else record.timestamp
        if not self._filter.fits_offset_and_time(record.offset, time):
            return False
        if self._type_of is None or header.is_control:
            return True
        return self._filter.fits_type(self._type_of(record))


def meaning_reader(query: Query) -> ReadMeaning:
    """Return a function to the meaning of a data record."""
    if is_shallow(query):
        return query.record_decoder.head_reader()
    return query.record_decoder.meaning_reader(show_secrets=query.show_secrets)


def is_shallow(query: Query) -> bool:
    """Tell whether only kind, type and version of a record are used."""
    return (
        query.columns is not None
        and query.columns.isdisjoint(_VALUE_COLUMNS)
        and not query.check
        and not query.filter.needs_rows
    )
