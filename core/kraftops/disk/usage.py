"""What the files of log directories take, by names and `stat` alone: no data is read."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

from kraftops.disk.growth import Growth, SegmentFile, growth_of
from kraftops.disk.space import Space, sum_of
from kraftops.errors import SourceError, UsageError
from kraftops.log.files import FileKind, file_name
from kraftops.placement.disks import LogDirectory as ToldDirectory
from kraftops.server.loader.load_plan import REMOTE_INDEXES, FolderKind, parse_folder_name
from kraftops.server.log_directory import LogDirectory, read_log_directory
from kraftops.server.partition_files import TOPIC_ID

_BLOCK = 512
"""The unit of `st_blocks`, whatever the block size of the file system is."""
_INDEXES = (FileKind.INDEX, FileKind.TIME_INDEX, FileKind.TXN_INDEX)


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


@dataclass(frozen=True, slots=True)
class DirectoryUsage:
    """A log directory; *rest* is what is in it besides the partitions.

    *free*, *size* and *used* are bytes of its file system, *device* is its number; *elsewhere* are
    those used bytes that are in none of the log directories.
    """

    path: str
    broker: int | None
    replicas: tuple[Replica, ...]
    rest: Space
    free: int | None
    size: int | None
    used: int | None = None
    device: int | None = None
    elsewhere: int | None = None

    @property
    def space(self) -> Space:
        """All that is in it."""
        return sum_of([self.rest, *(replica.space for replica in self.replicas)])

    @property
    def net_growth(self) -> int | None:
        """Bytes a day by which its logs grow; None if that is known of none of them."""
        rates = [replica.growth.net for replica in self.replicas if replica.growth]
        return sum(rates) if rates else None

    @property
    def days_left(self) -> float | None:
        """Days until its file system is full at the present rate; None if it does not grow."""
        if self.free is None or not self.net_growth or self.net_growth < 0:
            return None
        return self.free / self.net_growth


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
    rest: list[Space] = []
    try:
        with os.scandir(path) as entries:
            for entry in entries:
                folder = parse_folder_name(entry.name) if entry.is_dir() else None
                if folder is None:
                    rest.append(_rest(entry))
                    continue
                space, segments, created = _partition(entry.path, folder.kind)
                tiered = directory.is_topic_tiered(folder.topic)
                replicas.append(
                    Replica(directory.node_id, path, *folder, space, segments, created, tiered)
                )
        device, volume = os.stat(path).st_dev, os.statvfs(path)
    except OSError as error:
        raise SourceError.of(path, error) from None
    if not replicas and directory.meta is None:
        raise UsageError(f"{path} is not a log directory: it has no meta.properties")
    if now is None:
        now = max((log.segments[-1].modified for log in replicas if log.segments), default=0)
    return DirectoryUsage(
        path,
        directory.node_id,
        tuple(
            replace(replica, growth=growth_of(replica.segments, replica.created, now))
            for replica in replicas
        ),
        sum_of(rest),
        volume.f_bavail * volume.f_frsize,
        volume.f_blocks * volume.f_frsize,
        (volume.f_blocks - volume.f_bfree) * volume.f_frsize,
        device,
    )


def told_usage(broker: int, directory: ToldDirectory) -> DirectoryUsage:
    """Return what a broker tells of a log directory (DescribeLogDirs)."""
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
        directory.path, broker, tuple(replicas), rest, directory.usable, directory.total
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
        allocated[usage.device] += usage.space.allocated or 0
    return [
        replace(usage, elsewhere=max(0, (usage.used or 0) - allocated[usage.device]))
        for usage in usages
    ]


def _partition(path: str, kind: FolderKind) -> tuple[Space, tuple[SegmentFile, ...], int | None]:
    """Return the space of a partition's directory, its segments, and when it was made."""
    log = index = deleted = other = allocated = 0
    created = None
    segments: list[SegmentFile] = []
    for name, status in _files(path):
        size = status.st_size
        allocated += status.st_blocks * _BLOCK
        file = file_name(name)
        if file and file.renamed == ".deleted":
            deleted += size
        elif file is None or file.renamed or file.archive:
            other += size
        elif file.has_records:
            log += size
            if file.kind is FileKind.LOG:
                with suppress(UsageError):  # digits that are not an offset
                    segments.append(
                        SegmentFile(file.base_offset, size, status.st_mtime_ns // 1_000_000)
                    )
        elif file.kind in _INDEXES:
            index += size
        else:
            other += size
        if name == TOPIC_ID:
            created = status.st_mtime_ns // 1_000_000
    total = log + index + deleted + other
    if kind is FolderKind.DELETED:
        return Space(pending_deletion=total, allocated=allocated), (), None
    if kind is FolderKind.STRAY:
        return Space(stray=total, allocated=allocated), (), None
    space = Space(log, len(segments), index, deleted, 0, 0, other, allocated)
    return space, tuple(sorted(segments)), created


def _rest(entry: os.DirEntry[str]) -> Space:
    """Return the space of what is not a partition: the cache of a tier, or any other thing."""
    if entry.is_dir():
        statuses = [status for folder, _, _ in os.walk(entry.path) for _, status in _files(folder)]
    else:
        statuses = [status] if (status := _status(entry)) else []
    size = sum(status.st_size for status in statuses)
    allocated = sum(status.st_blocks for status in statuses) * _BLOCK
    if entry.name == REMOTE_INDEXES:
        return Space(tier_cache=size, allocated=allocated)
    return Space(other=size, allocated=allocated)


def _files(path: str) -> Iterator[tuple[str, os.stat_result]]:
    """Yield the files in a directory; a server may delete them, or the directory, meanwhile."""
    with suppress(FileNotFoundError), os.scandir(path) as entries:
        for entry in entries:
            if entry.is_file() and (status := _status(entry)):
                yield entry.name, status


def _status(entry: os.DirEntry[str]) -> os.stat_result | None:
    try:
        return entry.stat()
    except FileNotFoundError:
        return None
