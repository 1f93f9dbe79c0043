"""The files in the directory of a partition, as a server sees them when it loads a log.

The rules for files of an interrupted compaction are those of Kafka's `LogLoader`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from kraftops.dump.sources.partition_directory import METADATA_TOPIC
from kraftops.dump.sources.parts import sizes_of
from kraftops.errors import SourceError, UsageError
from kraftops.log.files import FileKind, FileName, file_name, partition_of, tiered_name

EPOCHS = "leader-epoch-checkpoint"
TOPIC_ID = "partition.metadata"
_INDEXES = (FileKind.INDEX, FileKind.TIME_INDEX, FileKind.TXN_INDEX)


@dataclass(frozen=True, slots=True)
class SegmentFiles:
    """The files of a segment: its log, and its indexes as far as they exist."""

    base_offset: int
    log: str
    indexes: dict[FileKind, str]


@dataclass(frozen=True, slots=True)
class PartitionFiles:
    """The files of a partition.

    Attributes:
        path: of the directory.
        topic: by the name of the directory, or None.
        partition: likewise.
        segments: in the order of their offsets, with those that a start would swap in.
        orphans: indexes without a log.
        snapshots: producer snapshots by their offset.
        checkpoints: the snapshots of a metadata log.
        swaps: logs that a start would rename.
        has_epochs: whether there is a leader-epoch-checkpoint.
        has_topic_id: whether there is a partition.metadata.
        is_tiered: whether these are segments in a tier, without what is beside a log.
        names: of all files in the directory.
        is_joined: whether the remote log metadata tells how segments follow each other.
        is_alone: whether it is one segment, of which not all files are meant.
    """

    path: str
    topic: str | None
    partition: int | None
    segments: tuple[SegmentFiles, ...]
    orphans: tuple[str, ...]
    snapshots: dict[int, str]
    checkpoints: tuple[FileName, ...]
    swaps: tuple[str, ...]
    has_epochs: bool
    has_topic_id: bool
    is_tiered: bool
    names: tuple[str, ...] = ()
    is_joined: bool = False
    is_alone: bool = False

    @staticmethod
    def missing(path: str, topic: str, partition: int) -> PartitionFiles:
        """Return the files of a tiered partition without any."""
        files = partition_files_of(path, ())
        return replace(files, topic=topic, partition=partition, is_tiered=True)

    @staticmethod
    def of_segment(segment: SegmentFiles) -> PartitionFiles:
        """Return the files of one segment."""
        files = partition_files_of(segment.log, ())
        return replace(files, segments=(segment,), is_alone=True)

    @property
    def is_archived(self) -> bool:
        """Whether there are compressed files, which no server reads."""
        return any((file := file_name(name)) and file.archive for name in self.names)

    @property
    def is_metadata(self) -> bool:
        """Whether it is the log of the cluster's metadata."""
        return self.topic == METADATA_TOPIC or bool(self.checkpoints)

    @property
    def is_bare(self) -> bool:
        """Whether these are only logs, copied without what lies beside them."""
        has_index = any(segment.indexes for segment in self.segments)
        return not (has_index or self.has_epochs or self.has_topic_id)


def partition_files(path: str) -> PartitionFiles:
    """Return the files in the directory of a partition.

    Raises:
        SourceError: it cannot be read.
    """
    return partition_files_of(path, _names(path))


def partition_files_of(path: str, names: Sequence[str]) -> PartitionFiles:
    """Return the files of some names in the directory of a partition."""
    files = [file for name in names if (file := _with_offset(os.path.join(path, name)))]
    plain = [file for file in files if not file.renamed]
    swaps = _swaps(files)
    segments, orphans = _segments(plain, swaps)
    first = segments[0].log if segments else os.path.join(path, "")
    topic, partition = partition_of(first) or (None, None)
    return PartitionFiles(
        path,
        topic,
        partition,
        segments,
        orphans,
        # That of a tiered segment covers the segment itself.
        {
            f.base_offset: f.path
            for f in plain
            if f.kind is FileKind.PRODUCER_SNAPSHOT and not f.is_tiered
        },
        tuple(f for f in plain if f.kind is FileKind.CHECKPOINT and not f.is_bootstrap),
        tuple(f.path for f in swaps if f.kind is FileKind.LOG),
        EPOCHS in names,
        TOPIC_ID in names,
        any(tiered_name(name) for name in names),
        tuple(names),
    )


def _names(path: str) -> list[str]:
    try:
        return sorted(os.listdir(path))
    except OSError as error:
        raise SourceError(f"cannot read {path}: {error.strerror}") from None


def _with_offset(path: str) -> FileName | None:
    """Return the parsed name of a file that a server reads; None for another one."""
    file = file_name(path)
    if file is None or file.archive:
        return None
    try:
        _ = file.snapshot_id if file.kind is FileKind.CHECKPOINT else file.base_offset
    except UsageError:
        return None
    return file


def _swaps(files: list[FileName]) -> list[FileName]:
    """Return the files that a start would rename; those of an older compaction are dropped."""
    cleaned = [file.base_offset for file in files if file.renamed == ".cleaned"]
    limit = min(cleaned, default=None)
    return [
        file
        for file in files
        if file.renamed == ".swap" and (limit is None or file.base_offset < limit)
    ]


def _segments(
    plain: list[FileName], swaps: Iterable[FileName]
) -> tuple[tuple[SegmentFiles, ...], tuple[str, ...]]:
    by_place: dict[tuple[int, str], dict[FileKind, str]] = {}
    for file in [*plain, *swaps]:
        if file.kind is FileKind.LOG or file.kind in _INDEXES:
            place = file.base_offset, file.segment_id  # a tier may have copies of a segment
            by_place.setdefault(place, {})[file.kind] = file.path
    segments: list[SegmentFiles] = []
    orphans: list[str] = []
    for (offset, _), found in sorted(by_place.items()):
        log = found.pop(FileKind.LOG, None)
        if log is None:
            orphans += found.values()
        else:
            segments.append(SegmentFiles(offset, log, found))
    return tuple(segments), tuple(orphans)


def size_of(path: str) -> int:
    """Return the bytes of a file; 0 if it is gone."""
    return next(iter(sizes_of([path])))


def changed_since(path: str, seconds: float) -> bool:
    """Tell whether files of a directory were made, written, renamed or deleted since a time."""
    try:
        with os.scandir(path) as entries:
            newest = max((entry.stat().st_mtime for entry in entries), default=0.0)
        return max(newest, os.stat(path).st_mtime) >= seconds
    except OSError:
        return True
