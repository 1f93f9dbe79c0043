"""A log directory of a server: its identity, its partitions, and the files that name them.

What a broker writes beside the partitions are four checkpoints of offsets (Kafka's `LogManager`,
`ReplicaManager`, `LogCleanerManager`), and a marker when it has stopped as it should.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from kraftops.errors import DecodeError, SourceError
from kraftops.fileio.mounts import exists, is_directory, names_in
from kraftops.fileio.reading import read_small
from kraftops.findings.finding import Place
from kraftops.java.properties import properties
from kraftops.java.text import path_text
from kraftops.log.files import METADATA_PARTITION, file_name
from kraftops.records.internal_topics import REMOTE_TOPIC
from kraftops.server import meta_properties
from kraftops.server.loader import load_plan
from kraftops.server.loader.contract import DiskFolder
from kraftops.server.loader.text_files import LEADER_EPOCHS, PARTITION_METADATA
from kraftops.server.locks import Holder, lock_holder
from kraftops.server.meta_properties import MetaProperties
from kraftops.server.metadata_log.log import (
    BootstrapFile,
    MetadataLog,
    read_bootstrap,
    read_metadata_log,
)
from kraftops.server.partition_files import PartitionFiles, topic_id_of

SHOWS_NOTHING = "no meta.properties, checkpoints or partitions are there"
"""What is said of a directory that is not Kafka's."""
_OF_PARTITION = (LEADER_EPOCHS, PARTITION_METADATA)
_OF_SEGMENTS = (".log", ".index", ".timeindex")


class PartitionDirectory(NamedTuple):
    """A directory of a partition by its name; one that is renamed has another *kind*."""

    path: str
    topic: str
    number: int
    kind: load_plan.FolderKind

    @property
    def has_files(self) -> bool:
        """Whether it has any file of a partition: other directories have such names too."""
        return any(name in _OF_PARTITION or file_name(name) for name in names_in(self.path))

    @property
    def is_renamed(self) -> bool:
        """Whether it is not in its place: deleted, moving, or a stray."""
        return self.kind is not load_plan.FolderKind.CURRENT

    @property
    def topic_id(self) -> bytes | None:
        """The topic id in its partition.metadata; None if there is none that can be read."""
        return topic_id_of(self.path)


class DirectoryStatus(NamedTuple):
    """Owner and mode of a directory; free space and size of its file system in bytes."""

    user: int
    group: int
    mode: int
    free: int
    size: int


