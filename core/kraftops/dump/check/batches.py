"""What a check looks at in a batch: its header, whatever its magic."""

from __future__ import annotations

from typing import NamedTuple

from kraftops.errors import DecodeError
from kraftops.log import legacy
from kraftops.log.batch import CONTROL, DELETE_HORIZON, TRANSACTIONAL, Batch, int64, records
from kraftops.memory import Meter

NO_PRODUCER = -1  # as Kafka stores it (`RecordBatch.NO_PRODUCER_ID`)
_ABORT, _COMMIT = 0, 1
_new = tuple.__new__  # of a named tuple: half the time of its own constructor


class SeenBatch(NamedTuple):
    """A batch with a right checksum. *epoch* is -1 for magic 0 and 1, which have none.

    *is_thinned* says that it has fewer records than offsets, as compaction leaves it. *marker* is
    the type of the transaction marker in it, or None.
    """

    position: int
    size: int
    magic: int
    base_offset: int
    last_offset: int
    max_timestamp: int
    epoch: int = -1
    producer_id: int = NO_PRODUCER
    last_sequence: int = -1
    is_transactional: bool = False
    is_thinned: bool = False
    is_empty: bool = False
    marker: int | None = None

    @property
    def is_abort(self) -> bool:
        return self.marker == _ABORT


def seen(batch: Batch, meter: Meter) -> SeenBatch:
    """Return what a check looks at in a batch of a log that *meter* counts."""
    if batch.is_legacy:
        return _seen_legacy(batch, int.from_bytes(batch.data[16:17], signed=True), meter)
    base, _, epoch, magic, _, attributes, delta, _, newest, producer_id, _, sequence, count = (
        batch.header
    )
    is_marker = attributes & CONTROL and producer_id != NO_PRODUCER
    fields = (
        batch.position,
        batch.size,
        magic,
        base,
        int64(base + delta),
        newest,
        epoch,
        producer_id,
        _last_sequence(sequence, delta),
        bool(attributes & TRANSACTIONAL),
        count != delta + 1 or bool(attributes & DELETE_HORIZON),
        not count,
        _marker(batch, meter) if is_marker else None,
    )
    return _new(SeenBatch, fields)


def _seen_legacy(batch: Batch, magic: int, meter: Meter) -> SeenBatch:
    head = legacy.header(batch)
    first = head.offset
    timestamp = head.timestamp if magic == 1 else legacy.NO_TIMESTAMP
    if head.codec:
        try:
            first = next(legacy.records(batch, meter)).record.offset
        except DecodeError:  # the engine tells what is wrong with its records
            first = head.offset
    return SeenBatch(batch.position, batch.size, magic, first, head.offset, timestamp)


def _last_sequence(base: int, delta: int) -> int:
    """Return the last sequence of a batch, which goes on from 0 after the largest int32."""
    if base < 0:
        return -1
    last = base + delta
    return last if last < 1 << 31 else last - (1 << 31)


def _marker(batch: Batch, meter: Meter) -> int | None:
    """Return the type of the transaction marker in a control batch; None without one."""
    try:
        record = next(records(batch, meter), None)
    except DecodeError:
        return None
    if record is None or record.key is None or len(record.key) < 4:
        return None
    kind = int.from_bytes(record.key[2:4])
    return kind if kind in (_ABORT, _COMMIT) else None
