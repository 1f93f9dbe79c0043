"""Make rows of records and of damage."""

from __future__ import annotations

from typing import Any, NamedTuple

from kraftops.log import batch as v2
from kraftops.log.batch import Header, Record
from kraftops.log.codecs import CODECS
from kraftops.log.streams import OpenName
from kraftops.query.row import Row
from kraftops.records.meaning import Meaning


def file_column(path: str) -> str:
    """Return the column `file` for a path, with U+FFFD for bytes that are no UTF-8.

    For a log that is no file it is the place of its source, such as a controller's address.
    """
    shown = path.place if isinstance(path, OpenName) else path
    return shown.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


class RowHead(NamedTuple):
    """The common fields of the rows of a batch of magic 2."""

    before_offset: tuple[Any, ...]
    """The fields up to the offset."""
    before_sequence: tuple[Any, ...]
    """The fields from the timestamp's type up to the sequence."""
    after_sequence: tuple[Any, ...]
    """The fields from the sequence up to the codec."""


def row_head(path: str, position: int, header: Header) -> RowHead:
    """Return the common fields of the rows of a batch."""
    attributes = header.attributes
    codec = attributes & v2.CODEC_MASK
    return RowHead(
        (path, _present(position), header.base_offset),
        (
            "LogAppendTime" if attributes & v2.LOG_APPEND_TIME else "CreateTime",
            _present(header.leader_epoch),
            _present(header.producer_id),
            _present(header.producer_epoch),
        ),
        (
            bool(attributes & v2.TRANSACTIONAL),
            bool(attributes & v2.CONTROL),
            CODECS[codec] if codec < len(CODECS) else None,
        ),
    )


def record_row(
    head: RowHead, header: Header, record: Record, sequence: int, meaning: Meaning
) -> Row:
    """Return the row of a record of magic 2; its timestamp is the record's own."""
    is_appended = header.attributes & v2.LOG_APPEND_TIME
    return Row._make(
        (
            *head.before_offset,
            record.offset,
            header.max_timestamp if is_appended else record.timestamp,
            *head.before_sequence,
            _present(sequence),
            *head.after_sequence,
            None if record.key is None else len(record.key),
            None if record.value is None else len(record.value),
            tuple([(key.decode("utf-8", "replace"), value) for key, value in record.headers]),
            *meaning,
        )
    )


def damage_row(path: str, position: int, base_offset: int | None, error: str) -> Row:
    """Return the row of bytes that cannot be read."""
    return Row(path, _present(position), base_offset, error=error)


def _present(number: int) -> int | None:
    return None if number < 0 else number
