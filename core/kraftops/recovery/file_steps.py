"""Steps that turn the files of a metadata log into those of another one.

No file is appended to: missing batches, and the new batch at the end, come as new segments, as if
the log had been rolled. Every step is one rename or removal. Between two steps a server would read
a beginning of the old or of the new log.
"""

import os
import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

from kraftops.fileio.atomic import write_file
from kraftops.fileio.directories import Owner, sync_directory
from kraftops.fileio.mounts import opened, status_of
from kraftops.log.files import FileKind, FileName, file_name
from kraftops.log.ranges import ByteRange
from kraftops.recovery.log_copy import LogCopy
from kraftops.server.metadata_log.batch_comparison import common_prefix
from kraftops.server.metadata_log.files import Segment, Snapshot

TEMPORARY = ".recovering"
"""End of the names of unfinished files, which no server knows."""
_BLOCK = 1 << 20  # bytes that are copied at once
_EPOCH_FILE = "leader-epoch-checkpoint"
_LARGEST_SEGMENT = 1 << 30  # metadata.log.segment.bytes by default: a server rolls there
_PROPER_NAME = re.compile(r"\d{20}(-\d{10})?\.")
_OF_SEGMENTS = frozenset(
    {FileKind.INDEX, FileKind.TIME_INDEX, FileKind.TXN_INDEX, FileKind.PRODUCER_SNAPSHOT}
)


class WriteFile(NamedTuple):
    """Write a file from ranges of others and new bytes; replace the file of that name."""

    name: str
    parts: tuple[ByteRange | bytes, ...]

    @property
    def size(self) -> int:
        return sum(len(part) if isinstance(part, bytes) else part.size for part in self.parts)


class RemoveFile(NamedTuple):
    """Remove a file."""

    name: str


FileStep = WriteFile | RemoveFile

FileStates = dict[str, tuple[int, int]]
"""Size and time of change in ns of each file, by name."""


class _TargetFiles(NamedTuple):
    """Files of a log after the steps.

    *kept* is the offset up to which the old log stays; *snapshot* is copied, if there is one.
    """

    segments: list[WriteFile]
    snapshot: WriteFile | None
    kept: int


def file_steps(
    own: LogCopy, chosen: LogCopy, batch: bytes, names: Sequence[str]
) -> tuple[FileStep, ...]:
    """Return the steps that turn *own* into *chosen* with a batch at its end.

    Args:
        own: the log to change.
        chosen: the log to have; it may be the same.
        batch: the batch to add; empty for none.
        names: the names of all files in the folder of *own*.

    Raises:
        SourceError: a segment cannot be read.
    """
    target = _target(own, chosen)
    whole = {_whole(segment) for segment in own.segments}
    if batch:
        _end_with(target.segments, batch, chosen.end, whole)
    unchanged = {file.name for file in target.segments if file in whole}
    new = [file for file in target.segments if file not in whole]
    old_names = [os.path.basename(segment.path) for segment in reversed(own.segments)]
    changed = [name for name in old_names if name not in unchanged]
    # The first new segment may replace an old one; before that no later old one may be there.
    removed = [name for name in changed if not new or name != new[0].name]
    steps: list[FileStep] = [target.snapshot] if target.snapshot else []
    if changed:
        steps += map(RemoveFile, _derived_files(changed, target.kept, names))
    if own is not chosen:
        steps += map(RemoveFile, _stale_snapshots(own, chosen, target.kept, names))
    return (*steps, *map(RemoveFile, removed), *new)


def _target(own: LogCopy, chosen: LogCopy) -> _TargetFiles:
    if own is chosen:
        return _TargetFiles([] if own.is_snapshot_newer else _segments(own), None, own.end)
    prefix = common_prefix(own.segments, chosen.segments)
    snapshot = chosen.snapshot
    if snapshot and chosen.is_snapshot_newer:
        return _TargetFiles([], _whole(snapshot), 0)
    if snapshot and (chosen.start > prefix.offset or not own.has_sound_beginning):
        # From the segment on in which the snapshot ends.
        bases = [segment.base_offset for segment in chosen.segments]
        first = max(bisect_right(bases, snapshot.end_offset) - 1, 0)
        return _TargetFiles(_segments(chosen, (first, 0)), _whole(snapshot), 0)
    if not (own.has_sound_beginning and prefix.left and prefix.right):
        return _TargetFiles(_segments(chosen), None, 0)
    kept = _segments(own, stop=(prefix.left.segment, prefix.left.end))
    new = _segments(chosen, (prefix.right.segment, prefix.right.end))
    if new and prefix.left.end < own.segments[prefix.left.segment].size:
        kept[-1] = WriteFile(kept[-1].name, (*kept[-1].parts, *new[0].parts))
    elif new:
        kept.append(WriteFile(_segment_name(prefix.offset), new[0].parts))
    return _TargetFiles([*kept, *new[1:]], None, prefix.offset)


