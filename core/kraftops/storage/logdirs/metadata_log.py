"""The files of a metadata directory: bootstrap records, snapshots, segments."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import cached_property

from kraftops.errors import KraftopsError, UsageError
from kraftops.log.files import BOOTSTRAP_CHECKPOINT, FileKind, file_name
from kraftops.storage.bootstrap.releases import METADATA_VERSION
from kraftops.storage.logdirs.directories import METADATA_PARTITION
from kraftops.storage.logdirs.log_recovery import (
    Batches,
    Content,
    Damage,
    Quorum,
    Segment,
    Snapshot,
    read_content,
    reason_of,
)

_PROPER_NAME = r"\d{20}(-\d{10})?\.\w+"


@dataclass(frozen=True, slots=True)
class BootstrapFile:
    """What a bootstrap.checkpoint holds; *damage* is why not all of it could be read.

    It *is_usable* if a server takes it as it is: one does not miss the end.
    """

    path: str
    features: dict[str, int]
    scram_users: tuple[str, ...]
    damage: str | None = None
    is_usable: bool = True


@dataclass(frozen=True)
class MetadataLog:
    """The files of `__cluster_metadata-0`, in order; they are read when first asked about."""

    snapshots: tuple[Snapshot, ...] = ()
    segments: tuple[Segment, ...] = ()

    @property
    def is_used(self) -> bool:
        """Whether a server has written to it since it was formatted."""
        return any(one.size for one in self.segments) or any(
            one.end_offset for one in self.snapshots
        )

    @property
    def latest_snapshot(self) -> Snapshot | None:
        """The snapshot with which a server starts; those from before the log are forgotten."""
        start = self.segments[0].base_offset if self.segments else 0
        usable = [one for one in self.snapshots if one.end_offset >= start]
        return max(usable, key=lambda one: (one.epoch, one.end_offset), default=None)

    @cached_property
    def content(self) -> Content:
        """What snapshot and log amount to, as far as control records tell."""
        return read_content(self.latest_snapshot, self.segments)

    @property
    def quorum(self) -> Quorum:
        """The voters."""
        return self.content.quorum

    @property
    def end_offset(self) -> int | None:
        """The offset after the last record; None without any."""
        return self.content.end_offset

    @property
    def damage(self) -> tuple[Damage, ...]:
        """What could not be read."""
        return self.content.damage


def read_bootstrap(directory: str) -> BootstrapFile | None:
    """Return what the bootstrap.checkpoint of a log directory holds; None if there is none."""
    path = os.path.join(directory, BOOTSTRAP_CHECKPOINT)
    if not os.path.lexists(path):
        return None
    from kraftops.log.batch import records
    from kraftops.records import metadata
    from kraftops.records.meaning import Unknown

    features: dict[str, int] = {}
    users: list[str] = []
    failure = None
    # A server does not look at the checksums of this file.
    batches = Batches(path, gives_damaged=True)
    try:
        for header, batch in batches:
            for record in () if header.is_control else records(batch):
                found = metadata.decode(record.value)
                if isinstance(found, Unknown):
                    failure = failure or f"offset {record.offset}: {found.reason}"
                elif found.type == "FEATURE_LEVEL_RECORD":
                    features[str(found.data["name"])] = int(str(found.data["featureLevel"]))
                elif found.type == "USER_SCRAM_CREDENTIAL_RECORD":
                    users.append(str(found.data["name"]))
    except KraftopsError as error:
        failure = reason_of(error, path)
    damage = batches.damage or failure or batches.rest
    is_usable = not failure and METADATA_VERSION in features
    return BootstrapFile(path, features, tuple(users), damage, is_usable)


def read_metadata_log(directory: str) -> MetadataLog | None:
    """Return the files of the metadata partition of a log directory; None if there is none.

    Raises:
        OSError: it cannot be listed.
    """
    try:
        return read_partition(os.path.join(directory, METADATA_PARTITION))
    except FileNotFoundError:
        return None


def read_partition(folder: str) -> MetadataLog:
    """Return the files of a metadata partition, whatever its directory is called.

    Raises:
        OSError: it cannot be listed.
    """
    names = sorted(os.listdir(folder))
    snapshots, segments = [], []
    for name in names:
        path = os.path.join(folder, name)
        found = file_name(path)
        if found is None or found.renamed or not re.fullmatch(_PROPER_NAME, name):
            continue
        size = os.path.getsize(path)
        try:
            if found.kind is FileKind.CHECKPOINT:
                snapshots.append(Snapshot(*found.snapshot_id, path, size))
            elif found.kind is FileKind.LOG:
                segments.append(Segment(found.base_offset, path, size))
        except UsageError:
            continue  # a name of digits that is no offset all the same
    return MetadataLog(tuple(snapshots), tuple(segments))
