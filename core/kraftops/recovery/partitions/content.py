"""Whether copies of a partition are whole, and two of them have the same batches by their headers.

A follower has its leader's bytes. Only the cleaner changes them, of each replica for itself, below
the offset in its checkpoint (`LogCleaner`).
"""

import os
import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

from kraftops.errors import KraftopsError, SourceError
from kraftops.log.damage.salvage import Gap, last_offset, salvaged
from kraftops.log.files import FileKind
from kraftops.log.indexes import OffsetIndex
from kraftops.recovery.partitions.copies import Hole, PartitionCopy
from kraftops.server.loader.batches import has_wrong_checksum, walk, whole_heads
from kraftops.server.loader.contract import Depth, DiskFolder, LogBatch
from kraftops.server.loader.thrown import LoadError
from kraftops.server.partition_data import segment_end
from kraftops.server.partition_files import PartitionFiles, SegmentFiles, partition_files

MISSING_OFFSETS, BAD_BATCH = "missing-offsets", "bad-batch"
BY_COMPARISON = (MISSING_OFFSETS, BAD_BATCH)
"""Codes of holes in a copy that a start takes: other copies tell them, or the bytes of a batch."""
Identity = tuple[int, int, int, int]
"""First and last offset, epoch and checksum of a batch, equal in all copies."""


class ContentDifference(NamedTuple):
    """The first batches of two copies that are not the same one, where these should be equal."""

    offset: int
    mine: Identity
    theirs: Identity


@dataclass(slots=True)
class ReadAllowance:
    """The bytes of logs that may still be read for their checksums."""

    bytes: int = 64 << 20  # less than a second


def with_holes(
    copies: Sequence[PartitionCopy], allowance: ReadAllowance, *, is_deep: bool
) -> list[PartitionCopy]:
    """Return the copies of a partition with what each lacks inside.

    These are the segments that only others have, and batches whose bytes do not match the checksums
    in their headers: the first and the last one, and all of them with *is_deep*, and where copies
    are not alike, since one may have to replace others.
    """
    if len(copies) < 2:
        return [*copies]
    bases = {base for copy in copies for base in copy.bases}
    with_gaps = [
        replace(
            copy, holes=tuple(dict.fromkeys((*copy.holes, *_gaps(copy, bases), *_damage(copy))))
        )
        if copy.bases
        else copy
        for copy in copies
    ]
    ranks = {copy.rank for copy in with_gaps}
    is_alike = len(ranks) == 1 and all(copy.is_loaded and not copy.holes for copy in with_gaps)
    if is_alike and not is_deep:
        return with_gaps
    return [_read_whole(copy, allowance) if copy.bases else copy for copy in with_gaps]


def _read_whole(copy: PartitionCopy, allowance: ReadAllowance) -> PartitionCopy:
    """Return a copy with all its damage, if that much may be read."""
    try:
        files = partition_files(copy.place)
        size = sum(files.size_of(segment.log) for segment in files.segments)
        if size > allowance.bytes:
            return replace(copy, is_read=False)
        allowance.bytes -= size
        ends = (*copy.bases[1:], copy.end)
        damage = [
            Hole(BAD_BATCH, offsets)
            for segment, end in zip(files.segments, ends, strict=False)
            for offsets in _damaged_offsets(files, segment, min(end, copy.end))
        ]
    except (OSError, SourceError):  # it is gone meanwhile
        return replace(copy, is_read=False)
    return replace(copy, holes=tuple(dict.fromkeys((*copy.holes, *damage))))


def _damaged_offsets(files: PartitionFiles, segment: SegmentFiles, end: int) -> Iterator[range]:
    """Yield offsets before *end* of damaged batches, and of those not found after damage."""
    assert files.folder
    name = os.path.basename(segment.log)
    position, first = 0, segment.base_offset
    with suppress(LoadError):
        for batch in walk(files.folder, name, 0, files.folder.files.get(name, 0), Depth.WHOLE):
            if batch.base_offset >= end:
                return
            if batch.damage:
                break
            position, first = batch.end, batch.last_offset + 1
    if position >= files.folder.files.get(name, 0):
        return  # offsets are missing, not bytes
    with files.folder.open(name) as log:
        for part in salvaged(log, position):
            if not isinstance(part, Gap):
                first = last_offset(part) + 1
            elif first < (
                following := min(end if part.next_offset is None else part.next_offset, end)
            ):
                yield range(first, following)


def _gaps(copy: PartitionCopy, bases: Collection[int]) -> Iterator[Hole]:
    """Yield the offsets between two segments where other copies have one; a cleaner leaves gaps."""
    for base, following in pairwise(copy.bases):
        if base >= copy.cleaned and any(base < other < following for other in bases):
            end = _end_of(copy.place, base)
            if end < following:
                yield Hole(MISSING_OFFSETS, range(end, following))


def _end_of(path: str, base: int) -> int:
    """Return the offset after the segment of a base offset; beyond all if it is gone meanwhile."""
    with suppress(SourceError):
        files = partition_files(path)
        for segment in files.segments:
            if segment.base_offset == base:
                return segment_end(files, segment)
    return sys.maxsize


def _damage(copy: PartitionCopy) -> Iterator[Hole]:
    """Yield the first and the last batch, where its bytes do not have its checksum."""
    reads = (
        next(_batches(copy.place, first, copy.end), None) for first in (copy.start, copy.end - 1)
    )
    batches = {read[1:]: read[0] for read in reads if read}
    for (name, batch), folder in batches.items():
        if has_wrong_checksum(folder, name, batch):
            yield Hole(BAD_BATCH, range(batch.base_offset, batch.last_offset + 1))


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
    for _, _, batch in _batches(path, first, end):
        yield batch.base_offset, batch.last_offset, batch.leader_epoch, batch.crc


def _batches(path: str, first: int, end: int) -> Iterator[tuple[DiskFolder, str, LogBatch]]:
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
                    assert files.folder
                    yield files.folder, os.path.basename(segment.log), batch


def _heads(files: PartitionFiles, segment: SegmentFiles, first: int) -> Iterator[LogBatch]:
    """Yield the batches of a segment from the one with an offset on, as its index leads to it."""
    name = os.path.basename(segment.log)
    position = 0
    # Without its index it is searched from its first batch on.
    with suppress(KraftopsError, KeyError), files.open(segment.indexes[FileKind.INDEX]) as file:
        position = OffsetIndex(file, segment.base_offset).position_below(first)
    assert files.folder
    return whole_heads(files.folder, name, position)
