"""Questions to the loader and its answers, as plain values.

A caller gives a `DiskFolder` and a `LoadRequest`; `foretell_partition` of
`kraftops.server.loader.partition` returns a `LoadOutcome`.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from kraftops.fileio.mounts import Folder as PackedFolder
from kraftops.fileio.mounts import folder_at
from kraftops.log.held_files import LARGEST_OF_LOAD, HeldFiles
from kraftops.log.log_file import LogFile
from kraftops.server.loader import thrown
from kraftops.server.loader.thrown import LoadError

if TYPE_CHECKING:
    from kraftops.server.loader.text_files import EpochEntry

NEWEST_RELEASE = "4.3.1"
"""The release whose rules hold where no other is asked for."""


class Consequence(Enum):
    """What the loading of a partition means for its server."""

    LOADS = "loads"
    DIRECTORY_OFFLINE = "directory-offline"
    BROKER_DIES = "broker-dies"


class Depth(Enum):
    """How much of each batch a walk needs."""

    HEADS = 1
    PRODUCERS = 2
    """Transaction markers too."""
    WHOLE = 3
    """Markers and checksums too."""


class LogBatch(NamedTuple):
    """What the loader sees of a batch.

    *damage* is why Kafka does not take the batch for valid, in walks of `Depth.WHOLE`. *marker* is
    the end of a transaction, None in another batch, or what Kafka throws that reads its records.
    *crc* is the checksum in the header, -1 of a legacy batch.
    """

    position: int
    size: int
    magic: int
    base_offset: int
    last_offset: int
    max_timestamp: int = -1
    leader_epoch: int = -1
    producer_id: int = -1
    is_transactional: bool = False
    is_control: bool = False
    damage: str | None = None
    marker: Marker | LoadError | None = None
    crc: int = -1

    @property
    def end(self) -> int:
        """The position after the batch."""
        return self.position + self.size


class Marker(Enum):
    """The outcome of a transaction, in a control batch."""

    ABORT = 0
    COMMIT = 1


class DiskFolder:
    """A directory on this machine, as it was when it was listed; *names* are of all that is in it.

    Small files are read once, however often they are opened.
    """

    def __init__(self, path: str, largest_held: int = LARGEST_OF_LOAD) -> None:
        """List it; files up to *largest_held* bytes are kept in memory.

        Raises:
            OSError: it cannot be listed.
        """
        self.names: list[str] = []
        self.files: dict[str, int] = {}
        self.directories: set[str] = set()
        self.newest = 0.0
        """When the file that was written last was written, in seconds since 1970."""
        self._list(path, folder_at(path))
        self.names.sort()
        self._held = HeldFiles(path, self.files, largest_held)

    def _list(self, path: str, packed: PackedFolder | None) -> None:
        if packed:
            self.names += (*packed.directories, *packed.files)
            self.directories = packed.directories
            self.files = {name: extent.size for name, extent in packed.files.items()}
            self.newest = max((extent.modified for extent in packed.files.values()), default=0.0)
            return
        with os.scandir(path) as entries:
            for entry in entries:
                self.names.append(entry.name)
                if entry.is_dir():
                    self.directories.add(entry.name)
                elif entry.is_file():
                    with suppress(FileNotFoundError):  # a server has deleted it
                        status = entry.stat()
                        self.files[entry.name] = status.st_size
                        self.newest = max(self.newest, status.st_mtime)

    def open(self, name: str) -> LogFile:
        """Open one of the files.

        Raises:
            SourceError: it cannot be read.
        """
        return self._held.open(name)


@dataclass(frozen=True, slots=True)
class LoadRequest:
    """What `LogManager.loadLog` knows of a partition before it loads it.

    *name* is the directory's. *log_start_checkpoint* and *recovery_point* are of the checkpoints of
    the log directory, 0 where those lack the partition. *is_tiered* says whether remote storage is
    enabled for the topic on this server; where that is unknown, ask for both.

    `producer.id.expiration.ms` and the time of the start are not asked for: a producer that expires
    has no open transaction, and the loader looks at nothing else of a producer.
    """

    name: str
    log_start_checkpoint: int = 0
    recovery_point: int = 0
    was_clean: bool = False
    is_tiered: bool = False
    index_interval_bytes: int = 4096
    segment_index_bytes: int = 10 << 20
    release: str = NEWEST_RELEASE

    @property
    def version(self) -> tuple[int, int]:
        """The first two numbers of the release."""
        major, minor = self.release.split(".")[:2]
        return int(major), int(minor)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a partition does not load; one that *is_fatal* ends a server whatever is thrown."""

    java_class: str
    message: str
    file: str | None = None
    position: int | None = None
    is_fatal: bool = False

    @property
    def reason(self) -> str:
        """The exception as Kafka logs it, without its package."""
        name = self.java_class.rpartition(".")[2]
        return f"{name}: {self.message}" if self.message else name

    @property
    def consequence(self) -> Consequence:
        """What it means for the server, unless this is its last or its metadata log directory."""
        is_of_directory = self.java_class in thrown.OF_ONE_DIRECTORY and not self.is_fatal
        return Consequence.DIRECTORY_OFFLINE if is_of_directory else Consequence.BROKER_DIES


@dataclass(frozen=True, slots=True)
class Cut:
    """The end of a log that a start cuts off, and why; *first_offset* would have followed."""

    file: str
    position: int
    size: int
    first_offset: int
    reason: str


@dataclass(frozen=True, slots=True)
class DeletedSegment:
    """A segment that a start deletes; *end_offset* follows its last batch, None if unreadable."""

    base_offset: int
    size: int
    end_offset: int | None


@dataclass(frozen=True, slots=True)
class LoadOutcome:
    """What a start makes of a partition.

    Offsets and segments are None and empty after a refusal. *files* are the names that are there
    right after the loading; those that end in `.deleted` go a minute later. *first_unstable_offset*
    is that of a transaction that is open, or ends after the last snapshot. *rebuilt* are indexes
    and checkpoints that were rewritten, *removed* the earlier names that are gone or renamed.
    """

    refusal: Refusal | None
    log_start_offset: int | None
    local_start_offset: int | None
    end_offset: int | None
    latest_epoch: int | None
    topic_id: bytes | None
    first_unstable_offset: int | None
    segments: tuple[int, ...]
    cuts: tuple[Cut, ...]
    deleted_segments: tuple[DeletedSegment, ...]
    recovered_segments: tuple[int, ...]
    files: tuple[str, ...]
    removed: tuple[str, ...]
    rebuilt: tuple[str, ...]
    snapshots_written: tuple[int, ...]
    epochs_read: tuple[EpochEntry, ...] | None = None
    """The leader-epoch-checkpoint as it is; None where it cannot be read."""

    @property
    def starts(self) -> bool:
        """Whether the loader takes the partition."""
        return self.refusal is None

    @property
    def consequence(self) -> Consequence:
        """What it means for the server; see `Refusal.consequence`."""
        return self.refusal.consequence if self.refusal else Consequence.LOADS

    @property
    def lost_bytes(self) -> int:
        """Bytes of logs that are cut or deleted."""
        sizes = [cut.size for cut in self.cuts]
        return sum(sizes) + sum(segment.size for segment in self.deleted_segments)
