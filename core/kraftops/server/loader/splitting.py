"""The split of a segment whose offsets do not fit into its indexes (`splitOverflowedSegment`)."""

from kraftops.server.loader import thrown
from kraftops.server.loader.contract import Depth
from kraftops.server.loader.disk import CLEANED, SWAP, Disk
from kraftops.server.loader.segment import Segment, Segments
from kraftops.server.loader.thrown import LoadError


def split(segment: Segment, segments: Segments, disk: Disk) -> list[int]:
    """Replace a segment by several with the same batches.

    Returns:
        The base offsets of segments that are gone.

    Raises:
        LoadError: its last offset fits, as after damage of other kinds.
    """
    if not segment.has_overflow():
        reason = "Split operation is only permitted for segments with overflow"
        raise LoadError(thrown.ILLEGAL_ARGUMENT, reason, segment.log_name)
    parts: list[Segment] = []
    try:
        _fill(parts, segment, disk)
        return _replace(segment, parts, segments)
    except LoadError:
        for part in parts:
            part.delete()
        raise


def _fill(parts: list[Segment], segment: Segment, disk: Disk) -> None:
    position = 0
    while position < segment.log.size:
        first = next(segment.batches(position, Depth.HEADS), None)
        if first is None:
            raise LoadError(thrown.NO_SUCH_ELEMENT, "the log ends in the middle of a batch")
        part = Segment(disk, first.base_offset, CLEANED)
        if part.log.size:
            part.delete()
            part = Segment(disk, first.base_offset, CLEANED)
        parts.append(part)
        size = part.append_from(segment, position)
        if not size:
            raise LoadError(
                thrown.ILLEGAL_STATE, f"Failed to append records from position {position}"
            )
        position += size
    for part in parts:
        part.become_inactive()


def _replace(segment: Segment, parts: list[Segment], segments: Segments) -> list[int]:
    """Rename the parts in the place of a segment (`LocalLog.replaceSegments`)."""
    parts = sorted(parts, key=lambda part: part.base_offset)
    was_loaded = segment.base_offset in segments
    for part in reversed(parts):
        part.rename(SWAP)
        segments.add(part)
    gone = []
    if was_loaded:
        if segment.base_offset != parts[0].base_offset:
            segments.remove(segment.base_offset)
        segment.mark_for_deletion()
        if segment.base_offset not in {part.base_offset for part in parts}:
            gone.append(segment.base_offset)
    for part in parts:
        part.rename("")
    return gone
