"""First records of a formatted directory: `BootstrapMetadata` and the voter set.

`bootstrap.checkpoint` holds features and SCRAM credentials (KIP-778, KIP-900), the snapshot of a
dynamic quorum its voters (KIP-853). Both are snapshots of KIP-630, batches between control records.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kraftops.log.batch import CONTROL, Record, batch_bytes
from kraftops.schema.compile import compiled
from kraftops.schema.tables import messages
from kraftops.server.voters import Voter
from kraftops.storage.bootstrap.releases import (
    KRAFT_VERSION,
    METADATA_VERSION,
    MetadataVersion,
)
from kraftops.storage.bootstrap.scram import REDACTED, Credential
from kraftops.varint import uvarint_bytes

FILE_NAME = "bootstrap.checkpoint"
SNAPSHOT_NAME = "__cluster_metadata-0/00000000000000000000-0000000000.checkpoint"
_FRAME_VERSION = 1  # `AbstractApiMessageSerde.DEFAULT_FRAME_VERSION`
_BATCH_LIMIT = 8 * 1024 * 1024  # `KafkaRaftClient.MAX_BATCH_SIZE_BYTES`
_SNAPSHOT_HEADER, _SNAPSHOT_FOOTER, _KRAFT_VERSION, _KRAFT_VOTERS = range(3, 7)


class MetadataRecord(NamedTuple):
    """A record of the metadata log: the name of its message, its fields, and their version."""

    message: str
    data: Mapping[str, object]
    version: int = 0


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """Metadata version, features and SCRAM credentials of a new cluster."""

    version: MetadataVersion
    features: Mapping[str, int]
    credentials: Sequence[Credential]

    def records(self) -> list[MetadataRecord]:
        """Return metadata.version, the other features above 0 by name, then the credentials.

        kraft.version is not among them: it is a control record.
        """
        levels = {METADATA_VERSION: self.version.level}
        for name in sorted(self.features):
            if name not in (METADATA_VERSION, KRAFT_VERSION) and self.features[name]:
                levels[name] = self.features[name]
        records = [
            MetadataRecord("FeatureLevelRecord", {"name": name, "featureLevel": level})
            for name, level in levels.items()
        ]
        for credential in self.credentials:
            data = {
                "name": credential.name,
                "mechanism": credential.mechanism,
                "salt": credential.salt,
                "storedKey": credential.stored_key,
                "serverKey": credential.server_key,
                "iterations": credential.iterations,
            }
            records.append(MetadataRecord("UserScramCredentialRecord", data))
        return records

    def __str__(self) -> str:
        """Return the text of Kafka's `BootstrapMetadata`, with secrets redacted."""
        records = ", ".join(
            f"ApiMessageAndVersion({record.message}({_fields_text(record.data)}) at version 0)"
            for record in self.records()
        )
        return (
            f"BootstrapMetadata(records=[{records}], "
            f"metadataVersionLevel={self.version.level}, source=format command)"
        )


def bootstrap_bytes(initial: Bootstrap, now: int) -> bytes:
    """Return the bytes of a bootstrap.checkpoint; *now* is the time in ms since the epoch."""
    batches = [_control_batch(0, [_header(0)], now)]
    records = initial.records()
    batches.append(metadata_bytes(records, offset=1, epoch=0, now=now))
    batches.append(_control_batch(1 + len(records), [_footer()], now))
    return b"".join(batches)


def metadata_bytes(
    records: Iterable[MetadataRecord], *, offset: int, epoch: int, now: int
) -> bytes:
    """Return the batches of metadata records.

    Args:
        records: the records.
        offset: the offset of the first one.
        epoch: the leader epoch of the batches.
        now: the time in ms since the epoch.
    """
    batches = []
    for values in _batched([_framed(record) for record in records]):
        batch = [
            Record(offset=offset + i, timestamp=now, key=None, value=value, headers=())
            for i, value in enumerate(values)
        ]
        batches.append(batch_bytes(batch, leader_epoch=epoch))
        offset += len(batch)
    return b"".join(batches)


