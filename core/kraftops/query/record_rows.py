"""Make rows of records and of damage."""

from typing import Any, NamedTuple

from kraftops.log import batch as v2
from kraftops.log.batch import Header, Record
from kraftops.log.codecs import CODECS
from kraftops.log.files import partition_of
from kraftops.log.streams import OpenName
from kraftops.query.row import Row
from kraftops.records.meaning import Meaning


class Origin(NamedTuple):
    """The columns that all rows of a file have in common."""

    file: str
    topic: str | None
    partition: int | None


def origin_of(path: str) -> Origin:
    """Return the columns of a path, with U+FFFD for bytes that are not UTF-8.

    The file of a log that is not a file is the place of its source, such as a controller's address.
    """
    if isinstance(path, OpenName):
        place, log = path.place, path.log
    else:
        place, log = path, partition_of(path)
    topic, partition = log or (None, None)
    return Origin(_utf8(place), None if topic is None else _utf8(topic), partition)


def _utf8(name: str) -> str:
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


class RowHead(NamedTuple):
    """The common fields of the rows of a batch of magic 2."""

    before_offset: tuple[Any, ...]
    """The fields up to the offset."""
    before_sequence: tuple[Any, ...]
    """The fields from the timestamp's type up to the sequence, with `crc_valid`."""
    after_sequence: tuple[Any, ...]
    """The fields from the sequence up to the codec."""


def row_head(origin: Origin, position: int, header: Header, *, is_valid: bool) -> RowHead:
    """Return the common fields of a batch's rows; *is_valid* says whether its checksum is right."""
    attributes = header.attributes
    codec = attributes & v2.CODEC_MASK
    return RowHead(
        (
            origin.file,
            _present(position),
            header.base_offset,
            origin.topic,
            origin.partition,
        ),
        (
            "LogAppendTime" if attributes & v2.LOG_APPEND_TIME else "CreateTime",
            is_valid,
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


def damage_row(path: str, position: int, error: str) -> Row:
    """Return the row of bytes of a file that cannot be read."""
    origin = origin_of(path)
    return Row(
        origin.file,
        _present(position),
        topic=origin.topic,
        partition=origin.partition,
        error=error,
    )


def _present(number: int) -> int | None:
    return None if number < 0 else number
