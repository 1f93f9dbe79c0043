"""The files of a metadata log, and plans to read them."""

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from typing import NamedTuple

from kraftops.errors import DecodeError, SourceError, UsageError
from kraftops.fileio.mounts import is_directory, names_in, status_of
from kraftops.findings.finding import Finding, Place
from kraftops.image.replay.limits import Limits
from kraftops.image.state.findings import BAD_SNAPSHOT, log_finding
from kraftops.log.batch import records
from kraftops.log.files import (
    BOOTSTRAP_CHECKPOINT,
    METADATA_PARTITION,
    FileKind,
    FileName,
    file_name,
)
from kraftops.log.streams import open_log
from kraftops.records import control
from kraftops.records.meaning import Decoded
from kraftops.uris import is_remote, local_path


class LogFiles(NamedTuple):
    """The files of a metadata log: snapshots newest first, segments by offset."""

    snapshots: tuple[FileName, ...]
    segments: tuple[FileName, ...]
    bootstrap: str | None
    is_directory: bool
    """Whether they are from a directory, where a server may be writing."""


class SourceFile(NamedTuple):
    """A file to be read from byte *start*; *end_offset* is a snapshot's, None for other files."""

    path: str
    end_offset: int | None = None
    is_snapshot: bool = False
    start: int = 0


def files_of(names: Iterable[str]) -> LogFiles:
    """Return the files of a log from names of files, partition directories and log directories.

    Names may be URIs, also of object stores.

    Raises:
        SourceError: a directory cannot be read, or none of them has a metadata log.
    """
    snapshots, segments, bootstrap, is_directory = [], [], None, False
    for name in map(local_path, names):
        paths = [name]
        if _is_directory(name):
            is_directory = True
            paths = list(_in_directory(name))
        for path in paths:
            if os.path.basename(path) == BOOTSTRAP_CHECKPOINT:
                bootstrap = path
                continue
            file = file_name(path)
            if file and file.kind is FileKind.CHECKPOINT and not file.renamed:
                snapshots.append(file)
            elif file and file.kind is FileKind.LOG and not file.renamed:
                segments.append(file)
            elif not is_directory:
                # Kafka's shell does not look at names: a log may be called anything.
                segments.append(FileName(path, FileKind.LOG, ""))
    snapshots.sort(key=_snapshot_order, reverse=True)
    segments.sort(key=_segment_order)
    return LogFiles(tuple(snapshots), tuple(segments), bootstrap, is_directory)


def read_plans(files: LogFiles, limits: Limits) -> Iterator[tuple[list[SourceFile], list[Finding]]]:
    """Yield plans to read a log, the best first: files in order, and findings about the plan.

    The first begins with the newest snapshot within *limits*; each next one is for the case that
    the snapshot before turns out to be damaged.

    Raises:
        UsageError: no snapshot is as old as the limits, and the log does not reach back to them.
    """
    findings: list[Finding] = []
    chosen = [snapshot for snapshot in files.snapshots if is_within(snapshot, limits)]
    reaches_back = bool(files.segments) and base_offset_of(files.segments[0]) == 0
    if files.snapshots and not chosen and not reaches_back:
        oldest = files.snapshots[-1]
        earliest = (end_offset_of(oldest) or 0) - 1
        raise UsageError(
            f"{oldest.path} is the oldest snapshot, and it is newer than that",
            f"the earliest state that can be shown is that at offset {earliest}",
        )
    for snapshot in chosen:
        end = end_offset_of(snapshot)
        plan = [SourceFile(snapshot.path, end, is_snapshot=True)]
        if not end and files.bootstrap and not any(map(_size, files.segments)):
            plan.insert(0, SourceFile(files.bootstrap, is_snapshot=True))
        plan += [SourceFile(segment.path) for segment in segments_from(files.segments, end or 0)]
        yield plan, list(findings)
        findings.append(
            log_finding(
                BAD_SNAPSHOT,
                "the snapshot is incomplete: it is skipped",
                Place(file=snapshot.path),
            )
        )
    plan = []
    if reaches_back or not files.snapshots:
        plan = [SourceFile(segment.path) for segment in files.segments]
    if files.bootstrap and not files.snapshots and not any(map(_size, files.segments)):
        plan = [SourceFile(files.bootstrap, is_snapshot=True)]
    if plan:
        yield plan, findings


