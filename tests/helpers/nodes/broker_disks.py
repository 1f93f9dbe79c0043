"""Log directories of brokers, with copies of partitions of several leader epochs."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from kraftops.log.batch import Record, batch_bytes
from kraftops.uuids import to_text
from tests.helpers.nodes.lost_quorums import write_meta

TOPIC_ID = b"orders-topic-id!"


def broker_disk(
    directory: Path,
    node_id: int,
    copies: Mapping[str, Sequence[tuple[int, int]]],
    *,
    noted: int | None = None,
    topic_id: bytes = TOPIC_ID,
) -> Path:
    """Make a log directory; each copy has epochs with the end of each, *noted* is its watermark."""
    directory.mkdir(parents=True, exist_ok=True)
    write_meta(directory, node_id)
    for name, epochs in copies.items():
        _write_copy(directory / name, epochs, topic_id)
    if noted is not None:
        lines = [" ".join(name.rsplit("-", 1)) + f" {noted}" for name in copies]
        text = "\n".join(["0", str(len(lines)), *lines, ""])
        (directory / "replication-offset-checkpoint").write_text(text)
    return directory


def _write_copy(folder: Path, epochs: Sequence[tuple[int, int]], topic_id: bytes) -> None:
    folder.mkdir()
    (folder / "partition.metadata").write_text(f"version: 0\ntopic_id: {to_text(topic_id)}\n")
    batches, starts, start = [], [], 0
    for epoch, end in epochs:
        rows = [Record(offset, 1000 + offset, None, b"x") for offset in range(start, end)]
        batches.append(batch_bytes(rows, leader_epoch=epoch))
        starts.append(f"{epoch} {start}")
        start = end
    (folder / f"{0:020}.log").write_bytes(b"".join(batches))
    text = "\n".join(["0", str(len(starts)), *starts, ""])
    (folder / "leader-epoch-checkpoint").write_text(text)
