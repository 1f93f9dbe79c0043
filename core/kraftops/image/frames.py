"""What the bytes of common records say without being decoded.

The six bytes behind a record's offset delta hold the lengths of key and value and the numbers of
the frame; the arrays of a partition's record say where it must end. Both repeat from record to
record, so that one look-up does for most of them. Whoever asks need not be right about odd bytes,
only notice them.
"""

from __future__ import annotations

from struct import Struct

from kraftops.image.recordtypes import NO_OP, PARTITION, PARTITION_CHANGE

FRAME = 6
KEY = 20
"""Bytes of a partition's key: its number and topic id."""
ARRAYS = 28
"""Bytes behind the key of a partition's record that are looked up together."""
PARTITION_HEAD = Struct(f">i16s{ARRAYS}s")

ODD, NOTHING, PARTITIONS, CHANGES = range(4)
"""The sorts of records: to be decoded, without effect, partitions, and their changes.

The last is one sort a version: changes of version 1 are of sort `CHANGES` + 1.
"""
_SORTS = {PARTITION: PARTITIONS, PARTITION_CHANGE: CHANGES, NO_OP: NOTHING}
KNOWN_VERSIONS = {PARTITION: 2, PARTITION_CHANGE: 2, NO_OP: 0}
_LEAST = {PARTITION: KEY + ARRAYS, PARTITION_CHANGE: KEY + 1, NO_OP: 1}
UNFIT = (0, 0, ODD)


def kafka_frame(head: bytes) -> tuple[int, int, int]:
    """Return, of a record without key, where its body begins and where it ends, and its sort.

    Positions count from the bytes *head*, the length of the key; the end is behind the count of
    headers, which is to be 0.
    """
    if len(head) < FRAME or head[0] != 1:
        return UNFIT
    size, start = head[1], 2
    if size > 127:
        if head[2] > 127:
            return UNFIT
        size, start = size & 127 | head[2] << 7, 3
    if size & 1 or head[start] != 1:
        return UNFIT
    size >>= 1
    number, version = head[start + 1 : start + 3]
    sort = _SORTS.get(number, ODD)
    if sort is ODD or version > KNOWN_VERSIONS[number] or size - 3 < _LEAST[number]:
        return UNFIT
    if number == NO_OP and size - 3 != _LEAST[number]:
        return UNFIT
    # Directories came with version 1: without them a partition's record is decoded.
    if number == PARTITION and not version:
        return UNFIT
    return start + 3, start + size + 1, sort + version if sort == CHANGES else sort


def odd_frame(_: bytes) -> tuple[int, int, int]:
    """Return what is said of records whose dialect has other frames: decode them."""
    return UNFIT


def partition_shape(arrays: bytes) -> tuple[int, int]:
    """Return where the count of directories is behind *arrays*' first byte, and the record's end.

    That is for a record whose directories are as many as its replicas and which has no tagged
    field. (0, 0) where the arrays reach too far.
    """
    replicas, at = arrays[0], 0
    for _ in range(4):  # replicas, ISR, and those removed and added
        if at >= len(arrays) or not 0 < arrays[at] < 128:
            return 0, 0
        at += 1 + 4 * (arrays[at] - 1)
    at += 12  # leader, leader epoch, partition epoch
    return at, at + 1 + 16 * (replicas - 1) + 1


def partition_run(b: bytes, p: int, q: int, e: int, most: int) -> int:
    """Return how many records from the one at *p* on are alike but for their partition's state.

    They are of one topic, numbered one after the other, and have the same size and the same numbers
    of replicas of each sort. The first, which is at least alike itself, is known to be what it
    should: its frame is at *q*, its end at *e*. Columns of bytes are compared, not records, which
    takes a tenth of the time.

    Args:
        b: the records of a batch.
        p: where the first record begins.
        q: where its key's length is.
        e: where it ends.
        most: how many records of this size fit in the batch.
    """
    size = e - p
    number = q + (5 if b[q + 1] < 128 else 6)
    # Partition numbers grow in their last byte only, up to its end.
    count = min(most, 256 - b[number + 3])
    fixed = []
    at = number + KEY
    for _ in range(4):
        fixed.append(at)
        at += 1 + 4 * (b[at] - 1)
    # Most runs end with their topic: its id's last byte is looked at first.
    tail = [at + 12, e - 2, e - 1]
    fixed = [
        *range(number + KEY - 1, number + 3, -1),
        *fixed,
        *tail,
        p,
        p + 1,
        *range(q, number + 3),
    ]
    for column in fixed:
        found = b[column : p + count * size : size]
        count = len(found) - len(found.lstrip(found[:1]))
    first = b[number + 3]
    numbers = b[number + 3 : p + count * size : size]
    while numbers != bytes(range(first, first + len(numbers))):
        numbers = numbers[:-1]
    return len(numbers)
