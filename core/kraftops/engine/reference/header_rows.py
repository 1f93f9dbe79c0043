"""Rows of batches whose headers tell all columns that are asked for, as `scan_contract` says."""

from __future__ import annotations

from collections.abc import Iterator

from kraftops.engine.reference.batch_line import add_sequence
from kraftops.log import batch as v2
from kraftops.log.batch import Batch, Header
from kraftops.query.filters import Filter
from kraftops.query.query import Query
from kraftops.query.record_rows import Origin, row_head
from kraftops.query.row import Row

_TOLD = frozenset(
    {
        *("file", "position", "baseOffset", "topic", "partition", "timestampType", "crcValid"),
        *("leaderEpoch", "producerId", "producerEpoch", "transactional", "control", "codec"),
    }
)
_LEAST_RECORD = 7  # bytes
_REST = Row("", None)[Row._fields.index("key_size") :]


def told_records(batch: Batch, header: Header, query: Query) -> range | None:
    """Return the numbers of the selected records, if the header of an intact batch suffices.

    It does not if it returns None: the records must be read.
    """
    columns, asked, count = query.columns, query.filter, header.record_count
    if columns is None or not query.output_format.is_columns or query.check or count <= 0:
        return None
    is_compressed = header.attributes & v2.CODEC_MASK
    size = batch.size - v2.HEADER_SIZE
    # A count of more records than compressed bytes is a wrong one, or worth a look at them.
    if count > (size if is_compressed else size // _LEAST_RECORD):
        return None
    has_all_offsets = header.last_offset - header.base_offset == count - 1
    has_all_offsets &= header.last_offset < 1 << 63
    if not columns <= _columns_of_header(header, has_all_offsets=has_all_offsets):
        return None
    if asked.is_empty:
        return range(count)
    limits = Filter(first_offset=asked.first_offset, last_offset=asked.last_offset)
    if asked != limits or not has_all_offsets:
        return None
    first = max(0, asked.first_offset - header.base_offset)
    return range(first, min(count, asked.last_offset - header.base_offset + 1))


def _columns_of_header(header: Header, *, has_all_offsets: bool) -> frozenset[str]:
    columns = set(_TOLD)
    if has_all_offsets:
        columns |= {"offset", "sequence"}
    if header.attributes & v2.LOG_APPEND_TIME:
        columns.add("timestamp")
    if not header.is_control:
        columns.add("kind")
    return frozenset(columns)


def told_rows(
    origin: Origin, batch: Batch, header: Header, numbers: range, kind: str
) -> Iterator[Row]:
    """Yield rows of some records, with the columns that the header tells."""
    head = row_head(origin, batch.position, header, is_valid=True)
    for number in numbers:
        sequence = header.base_sequence
        if sequence >= 0:
            sequence = add_sequence(sequence, number)
        yield Row._make(
            (
                *head.before_offset,
                header.base_offset + number,
                header.max_timestamp,
                *head.before_sequence,
                None if sequence < 0 else sequence,
                *head.after_sequence,
                *_REST,
            )
        )._replace(kind=kind)
