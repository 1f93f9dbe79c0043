"""Brokers with partitions on their disks, and metadata that assigns partitions to them."""

from collections.abc import Mapping, Sequence
from contextlib import chdir
from pathlib import Path

from kraftops.java.properties import properties_bytes
from kraftops.log.batch import Record
from kraftops.storage.config.server_config import load_config
from kraftops.storage.logdirs.node import Node, read_node
from kraftops.uuids import to_text
from tests.helpers.logs.random_logs import (
    MetadataRecord,
    log_batches,
    log_bytes,
    new_record,
    uuid,
)
from tests.helpers.logs.written import batch_bytes
from tests.helpers.nodes.node_directories import CLUSTER_ID, META, PROPERTIES, make_node

TOPIC = uuid(1 << 100)
D1, D2, D9 = uuid(1 << 101), uuid(1 << 102), uuid(1 << 103)
BROKER = {
    "process_roles": "broker",
    "listeners": "PLAINTEXT://localhost:29092",
}
ELSEWHERE = {"controller.quorum.bootstrap.servers": "elsewhere:29093"}


def topic(name: str = "t", topic_id: bytes = TOPIC) -> MetadataRecord:
    return new_record("TopicRecord", name=name, topicId=topic_id)


def assigned(
    number: int,
    replicas: Mapping[int, bytes],
    isr: Sequence[int] | None = None,
    eligible: Sequence[int] = (),
) -> MetadataRecord:
    """Return the record of a partition; *replicas* has directory ids by brokers."""
    brokers = list(replicas)
    return new_record(
        "PartitionRecord",
        2,
        partitionId=number,
        topicId=TOPIC,
        replicas=brokers,
        isr=brokers if isr is None else list(isr),
        leader=-1 if isr == [] else brokers[0],
        directories=list(replicas.values()),
        eligibleLeaderReplicas=list(eligible),
    )


def partition_change(number: int, replicas: Mapping[int, bytes]) -> MetadataRecord:
    """Return the record that moves a partition to other replicas."""
    brokers = list(replicas)
    return new_record(
        "PartitionChangeRecord",
        2,
        partitionId=number,
        topicId=TOPIC,
        replicas=brokers,
        isr=brokers,
        leader=brokers[0],
        directories=list(replicas.values()),
    )


def broker(
    folder: Path, node_id: int, directories: Mapping[str, bytes], *records: MetadataRecord
) -> Path:
    """Make a broker with formatted directories; the first has a copy of the metadata log."""
    node = make_node(
        folder, ELSEWHERE, **BROKER, node_id=str(node_id), log_dirs=",".join(directories)
    )
    for name, directory_id in directories.items():
        (node / name).mkdir(exist_ok=True)
        if not (node / name / META).exists():
            write_meta(node / name, node_id, directory_id)
    if records:
        write_metadata(node / next(iter(directories)), *records)
    return node


def write_meta(directory: Path, node_id: int, directory_id: bytes) -> None:
    values = [
        ("version", "1"),
        ("cluster.id", CLUSTER_ID),
        ("node.id", str(node_id)),
        ("directory.id", to_text(directory_id)),
    ]
    (directory / META).write_bytes(properties_bytes(values))


def write_metadata(directory: Path, *records: MetadataRecord) -> None:
    """Write a metadata log of these records."""
    folder = directory / "__cluster_metadata-0"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{0:020}.log").write_bytes(log_bytes(log_batches(list(records))))


def partition(directory: Path, name: str, records: int = 3, topic_id: bytes | None = TOPIC) -> Path:
    """Write the directory of a partition, with that many records in two segments."""
    folder = directory / name
    folder.mkdir(parents=True)
    if topic_id:
        text = f"version: 0\ntopic_id: {to_text(topic_id)}\n"
        (folder / "partition.metadata").write_text(text)
    if records:
        (folder / f"{0:020}.log").write_bytes(batch_bytes([Record(0, 0, None, b"x")]))
        later = [batch_bytes([Record(offset, 0, None, b"x")]) for offset in range(1, records)]
        (folder / f"{1:020}.log").write_bytes(b"".join(later))
    return folder


def read(node: Path) -> Node:
    """Return a node, for paths relative to its folder."""
    with chdir(node):
        return read_node(load_config(PROPERTIES))
