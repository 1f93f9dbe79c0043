"""The rest of a damaged metadata log, which begins with a snapshot."""

from collections.abc import Iterator

from kraftops.image.load.sources import (
    LogFiles,
    SourceFile,
    base_offset_of,
    end_offset_of,
    is_within,
    segments_from,
)
from kraftops.image.replay.limits import Limits
from kraftops.log.batch import Batch
from kraftops.log.damage.salvage import salvaged
from kraftops.log.log_file import LogFile
from kraftops.log.streams import open_log


def plans_after(
    files: LogFiles, path: str, position: int, limits: Limits
) -> Iterator[list[SourceFile]]:
    """Yield plans to read a log after damage in a segment, the longest first.

    Each begins with a snapshot, which the first whole batch after the damage, or a later one,
    continues.

    Raises:
        SourceError: the segment can no longer be read.
    """
    paths = [segment.path for segment in files.segments]
    segments = files.segments[paths.index(path) :]
    begin = _batch_after(path, position)
    if begin is None:
        segments = segments[1:]
        if not segments:
            return
        begin = 0, base_offset_of(segments[0])
    start, offset = begin
    damaged = SourceFile(path, start=start)
    for snapshot in reversed(files.snapshots):
        end = end_offset_of(snapshot)
        if end is not None and end >= offset and is_within(snapshot, limits):
            after = [SourceFile(segment.path) for segment in segments_from(segments, end)]
            after = [damaged if file.path == path else file for file in after]
            yield [SourceFile(snapshot.path, end, is_snapshot=True), *after]


def _batch_after(path: str, position: int) -> tuple[int, int] | None:
    """Return position and base offset of the first whole batch of magic 2 after damage."""
    with open_log(path) as log:
        if isinstance(log, LogFile):
            for part in salvaged(log, position):
                if isinstance(part, Batch) and part.position > position and not part.is_legacy:
                    return part.position, part.header.base_offset
    return None
