"""Write the files of a metadata log."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from kraftops.log.batch import CONTROL, Record
from kraftops.log.files import METADATA_PARTITION
from kraftops.schema.compile import compiled
from kraftops.schema.tables import messages
from tests.helpers.logs.written import batch_bytes

HEADER, FOOTER, KRAFT_VERSION, KRAFT_VOTERS = range(3, 7)
_CONTROLS = {
    HEADER: ("SnapshotHeaderRecord", {"version": 0, "lastContainedLogTimestamp": 0}),
    FOOTER: ("SnapshotFooterRecord", {"version": 0}),
}


def control_batch(
    offset: int, kind: int, data: Mapping[str, object] | None = None, epoch: int = 1
) -> bytes:
    """Return a batch of one control record."""
    names = {KRAFT_VERSION: "KRaftVersionRecord", KRAFT_VOTERS: "VotersRecord"}
    name, default = _CONTROLS[kind] if data is None else (names[kind], data)
    value = compiled(messages("control")[name], 0).write(default)
    key = bytes(2) + kind.to_bytes(2)
    record = Record(offset, 0, key, value)
    return batch_bytes([record], attributes=CONTROL, leader_epoch=epoch)


def voters_batch(
    offset: int,
    *voters: tuple[int, bytes],
    epoch: int = 1,
    host: str = "localhost",
    ports: Mapping[int, int] | None = None,
) -> bytes:
    """Return a batch with a voter set: ids of nodes and of directories, all at one host.

    *ports* has the ports of some nodes.
    """
    data = [
        {
            "voterId": node_id,
            "voterDirectoryId": directory_id,
            "endpoints": [
                {"name": "CONTROLLER", "host": host, "port": (ports or {}).get(node_id, 29093)}
            ],
            "kRaftVersionFeature": {"minSupportedVersion": 0, "maxSupportedVersion": 1},
        }
        for node_id, directory_id in voters
    ]
    return control_batch(offset, KRAFT_VOTERS, {"version": 0, "voters": data}, epoch)


def kraft_version_batch(offset: int, version: int, epoch: int = 1) -> bytes:
    """Return a batch with a kraft.version."""
    return control_batch(offset, KRAFT_VERSION, {"version": 0, "kRaftVersion": version}, epoch)


def records_batch(
    offset: int, *records: tuple[str, Mapping[str, object]], epoch: int = 1, version: int = 0
) -> bytes:
    """Return a batch of records of the metadata: names of messages and their fields."""
    made = []
    for number, (name, data) in enumerate(records):
        message = messages("metadata")[name]
        frame = bytes([1, message.key or 0, version])
        made.append(
            Record(offset + number, 0, None, frame + compiled(message, version).write(data))
        )
    return batch_bytes(made, leader_epoch=epoch)


def no_ops(offset: int, count: int, epoch: int = 1) -> bytes:
    """Return a batch of records that say nothing."""
    return records_batch(offset, *[("NoOpRecord", {})] * count, epoch=epoch)


def feature(name: str, level: int) -> tuple[str, Mapping[str, object]]:
    """Return a record that finalizes the level of a feature."""
    return "FeatureLevelRecord", {"name": name, "featureLevel": level}


def snapshot_bytes(*batches: bytes, end: int = 0) -> bytes:
    """Return a snapshot: the batches between header and footer."""
    return b"".join([control_batch(0, HEADER), *batches, control_batch(end, FOOTER)])


def write_log(
    directory: Path,
    segments: Mapping[int, Sequence[bytes]] | None = None,
    snapshots: Mapping[tuple[int, int], bytes] | None = None,
) -> Path:
    """Write segments by base offset and snapshots by end offset and epoch; return their folder."""
    folder = directory / METADATA_PARTITION
    folder.mkdir(parents=True, exist_ok=True)
    for offset, batches in (segments or {}).items():
        (folder / f"{offset:020}.log").write_bytes(b"".join(batches))
    for (offset, epoch), data in (snapshots or {}).items():
        (folder / f"{offset:020}-{epoch:010}.checkpoint").write_bytes(data)
    return folder
