"""How a start loads the partitions of a log directory (Kafka's `LogManager.loadLogs`).

`load_plan` reads one directory, `duplicates` compares several; `foretell_partition` answers the
requests of a plan.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from kraftops.java.numbers import parse_integer
from kraftops.server.loader import thrown
from kraftops.server.loader.contract import Consequence, Folder, LoadOutcome, LoadRequest, Refusal
from kraftops.server.loader.text_files import LARGEST_TEXT, offset_entries
from kraftops.server.loader.thrown import LoadError

CLEAN_SHUTDOWN = ".kafka_cleanshutdown"
RECOVERY_POINTS = "recovery-point-offset-checkpoint"
LOG_STARTS = "log-start-offset-checkpoint"
HIGH_WATERMARKS = "replication-offset-checkpoint"
_CHECKPOINTS = (
    RECOVERY_POINTS,
    LOG_STARTS,
    HIGH_WATERMARKS,  # `ReplicaManager` reads it for the first partition
    "cleaner-offset-checkpoint",  # and the cleaner this one
)
_REMOTE_INDEXES = "remote-log-index-cache"
_METADATA_TOPIC = "__cluster_metadata"
_METADATA_PARTITION = "__cluster_metadata-0"

_Offsets = Mapping[tuple[str, int], int]


class FolderKind(Enum):
    """What a partition's directory is, by the end of its name."""

    CURRENT = ""
    DELETED = "-delete"
    FUTURE = "-future"
    """A replica that is being moved from another log directory."""
    STRAY = "-stray"
    """A replica that the cluster did not know at an earlier start."""


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
    `LogDirFailureHandler`); of a number that is none there is only a line in the log, and of the
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
        return is_noted and self.name in (RECOVERY_POINTS, LOG_STARTS)


@dataclass(frozen=True, slots=True)
class LoadPlan:
    """What a start reads of a log directory before it loads the partitions in it.

    *folders* are the parsed names of the directories that are loaded. A *refusal* ends the broker.
    """

    was_clean: bool
    folders: Mapping[str, FolderName]
    recovery_points: _Offsets
    log_starts: _Offsets
    damaged: tuple[DamagedCheckpoint, ...]
    refusal: Refusal | None

    def request(self, name: str) -> LoadRequest:
        """Return the request for a partition, with defaults for what its topic says."""
        folder = self.folders[name]
        key = (folder.topic, folder.partition)
        log_start, recovery_point = self.log_starts.get(key, 0), self.recovery_points.get(key, 0)
        return LoadRequest(name, log_start, recovery_point, self.was_clean)


def parse_folder_name(name: str) -> FolderName | None:
    """Return topic and partition of a directory; None if no partition's directory has the name.

    `LocalLog.parseTopicPartitionName`.
    """
    kind = next((kind for kind in list(FolderKind)[1:] if name.endswith(kind.value)), None)
    if kind and not re.fullmatch(rf"\S+-\S+\.\S+{kind.value}", name):
        return None
    whole = name[: name.rindex(".")] if kind else name
    topic, _, number = whole.rpartition("-")
    partition = parse_integer(number, 32)
    if not topic or partition is None:
        return None
    return FolderName(topic, partition, kind or FolderKind.CURRENT)


def load_plan(directory: Folder, *, has_metadata_log: bool) -> LoadPlan:
    """Return how a start loads the partitions of a log directory.

    *has_metadata_log* says whether the metadata log is, or would be, in this directory.

    Raises:
        SourceError: a checkpoint cannot be read, or is far larger than Kafka's are.
    """
    damaged: list[DamagedCheckpoint] = []
    offsets = {name: _offsets(directory, name, damaged) for name in _CHECKPOINTS}
    folders: dict[str, FolderName] = {}
    refusal = None
    for name in sorted(directory.directories):
        if name == _REMOTE_INDEXES:
            continue
        folder = parse_folder_name(name)
        if folder is None:
            reason = f"Found directory {name}, which is not in the form of topic-partition"
            refusal = refusal or Refusal(thrown.KAFKA, reason, name)
        elif folder.topic != _METADATA_TOPIC:  # of any partition: `KafkaRaftManager` loads its log
            folders[name] = folder
        elif name == _METADATA_PARTITION and not has_metadata_log:
            reason = "Found unexpected metadata location in data directory"
            refusal = Refusal(
                thrown.KAFKA, reason, name
            )  # `KafkaRaftServer` looks before all others
    return LoadPlan(
        CLEAN_SHUTDOWN in directory.files,
        folders,
        offsets[RECOVERY_POINTS],
        offsets[LOG_STARTS],
        tuple(damaged),
        refusal,
    )


def _offsets(directory: Folder, name: str, damaged: list[DamagedCheckpoint]) -> _Offsets:
    if name in directory.directories:
        damaged.append(DamagedCheckpoint(name, thrown.STORAGE, "Is a directory"))
    if name not in directory.files:
        return {}
    try:
        with directory.open(name) as file:
            return offset_entries(file.read_at(0, LARGEST_TEXT + 1), name)
    except LoadError as error:
        damaged.append(DamagedCheckpoint(name, error.java_class, error.message))
        return {}


def possible_consequences(
    plan: LoadPlan, outcomes: Collection[LoadOutcome]
) -> frozenset[Consequence]:
    """Return what the loading of a log directory means for the server, by all that is in it.

    Two are possible where the order decides in which its threads load the partitions. A
    KafkaStorageException marks the directory as failed at once, and `LocalLog.read` then throws
    another, without a cause, which `LogManager.loadLogs` does not catch: a partition that looks for
    an unstable offset after another has failed ends the broker.
    """
    consequences = {damage.consequence for damage in plan.damaged}
    consequences |= {outcome.consequence for outcome in outcomes}
    if plan.refusal or Consequence.BROKER_DIES in consequences:
        return frozenset({Consequence.BROKER_DIES})
    if Consequence.DIRECTORY_OFFLINE not in consequences:
        return frozenset({Consequence.LOADS})
    unstable = [outcome for outcome in outcomes if outcome.first_unstable_offset is not None]
    if unstable and any(damage.is_before_loading for damage in plan.damaged):
        return frozenset({Consequence.BROKER_DIES})
    marking = [
        outcome
        for outcome in outcomes
        if outcome.refusal and outcome.refusal.java_class == thrown.STORAGE
    ]
    if unstable and marking and (len(unstable) > 1 or unstable != marking):
        return frozenset({Consequence.DIRECTORY_OFFLINE, Consequence.BROKER_DIES})
    return frozenset({Consequence.DIRECTORY_OFFLINE})


def duplicates(plans: Mapping[str, LoadPlan]) -> Iterator[Refusal]:
    """Yield the partitions that a server has twice, by its directories: the second ends it.

    Directories that this start renames first are no duplicates: those of partitions that, by the
    metadata, are not here. Leave them out.
    """
    places: dict[FolderName, str] = {}
    for directory, plan in plans.items():
        for name, folder in plan.folders.items():
            place = f"{directory}/{name}"
            first = places.setdefault(folder, place)
            is_loaded = folder.kind in (FolderKind.CURRENT, FolderKind.FUTURE)
            if is_loaded and first != place:
                reason = f"Duplicate log directories are found: {first} and {place}"
                yield Refusal(thrown.ILLEGAL_STATE, reason, place)


def ends_server(
    offline: Collection[str], directories: Collection[str], metadata_directory: str
) -> bool:
    """Tell whether a server ends because of the log directories that go offline.

    It needs one of them, and that of the metadata log (`ReplicaManager.handleLogDirFailure`).
    """
    return metadata_directory in offline or set(directories) <= set(offline)
