"""Write the metadata snapshots and logs of partitions that the shell's benchmarks read.

    python tests/bench/make_snapshots.py snapshot OUT_DIR --partitions 100000
    python tests/bench/make_snapshots.py changes OUT_DIR --partitions 50000 --changes 5000000

The path of the file is printed. The same options give the same bytes.
"""

import argparse
import sys
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from random import Random

from cluster import framed
from make_logs import LEADER_EPOCH, SEGMENT, START

from kraftops.log.batch import CONTROL, Record, batch_bytes
from kraftops.schema.compile import compiled
from kraftops.schema.tables.control import MESSAGES

BROKERS = range(1, 10)
PARTITIONS_A_TOPIC = 100
REPLICAS = 3
RECORDS_A_BATCH = 1000
METADATA_VERSION = 30
_HEADER, _FOOTER = 3, 4  # types of control records


def cluster_values(partitions: int, random: Random) -> Iterator[bytes]:
    """Yield the values of records that make a cluster of this many partitions."""
    directories = {broker: random.randbytes(16) for broker in BROKERS}
    yield framed(
        "FeatureLevelRecord", 0, {"name": "metadata.version", "featureLevel": METADATA_VERSION}
    )
    for broker in BROKERS:
        yield framed("RegisterBrokerRecord", 3, _registration(broker, directories[broker], random))
    for first in range(0, partitions, PARTITIONS_A_TOPIC):
        topic_id = random.randbytes(16)
        yield framed("TopicRecord", 0, {"name": _topic_name(first), "topicId": topic_id})
        for number in range(min(PARTITIONS_A_TOPIC, partitions - first)):
            replicas = random.sample(BROKERS, REPLICAS)
            data = {
                "partitionId": number,
                "topicId": topic_id,
                "replicas": replicas,
                "isr": replicas,
                "leader": replicas[0],
                "leaderEpoch": random.randrange(4),
                "partitionEpoch": random.randrange(20),
                "directories": [directories[broker] for broker in replicas],
                "removingReplicas": [],
                "addingReplicas": [],
                "leaderRecoveryState": 0,
            }
            yield framed("PartitionRecord", 1, data)


def change_values(values: Iterable[bytes], changes: int, random: Random) -> Iterator[bytes]:
    """Yield the values of a cluster, then those of changes of its partitions' leaders and ISRs."""
    keys = []
    for value in values:
        yield value
        if value[1] == 3:
            keys.append((int.from_bytes(value[3:7]), value[7:23]))
    for _ in range(changes):
        number, topic_id = random.choice(keys)
        isr = random.sample(BROKERS, random.randint(1, REPLICAS))
        data: dict[str, object] = {"partitionId": number, "topicId": topic_id, "isr": isr}
        if random.random() < 0.5:
            data["leader"] = isr[0]
        yield framed("PartitionChangeRecord", 1, data)


def batches(values: Iterable[bytes], base_offset: int = 0) -> Iterator[bytes]:
    """Yield batches of 1,000 records."""
    left, offset, now = iter(values), base_offset, START
    while some := list(islice(left, RECORDS_A_BATCH)):
        records = [Record(offset + at, now, None, value) for at, value in enumerate(some)]
        yield batch_bytes(records, leader_epoch=LEADER_EPOCH)
        offset += len(some)
        now += 10


def write_snapshot(directory: Path, partitions: int) -> Path:
    """Write the snapshot of a cluster of this many partitions; return its path."""
    values = list(cluster_values(partitions, Random(1)))
    path = directory / f"{len(values):020}-{LEADER_EPOCH:010}.checkpoint"
    with path.open("wb") as out:
        out.write(
            _control(0, _HEADER, "SnapshotHeaderRecord", {"lastContainedLogTimestamp": START})
        )
        out.writelines(batches(values, 1))
        out.write(_control(len(values) + 1, _FOOTER, "SnapshotFooterRecord", {}))
    return path


def write_changes(directory: Path, partitions: int, changes: int) -> Path:
    """Write a segment that makes partitions and then changes them; return its path."""
    random = Random(1)
    path = directory / SEGMENT
    with path.open("wb") as out:
        out.writelines(batches(change_values(cluster_values(partitions, random), changes, random)))
    return path


def _topic_name(first: int) -> str:
    return f"topic-{first // PARTITIONS_A_TOPIC}"


def _registration(broker: int, directory: bytes, random: Random) -> dict[str, object]:
    endpoint = {"name": "PLAINTEXT", "host": "localhost", "port": 9092, "securityProtocol": 0}
    return {
        "brokerId": broker,
        "incarnationId": random.randbytes(16),
        "brokerEpoch": broker,
        "endPoints": [endpoint],
        "features": [],
        "rack": None,
        "fenced": False,
        "logDirs": [directory],
    }


def _control(offset: int, number: int, name: str, data: dict[str, object]) -> bytes:
    value = compiled(MESSAGES[name], 0).write({"version": 0} | data)
    return batch_bytes(
        [Record(offset, START, bytes(2) + number.to_bytes(2), value)], attributes=CONTROL
    )


def main() -> None:
    """Write the file that the command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("kind", choices=["snapshot", "changes"])
    parser.add_argument("directory", type=Path, metavar="OUT_DIR")
    parser.add_argument("--partitions", type=int, default=100_000)
    parser.add_argument("--changes", type=int, default=1_000_000)
    given = parser.parse_args()
    given.directory.mkdir(parents=True, exist_ok=True)
    if given.kind == "snapshot":
        path = write_snapshot(given.directory, given.partitions)
    else:
        path = write_changes(given.directory, given.partitions, given.changes)
    sys.stdout.write(f"{path}\n")


if __name__ == "__main__":
    main()
