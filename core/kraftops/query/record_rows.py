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
    """Return a path as the text of the column `file`: with U+FFFD for what is no UTF-8.

    Of what is no file it is the place that it is from.
    """
    shown = path.place if isinstance(path, OpenName) else path
    return shown.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


class RowHead(NamedTuple):
    """What the rows of a batch of magic 2 have in common."""

    before: tuple[Any, ...]
    """The fields before the offset."""
    behind: tuple[Any, ...]
    """Those from the type of the timestamp up to the sequence."""
    behind_sequence: tuple[Any, ...]
    """Those up to the codec."""


def row_head(path: str, position: int, header: Header) -> RowHead:
    """Return what the rows of a batch begin with."""
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
            *head.before,
            record.offset,
            header.max_timestamp if is_appended else record.timestamp,
            *head.behind,
            _present(sequence),
            *head.behind_sequence,
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
