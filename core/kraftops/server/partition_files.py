"""The files in the directory of a partition, as a server sees them when it loads a log.

The rules for files of an interrupted compaction are those of Kafka's `LogLoader`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

from kraftops.display import quoting
from kraftops.errors import DecodeError, SourceError, UsageError
from kraftops.fileio.mounts import status_of
from kraftops.fileio.reading import read_small
from kraftops.findings.finding import Cure
from kraftops.log.files import (
    METADATA_TOPIC,
    FileKind,
    FileName,
    file_name,
    offset_in,
    partition_of,
    tiered_name,
)
from kraftops.log.held_files import LARGEST_OF_LOAD
from kraftops.log.log_file import LogFile
from kraftops.server.loader.contract import DiskFolder
from kraftops.uuids import from_text

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
        producer_snapshots: their paths by offset.
        metadata_snapshots: of a metadata log, `.checkpoint` files.
        swaps: logs that a start would rename.
        has_epochs: whether there is a leader-epoch-checkpoint.
        has_topic_id: whether there is a partition.metadata.
        is_tiered: whether these are segments in a tier, without what is beside a log.
        names: of all files in the directory.
        folder: the directory as it was listed; None of files that are named alone.
        is_joined: whether the remote log metadata tells how segments follow each other.
        is_alone: whether it is one segment, of which not all files are meant.
    """

    path: str
    topic: str | None
    partition: int | None
    segments: tuple[SegmentFiles, ...]
    orphans: tuple[str, ...]
    producer_snapshots: dict[int, str]
    metadata_snapshots: tuple[FileName, ...]
    swaps: tuple[str, ...]
    has_epochs: bool
    has_topic_id: bool
    is_tiered: bool
    names: tuple[str, ...] = ()
    folder: DiskFolder | None = None
    is_joined: bool = False
    is_alone: bool = False

    def open(self, path: str) -> LogFile:
        """Open one of the files.

        Raises:
            SourceError: it cannot be read.
        """
        if self.folder is None:
            return LogFile(path)
        return self.folder.open(path.rpartition("/")[2])

    def size_of(self, path: str) -> int:
        """Return the bytes that one of the files had when the directory was listed."""
        return self.folder.files.get(path.rpartition("/")[2], 0) if self.folder else 0

    def changed_since(self, seconds: float) -> bool:
        """Tell whether a server has changed files since a time.

        It makes, renames and deletes files in the directory, whose time that changes, and writes
        those of the last segment.
        """
        assert self.folder
        paths = [self.path, *(segment.log for segment in self.segments[-1:])]
        try:
            newest = max(status_of(path).modified for path in paths)
        except OSError:
            return True
        return max(newest, self.folder.newest) >= seconds

    @staticmethod
    def missing(path: str, topic: str, partition: int) -> PartitionFiles:
        """Return a tiered partition of which no file is there."""
        files = partition_files_of(path, ())
        return replace(files, topic=topic, partition=partition, is_tiered=True)

    @staticmethod
    def of_segment(segment: SegmentFiles) -> PartitionFiles:
        files = partition_files_of(segment.log, ())
        return replace(files, segments=(segment,), is_alone=True)

    @property
    def is_archived(self) -> bool:
        """Whether there are compressed files, which no server reads."""
        return any((file := file_name(name)) and file.archive for name in self.names)

    @property
    def is_metadata(self) -> bool:
        """Whether it is the log of the cluster's metadata."""
        return self.topic == METADATA_TOPIC or bool(self.metadata_snapshots)

    @property
    def is_bare(self) -> bool:
        """Whether these are only logs, copied without what lies beside them."""
        is_beside = self.has_epochs or self.has_topic_id
        return not is_beside and not any(segment.indexes for segment in self.segments)


def deleted_segments(files: PartitionFiles, spans: Iterable[tuple[int, int]]) -> Cure | None:
    """Return how to put back the segments with offsets of *spans* that are renamed for deletion.

    A start removes such files (`LogLoader.removeTempFilesAndCollectSwapFiles`).
    """
    renamed = [
        (file.proper_name, name)
        for name in files.names
        if (file := file_name(name))
        and file.renamed == ".deleted"
        and file.proper_name not in files.names
    ]
    limits = list(spans)
    offsets = {
        name.partition(".")[0]
        for name, _ in renamed
        if name.endswith(".log") and any(first <= offset_in(name) <= last for first, last in limits)
    }
    if not offsets:
        return None
    directory = quoting.quote_path(os.path.join(files.path, ""))
    moves = [
        f"mv {directory}{old} {directory}{name}"
        for name, old in renamed
        if name.partition(".")[0] in offsets
    ]
    names = ", ".join(f"{offset}.log.deleted" for offset in sorted(offsets))
    return Cure(f"put back what the next start would delete: {names}", (" && ".join(moves),))


