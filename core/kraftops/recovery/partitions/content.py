"""Whether two copies of a partition have the same batches, by the checksums in their headers.

A follower has its leader's bytes. Only the cleaner changes them, of each replica for itself, below
the offset in its checkpoint (`LogCleaner`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from kraftops.errors import KraftopsError, SourceError
from kraftops.log.files import FileKind
from kraftops.log.indexes import OffsetIndex
from kraftops.recovery.partitions.copies import PartitionCopy
from kraftops.server.loader.batches import whole_heads
from kraftops.server.loader.contract import LogBatch
from kraftops.server.partition_files import PartitionFiles, SegmentFiles, partition_files

Identity = tuple[int, int, int, int]
"""First and last offset, epoch and checksum of a batch, equal in all copies."""


class ContentDifference(NamedTuple):
    """The first batches of two copies that are not the same one, where these should be equal."""

    offset: int
    mine: Identity
    theirs: Identity


def first_difference(
    copy: PartitionCopy, other: PartitionCopy, end: int, *, is_deep: bool = False
) -> tuple[bool, ContentDifference | None]:
    """Return whether batches before *end* could be compared, and the first that are not equal.

    These are the first and the last one that both copies have; with *is_deep* all of them.
    """
    begin = max(copy.start, other.start, copy.cleaned, other.cleaned)
    is_read = False
    for first in (begin,) if is_deep else (begin, end - 1):
        if begin >= end:
            break
        for mine, theirs in _pairs(copy, other, first, end):
            is_read = True
            if mine != theirs:
                offset = max(begin, min(mine[0], theirs[0]))
                return True, ContentDifference(offset, mine, theirs)
            if not is_deep:
                break
    return is_read, None


def _pairs(
    copy: PartitionCopy, other: PartitionCopy, first: int, end: int
) -> Iterator[tuple[Identity, Identity]]:
    """Yield the batches of two copies that have offsets in common; after damage there are none."""
    of_copy, of_other = _identities(copy.place, first, end), _identities(other.place, first, end)
    mine, theirs = next(of_copy, None), next(of_other, None)
    while mine and theirs:
        if mine[0] <= theirs[1] and theirs[0] <= mine[1]:
            yield mine, theirs
        is_mine_first = mine[1] <= theirs[1]
        if theirs[1] <= mine[1]:
            theirs = next(of_other, None)
        if is_mine_first:
            mine = next(of_copy, None)


def _identities(path: str, first: int, end: int) -> Iterator[Identity]:
    """Yield the batches of a partition from the one with an offset on; none is legacy.

    A directory that can no longer be read has none: its findings tell why.
    """
    try:
        files = partition_files(path)
    except SourceError:
        return
    last_base = max(
        (base for segment in files.segments if (base := segment.base_offset) <= first), default=0
    )
    for segment in files.segments:
        if last_base <= segment.base_offset < end:
            for batch in _heads(files, segment, first):
                if batch.magic > 1 and batch.last_offset >= first and batch.base_offset < end:
                    yield batch.base_offset, batch.last_offset, batch.leader_epoch, batch.crc


def _heads(files: PartitionFiles, segment: SegmentFiles, first: int) -> Iterator[LogBatch]:
    """Yield the batches of a segment from the one with an offset on, as its index leads to it."""
    name = os.path.basename(segment.log)
    position = 0
    # Without its index it is searched from its first batch on.
    with suppress(KraftopsError, KeyError), files.open(segment.indexes[FileKind.INDEX]) as file:
        position = OffsetIndex(file, segment.base_offset).position_below(first)
    assert files.folder
    return whole_heads(files.folder, name, position)
