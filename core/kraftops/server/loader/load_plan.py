"""How a start loads the partitions of a log directory (Kafka's `LogManager.loadLogs`).

`load_plan` reads one directory; `foretell_partition` answers the requests of a plan.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from kraftops.errors import SourceError
from kraftops.java.numbers import parse_integer
from kraftops.log.files import METADATA_PARTITION, METADATA_TOPIC
from kraftops.server.loader import thrown
from kraftops.server.loader.contract import (
    Consequence,
    DiskFolder,
    LoadOutcome,
    LoadRequest,
    Refusal,
)
from kraftops.server.loader.text_files import LARGEST_TEXT, offset_entries
from kraftops.server.loader.thrown import LoadError

CLEAN_SHUTDOWN = ".kafka_cleanshutdown"
RECOVERY_POINT = "recovery-point-offset-checkpoint"
LOG_START = "log-start-offset-checkpoint"
HIGH_WATERMARK = "replication-offset-checkpoint"
CLEANER = "cleaner-offset-checkpoint"
CHECKPOINTS = (
    RECOVERY_POINT,
    LOG_START,
    HIGH_WATERMARK,  # `ReplicaManager` reads it for the first partition
    CLEANER,  # and the cleaner this one
)
REMOTE_INDEXES = "remote-log-index-cache"

Offsets = Mapping[tuple[str, int], int]
"""Offsets by topic and partition."""


class FolderKind(Enum):
    """What a partition's directory is, by the end of its name."""

    CURRENT = ""
    DELETED = "-delete"
    FUTURE = "-future"
    """A replica that is being moved from another log directory."""
    STRAY = "-stray"
    """A replica that the cluster did not know at an earlier start."""


_RENAMED_FOLDERS = tuple((kind.value, kind) for kind in FolderKind if kind.value)


class FolderName(NamedTuple):
    """The parsed name of a partition's directory."""

    topic: str
    partition: int
    kind: FolderKind


@dataclass(frozen=True, slots=True)
class DamagedCheckpoint:
    """A checkpoint of a log directory that cannot be read; its partitions load as if it were empty.

    The *consequence* comes when they are loaded; see `possible_consequences`. Damage that is an
    IOException takes the directory offline (`CheckpointFileWithFailureHandler` notes it for
    `LogDirFailureHandler`); a number that does not parse is only a line in the log, and of the
    high watermarks the partitions of the directory are not served.
    """

    name: str
    java_class: str
    message: str

    @property
    def reason(self) -> str:
        """The exception as Kafka logs it, without its package."""
        return Refusal(self.java_class, self.message).reason

    @property
    def consequence(self) -> Consequence:
        """What it means for the server, unless this is its last or its metadata log directory."""
        if self.java_class == thrown.OUT_OF_MEMORY:  # an Error, which `loadLogs` does not catch
            return Consequence.BROKER_DIES
        is_noted = self.java_class == thrown.STORAGE
        return Consequence.DIRECTORY_OFFLINE if is_noted else Consequence.LOADS

    @property
    def is_before_loading(self) -> bool:
        """Whether the directory is marked as failed when its partitions load."""
        is_noted = self.consequence is Consequence.DIRECTORY_OFFLINE
        return is_noted and self.name in (RECOVERY_POINT, LOG_START)


@dataclass(frozen=True, slots=True)
class LoadPlan:
    """What a start reads of a log directory before it loads the partitions in it.

    *folders* are the parsed names of the directories that are loaded. *offsets* are those of the
    checkpoints that are there and can be read. A *refusal* ends the broker.
    """

    was_clean: bool
    folders: Mapping[str, FolderName] = field(default_factory=dict)
    offsets: Mapping[str, Offsets] = field(default_factory=dict)
    damaged: tuple[DamagedCheckpoint, ...] = ()
    refusal: Refusal | None = None

    def request(self, name: str) -> LoadRequest:
        """Return the request for a partition, with defaults for what its topic says."""
        folder = self.folders[name]
        key = (folder.topic, folder.partition)
        log_start = self.offsets.get(LOG_START, {}).get(key, 0)
        recovery_point = self.offsets.get(RECOVERY_POINT, {}).get(key, 0)
        return LoadRequest(name, log_start, recovery_point, self.was_clean)


def parse_folder_name(name: str) -> FolderName | None:
    """Return topic and partition of a directory; None if no partition's directory has the name.

    `LocalLog.parseTopicPartitionName`.
    """
    kind = next((kind for ending, kind in _RENAMED_FOLDERS if name.endswith(ending)), None)
    if kind and not re.fullmatch(rf"\S+-\S+\.\S+{kind.value}", name):
        return None
    whole = name[: name.rindex(".")] if kind else name
    topic, _, number = whole.rpartition("-")
    partition = parse_integer(number, 32)
    if not topic or partition is None:
        return None
    return FolderName(topic, partition, kind or FolderKind.CURRENT)