@dataclass(frozen=True)
class LogDirectory:
    """A log directory; what is not in its fields is read once, when it is first needed.

    Attributes:
        path: as the configuration or the command line has it.
        is_metadata: whether the metadata log belongs in it.
        meta: its meta.properties; without, it is not formatted, or the file has a *problem*.
        problem: why its meta.properties cannot be used.
        is_opaque: whether not even keys and values of that file can be read.
    """

    path: str
    is_metadata: bool
    meta: MetaProperties | None = None
    problem: str | None = None
    is_opaque: bool = False

    @property
    def java_path(self) -> str:
        """The path as Kafka's tool prints it."""
        return path_text(self.path)

    @property
    def place(self) -> Place:
        """The place of a finding about it."""
        return Place(directory=self.java_path)

    @property
    def exists(self) -> bool:
        """Whether there is anything at its path."""
        return os.path.exists(self.path) or self.is_directory

    @cached_property
    def is_directory(self) -> bool:
        """Whether it is a directory, on this machine or in an archive."""
        return is_directory(self.path)

    @cached_property
    def status(self) -> DirectoryStatus | None:
        """Its owner and room; None where it is not a directory of this machine."""
        if not os.path.isdir(self.path):
            return None
        status, space = os.stat(self.path), os.statvfs(self.path)
        free, size = space.f_bavail * space.f_frsize, space.f_blocks * space.f_frsize
        return DirectoryStatus(
            user=status.st_uid,
            group=status.st_gid,
            mode=status.st_mode & 0o7777,
            free=free,
            size=size,
        )

    @cached_property
    def read_problem(self) -> str | None:
        """Why it, its metadata log or its lock cannot be read; None where it is not a directory."""
        try:
            if self.is_directory:
                names_in(self.path)
                lock_holder(self.path)
                if self.is_metadata:
                    read_metadata_log(self.path)
        except OSError as error:
            return f"cannot read {error.filename or self.path}: {error.strerror}"
        return None

    @property
    def is_readable(self) -> bool:
        return self.read_problem is None and self.is_directory

    @cached_property
    def holder(self) -> Holder | None:
        """The process that holds its lock, as far as that can be read."""
        with suppress(OSError):
            return lock_holder(self.path) if self.is_directory else None
        return None

    @cached_property
    def bootstrap(self) -> BootstrapFile | None:
        return read_bootstrap(self.path)

    @cached_property
    def log(self) -> MetadataLog | None:
        """Its metadata log, where that belongs; None also where it cannot be listed."""
        with suppress(OSError):
            return read_metadata_log(self.path) if self.is_metadata and self.is_directory else None
        return None

    @property
    def meta_path(self) -> str:
        return os.path.join(self.path, meta_properties.FILE_NAME)

    @property
    def node_id(self) -> int | None:
        """The node id in its meta.properties; None if there is none."""
        return self.meta.node_id if self.meta else None

    @cached_property
    def folder(self) -> DiskFolder:
        """What it holds, by name.

        Raises:
            SourceError: it cannot be listed.
        """
        try:
            return DiskFolder(self.path)
        except OSError as error:
            raise SourceError.of(self.path, error) from None

    @cached_property
    def plan(self) -> load_plan.LoadPlan:
        """How a start loads the partitions, with the offsets of the checkpoints.

        It is empty of a directory that cannot be listed: a partition may be copied to anywhere.
        """
        try:
            return load_plan.load_plan(self.folder, has_metadata_log=self.is_metadata)
        except SourceError:
            return load_plan.LoadPlan(was_clean=False)

    @property
    def is_kafkas(self) -> bool:
        """Whether it shows that it is a log directory, if only by damage.

        It has an identity, checkpoints, a metadata log, or a partition with a file of one.
        """
        return (
            self.read_problem is not None
            or exists(self.meta_path)
            or self.has_checkpoints
            or self.is_metadata
            or any(partition.has_files for partition in self.partitions())
        )

    @property
    def has_checkpoints(self) -> bool:
        """Whether a broker has used it; the directory of a copied partition has none."""
        return bool(self.plan.offsets or self.plan.damaged)

    @property
    def has_metadata_alone(self) -> bool:
        """Whether no broker keeps topics in it: it is of a controller, or for the metadata log."""
        return self.is_metadata and not self.has_checkpoints

    @cached_property
    def has_segments(self) -> bool:
        """Whether any partition has a file of a segment; copies often leave all of them out."""
        return any(
            name.endswith(_OF_SEGMENTS)
            for partition in self.partitions()
            for name in names_in(partition.path)
        )

    @cached_property
    def has_tier(self) -> bool:
        """Whether any file mentions a tier; copies often lack the index cache, or it is empty."""
        has_cache = is_directory(os.path.join(self.path, load_plan.REMOTE_INDEXES))
        if has_cache or 0 in self.plan.offsets.get(load_plan.LOG_START, {}).values():
            return True
        topics = {topic for offsets in self.plan.offsets.values() for topic, _ in offsets}
        return REMOTE_TOPIC in topics or any(
            folder.topic == REMOTE_TOPIC for folder in self.plan.folders.values()
        )

    def is_topic_tiered(self, topic: str | None) -> bool | None:
        """Tell whether a topic is tiered; None where only some topic of the broker is.

        The start of a log that is not tiered is written only where it is beyond its first segment,
        and so never as 0 (Kafka's `LogManager.checkpointLogStartOffsetsInDir`).
        """
        if topic in self._topics_from_zero:
            return True
        return None if self.has_tier else False

    @cached_property
    def _topics_from_zero(self) -> frozenset[str]:
        starts = self.plan.offsets.get(load_plan.LOG_START, {})
        return frozenset(topic for (topic, _), offset in starts.items() if offset == 0)

    def offset(self, checkpoint: str, topic: str | None, partition: int | None) -> int | None:
        return self.offsets_of(topic, partition).get(checkpoint)

    def offsets_of(self, topic: str | None, partition: int | None) -> dict[str, int]:
        """Return the offsets of a partition by the checkpoints that have one."""
        if topic is None or partition is None:
            return {}
        return {
            checkpoint: offsets[topic, partition]
            for checkpoint, offsets in self.plan.offsets.items()
            if (topic, partition) in offsets
        }

    def noted_end(self, files: PartitionFiles) -> int:
        """Return the highest offset that a log has reached for certain, by its other files.

        A producer snapshot is of all records before the offset in its name. A log that is cut, or
        recovered, loses the snapshots after its end (`UnifiedLog.truncateTo`, 4.3.1).
        """
        high_watermark = self.offset(load_plan.HIGH_WATERMARK, files.topic, files.partition) or 0
        return max([high_watermark, *files.producer_snapshots])

    def partitions(self) -> Iterator[PartitionDirectory]:
        """Yield the partitions in it by name, but for the metadata log.

        Raises:
            SourceError: it cannot be listed.
        """
        for name in sorted(self.folder.directories):
            folder = load_plan.parse_folder_name(name)
            if folder and name != METADATA_PARTITION:
                yield PartitionDirectory(os.path.join(self.path, name), *folder)

    @property
    def present(self) -> set[tuple[str, int]]:
        """The partitions that have a directory, also a renamed one."""
        return {(folder.topic, folder.partition) for folder in self.plan.folders.values()}

    def missing(self) -> dict[tuple[str, int], str]:
        """Return the partitions without a directory, each with the checkpoint that names it."""
        checkpoints: dict[tuple[str, int], str] = {}
        for name in (load_plan.RECOVERY_POINT, load_plan.LOG_START, load_plan.HIGH_WATERMARK):
            for partition in sorted(self.plan.offsets.get(name, {}).keys() - self.present):
                checkpoints.setdefault(partition, name)
        return checkpoints

    def is_beside(self, other: LogDirectory) -> bool:
        """Tell whether another directory is of the same server."""
        meta, theirs = self.meta, other.meta
        return bool(
            meta
            and theirs
            and meta.directory_id != theirs.directory_id
            and (meta.cluster_id, meta.node_id) == (theirs.cluster_id, theirs.node_id)
        )

    @property
    def partition_count(self) -> int:
        """The number of partitions in it; 0 where it cannot be listed."""
        try:
            return sum(1 for _ in self.partitions())
        except SourceError:
            return 0

    def topic_ids(self) -> Iterator[bytes]:
        """Yield the topic id of each partition that has one.

        Raises:
            SourceError: it cannot be listed.
        """
        yield from filter(None, (partition.topic_id for partition in self.partitions()))


