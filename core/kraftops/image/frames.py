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