def whole_log_plans(files: LogFiles) -> Iterator[list[SourceFile]]:
    """Yield plans to read as much of a log as exists, the longest first.

    They begin with the first record, or with the oldest snapshot that the segments continue.
    """
    segments = [SourceFile(segment.path) for segment in files.segments]
    start = base_offset_of(files.segments[0]) if files.segments else None
    if start == 0:
        yield segments
    elif start is None:
        yield from (
            [SourceFile(file.path, end_offset_of(file), is_snapshot=True)]
            for file in files.snapshots
        )
    else:
        for snapshot in reversed(files.snapshots):
            end = end_offset_of(snapshot) or 0
            if end >= start:
                after = [SourceFile(segment.path) for segment in segments_from(files.segments, end)]
                yield [SourceFile(snapshot.path, end, is_snapshot=True), *after]
        yield segments
    if files.bootstrap:
        yield [SourceFile(files.bootstrap, is_snapshot=True)]


def _in_directory(directory: str) -> Iterator[str]:
    """Yield the files of the metadata log in a directory or its metadata partition."""
    names = _names(directory)
    if METADATA_PARTITION in names:
        inner = os.path.join(directory, METADATA_PARTITION)
        yield from (os.path.join(inner, name) for name in _names(inner))
    paths = {os.path.join(directory, name) for name in names if _is_of_log(name)}
    yield from sorted(path for path in paths if not is_directory(path))


def _is_of_log(name: str) -> bool:
    """Tell whether a file is one of a log by its name: the directory of a node has server.log."""
    file = file_name(name)
    if file is None or file.kind is not FileKind.LOG:
        return file is not None
    with suppress(UsageError):
        return file.base_offset >= 0
    return False


def _is_directory(path: str) -> bool:
    if not is_remote(path):
        return is_directory(path)
    from kraftops.log.remote import list_directory

    return list_directory(path) is not None


def _names(directory: str) -> list[str]:
    if is_remote(directory):
        from kraftops.log.remote import list_directory

        return [entry.name for entry in list_directory(directory) or ()]
    try:
        return names_in(directory)
    except OSError as error:
        raise SourceError.of(directory, error) from None


def segments_from(segments: tuple[FileName, ...], end: int) -> list[FileName]:
    bases = [base_offset_of(segment) for segment in segments[1:]]
    kept = [segment for segment, following in zip(segments, bases, strict=False) if following > end]
    return [*kept, *segments[-1:]]


def is_within(snapshot: FileName, limits: Limits) -> bool:
    """Tell whether a snapshot has no records after limits, as far as it says."""
    end = end_offset_of(snapshot)
    if end is not None and end > limits.until + 1:
        return False
    if limits.time == Limits().time:
        return True
    time = snapshot_time(snapshot)
    return time is None or time <= limits.time


def snapshot_time(snapshot: FileName) -> int | None:
    """Return the time of the last record that a snapshot covers, in ms; None without a header."""
    with suppress(DecodeError, SourceError), open_log(snapshot.path) as log:
        for batch in islice(log.batches(), 1):
            for record in records(batch):
                decoded = control.decode(record.key, record.value, whole=False)
                if isinstance(decoded, Decoded) and decoded.type == "SNAPSHOT_HEADER":
                    return int(str(decoded.data["lastContainedLogTimestamp"]))
    return None


def size_of(path: str) -> int:
    """Return the size of a file in bytes.

    Raises:
        SourceError: it cannot be read.
    """
    if is_remote(path):
        from kraftops.log.remote import sizes_of

        return sizes_of([path])[0] or 0
    try:
        return status_of(path).size
    except OSError as error:
        raise SourceError.of(path, error) from None


def _size(file: FileName) -> int:
    with suppress(SourceError):
        return size_of(file.path)
    return 0


def end_offset_of(snapshot: FileName) -> int | None:
    """Return the offset at which a snapshot ends, exclusive; None if its name has none."""
    with suppress(UsageError):
        return snapshot.snapshot_id[0]
    return None


def _snapshot_order(snapshot: FileName) -> tuple[int, int]:
    with suppress(UsageError):
        end, epoch = snapshot.snapshot_id
        return epoch, end
    return -1, -1


def base_offset_of(segment: FileName) -> int:
    """Return the first offset that a segment may have; 0 if its name has none."""
    with suppress(UsageError):
        return segment.base_offset
    return 0


def _segment_order(segment: FileName) -> tuple[int, str]:
    return base_offset_of(segment), segment.path