def partition_files(path: str, largest_held: int = LARGEST_OF_LOAD) -> PartitionFiles:
    """Return the files in the directory of a partition, with those that are kept in memory.

    Raises:
        SourceError: it cannot be read.
    """
    try:
        folder = DiskFolder(path, largest_held)
    except OSError as error:
        raise SourceError(f"cannot read {path}: {error.strerror}") from None
    return partition_files_of(path, folder.names, folder)


class _Named(NamedTuple):
    """A file that a server reads, with the offset in its name; *segment_id* is that of a tier."""

    path: str
    kind: FileKind
    renamed: str
    base_offset: int
    segment_id: str


def partition_files_of(
    path: str, names: Sequence[str], folder: DiskFolder | None = None
) -> PartitionFiles:
    prefix = os.path.join(path, "")
    files = [_Named(prefix + name, *parts) for name in names if (parts := _parts_of(name))]
    plain = [named for named in files if not named.renamed]
    swaps = _swaps(files)
    segments, orphans = _segments(plain, swaps)
    topic, partition = partition_of(segments[0].log if segments else prefix) or (None, None)
    return PartitionFiles(
        path=path,
        topic=topic,
        partition=partition,
        segments=segments,
        orphans=orphans,
        # That of a tiered segment covers the segment itself.
        producer_snapshots={
            named.base_offset: named.path
            for named in plain
            if named.kind is FileKind.PRODUCER_SNAPSHOT and not named.segment_id
        },
        metadata_snapshots=tuple(
            FileName(named.path, named.kind, "")
            for named in plain
            if named.kind is FileKind.CHECKPOINT
        ),
        swaps=tuple(named.path for named in swaps if named.kind is FileKind.LOG),
        has_epochs=EPOCHS in names,
        has_topic_id=TOPIC_ID in names,
        is_tiered=has_tiered_name(names),
        names=tuple(names),
        folder=folder,
    )


def has_tiered_name(names: Iterable[str]) -> bool:
    return any(map(tiered_name, names))


@lru_cache(1024)  # idle partitions have the same names
def _parts_of(name: str) -> tuple[FileKind, str, int, str] | None:
    """Return what the name of a file that a server reads says; None for another one."""
    file = file_name(name)
    if file is None or file.archive:
        return None
    try:
        if file.kind is FileKind.CHECKPOINT:
            return file.kind, file.renamed, file.snapshot_id[0], ""
        if tiered := tiered_name(name):
            return file.kind, file.renamed, tiered.base_offset, tiered.segment_id
        return file.kind, file.renamed, offset_in(name), ""
    except UsageError:
        return None


def _swaps(files: list[_Named]) -> list[_Named]:
    """Return the files that a start would rename; those of an older compaction are dropped."""
    cleaned = [named.base_offset for named in files if named.renamed == ".cleaned"]
    limit = min(cleaned, default=None)
    return [
        named
        for named in files
        if named.renamed == ".swap" and (limit is None or named.base_offset < limit)
    ]


def _segments(
    plain: list[_Named], swaps: Iterable[_Named]
) -> tuple[tuple[SegmentFiles, ...], tuple[str, ...]]:
    by_place: dict[tuple[int, str], dict[FileKind, str]] = {}
    for named in (*plain, *swaps):  # a tier may have copies of a segment
        if named.kind is FileKind.LOG or named.kind in _INDEXES:
            place = named.base_offset, named.segment_id
            by_place.setdefault(place, {})[named.kind] = named.path
    segments: list[SegmentFiles] = []
    orphans: list[str] = []
    for (offset, _), paths in sorted(by_place.items()):
        log = paths.pop(FileKind.LOG, None)
        if log is None:
            orphans += paths.values()
        else:
            segments.append(SegmentFiles(offset, log, paths))
    return tuple(segments), tuple(orphans)


def topic_id_of(path: str) -> bytes | None:
    try:
        _, identity = read_small(os.path.join(path, TOPIC_ID)).decode().splitlines()[:2]
        return from_text(identity.split()[1])
    except (OSError, ValueError, IndexError, DecodeError):
        return None
