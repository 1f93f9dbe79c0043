"""Records and bytes of a partition and its segments, by file names, indexes and last batches."""

import os
from contextlib import suppress

from kraftops.errors import KraftopsError
from kraftops.findings.finding import Stake
from kraftops.log.batch import HEADER_SIZE, Batch
from kraftops.log.files import FileKind
from kraftops.log.indexes import OffsetIndex
from kraftops.log.log_file import LogFile
from kraftops.server.loader.batches import whole_heads
from kraftops.server.metadata_log.files import Segment
from kraftops.server.metadata_log.log import read_partition
from kraftops.server.partition_files import PartitionFiles, SegmentFiles

_MOST_OFFSETS = (1 << 31) - 1  # of a segment: an index has 32 bits for them


def partition_data_of(folder: str) -> Stake:
    try:
        segments = read_partition(folder).segments
    except OSError:
        return Stake(None, 0)
    if not segments:
        return Stake(0, 0)
    size = sum(segment.size for segment in segments)
    try:
        end_offset, preallocated = _end(segments[-1])
    except KraftopsError:
        return Stake(None, size)
    size -= preallocated
    return Stake(max(0, end_offset - segments[0].base_offset), size)


def _end(segment: Segment) -> tuple[int, int]:
    """Return the offset after the last whole batch of a segment, and how many zeros follow it.

    A broker with log.preallocate leaves them until it stops.

    Raises:
        KraftopsError: it cannot be read.
    """
    end, position = segment.base_offset, 0
    with LogFile(segment.path) as log:
        for batch in log.batches(position_near_end(log, segment)):
            end = max(end, _last_offset(batch) + 1)
            position = batch.position + batch.size
        rest = max(0, log.size - position)
        # Without a batch, zeros are what is left of a damaged file.
        is_preallocated = position > 0 and not any(log.read_at(position, min(rest, HEADER_SIZE)))
    return end, rest if is_preallocated else 0


def is_cut_short(files: PartitionFiles, segment: SegmentFiles) -> bool:
    """Tell whether a segment has no bytes, or ends before the last batch that its index has.

    Of a broker with 100,000 segments that is 800 kB to read. What is lost after that batch, up to
    `index.interval.bytes`, a check of all bytes finds.
    """
    size, index = files.size_of(segment.log), segment.indexes.get(FileKind.INDEX)
    if not size or index is None or not files.size_of(index):
        return not size
    try:
        with files.open(index) as file:
            return OffsetIndex(file, segment.base_offset).last().position >= size
    except KraftopsError:
        return False  # the loading reports an index without a whole entry


def segment_end(files: PartitionFiles, segment: SegmentFiles) -> int:
    """Return the offset after the whole batches of a segment."""
    assert files.folder
    position = files.size_of(segment.log)
    while position > 0:
        position = _position_before(files, segment, position)
        heads = whole_heads(files.folder, os.path.basename(segment.log), position)
        if ends := [batch.last_offset + 1 for batch in heads]:
            return max(ends)
    return segment.base_offset


def _position_before(files: PartitionFiles, segment: SegmentFiles, position: int) -> int:
    """Return the last position before another one that the offset index has; 0 without one."""
    with suppress(KraftopsError, KeyError), files.open(segment.indexes[FileKind.INDEX]) as file:
        index = OffsetIndex(file, segment.base_offset)
        return index.last_up_to(segment.base_offset + _MOST_OFFSETS, position - 1).position
    return 0


def position_near_end(log: LogFile, segment: Segment) -> int:
    """Return the position of the last batch that the offset index has; 0 without one."""
    try:
        with LogFile(segment.index_path) as file:
            entry = OffsetIndex(file, segment.base_offset).last_used()
    except KraftopsError:
        return 0
    if not 0 < entry.position < segment.size:
        return 0
    # An index that was not flushed may be one of other batches.
    batch = next(iter(log.batches(entry.position)), None)
    return entry.position if batch and _last_offset(batch) == entry.offset else 0


def _last_offset(batch: Batch) -> int:
    """Return the last offset of a batch; a message of magic 0 or 1 begins with its last offset."""
    return int.from_bytes(batch.data[:8]) if batch.is_legacy else batch.header.last_offset
