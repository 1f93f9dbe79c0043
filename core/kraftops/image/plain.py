"""Partitions whose record says all, read from its bytes without being decoded.

Nearly all partitions of a snapshot are so: no change came after the record, nothing is reassigned,
and no tagged field is set. A million of them are looked at in about a second.
"""

from __future__ import annotations

from collections.abc import Iterator
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
    held = image.store.batch(address >> POSITION_BITS)
    return _look(held.data, address & _POSITION_MASK)


def plain_partitions(
    image: MetadataImage, topic: Topic
) -> Iterator[tuple[int, PlainPartition | None]]:
    """Yield the numbers of a topic's partitions, each with what its record says if that is all.

    Raises:
        SourceError: a file cannot be read any more.
    """
    changes, is_kafkas = image.changes, image.dialect == "kafka"
    batch, data = -1, b""
    for number in topic.numbers():
        address = topic.place(number)
        if (
            address is None
            or not is_kafkas
            or (changes and PARTITION_KEY.pack(number, topic.id) in changes)
        ):
            yield number, None
            continue
        if address >> POSITION_BITS != batch:
            batch = address >> POSITION_BITS
            data = image.store.batch(batch).data
        yield number, _look(data, address & _POSITION_MASK)


def _look(b: bytes, p: int) -> PlainPartition | None:
    """Return what the record at *p* says, if it is plain."""
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
        if b[q + 1 : q + 3] != _FRAME:
            return None
        version = b[q + 3]
        q += 4 + _KEY
        replicas = b[q]
        layout = _LAYOUTS[version, replicas, b[q + 4 * replicas - 3]]
        if layout is None or q + layout.size != e:
            return None
        arrays, lists, leader, leader_epoch, partition_epoch, count, directories, rest = (
            layout.unpack_from(b, q)
        )
    except (IndexError, error):
        return None
    # Nothing is added or removed; tagged fields and headers are left out.
    if lists != _NO_LISTS or rest != _NO_MORE or (count and count[0] != replicas):
        return None
    if not version:
        directories = bytes(_UUID * (replicas - 1))
    return arrays, leader, leader_epoch, partition_epoch, directories


class _Layouts(dict[tuple[int, int, int], Struct | None]):
    """How records are laid out from their arrays on, by version and counts of replicas and ISR.

    Counts are one too high, as they are written; those of more than one byte have no layout.
    """

    def __missing__(self, key: tuple[int, int, int]) -> Struct | None:
        version, replicas, isr = key
        made = None
        if version < _VERSIONS and 0 < replicas < 128 and 0 < isr < 128:
            arrays = 2 + 4 * (replicas - 1 + isr - 1)
            directories = _UUID * (replicas - 1) if version else 0
            made = Struct(f">{arrays}s2siii{min(version, 1)}s{directories}s2s")
        self[key] = made
        return made


_LAYOUTS = _Layouts()
_NO_LISTS, _NO_MORE = b"\1\1", b"\0\0"


def is_healthy(plain: PlainPartition) -> bool:
    """Tell whether a partition has a leader, and all of its replicas in sync."""
    return not is_leaderless(plain) and not is_under_replicated(plain)


def is_leaderless(plain: PlainPartition) -> bool:
    """Tell whether a partition has no leader."""
    return plain[1] < 0


def is_under_replicated(plain: PlainPartition) -> bool:
    """Tell whether fewer replicas of a partition are in sync than there are."""
    arrays = plain[0]
    return len(arrays) < 8 * arrays[0] - 6


def replicas_and_isr(arrays: bytes) -> tuple[list[int], list[int]]:
    """Return the brokers that *arrays* of a plain partition name."""
    start = 4 * arrays[0] - 2  # of the first of the ISR
    replicas, isr = range(1, start - 1, 4), range(start, len(arrays), 4)
    return _numbers(arrays, replicas), _numbers(arrays, isr)


def _numbers(arrays: bytes, places: range) -> list[int]:
    return [int.from_bytes(arrays[at : at + 4], signed=True) for at in places]
