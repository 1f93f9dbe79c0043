"""Records and bytes in the directory of a partition, from file names and the last segment."""

from __future__ import annotations

from kraftops.errors import KraftopsError
from kraftops.findings.finding import Stake
from kraftops.log.batch import HEADER_SIZE, Batch
from kraftops.log.indexes import OffsetIndex
from kraftops.log.log_file import LogFile
from kraftops.server.metadata_log.files import Segment
from kraftops.server.metadata_log.log import read_partition


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
