"""Write the metadata snapshots and logs of partitions that the shell's benchmarks read.

    python tests/bench/make_snapshots.py snapshot OUT_DIR --partitions 100000 --replicas 5
    python tests/bench/make_snapshots.py changes OUT_DIR --partitions 50000 --changes 5000000

The path of the file is printed. The same options and seed give the same bytes; another seed gives
other names, ids and placements of the same shape.
"""

import argparse
import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from random import Random
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[2]))  # for `tests`, which is not installed

from kraftops.log.batch import CONTROL, Record
from kraftops.schema.compile import compiled
from kraftops.schema.tables import messages
from tests.bench.logs.batches import LEADER_EPOCH, SEGMENT, START
from tests.bench.logs.cluster import NOUNS, framed
from tests.bench.make_logs import Spans, spans
from tests.helpers.logs.written import batch_bytes

RECORDS_A_BATCH = 1000
METADATA_VERSIONS = {0: 14, 1: 19, 2: 30}  # levels whose snapshots have such partition records
REGISTRATIONS = {0: 1, 1: 3, 2: 3}  # versions of brokers' records, by those of partitions'
LAST_KNOWN = 0.05  # of the partitions out of sync: they have no ELR, but had one
_HEADER, _FOOTER = 3, 4  # types of control records


@dataclass(frozen=True, slots=True)
class Partitions:
    """The shape of the partitions of a cluster.

    *version* is that of their records, *topics* tells how many partitions a topic may have.
    *out_of_sync* and *shuffled* are shares of the partitions: those whose ISR lacks replicas (and
    which have an ELR from version 2 on), and those whose ISR is not in the order of their replicas.
    *changed* is the share that is otherwise than in a cluster where that is 0, *skew* the share of
    changes that are of the first topic.
    """

    count: int = 100_000
    replicas: int = 3
    version: int = 1
    topics: Spans = (range(100, 101),)
    out_of_sync: float = 0
    shuffled: float = 0
    changed: float = 0
    skew: float = 0


class Placed(NamedTuple):
    """A partition that later records change."""

    number: int
    topic_id: bytes
    replicas: list[int]


class MadeCluster:
    """A cluster of *partitions*, and the values of the records of its snapshot."""

    def __init__(self, partitions: Partitions, seed: int) -> None:
        self.partitions = partitions
        self.random = Random(seed)
        self._drift = Random(~seed)  # of its own, so that what is not changed stays the same
        first, step = self.random.choice((0, 1, 100, 1000)), self.random.choice((1, 1, 10))
        self.brokers = range(first, first + self.random.randint(9, 24) * step, step)
        self.directories = {
            broker: [self.random.randbytes(16) for _ in range(self.random.randint(1, 3))]
            for broker in self.brokers
        }
        self.placed: list[Placed] = []

    def values(self, *, to_be_changed: bool = False) -> Iterator[bytes]:
        """Yield the values, once; partitions that are to be changed are kept."""
        level = METADATA_VERSIONS[self.partitions.version]
        yield framed("FeatureLevelRecord", 0, {"name": "metadata.version", "featureLevel": level})
        for broker in self.brokers:
            yield self._registration(broker)
        random, left, made = self.random, self.partitions.count, 0
        while left:
            topic_id, count = (
                random.randbytes(16),
                random.choice(random.choice(self.partitions.topics)),
            )
            yield framed("TopicRecord", 0, {"name": self._topic_name(made), "topicId": topic_id})
            for number in range(min(count, left)):
                placed = Placed(
                    number, topic_id, random.sample(self.brokers, self.partitions.replicas)
                )
                if to_be_changed:
                    self.placed.append(placed)
                yield self._partition(placed)
            left -= min(count, left)
            made += 1

    def change(self) -> bytes:
        """Return the value of a change of some partition's ISR, and mostly of its leader."""
        random = self.random
        is_of_first = self.partitions.skew and self._drift.random() < self.partitions.skew
        placed = self._of_first_topic if is_of_first else self.placed
        number, topic_id, replicas = random.choice(placed)
        isr = random.sample(replicas, random.randint(1, len(replicas)))
        data: dict[str, object] = {"partitionId": number, "topicId": topic_id, "isr": isr}
        if random.random() < 0.5:
            data["leader"] = isr[0]
        if len(isr) < len(replicas) and random.random() < 0.1:
            data["eligibleLeaderReplicas"] = [one for one in replicas if one not in isr]
        return framed("PartitionChangeRecord", self.partitions.version, data)

    @cached_property
    def _of_first_topic(self) -> list[Placed]:
        return [one for one in self.placed if one.topic_id == self.placed[0].topic_id]

    def _partition(self, placed: Placed) -> bytes:
        random, drift = self.random, self._drift
        number, topic_id, replicas = placed
        leader_epoch, partition_epoch = random.randrange(300), random.randrange(900)
        directories = [random.choice(self.directories[broker]) for broker in replicas]
        isr = self._isr(replicas, random, self.partitions.out_of_sync)
        if drift.random() < self.partitions.changed:
            isr = self._isr(replicas, drift, 0.5)
            leader_epoch, partition_epoch = leader_epoch + 1, partition_epoch + 1
        data = {
            "partitionId": number,
            "topicId": topic_id,
            "replicas": replicas,
            "isr": isr,
            "leader": replicas[0] if replicas[0] in isr else isr[0],
            "leaderEpoch": leader_epoch,
            "partitionEpoch": partition_epoch,
            "directories": directories,
            "removingReplicas": [],
            "addingReplicas": [],
            "leaderRecoveryState": 0,
        }
        elr = "lastKnownElr" if random.random() < LAST_KNOWN else "eligibleLeaderReplicas"
        if lost := [broker for broker in replicas if broker not in isr]:
            data[elr] = lost
        return framed("PartitionRecord", self.partitions.version, data)

    def _isr(self, replicas: list[int], random: Random, out_of_sync: float) -> list[int]:
        isr = replicas
        if random.random() < out_of_sync and len(replicas) > 1:
            isr = random.sample(replicas, random.randint(1, len(replicas) - 1))
            isr.sort(key=replicas.index)
        return random.sample(isr, len(isr)) if random.random() < self.partitions.shuffled else isr

    def _topic_name(self, number: int) -> str:
        random = self.random
        words = random.choices(NOUNS, k=random.choice((1, 2, 2, 3)))
        return f"{random.choice('-._').join(words)}-{number}"

    def _registration(self, broker: int) -> bytes:
        endpoint = {"name": "PLAINTEXT", "host": "localhost", "port": 9092, "securityProtocol": 0}
        data = {
            "brokerId": broker,
            "incarnationId": self.random.randbytes(16),
            "brokerEpoch": broker,
            "endPoints": [endpoint],
            "features": [],
            "rack": None,
            "fenced": False,
            "logDirs": sorted(self.directories[broker]),
        }
        return framed("RegisterBrokerRecord", REGISTRATIONS[self.partitions.version], data)