def voters_snapshot_bytes(voters: Sequence[Voter], listener: str, now: int) -> bytes:
    """Return the bytes of the first snapshot of a dynamic quorum.

    *listener* is the name of the controllers' listener; *now* the time in ms since the epoch.
    """
    quorum = _quorum_records(voters_record(voters, listener), is_first=True)
    return _control_batch(0, [_header(now), *quorum], now) + _control_batch(3, [_footer()], now)


def voters_record(voters: Sequence[Voter], listener: str) -> dict[str, object]:
    data = [
        {
            "voterId": voter.node_id,
            "voterDirectoryId": voter.directory_id,
            "endpoints": [{"name": listener, "host": voter.host, "port": voter.port}],
            "kRaftVersionFeature": {"minSupportedVersion": 0, "maxSupportedVersion": 1},
        }
        for voter in voters
    ]
    return {"version": 0, "voters": data}


def voters_batch_bytes(
    record: Mapping[str, object], *, is_first: bool, offset: int, epoch: int, now: int
) -> bytes:
    """Return the batch that puts a voter set into effect in a log.

    Args:
        record: the fields of the VotersRecord.
        is_first: whether the quorum was static before; then kraft.version is raised too.
        offset: the offset of the first record.
        epoch: the leader epoch of the batch.
        now: the time in ms since the epoch.
    """
    return _control_batch(offset, _quorum_records(record, is_first=is_first), now, epoch)


def _quorum_records(record: Mapping[str, object], *, is_first: bool) -> list[_Control]:
    """Return the control records of a voter set; the first one comes with kraft.version."""
    version = (_KRAFT_VERSION, "KRaftVersionRecord", {"version": 0, "kRaftVersion": 1})
    voters = (_KRAFT_VOTERS, "VotersRecord", record)
    return [version, voters] if is_first else [voters]


_Control = tuple[int, str, Mapping[str, object]]


def _header(last_timestamp: int) -> _Control:
    data = {"version": 0, "lastContainedLogTimestamp": last_timestamp}
    return _SNAPSHOT_HEADER, "SnapshotHeaderRecord", data


def _footer() -> _Control:
    return _SNAPSHOT_FOOTER, "SnapshotFooterRecord", {"version": 0}


def _control_batch(
    base_offset: int, records: Sequence[_Control], now: int, epoch: int = 0
) -> bytes:
    return batch_bytes(
        [
            Record(
                offset=base_offset + i,
                timestamp=now,
                key=bytes(2) + number.to_bytes(2),
                value=compiled(messages("control")[message], 0).write(data),
                headers=(),
            )
            for i, (number, message, data) in enumerate(records)
        ],
        attributes=CONTROL,
        leader_epoch=epoch,
    )


def _framed(record: MetadataRecord) -> bytes:
    message = messages("metadata")[record.message]
    assert message.key is not None
    frame = (_FRAME_VERSION, message.key, record.version)
    return b"".join(map(uvarint_bytes, frame)) + compiled(message, record.version).write(
        record.data
    )


def _batched(values: Sequence[bytes]) -> Iterable[list[bytes]]:
    """Yield groups of *values* for batches of at most 8 MiB, as Kafka's writer makes them."""
    group: list[bytes] = []
    size = 0
    for value in values:
        if group and size + len(value) > _BATCH_LIMIT:
            yield group
            group, size = [], 0
        group.append(value)
        size += len(value)
    if group:
        yield group


def _fields_text(data: Mapping[str, object]) -> str:
    return ", ".join(f"{name}={_value_text(value)}" for name, value in data.items())


def _value_text(value: object) -> str:
    if isinstance(value, bytes):
        return f"[{REDACTED}]"
    return f"'{value}'" if isinstance(value, str) else str(value)
