"""Log directories of brokers, with copies of partitions of several leader epochs."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from kraftops.log.batch import Record
from kraftops.uuids import to_text
from tests.helpers.logs.metadata_logs import records_batch
from tests.helpers.logs.written import batch_bytes
from tests.helpers.nodes.lost_quorums import broker, write_meta

TOPIC_ID = b"orders-topic-id!"
PARTITION = {
    "partitionId": 0,
    "topicId": TOPIC_ID,
    "replicas": [101, 102],
    "isr": [101],
    "removingReplicas": [],
    "addingReplicas": [],
    "leader": 101,
    "leaderEpoch": 2,
    "partitionEpoch": 5,
    "directories": [bytes(16), bytes(16)],
}
ORDERS = (
    records_batch(5, broker(101), broker(102)),
    records_batch(7, ("TopicRecord", {"name": "orders", "topicId": TOPIC_ID})),
    records_batch(8, ("PartitionRecord", PARTITION)),
)
"""The topic orders with one partition, which 101 leads alone; from offset 5 on."""


def broker_disk(
    directory: Path,
    node_id: int,
    copies: Mapping[str, Sequence[tuple[int, int]]],
    *,
    noted: int | None = None,
    producer: int = -1,
) -> Path:
    """Make a log directory.

    Each copy has epochs with the end of each; *noted* is its high watermark, and *producer* the id
    of the producer of its records.
    """
    directory.mkdir(parents=True, exist_ok=True)
    write_meta(directory, node_id)
    for name, epochs in copies.items():
        _write_copy(directory / name, epochs, producer)
    if noted is not None:
        lines = [" ".join(name.rsplit("-", 1)) + f" {noted}" for name in copies]
        text = "\n".join(["0", str(len(lines)), *lines, ""])
        (directory / "replication-offset-checkpoint").write_text(text)
    return directory


def _write_copy(folder: Path, epochs: Sequence[tuple[int, int]], producer: int) -> None:
    folder.mkdir()
    (folder / "partition.metadata").write_text(f"version: 0\ntopic_id: {to_text(TOPIC_ID)}\n")
    batches, starts, start = [], [], 0
    for epoch, end in epochs:
        rows = [Record(offset, 1000 + offset, None, b"x") for offset in range(start, end)]
        if rows:
            batches.append(batch_bytes(rows, leader_epoch=epoch, producer_id=producer))
        if not starts or starts[-1].split()[0] != str(epoch):  # else a batch more
            starts.append(f"{epoch} {start}")
        start = end
    (folder / f"{0:020}.log").write_bytes(b"".join(batches))
    text = "\n".join(["0", str(len(starts)), *starts, ""])
    (folder / "leader-epoch-checkpoint").write_text(text)
