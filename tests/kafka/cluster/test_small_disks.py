"""A disk of 20 MB that fills during a rebalance, and moves between the directories of a broker.

It mounts a file system in memory, and so needs root; KRAFTOPS_SMALL_DISKS=1 runs it.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.kafka.nodes.clusters import Cluster, Shape, restarted, running_cluster
from tests.helpers.kafka.nodes.live_logs import change_topics
from tests.helpers.kafka.nodes.moving import directories, placement, ready, tool
from tests.helpers.kafka.nodes.nodes import until
from tests.helpers.kafka.nodes.traffic import traffic
from tests.helpers.tools.console import CLUSTER, ENVIRONMENT

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.slow,
    pytest.mark.skipif(
        "KRAFTOPS_SMALL_DISKS" not in os.environ or os.geteuid() != 0,
        reason="is run by hand, by root, who mounts file systems",
    ),
]
_MB = 1 << 20
_COUNT = 4
_WRITER = """
import sys
from kafka import KafkaProducer
producer = KafkaProducer(bootstrap_servers=sys.argv[1], acks="all", batch_size=1 << 19)
for number in range(int(sys.argv[2]) * int(sys.argv[3])):
    producer.send("big", bytes(1 << 16), partition=number % int(sys.argv[2]))
producer.flush(60)
"""


@contextmanager
def small_disk(path: Path) -> Iterator[None]:
    """Mount a file system of 20 MB."""
    path.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=20m", "tmpfs", str(path)]
    if subprocess.run(command, check=False, capture_output=True).returncode:
        pytest.skip("no file system can be mounted here")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(path)], check=True)


def test_full_disk_ends_a_rebalance_that_anybody_cancels_and_resumes(
    jars: Path, tmp_path: Path
) -> None:
    disk = tmp_path / "small"
    disks = [str(tmp_path / "disk1"), str(disk / "logs")]
    shape = Shape(brokers=3, node_settings={103: {"log.dirs": ",".join(disks)}})
    with small_disk(disk), running_cluster(jars, tmp_path / "nodes", shape) as live:
        fill(live)
        before = placement(live).partitions
        plan = tmp_path / "plan.json"
        plan.write_text(json.dumps(moves(disks[1])))
        with traffic(live.brokers, {"written": 2}) as records:
            check_stall(live, plan, disks[1])
            subprocess.run(["mount", "-o", "remount,size=300m", str(disk)], check=True)
            after = placement(live).partitions
            assert {p: each.replicas for p, each in after.items()} == {
                p: each.replicas for p, each in before.items()
            }
            live.nodes[103].stop()
            restarted(live, 103)
            check_resume(live, plan)
            check_move_dirs(live, disks)
            count = records.end()
        assert count.acknowledged > 0
        assert count.lost == 0


def fill(live: Cluster) -> None:
    """Fill a topic on the other brokers, 8 MB a partition."""
    assignments: list[dict[str, Any]] = [
        {"partition_index": number, "broker_ids": [101 + number % 2]} for number in range(_COUNT)
    ]
    common = {"num_partitions": -1, "replication_factor": -1, "configs": []}
    written = [{"partition_index": n, "broker_ids": [101, 102]} for n in range(2)]
    change_topics(
        live.brokers,
        "CreateTopics",
        [
            {"name": "big", "assignments": assignments, **common},
            {"name": "written", "assignments": written, **common},
        ],
    )
    words = [sys.executable, "-W", "ignore", "-c", _WRITER, live.brokers, str(_COUNT), "128"]
    subprocess.run(words, check=True, timeout=100)


def moves(path: str) -> dict[str, object]:
    """Return a plan that moves all partitions of the topic into a directory of one broker."""
    return {
        "version": 1,
        "partitions": [
            {"topic": "big", "partition": number, "replicas": [103], "log_dirs": [path]}
            for number in range(_COUNT)
        ],
    }


def check_stall(live: Cluster, plan: Path, path: str) -> None:
    """The disk fails when it is full; the run ends, and nothing of it is left after a cancel."""
    ask = ("-b", live.brokers, "--plan", str(plan), "--yes")

    refused = tool("rebalance", *ask, "--check-disks")
    done = tool("rebalance", *ask, "--throttle", "50M", "--stall-timeout", "10", "--timeout", "90")
    seen = tool("operations", "-b", live.brokers, "--format", "json")
    cancelled = tool("operations", "cancel", "rebalance", "-b", live.brokers, "--yes")

    assert (refused.code, done.code) == (3, 5), refused.err + done.err
    assert f"{path} would get 32.0 MiB" in refused.err
    assert f"on broker 103, {path} has failed" in done.err
    (operation,) = json.loads(seen.text)["operations"]
    assert (operation["name"], operation["state"]) == ("rebalance", "stalled")
    assert (operation["partitions"], operation["secondsLeft"]) == (_COUNT, None)
    assert operation["bytes"] >= 32 * _MB
    assert operation["bytesDone"] + operation["bytesLeft"] >= operation["bytes"]
    assert {each["code"] for each in operation["obstacles"]} == {"directory-failed"}
    assert operation["throttledBrokers"] == [101, 102, 103]
    assert cancelled.code == 0, cancelled.err


def check_resume(live: Cluster, plan: Path) -> None:
    """A rebalance is killed, and another process waits for its end."""
    ready(live, 101, 102, 103)
    ask = ("-b", live.brokers, "--plan", str(plan), "--yes", "--throttle", "1M")
    killed("rebalance", *ask, cluster=live, name="rebalance")

    seen = tool("operations", "-b", live.brokers, "--format", "json")
    resumed = tool(
        "operations", "resume", "rebalance", "-b", live.brokers, "--throttle", "100M", "--yes",
        "--timeout", "60",
    )  # fmt: skip

    (operation,) = json.loads(seen.text)["operations"]
    assert (operation["isRunning"], operation["throttle"]) == (False, _MB)
    assert operation["bytesPerSecond"] > 0
    assert resumed.code == 0, resumed.err
    after = placement(live).partitions
    assert {each.replicas for name, each in after.items() if name.topic == "big"} == {(103,)}


def check_move_dirs(live: Cluster, disks: list[str]) -> None:
    """A killed run is cancelled, which leaves replicas where they are, and another is resumed."""
    ask = ("-b", live.brokers, "--id", "103", "--from-dir", disks[1], "--yes", "--throttle", "1M")
    killed("move-dirs", *ask, cluster=live, name="move-dirs-103")
    cancelled = tool("operations", "cancel", "move-dirs-103", "-b", live.brokers, "--yes")
    assert until(lambda: not any(each.coming for each in directories(live, 103)))
    between = {each.path: {*each.replicas} for each in directories(live, 103)}
    placement(live)
    killed("move-dirs", *ask, cluster=live, name="move-dirs-103")
    resumed = tool(
        "operations", "resume", "move-dirs-103", "-b", live.brokers, "--throttle", "100M", "--yes",
        "--timeout", "60",
    )  # fmt: skip

    assert cancelled.code == 0, cancelled.err
    assert len([name for name in between[disks[1]] if name.topic == "big"]) == _COUNT
    assert resumed.code == 0, resumed.err
    assert not {each.path: each.replicas for each in directories(live, 103)}[disks[1]]
    placement(live)


def killed(*words: str, cluster: Cluster, name: str) -> None:
    """Run the tool, and kill it when its operation moves bytes."""
    command = [CLUSTER, *words]
    with subprocess.Popen(command, stdout=-3, stderr=-3, env=ENVIRONMENT) as process:
        try:
            ask = ("operations", "-b", cluster.brokers, "--format", "json")
            limit = time.monotonic() + 60
            while time.monotonic() < limit:
                for operation in json.loads(tool(*ask).text)["operations"]:
                    if operation["name"] == name and operation["inFlight"]:
                        return
            raise AssertionError(f"{name} is not in flight")
        finally:
            process.kill()
