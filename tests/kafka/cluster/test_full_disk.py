"""A rebalance onto a broker one of whose disks has 20 MB; run by hand, since it mounts a disk."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.helpers.kafka.nodes.clusters import Cluster, Shape, running_cluster
from tests.helpers.kafka.nodes.moving import create_topics, directories, placement, ready, tool

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.slow,
    pytest.mark.skipif(
        "KRAFTOPS_FULL_DISK" not in os.environ, reason="KRAFTOPS_FULL_DISK is not set"
    ),
]

PARTITIONS, RECORDS, RECORD_BYTES = 8, 12, 900_000
"""Each partition has half of the small disk."""
WRITER = """
import sys
from kafka import KafkaProducer
address, partitions, records, size = sys.argv[1], *map(int, sys.argv[2:])
producer = KafkaProducer(bootstrap_servers=address.split(","), acks="all")
for _ in range(records):
    for partition in range(partitions):
        producer.send("big", bytes(size), partition=partition).get(60)
"""


def test_small_disk_is_not_filled(jars: Path, tmp_path: Path) -> None:
    with small_disk(tmp_path / "small") as small:
        disks = f"{tmp_path / 'large'},{small / 'logs'}"
        shape = Shape(brokers=3, node_settings={103: {"log.dirs": disks}})
        with running_cluster(jars, tmp_path / "nodes", shape) as live:
            fill(live)
            check(live, str(small / "logs"))


@contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=20m", "tmpfs", folder], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def fill(live: Cluster) -> None:
    """Have all partitions on brokers 101 and 102."""
    create_topics(live, {"big": (PARTITIONS, 1)})
    ready(live, 101, 102, 103)
    numbers = [*map(str, (PARTITIONS, RECORDS, RECORD_BYTES))]
    subprocess.run(
        [sys.executable, "-W", "ignore", "-c", WRITER, live.brokers, *numbers], check=True
    )
    done = tool("rebalance", "-b", live.brokers, "--to", "101,102", "--yes", "--timeout", "60")
    assert done.code == 0, done.err


def check(live: Cluster, small: str) -> None:
    """The directory with room is asked for, though the small one has as few partitions."""
    done = tool(
        "rebalance", "-b", live.brokers, "--check-disks", "--yes", "--timeout", "90",
        "--format", "json",
    )  # fmt: skip

    assert done.code == 0, done.err
    assert json.loads(done.text)["changed"]
    by_path = {each.path: each for each in directories(live, 103)}
    assert not by_path[small].is_failed
    large = next(each for path, each in by_path.items() if path != small)
    assert sum(name.topic == "big" for name in (*large.replicas, *by_path[small].replicas)) >= 2
    assert by_path[small].size < 20 << 20
    after = placement(live)
    assert not after.moving
    assert all(len(each.isr) == 1 for each in after.partitions.values())
