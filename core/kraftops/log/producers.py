"""Producer state snapshots, `.snapshot` (Kafka's `ProducerStateManager`)."""

from collections.abc import Iterator
from struct import Struct
from typing import NamedTuple

from google_crc32c import value as crc32c

from kraftops.errors import DecodeError, Underflow

VERSION = 1  # `ProducerStateManager.PRODUCER_SNAPSHOT_VERSION` (4.3.1)
_HEAD = Struct(">hIi")
_ENTRY = Struct(">qhiqiqiq")
_CRC_START = 6  # after the version and the CRC


class ProducerState(NamedTuple):
    """State of a producer in a partition.

    *last_offset* is -1 if only a transaction marker was seen, *first_txn_offset* is -1 if no
    transaction is open.
    """

    producer_id: int
    producer_epoch: int
    last_sequence: int
    last_offset: int
    offset_delta: int
    timestamp: int
    coordinator_epoch: int
    first_txn_offset: int


def read_producers(data: bytes) -> list[ProducerState]:
    """Return the producers of a snapshot file.

    Raises:
        DecodeError: it is damaged; the message is Kafka's.
    """
    return [ProducerState._make(fields) for fields in _entries(data)]


def open_transactions(data: bytes) -> dict[int, int]:
    """Return the first offsets of open transactions in a snapshot file, by producer.

    Raises:
        DecodeError: as in `read_producers`.
    """
    return {fields[0]: fields[-1] for fields in _entries(data) if fields[-1] >= 0}


def _entries(data: bytes) -> Iterator[tuple[int, ...]]:
    if len(data) < 2:
        raise Underflow("the file is cut short")
    version = int.from_bytes(data[:2], signed=True)
    if version != VERSION:
        raise DecodeError(f"Snapshot contained an unknown file version {version}")
    if len(data) < _HEAD.size:
        raise Underflow("the file is cut short")
    _, stored, count = _HEAD.unpack_from(data)
    remaining = len(data) - _HEAD.size
    if count < 0:
        raise DecodeError("non-nullable field producerEntries was serialized as null")
    if count > remaining:
        raise DecodeError(
            f"Tried to allocate a collection of size {count}, "
            f"but there are only {remaining} bytes remaining."
        )
    end = _HEAD.size + count * _ENTRY.size
    if end > len(data):
        raise Underflow("the file is cut short")
    computed = crc32c(data[_CRC_START:])
    if stored != computed:
        raise CrcMismatch(stored, computed)
    return _ENTRY.iter_unpack(data[_HEAD.size : end])


class CrcMismatch(DecodeError):
    """The checksum of a snapshot is wrong."""

    def __init__(self, stored: int, computed: int) -> None:
        super().__init__(f"Stored crc: {stored}. Computed crc: {computed}")
