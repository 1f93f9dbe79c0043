"""The metadata log of a log directory by its files, and the bootstrap.checkpoint beside it."""

import os
import re
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

from kraftops.engine.metadata_state import VERSION_FEATURE
from kraftops.errors import KraftopsError, UsageError
from kraftops.fileio.mounts import exists, names_in, status_of
from kraftops.log.files import BOOTSTRAP_CHECKPOINT, METADATA_PARTITION, FileKind, file_name
from kraftops.memory import LEAST
from kraftops.records.meaning import Unknown
from kraftops.server.metadata_log.content import LogContent, RecordReader, VoterSet, read_content
from kraftops.server.metadata_log.files import (
    Damage,
    Segment,
    Snapshot,
    WholeBatches,
    metadata_records,
    reason_of,
)

_PROPER_NAME = r"\d{20}(-\d{10})?\.\w+"


@dataclass(frozen=True, slots=True)
class BootstrapFile:
    """Content of a bootstrap.checkpoint, and its *damage*.

    It *is_usable* if a server takes it: a server does not need the footer.
    """

    path: str
    features: dict[str, int]
    scram_users: tuple[str, ...]
    damage: str | None = None
    is_usable: bool = True


@dataclass(frozen=True)
class MetadataLog:
    """Files of `__cluster_metadata-0` in order, read when a property first needs them."""

    snapshots: tuple[Snapshot, ...] = ()
    segments: tuple[Segment, ...] = ()

    @property
    def is_used(self) -> bool:
        """Whether a server has written to it since it was formatted."""
        return any(segment.size for segment in self.segments) or any(
            snapshot.end_offset for snapshot in self.snapshots
        )

    @property
    def latest_snapshot(self) -> Snapshot | None:
        """The snapshot that a server loads; it ignores those that end before the log begins."""
        start = self.segments[0].base_offset if self.segments else 0
        usable = [snapshot for snapshot in self.snapshots if snapshot.end_offset >= start]
        return max(usable, key=lambda snapshot: (snapshot.epoch, snapshot.end_offset), default=None)

    def read(self, *, is_thorough: bool = False) -> LogContent:
        """Read snapshot and log; only their control records, unless *is_thorough*."""
        reader = RecordReader(is_thorough=is_thorough)
        return read_content(self.latest_snapshot, self.segments, reader)

    content = cached_property(read)

    @property
    def quorum(self) -> VoterSet:
        return self.content.quorum

    @property
    def end_offset(self) -> int | None:
        """The offset after the last record; None without a record."""
        return self.content.end_offset

    @property
    def damage(self) -> tuple[Damage, ...]:
        return self.content.damage


def read_bootstrap(directory: str) -> BootstrapFile | None:
    """Read the bootstrap.checkpoint of a log directory; None if there is none."""
    path = os.path.join(directory, BOOTSTRAP_CHECKPOINT)
    if not exists(path):
        return None
    from kraftops.records import metadata

    features: dict[str, int] = {}
    users: list[str] = []
    failure = None
    # A server does not verify the checksums of this file, and writes small batches to it.
    meter = LEAST.meter()
    batches = WholeBatches(path, meter, gives_damaged=True)
    try:
        for header, batch in batches:
            for record in () if header.is_control else metadata_records(batch, meter):
                decoded = metadata.decode(record.value)
                if isinstance(decoded, Unknown):
                    failure = failure or f"offset {record.offset}: {decoded.reason}"
                elif decoded.type == "FEATURE_LEVEL_RECORD":
                    features[str(decoded.data["name"])] = int(str(decoded.data["featureLevel"]))
                elif decoded.type == "USER_SCRAM_CREDENTIAL_RECORD":
                    users.append(str(decoded.data["name"]))
    except KraftopsError as error:
        failure = reason_of(error, path)
    damage = batches.damage or failure or batches.rest
    is_usable = not failure and VERSION_FEATURE in features
    return BootstrapFile(
        path=path, features=features, scram_users=tuple(users), damage=damage, is_usable=is_usable
    )


def read_metadata_log(directory: str) -> MetadataLog | None:
    """List the files of the metadata partition of a log directory; None if there is none.

    Raises:
        OSError: it cannot be listed.
    """
    with suppress(FileNotFoundError):
        return read_partition(os.path.join(directory, METADATA_PARTITION))
    return None


def read_partition(folder: str) -> MetadataLog:
    """List the files of a metadata partition in a directory of any name.

    Raises:
        OSError: it cannot be listed.
    """
    names = names_in(folder)
    snapshots, segments = [], []
    for name in names:
        path = os.path.join(folder, name)
        file = file_name(path)
        if file is None or file.renamed or not re.fullmatch(_PROPER_NAME, name):
            continue
        size = status_of(path).size
        with suppress(UsageError):  # digits that are not an offset
            if file.kind is FileKind.CHECKPOINT:
                snapshots.append(Snapshot(*file.snapshot_id, path, size))
            elif file.kind is FileKind.LOG:
                segments.append(Segment(file.base_offset, path, size))
    return MetadataLog(tuple(snapshots), tuple(segments))