def _whole(file: Segment | Snapshot) -> WriteFile:
    return WriteFile(os.path.basename(file.path), (ByteRange(file.path, 0, file.size),))


def _segments(
    log: LogCopy, start: tuple[int, int] = (0, 0), stop: tuple[int, int] | None = None
) -> list[WriteFile]:
    """Return the sound bytes of a log from *start* up to *stop*, each a segment and a position."""
    if stop is None and log.tail:
        stop = (log.tail.segment, log.tail.position)
    segments = []
    for number, segment in enumerate(log.segments):
        first = start[1] if number == start[0] else 0
        last = stop[1] if stop and number == stop[0] else segment.size
        if number >= start[0] and first < last and not (stop and number > stop[0]):
            part = ByteRange(segment.path, first, last)
            segments.append(WriteFile(os.path.basename(segment.path), (part,)))
    return segments


def _end_with(
    segments: list[WriteFile], batch: bytes, offset: int, unchanged: Collection[WriteFile]
) -> None:
    """Add a batch to the last segment if that is written anyway, else in a new segment."""
    last = segments[-1] if segments else None
    if last and last not in unchanged and last.size < _LARGEST_SEGMENT:
        segments[-1] = WriteFile(last.name, (*last.parts, batch))
    else:
        segments.append(WriteFile(_segment_name(offset), (batch,)))


def _segment_name(offset: int) -> str:
    return f"{offset:020}{FileKind.LOG.value}"


def _derived_files(changed: Collection[str], kept: int, names: Sequence[str]) -> Iterator[str]:
    """Yield the indexes and producer snapshots of changed segments, and the epoch file."""
    stems = {name.partition(".")[0] for name in changed}
    for name in names:
        file = _server_file(name)
        is_of_segment = file is not None and file.kind in _OF_SEGMENTS
        is_old = name.partition(".")[0] in stems
        if name == _EPOCH_FILE or (file and is_of_segment and (is_old or file.base_offset > kept)):
            yield name


def _stale_snapshots(
    own: LogCopy, chosen: LogCopy, kept: int, names: Sequence[str]
) -> Iterator[str]:
    """Yield the snapshots that end after the kept offsets, or without a sound log after them."""
    copied = chosen.snapshot and os.path.basename(chosen.snapshot.path)
    useless = own.snapshot and os.path.basename(own.snapshot.path)
    if own.has_sound_beginning:
        useless = None
    for name in names:
        file = _server_file(name)
        if file is None or file.kind is not FileKind.CHECKPOINT or name == copied:
            continue
        if name == useless or file.snapshot_id[0] > kept:
            yield name


def _server_file(name: str) -> FileName | None:
    """Parse the name of a file in a log; None if a server does not use the file."""
    file = file_name(name)
    return None if file is None or file.renamed or not _PROPER_NAME.match(name) else file


def file_states(folder: str) -> FileStates:
    """Return the states of the finished files of a directory; none if it does not exist.

    Raises:
        OSError: it cannot be read.
    """
    states = {}
    with suppress(FileNotFoundError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_file(follow_symlinks=False) and not entry.name.endswith(TEMPORARY):
                status = entry.stat()
                states[entry.name] = status.st_size, status.st_mtime_ns
    return states


def write_parts(
    path: str, parts: Sequence[ByteRange | bytes], owner: Owner | None, time_ns: int | None = None
) -> None:
    """Make a file of parts, or replace it; *time_ns* is its time of change.

    Raises:
        OSError: it cannot be made; then nothing has changed.
    """
    write_file(path, path + TEMPORARY, _blocks(parts), owner=owner, time_ns=time_ns)


def remove_file(path: str) -> None:
    """Remove a file, if it is there.

    Raises:
        OSError: it cannot be removed.
    """
    with suppress(FileNotFoundError):
        os.unlink(path)
        sync_directory(os.path.dirname(path))


def whole_file(path: str) -> ByteRange:
    return ByteRange(path, 0, status_of(path).size)


def _blocks(parts: Sequence[ByteRange | bytes]) -> Iterator[bytes]:
    for part in parts:
        if isinstance(part, bytes):
            yield part
            continue
        with opened(part.path) as file:
            for position in range(part.start, part.start + part.size, _BLOCK):
                size = min(_BLOCK, part.start + part.size - position)
                block = file.read_at(position, size)
                if len(block) < size:
                    raise OSError(0, "it has shrunk", part.path)
                yield block
