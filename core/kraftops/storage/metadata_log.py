"""What lies in a metadata directory: bootstrap records, snapshots, segments, and the voters.

Only headers, control records and bootstrap.checkpoint are decoded here, not the metadata.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from kraftops.errors import DecodeError, KraftopsError
from kraftops.log.batch import Batch, Header, is_valid, records
from kraftops.log.files import FileKind, file_name
from kraftops.log.reader import EndReason, LogFile
from kraftops.records import control, metadata
from kraftops.records.meaning import Decoded, Unknown
from kraftops.storage import bootstrap
from kraftops.storage.directories import METADATA_PARTITION
from kraftops.storage.voters import Voter


class Snapshot(NamedTuple):
    """A snapshot: the end offset (exclusive) and epoch of what it holds, and its bytes."""

    end_offset: int
    epoch: int
    path: str
    size: int


class Segment(NamedTuple):
    """A segment: its base offset and its bytes."""

    base_offset: int
    path: str
    size: int


@dataclass(frozen=True, slots=True)
class BootstrapFile:
    """What a bootstrap.checkpoint holds; *damage* is why not all of it could be read."""

    features: dict[str, int]
    scram_users: tuple[str, ...]
    damage: str | None = None


@dataclass(frozen=True, slots=True)
class Quorum:
    """The voters that a directory knows of, newest first read; *source* is the file that says so.

    Without *source* no voter set is there: the quorum is static, or the node has yet to join one.
    """

    kraft_version: int = 0
    voters: tuple[Voter, ...] | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True)
class MetadataLog:
    """The files of `__cluster_metadata-0`, in order; *damage* is what could not be read of them.

    *end_offset* is the offset after the last record, of snapshots or segments; None without any.
    """

    snapshots: tuple[Snapshot, ...] = ()
    segments: tuple[Segment, ...] = ()
    quorum: Quorum = Quorum()
    end_offset: int | None = None
    damage: tuple[str, ...] = ()

    @property
    def is_used(self) -> bool:
        """Whether a server has written to it since it was formatted."""
        return bool(self.segments) or any(snapshot.end_offset for snapshot in self.snapshots)


def read_bootstrap(directory: str) -> BootstrapFile | None:
    """Return what the bootstrap.checkpoint of a log directory holds; None if there is none."""
    path = os.path.join(directory, bootstrap.FILE_NAME)
    if not os.path.lexists(path):
        return None
    features: dict[str, int] = {}
    users: list[str] = []
    damage = None
    try:
        for header, batch in _whole_batches(path):
            for record in () if header.is_control else records(batch):
                found = metadata.decode(record.value)
                if isinstance(found, Unknown):
                    raise DecodeError(f"{path}: offset {record.offset}: {found.reason}")
                if found.type == "FEATURE_LEVEL_RECORD":
                    features[str(found.data["name"])] = int(str(found.data["featureLevel"]))
                elif found.type == "USER_SCRAM_CREDENTIAL_RECORD":
                    users.append(str(found.data["name"]))
    except KraftopsError as error:
        damage = error.message
    return BootstrapFile(features, tuple(users), damage)


def read_metadata_log(directory: str) -> MetadataLog | None:
    """Return what the metadata partition of a log directory holds; None if there is none.

    Raises:
        OSError: it cannot be listed.
    """
    folder = os.path.join(directory, METADATA_PARTITION)
    try:
        names = sorted(os.listdir(folder))
    except FileNotFoundError:
        return None
    snapshots, segments = [], []
    for name in names:
        path = os.path.join(folder, name)
        found = file_name(path)
        if found is None or found.renamed or not re.fullmatch(r"\d{20}(-\d{10})?\.\w+", name):
            continue
        if found.kind is FileKind.CHECKPOINT:
            snapshots.append(Snapshot(*found.snapshot_id, path, os.path.getsize(path)))
        elif found.kind is FileKind.LOG:
            segments.append(Segment(found.base_offset, path, os.path.getsize(path)))
    damage: list[str] = []
    quorum, end_offset = Quorum(), None
    for snapshot in snapshots[-1:]:
        end_offset = snapshot.end_offset
        quorum = _read_quorum(snapshot.path, quorum, damage, is_snapshot=True)[0]
    for segment in segments:
        if not snapshots or segment is segments[-1] or segment.base_offset >= snapshots[-1][0]:
            quorum, last = _read_quorum(segment.path, quorum, damage, is_snapshot=False)
            end_offset = max(end_offset or 0, segment.base_offset, last)
    return MetadataLog(tuple(snapshots), tuple(segments), quorum, end_offset, tuple(damage))


def _read_quorum(
    path: str, quorum: Quorum, damage: list[str], *, is_snapshot: bool
) -> tuple[Quorum, int]:
    """Return the quorum after the control records of a file, and the offset after its last one."""
    end_offset = 0
    try:
        for header, batch in _whole_batches(path, may_be_growing=not is_snapshot):
            end_offset = header.last_offset + 1
            for record in records(batch) if header.is_control else ():
                found = control.decode(record.key, record.value)
                if isinstance(found, Decoded) and found.type == "KRAFT_VERSION":
                    version = int(str(found.data["kRaftVersion"]))
                    quorum = replace(quorum, kraft_version=version, source=path)
                elif isinstance(found, Decoded) and found.type == "KRAFT_VOTERS":
                    quorum = replace(quorum, voters=_voters(found.data), source=path)
    except KraftopsError as error:
        damage.append(error.message)
    return quorum, end_offset


def _voters(data: Any) -> tuple[Voter, ...]:
    voters = []
    for voter in data["voters"]:
        endpoint = (voter["endpoints"] or [{"host": "", "port": 0}])[0]
        voters.append(
            Voter(voter["voterId"], voter["voterDirectoryId"], endpoint["host"], endpoint["port"])
        )
    return tuple(voters)


def _whole_batches(path: str, *, may_be_growing: bool = False) -> Iterator[tuple[Header, Batch]]:
    """Yield the batches of a log or snapshot, and end with an error where one is damaged.

    Raises:
        SourceError: the file cannot be read.
        DecodeError: a batch is damaged, or the last one is not whole in a file that does not grow.
    """
    with LogFile(path) as log:
        reader = log.batches()
        for batch in reader:
            header = batch.header
            if not is_valid(batch, header.crc):
                raise DecodeError(f"{path}: position {batch.position}: the CRC does not match")
            yield header, batch
        end = reader.end
        assert end
        if end.reason not in (EndReason.END, EndReason.PADDING) and not may_be_growing:
            raise DecodeError(
                f"{path}: position {end.position}: {end.left} bytes that are no whole batch"
            )
        if end.position == 0 and not may_be_growing:
            raise DecodeError(f"{path}: it is empty")
