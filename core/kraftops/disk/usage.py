"""What the files of log directories take, and how fast logs grow, by names and `stat` alone."""

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple, Self

from kraftops.display.times import DAY_MS
from kraftops.errors import SourceError, UsageError
from kraftops.fileio.mounts import archive_of, folder_at
from kraftops.log.files import FileKind, file_name
from kraftops.placement.disks import LogDirectory as ToldDirectory
from kraftops.server.loader.load_plan import REMOTE_INDEXES, FolderKind, parse_folder_name
from kraftops.server.log_directory import SHOWS_NOTHING, LogDirectory, read_log_directory
from kraftops.server.partition_files import TOPIC_ID

_BLOCK = 512
"""The unit of `st_blocks`, whatever the block size of the file system is."""
_INDEXES = (FileKind.INDEX, FileKind.TIME_INDEX, FileKind.TXN_INDEX)
_SHORTEST_MS = 3_600_000
"""A rate of less than an hour says nothing about a day."""


class SegmentFile(NamedTuple):
    """A segment: its first offset, its bytes, and the ms at which it was written last."""

    base_offset: int
    size: int
    modified: int


class Growth(NamedTuple):
    """Bytes a day: all that is *written*, and what remains of that after retention (*net*)."""

    written: int
    net: int


def growth_of(segments: Sequence[SegmentFile], created: int | None, end: int) -> Growth | None:
    """Return the growth of a log during the last day before *end*; None if too little is known.

    Args:
        segments: by offset. A segment was written between the last write of the one before and its
            own. The log cleaner and the copies of a follower keep these times.
        created: when the replica was made, by its partition.metadata.
        end: in ms, now for a running server.
    """
    if not segments:
        return None
    # Where retention has deleted the first segment, nothing tells when the next one was begun.
    begin = created if segments[0].base_offset == 0 else None
    spans: list[tuple[int, int, int]] = []
    for segment in segments:
        if begin is not None:
            spans.append((min(begin, segment.modified), segment.modified, segment.size))
        begin = segment.modified
    if not spans:
        return None
    oldest = spans[0][0]
    length = min(DAY_MS, end - oldest)
    if length < _SHORTEST_MS:
        return None
    written = _per_day(spans, end - length, length)
    # A log whose beginning was deleted loses each day what it got on the first day that is left.
    deleted = _per_day(spans, oldest, length) if segments[0].base_offset else 0
    return Growth(written, written - deleted)


def _per_day(spans: Sequence[tuple[int, int, int]], begin: int, length: int) -> int:
    end = begin + length
    total = 0.0
    for first, last, size in spans:
        overlap = min(last, end) - max(first, begin)
        if first == last:
            total += size if begin <= last <= end else 0
        elif overlap > 0:
            total += size * overlap / (last - first)
    return round(total * DAY_MS / length)


@dataclass(frozen=True, slots=True)
class Space:
    """Bytes by the names of files; None for what is not known, as from DescribeLogDirs.

    *pending_deletion* are files and directories that a broker has renamed, and removes after
    `file.delete.delay.ms`. *allocated* is what the file system has given: less than the sizes where
    files are sparse, as preallocated indexes of 10 MiB are.
    """

    log: int = 0
    segments: int | None = 0
    index: int | None = 0
    pending_deletion: int | None = 0
    stray: int | None = 0
    tier_cache: int | None = 0
    other: int | None = 0
    allocated: int | None = 0

    @classmethod
    def told_by_broker(cls, size: int) -> Self:
        """Return the space of a replica by DescribeLogDirs, which has the segments alone.

        `UnifiedLog.size` sums up the logs of segments that are not deleted.
        """
        return cls(
            log=size,
            segments=None,
            index=None,
            pending_deletion=None,
            stray=None,
            tier_cache=None,
            other=None,
            allocated=None,
        )

    @property
    def total(self) -> int:
        """All sizes that are known."""
        parts = (self.index, self.pending_deletion, self.stray, self.tier_cache, self.other)
        return self.log + sum(part or 0 for part in parts)

    @property
    def taken(self) -> int:
        """What fills the disk, as far as that is known: sparse files take less than their size."""
        return self.total if self.allocated is None else self.allocated


_NAMES = tuple(field.name for field in fields(Space))


