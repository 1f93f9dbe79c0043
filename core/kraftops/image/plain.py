"""Partitions whose record says all, read from its bytes without being decoded.

Nearly all partitions of a snapshot are so: no change came after the record, nothing is reassigned,
and no tagged field is set. A million of them are looked at in about a second.
"""

from __future__ import annotations

from struct import Struct, error

from kraftops.image.image import MetadataImage
from kraftops.image.recordtypes import PARTITION
from kraftops.image.store import POSITION_BITS
from kraftops.image.topics import PARTITION_KEY, Topic

PlainPartition = tuple[bytes, int, int, int, bytes]
"""What a record says: replicas and ISR, leader, leader epoch, partition epoch, directories.

The first are arrays as they lie in it, see `replicas_and_isr`; of the last, 16 bytes are a
replica's.
"""

_POSITION_MASK = (1 << POSITION_BITS) - 1
_FRAME = bytes([1, PARTITION])
_VERSIONS = 3
_KEY = 20  # number and topic id
_NUMBERS = Struct(">iii")
_UUID = 16


def plain_partition(image: MetadataImage, topic: Topic, number: int) -> PlainPartition | None:
    """Return what the record of a partition says; None if that is not all, or there is none.

    Raises:
        SourceError: its file cannot be read any more.
    """
    address = topic.place(number)
    if address is None or image.dialect != "kafka":
        return None
    if image.changes and PARTITION_KEY.pack(number, topic.id) in image.changes:
        return None
    b, p = image.store.batch(address >> POSITION_BITS)[0], address & _POSITION_MASK
    try:
        n = b[p]
        if n < 128:
            q, e = p + 2, p + 1 + (n >> 1)
        else:
            q, e = p + 3, p + 2 + ((n & 127 | b[p + 1] << 7) >> 1)
        while b[q] > 127:  # the time
            q += 1
        q += 1
        while b[q] > 127:  # the offset
            q += 1
        q += 2 if b[q + 2] < 128 else 3
        version = b[q + 3]
        if b[q + 1 : q + 3] != _FRAME or version >= _VERSIONS:
            return None
        q += 4 + _KEY
        # Arrays have counts that are one too high, which here are all of one byte.
        replicas = b[q]
        isr = q + 4 * replicas - 3
        rest = isr + 4 * b[isr] - 3
        if not 0 < replicas < 128 or not 0 < b[isr] < 128 or b[rest] != 1 or b[rest + 1] != 1:
            return None
        leader, leader_epoch, partition_epoch = _NUMBERS.unpack_from(b, rest + 2)
        at = rest + 14
        # Tagged fields and headers are left out, each by a zero.
        if b[e - 1] or b[e - 2]:
            return None
        if not version:
            directories = bytes(_UUID * (replicas - 1))
            return (
                (b[q:rest], leader, leader_epoch, partition_epoch, directories)
                if at == e - 2
                else None
            )
        if b[at] != replicas or at + _UUID * replicas - 13 != e:
            return None
    except (IndexError, error):
        return None
    return b[q:rest], leader, leader_epoch, partition_epoch, b[at + 1 : e - 2]


def is_healthy(plain: PlainPartition) -> bool:
    """Tell whether a partition has a leader, and all of its replicas in sync."""
    arrays, leader, _, _, _ = plain
    return leader >= 0 and len(arrays) >= 8 * arrays[0] - 6


def replicas_and_isr(arrays: bytes) -> tuple[list[int], list[int]]:
    """Return the brokers that *arrays* of a plain partition name."""
    start = 4 * arrays[0] - 2  # of the first of the ISR
    replicas, isr = range(1, start - 1, 4), range(start, len(arrays), 4)
    return _numbers(arrays, replicas), _numbers(arrays, isr)


def _numbers(arrays: bytes, places: range) -> list[int]:
    return [int.from_bytes(arrays[at : at + 4], signed=True) for at in places]