def identity_of(path: str) -> object:
    """Return an identity that all spellings, links and mounts of one directory share."""
    try:
        path = os.path.realpath(path)
        status = os.stat(path)
    except (OSError, ValueError):  # it is absent, or no file can have that name
        return path
    return status.st_dev, status.st_ino


class Duplicate(NamedTuple):
    """A partition that a server has in another place already."""

    directory: LogDirectory
    partition: PartitionDirectory
    first: PartitionDirectory


def duplicates(directories: Iterable[LogDirectory]) -> Iterator[Duplicate]:
    """Yield the partitions that a server has twice, by its log directories; `t-00` is `t-0`.

    `LogManager.loadLog` throws at the second one (IllegalStateException), and the broker ends. One
    without a topic id, or with another one, is a stray by the metadata, and renamed before.

    Raises:
        SourceError: a directory cannot be listed.
    """
    partitions = [
        (directory, partition)
        for directory in directories
        for partition in directory.partitions()
        if partition.kind in (load_plan.FolderKind.CURRENT, load_plan.FolderKind.FUTURE)
    ]
    counts = Counter(partition[1:] for _, partition in partitions)
    firsts: dict[tuple[object, ...], PartitionDirectory] = {}
    for directory, partition in partitions:
        # Only here are topic ids read: a broker may have thousands of partitions.
        if counts[partition[1:]] > 1 and (topic_id := partition.topic_id):
            first = firsts.setdefault((topic_id, *partition[1:]), partition)
            if first is not partition:
                yield Duplicate(directory, partition, first)


def read_log_directory(path: str, *, is_metadata: bool | None = None) -> LogDirectory:
    """Return a log directory with its meta.properties.

    *is_metadata* is what the configuration says; without one, the metadata log belongs where it is.
    """
    if is_metadata is None:
        is_metadata = is_directory(os.path.join(path, METADATA_PARTITION))
    directory = LogDirectory(path, is_metadata)
    try:
        entries = properties(read_small(directory.meta_path))
    except FileNotFoundError:
        return directory
    except OSError as error:
        return replace(directory, problem=error.strerror, is_opaque=True)
    except ValueError:
        return replace(directory, problem="no file can have such a name", is_opaque=True)
    except DecodeError as error:
        return replace(directory, problem=error.message, is_opaque=True)
    try:
        return replace(directory, meta=meta_properties.read(entries))
    except DecodeError as error:
        return replace(directory, problem=error.message)