def sum_of(spaces: Iterable[Space]) -> Space:
    """Add up; what is unknown of one is unknown of all (None)."""
    spaces = list(spaces)
    sums: dict[str, Any] = {}
    for name in _NAMES:
        column = [getattr(space, name) for space in spaces]
        sums[name] = None if None in column else sum(column)
    return Space(**sums)


@dataclass(frozen=True, slots=True)
class Replica:
    """The directory of a partition; *segments* are those that are in use.

    *created* is the time of its partition.metadata, which is written once, in ms.
    """

    broker: int | None
    directory: str
    topic: str
    partition: int
    kind: FolderKind
    space: Space
    segments: tuple[SegmentFile, ...] = ()
    created: int | None = None
    is_tiered: bool | None = None
    growth: Growth | None = None

    @property
    def path(self) -> str:
        """The path of its directory, if it is in its place."""
        return os.path.join(self.directory, f"{self.topic}-{self.partition}")


class Volume(NamedTuple):
    """Bytes of a file system, and its number; None for what is not known."""

    free: int | None
    size: int | None
    used: int | None = None
    device: int | None = None


@dataclass(frozen=True, slots=True)
class DirectoryUsage:
    """A log directory; *rest* is what is in it apart from the partitions.

    *elsewhere* are the used bytes of its file system that are in none of the log directories.
    """

    path: str
    broker: int | None
    replicas: tuple[Replica, ...]
    rest: Space
    volume: Volume
    elsewhere: int | None = None

    @property
    def space(self) -> Space:
        return sum_of([self.rest, *(replica.space for replica in self.replicas)])

    @property
    def net_growth(self) -> int | None:
        """Bytes a day by which its logs grow; None if that is known of none of them."""
        rates = [replica.growth.net for replica in self.replicas if replica.growth]
        return sum(rates) if rates else None

    @property
    def days_left(self) -> float | None:
        """Days until its file system is full at the present rate; None if it does not grow."""
        if self.volume.free is None or not self.net_growth or self.net_growth < 0:
            return None
        return self.volume.free / self.net_growth

    @property
    def volume_unknown(self) -> str | None:
        """Why nothing is known of its file system; None if something is."""
        if self.volume.free is not None:
            return None
        if archive_of(self.path):
            return "an archive does not show the space on the disk that it was packed from"
        return "the broker does not tell it: Kafka does from 3.3 on (KIP-827)"


def read_usage(path: str, now: int | None = None) -> DirectoryUsage:
    """Return what is in a log directory.

    *now* is the present time in ms; without it the rates are those before the last write, as of a
    copy or a server that is stopped.

    Raises:
        SourceError: it cannot be listed.
        UsageError: it is not a log directory.
    """
    directory = read_log_directory(path)
    replicas: list[Replica] = []
    try:
        files, names = _contents(path)
        rest = [_unsorted(files)]
        for name in names:
            folder = parse_folder_name(name)
            if folder is None:
                rest.append(_rest(path, name))
                continue
            space, segments, created = _partition(os.path.join(path, name), folder.kind)
            tiered = directory.is_topic_tiered(folder.topic)
            replicas.append(
                Replica(directory.node_id, path, *folder, space, segments, created, tiered)
            )
        volume = _volume(path)
    except OSError as error:
        raise SourceError.of(path, error) from None
    if not directory.is_kafkas:
        raise UsageError(f"{path} is not a log directory: {SHOWS_NOTHING}")
    if now is None:
        now = max((log.segments[-1].modified for log in replicas if log.segments), default=0)
    return DirectoryUsage(
        path=path,
        broker=directory.node_id,
        replicas=tuple(
            replace(replica, growth=growth_of(replica.segments, replica.created, now))
            for replica in replicas
        ),
        rest=sum_of(rest),
        volume=volume,
    )


def told_usage(broker: int, directory: ToldDirectory) -> DirectoryUsage:
    """Return what a broker says about a log directory (DescribeLogDirs)."""
    replicas = [
        Replica(broker, directory.path, *partition, kind, Space.told_by_broker(replica.size))
        for kind, told in (
            (FolderKind.CURRENT, directory.replicas),
            (FolderKind.FUTURE, directory.coming),
        )
        for partition, replica in told.items()
    ]
    rest = Space.told_by_broker(0)
    return DirectoryUsage(
        path=directory.path,
        broker=broker,
        replicas=tuple(replicas),
        rest=rest,
        volume=Volume(directory.usable, directory.total),
    )