def batches(values: Iterable[bytes], base_offset: int = 0) -> Iterator[bytes]:
    """Yield batches of 1,000 records."""
    left, offset, now = iter(values), base_offset, START
    while some := list(islice(left, RECORDS_A_BATCH)):
        records = [Record(offset + at, now, None, value) for at, value in enumerate(some)]
        yield batch_bytes(records, leader_epoch=LEADER_EPOCH)
        offset += len(some)
        now += 10


def write_snapshot(directory: Path, partitions: Partitions, seed: int = 1) -> Path:
    """Write the snapshot of a cluster; return its path."""
    made = 0

    def values() -> Iterator[bytes]:
        nonlocal made
        for value in MadeCluster(partitions, seed).values():
            made += 1
            yield value

    def parts() -> Iterator[bytes]:
        yield _control(0, _HEADER, "SnapshotHeaderRecord", {"lastContainedLogTimestamp": START})
        yield from batches(values(), 1)
        yield _control(made + 1, _FOOTER, "SnapshotFooterRecord", {})

    path = _written(directory / "snapshot", parts())  # its name tells the number of records
    return path.rename(directory / f"{made:020}-{LEADER_EPOCH:010}.checkpoint")


def write_changes(directory: Path, partitions: Partitions, changes: int, seed: int = 1) -> Path:
    """Write a segment that makes partitions and then changes them; return its path."""
    cluster = MadeCluster(partitions, seed)

    def values() -> Iterator[bytes]:
        yield from cluster.values(to_be_changed=True)
        for _ in range(changes):
            yield cluster.change()

    return _written(directory / SEGMENT, batches(values()))


def _written(path: Path, parts: Iterable[bytes]) -> Path:
    part = path.with_suffix(f".{os.getpid()}.part")
    with part.open("wb") as out:
        out.writelines(parts)
    return part.rename(path)  # so that an interrupted run leaves no file that looks whole


def _control(offset: int, number: int, name: str, data: dict[str, object]) -> bytes:
    value = compiled(messages("control")[name], 0).write({"version": 0} | data)
    return batch_bytes(
        [Record(offset, START, bytes(2) + number.to_bytes(2), value)], attributes=CONTROL
    )


def main() -> None:
    """Write the file that the command line asks for."""
    usual = Partitions()
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("kind", choices=["snapshot", "changes"])
    parser.add_argument("directory", type=Path, metavar="OUT_DIR")
    parser.add_argument("--partitions", type=int, default=usual.count)
    parser.add_argument("--replicas", type=int, default=usual.replicas)
    parser.add_argument("--version", type=int, choices=METADATA_VERSIONS, default=usual.version)
    parser.add_argument(
        "--topics", type=spans, default=usual.topics, metavar="MIN:MAX[,MIN:MAX…]", help="sizes"
    )
    for share in ("--out-of-sync", "--shuffled", "--changed", "--skew"):
        parser.add_argument(share, type=float, default=0, metavar="SHARE")
    parser.add_argument("--changes", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    partitions = Partitions(
        given.partitions,
        given.replicas,
        given.version,
        given.topics,
        given.out_of_sync,
        given.shuffled,
        given.changed,
        given.skew,
    )
    given.directory.mkdir(parents=True, exist_ok=True)
    if given.kind == "snapshot":
        path = write_snapshot(given.directory, partitions, given.seed)
    else:
        path = write_changes(given.directory, partitions, given.changes, given.seed)
    sys.stdout.write(f"{path}\n")


if __name__ == "__main__":
    main()
