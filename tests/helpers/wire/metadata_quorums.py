"""Fake controllers with real metadata records, and the same log in files."""

from collections.abc import Mapping
from pathlib import Path

from kraftops.wire.quorum.fetch import SnapshotId
from tests.helpers.logs.metadata_logs import feature, records_batch, snapshot_bytes
from tests.helpers.logs.random_logs import leader_change, uuid
from tests.helpers.wire.quorums import Log

Record = tuple[str, Mapping[str, object]]


def topic(number: int) -> tuple[Record, Record]:
    """Return the records of a topic of one partition."""
    partition = {
        "partitionId": 0,
        "topicId": uuid(number),
        "replicas": [1, 2],
        "isr": [1],
        "removingReplicas": [],
        "addingReplicas": [],
        "leader": 1,
        "leaderEpoch": 0,
        "partitionEpoch": 0,
    }
    name: Record = ("TopicRecord", {"name": f"t{number}", "topicId": uuid(number)})
    return name, ("PartitionRecord", partition)


class MetadataLog(Log):
    """A log of metadata records, to which batches are added."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[Record] = []
        self._append(leader_change(0, 1), 1)
        self.add(feature("metadata.version", 20))

    def add(self, *records: Record) -> None:
        self.records += records
        self._append(records_batch(self.end, *records, epoch=self.epoch), len(records))

    def elect(self, leader: int) -> None:
        self.leader, self.epoch = leader, self.epoch + 1
        self._append(leader_change(self.end, leader, self.epoch), 1)

    def snapshot(self, *, drop: bool) -> SnapshotId:
        taken = super().snapshot(drop=drop)
        self.snapshots[taken] = snapshot_bytes(
            *(records_batch(at, record) for at, record in enumerate(self.records, 1)),
            end=len(self.records) + 1,
        )
        return taken

    def write(self, directory: Path) -> Path:
        """Write the files; return the directory."""
        directory = directory / "__cluster_metadata-0"
        directory.mkdir(parents=True, exist_ok=True)
        for taken, data in self.snapshots.items():
            (directory / f"{taken}.checkpoint").write_bytes(data)
        log = b"".join(data for _, _, _, data in self.batches)
        (directory / f"{self.start:020}.log").write_bytes(log)
        return directory

    def _append(self, data: bytes, count: int) -> None:
        base = self.end
        self.batches.append((base, base + count, self.epoch, data))
        self.high_watermark = self.end