def read_usages(directories: Iterable[LogDirectory], now: int) -> list[DirectoryUsage]:
    """Return what is in all log directories, and how much of their volumes is used elsewhere.

    Errors are those of `read_usage`.
    """
    usages = [
        read_usage(directory.path, now if directory.holder else None) for directory in directories
    ]
    allocated: Counter[int | None] = Counter()
    for usage in usages:
        allocated[usage.volume.device] += usage.space.allocated or 0
    return [
        usage
        if usage.volume.used is None
        else replace(usage, elsewhere=max(0, usage.volume.used - allocated[usage.volume.device]))
        for usage in usages
    ]


def _volume(path: str) -> Volume:
    if archive_of(path):
        return Volume(None, None)
    device, status = os.stat(path).st_dev, os.statvfs(path)
    free, size, used = status.f_bavail, status.f_blocks, status.f_blocks - status.f_bfree
    return Volume(free * status.f_frsize, size * status.f_frsize, used * status.f_frsize, device)


class _File(NamedTuple):
    """A file; *allocated* is None where no file system tells it, *modified* is in ms."""

    name: str
    size: int
    allocated: int | None
    modified: int


def _partition(path: str, kind: FolderKind) -> tuple[Space, tuple[SegmentFile, ...], int | None]:
    """Return the space of a partition's directory, its segments, and its creation time in ms."""
    log = index = deleted = other = 0
    created = None
    segments: list[SegmentFile] = []
    files, _ = _present(path)
    for name, size, _, modified in files:
        file = file_name(name)
        if file and file.renamed == ".deleted":
            deleted += size
        elif file is None or file.renamed or file.archive:
            other += size
        elif file.has_records:
            log += size
            if file.kind is FileKind.LOG:
                with suppress(UsageError):  # digits that are not an offset
                    segments.append(SegmentFile(file.base_offset, size, modified))
        elif file.kind in _INDEXES:
            index += size
        else:
            other += size
        if name == TOPIC_ID:
            created = modified
    total, allocated = log + index + deleted + other, _allocated(files)
    if kind is FolderKind.DELETED:
        return Space(pending_deletion=total, allocated=allocated), (), None
    if kind is FolderKind.STRAY:
        return Space(stray=total, allocated=allocated), (), None
    space = Space(
        log=log,
        segments=len(segments),
        index=index,
        pending_deletion=deleted,
        stray=0,
        tier_cache=0,
        other=other,
        allocated=allocated,
    )
    return space, tuple(sorted(segments)), created


def _rest(path: str, name: str) -> Space:
    """Return the space of a directory that is not a partition, as the cache of a tier."""
    space = _unsorted(_files_below(os.path.join(path, name)))
    return replace(space, other=0, tier_cache=space.other) if name == REMOTE_INDEXES else space


def _unsorted(files: Sequence[_File]) -> Space:
    return Space(other=sum(file.size for file in files), allocated=_allocated(files))


def _allocated(files: Iterable[_File]) -> int | None:
    sizes = [file.allocated for file in files]
    return None if None in sizes else sum(size for size in sizes if size)


def _files_below(path: str) -> list[_File]:
    files, names = _present(path)
    for inner in (os.path.join(path, name) for name in names):
        if not os.path.islink(inner):
            files += _files_below(inner)
    return files


def _present(path: str) -> tuple[list[_File], list[str]]:
    """List a directory; a server may delete its files in the meantime."""
    with suppress(FileNotFoundError):
        return _contents(path)
    return [], []


def _contents(path: str) -> tuple[list[_File], list[str]]:
    """Return the files in a directory, and the names of its directories.

    Raises:
        OSError: it cannot be listed.
    """
    if packed := folder_at(path):
        files = [
            _File(name, extent.size, None, extent.status.modified_ms)
            for name, extent in packed.files.items()
        ]
        return files, sorted(packed.directories)
    files, names = [], []
    with os.scandir(path) as entries:
        for entry in entries:
            if entry.is_dir():
                names.append(entry.name)
            elif entry.is_file():
                with suppress(FileNotFoundError):  # a server has deleted it
                    status = entry.stat()
                    modified = status.st_mtime_ns // 1_000_000
                    allocated = status.st_blocks * _BLOCK
                    files.append(_File(entry.name, status.st_size, allocated, modified))
    return files, names