def load_plan(directory: DiskFolder, *, has_metadata_log: bool) -> LoadPlan:
    """Return how a start loads the partitions of a log directory.

    *has_metadata_log* says whether the metadata log is, or would be, in this directory. What this
    process cannot read is taken for what the server cannot read either.
    """
    damaged: list[DamagedCheckpoint] = []
    offsets: dict[str, Offsets] = {}
    for name in CHECKPOINTS:
        if (read := _offsets(directory, name, damaged)) is not None:
            offsets[name] = read
    folders: dict[str, FolderName] = {}
    refusal = None
    for name in sorted(directory.directories):
        if name == REMOTE_INDEXES:
            continue
        folder = parse_folder_name(name)
        if folder is None:
            reason = f"Found directory {name}, which is not in the form of topic-partition"
            refusal = refusal or Refusal(thrown.KAFKA, reason, name)
        elif folder.topic != METADATA_TOPIC:  # of any partition: `KafkaRaftManager` loads its log
            folders[name] = folder
        elif name == METADATA_PARTITION and not has_metadata_log:
            reason = "Found unexpected metadata location in data directory"
            refusal = Refusal(
                thrown.KAFKA, reason, name
            )  # `KafkaRaftServer` looks before all others
    return LoadPlan(
        was_clean=CLEAN_SHUTDOWN in directory.files,
        folders=folders,
        offsets=offsets,
        damaged=tuple(damaged),
        refusal=refusal,
    )


def _offsets(directory: DiskFolder, name: str, damaged: list[DamagedCheckpoint]) -> Offsets | None:
    if name in directory.directories:
        damaged.append(DamagedCheckpoint(name, thrown.STORAGE, "Is a directory"))
    if name not in directory.files:
        return None
    try:
        with directory.open(name) as file:
            return offset_entries(file.read_at(0, LARGEST_TEXT + 1), name)
    except LoadError as error:
        damaged.append(DamagedCheckpoint(name, error.java_class, error.message))
    except SourceError as error:
        damaged.append(DamagedCheckpoint(name, thrown.STORAGE, error.message))
    return None


class PartitionLoad(NamedTuple):
    """What the loading of a partition means for its log directory, by its folder's *name*.

    *is_unstable* says that it looks for an unstable offset, *marks_directory* that its failure
    marks the directory as failed at once.
    """

    name: str
    consequence: Consequence
    is_unstable: bool = False
    marks_directory: bool = False

    @staticmethod
    def of(name: str, outcome: LoadOutcome) -> PartitionLoad:
        refusal = outcome.refusal
        return PartitionLoad(
            name,
            outcome.consequence,
            outcome.first_unstable_offset is not None,
            refusal is not None and refusal.java_class == thrown.STORAGE,
        )


def possible_consequences(
    plan: LoadPlan, loads: Collection[PartitionLoad]
) -> frozenset[Consequence]:
    """Return what the loading of a log directory means for the server, by all that is in it.

    Two are possible where the order decides in which its threads load the partitions. A
    KafkaStorageException marks the directory as failed at once, and `LocalLog.read` then throws
    another, without a cause, which `LogManager.loadLogs` does not catch: a partition that looks for
    an unstable offset after another has failed ends the broker.
    """
    consequences = {damage.consequence for damage in plan.damaged}
    consequences |= {load.consequence for load in loads}
    if plan.refusal or Consequence.BROKER_DIES in consequences:
        return frozenset({Consequence.BROKER_DIES})
    if Consequence.DIRECTORY_OFFLINE not in consequences:
        return frozenset({Consequence.LOADS})
    unstable = [load for load in loads if load.is_unstable]
    if unstable and any(damage.is_before_loading for damage in plan.damaged):
        return frozenset({Consequence.BROKER_DIES})
    marking = [load for load in loads if load.marks_directory]
    if unstable and marking and (len(unstable) > 1 or unstable != marking):
        return frozenset({Consequence.DIRECTORY_OFFLINE, Consequence.BROKER_DIES})
    return frozenset({Consequence.DIRECTORY_OFFLINE})


def ends_server(
    offline: Collection[str], directories: Collection[str], metadata_directory: str
) -> bool:
    """Tell whether a server ends because of the log directories that go offline.

    It needs one of them, and that of the metadata log (`ReplicaManager.handleLogDirFailure`).
    """
    return metadata_directory in offline or set(directories) <= set(offline)
