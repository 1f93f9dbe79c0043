"""The size of a metadata log on disk, its end offset, and the age of its newest snapshot."""

from collections.abc import Iterable
from contextlib import suppress
from typing import NamedTuple

from kraftops.dump.sources.names import Source
from kraftops.errors import KraftopsError, UsageError
from kraftops.image.load.sources import files_of, size_of, snapshot_time
from kraftops.log.files import STANDARD_INPUT
from kraftops.log.streams import open_log
from kraftops.server.metadata_log.files import Segment, Snapshot
from kraftops.server.metadata_log.log import MetadataLog
from kraftops.uris import is_remote

_HOUR = 3_600_000


class LogSize(NamedTuple):
    """Numbers, bytes and offsets of the files of a metadata log; None where there is no file.

    *lag* is KIP-631's MetadataSnapshotOffsetLag.
    """

    segments: int
    segment_bytes: int
    snapshots: int
    snapshot_bytes: int
    end_offset: int | None
    snapshot_end_offset: int | None
    snapshot_timestamp: int | None

    @property
    def lag(self) -> int | None:
        """The number of offsets after the newest snapshot."""
        if self.end_offset is None or self.snapshot_end_offset is None:
            return None
        return max(0, self.end_offset - self.snapshot_end_offset)


def log_size(names: Iterable[str]) -> LogSize:
    """Return the size of the log of *names*, as `load` takes them.

    Raises:
        SourceError: a directory or a file cannot be read.
    """
    files = files_of(names)
    newest = files.snapshots[0] if files.snapshots else None
    end = timestamp = None
    if newest:
        timestamp = snapshot_time(newest)
        try:
            end = newest.snapshot_id[0]
        except UsageError:
            end = None
    return LogSize(
        segments=len(files.segments),
        segment_bytes=sum(size_of(segment.path) for segment in files.segments),
        snapshots=len(files.snapshots),
        snapshot_bytes=sum(size_of(snapshot.path) for snapshot in files.snapshots),
        end_offset=_end_offset(files.segments[-1].path) if files.segments else None,
        snapshot_end_offset=end,
        snapshot_timestamp=timestamp,
    )


def reach(names: Iterable[str]) -> tuple[int, int]:
    """Return the epoch and the end of what can be read of a log; zeros where nothing can.

    Damage ends it, as for the server that starts with it.
    """
    with suppress(KraftopsError):
        files = files_of(names)
        snapshots = [
            Snapshot(*file.snapshot_id, file.path, size_of(file.path)) for file in files.snapshots
        ]
        segments = [
            Segment(file.base_offset, file.path, size_of(file.path)) for file in files.segments
        ]
        return MetadataLog(tuple(snapshots), tuple(segments)).content.rank
    return 0, 0


def newest_time_in(sources: Iterable[Source], now: int) -> int | None:
    """Return the newest time of the logs that sources are files of, as `newest_time`.

    Standard input is read only once, and of object stores one log at most; so none is read here.
    """
    logs: dict[int, list[str]] = {}
    for source in sources:
        logs.setdefault(source.group, []).append(source.path)
    groups = [paths for paths in logs.values() if STANDARD_INPUT not in paths]
    if len(groups) > 1 and any(is_remote(paths[-1]) for paths in groups):
        return None
    times = [time for paths in groups if (time := newest_time(paths)) is not None]
    # A record may be far ahead, in one of thousands of logs; a broker takes an hour by default
    # (message.timestamp.after.max.ms).
    return max((time for time in times if time <= now + _HOUR), default=max(times, default=None))


def newest_time(names: Iterable[str]) -> int | None:
    """Return the newest time in the last segment with one, or else of the newest snapshot, in ms.

    Only batch headers are read. It is None where no record has a time, and where nothing is read.
    """
    newest = 0
    with suppress(KraftopsError):
        files = files_of(names)
        for segment in reversed(files.segments):
            with suppress(KraftopsError), open_log(segment.path) as log:
                for batch in log.batches():
                    newest = max(newest, batch.header.max_timestamp)
            if newest:
                return newest
        return snapshot_time(files.snapshots[0]) if files.snapshots else None
    return None


def _end_offset(path: str) -> int | None:
    """Return the offset after the last whole batch of a segment; None if it has none."""
    end = None
    with suppress(KraftopsError), open_log(path) as log:
        for batch in log.batches():
            end = batch.header.last_offset + 1
    return end
