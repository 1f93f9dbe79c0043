"""Restart every node of a real cluster, and replace its controllers, under load; print what was lost.

Three controllers and five brokers in three racks have producers with acks=all at min ISR 2, and a
consumer. The tool is killed twice and a command fails once while all eight nodes are restarted, to
look for the quorum at the addresses of the controllers to come, too; then the three controllers are
replaced one by one, and what must be refused is tried. `--release` names another Kafka than 4.3.1.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from kraftops.placement.placement import TopicPartition
from tests.helpers.kafka.jvm.jars import resolved_jars
from tests.helpers.kafka.nodes.clusters import (
    Cluster,
    Shape,
    formatted_later,
    running_cluster,
    wait_for_leader,
)
from tests.helpers.kafka.nodes.configs import CONTROLLER, Config, later_controller
from tests.helpers.kafka.nodes.moving import create_topics, placement, ready
from tests.helpers.kafka.nodes.nodes import running, until
from tests.helpers.kafka.nodes.restarts import Restarter, restarter
from tests.helpers.kafka.nodes.traffic import traffic
from tests.helpers.tools.console import CLUSTER, ENVIRONMENT, run_command

RELEASE = "4.3.1"
BROKERS = range(101, 106)
TOPICS = {"orders": 12, "events": 6}
SHAPE = Shape(
    controllers=3,
    brokers=len(BROKERS),
    is_dynamic=True,
    node_settings={broker: {"broker.rack": "abc"[broker % 3]} for broker in BROKERS},
    settings={
        "min.insync.replicas": "2",
        "offsets.topic.replication.factor": "3",
        "broker.session.timeout.ms": "9000",  # eight processes of Java on few cores
    },
)


def restart_all(cluster: Cluster, restarts: Restarter) -> None:
    """Restart all nodes; the tool is killed twice meanwhile, and a command fails once."""
    words = ("restart", "-b", cluster.brokers, "--hook", restarts.hook, "--yes")
    restarts.faults[103] = lambda: "No route to host"
    codes = [run_until(*words, kill_at="runs the command")]
    codes += [run_until(*words, kill_at="runs again"), run_until(*words), run_until(*words)]
    assert codes == [-signal.SIGKILL, -signal.SIGKILL, 1, 0], codes
    assert {*restarts.restarted} == {*cluster.nodes}, restarts.restarted
    print_line(f"restarted: {restarts.restarted}")


def run_until(*words: str, kill_at: str = "") -> int:
    """Run the tool, and kill it by kill -9 when a line has this text; return its exit code."""
    with subprocess.Popen(
        [CLUSTER, *words], stdout=-1, stderr=subprocess.STDOUT, env=ENVIRONMENT, text=True
    ) as process:
        assert process.stdout
        for line in process.stdout:
            print_line(f"    {line.rstrip()}")
            if kill_at and kill_at in line:
                process.kill()
                print_line("    (killed)")
    return process.returncode


def successors(cluster: Cluster, folder: Path) -> dict[int, Config]:
    """Configure controllers, and all nodes to look for the quorum at their addresses, too.

    Once no address leads to a voter, nodes of Kafka 3.9 find no other leader than the last.
    """
    first = [cluster.nodes[node].config for node in (1, 2, 3)]
    later = [later_controller(folder, node, first) for node in (4, 5, 6, 7)]
    addresses = ",".join(f"localhost:{config.ports[CONTROLLER]}" for config in (*first, *later))
    for node in cluster.nodes.values():
        node.config.changed({"controller.quorum.bootstrap.servers": addresses})
    return {
        config.node_id: config.changed({"controller.quorum.bootstrap.servers": addresses})
        for config in later
    }


def replace_controllers(
    cluster: Cluster, jars: Path, later: Mapping[int, Config], version: str | None
) -> None:
    """Replace the voters by new ones; refused while another is down, and 5 without a successor."""
    with ExitStack() as stack:
        for old, new in ((1, 4), (2, 5), (3, 6)):
            config = later[new]
            formatted_later(config, version)
            cluster.nodes[new] = stack.enter_context(running(jars, config))
            if old == 2:
                cluster.nodes[3].stop()
                refused = change(cluster, "replace", "--id", "2", "--by", "5")
                assert refused["error"] == "majority-at-risk", refused
                cluster.nodes[3].start()
            done = change(cluster, "replace", "--id", str(old), "--by", str(new))
            voters = sorted(m["id"] for m in done["members"] if m["role"] != "observer")
            print_line(f"replaced {old} by {new}: voters {voters}")
            cluster.nodes[old].stop()
            wait_for_leader(cluster)
        formatted_later(later[7], version)
        paused = stack.enter_context(running(jars, later[7]))
        assert until(lambda: 7 in cluster.nodes[101].quorum().observers, 60)
        os.kill(paused.pid, signal.SIGSTOP)
        waited = change(cluster, "add", "--id", "7", seconds=10)
        assert waited["error"] == "not-in-time", waited
        print_line(waited["message"])


def change(cluster: Cluster, action: str, *words: str, seconds: int = 90) -> dict[str, Any]:
    command = [
        CLUSTER, "controllers", action, "-b", cluster.brokers, *words, "--yes", "--timeout",
        str(seconds), "--format", "json",
    ]  # fmt: skip
    done = subprocess.run(command, stdout=-1, env=ENVIRONMENT, check=False)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def leaderless(cluster: Cluster) -> dict[TopicPartition, int]:
    """Return the longest time without a leader of each partition, in ms, by the metadata log."""
    log = cluster.nodes[6].config.log_dirs[0] / "__cluster_metadata-0"
    done = run_command(
        *(str(path) for path in sorted(log.glob("0*.log"))),
        *("--cluster-metadata-decoder", "--type", "partition,partitionchange", "--format", "json"),
    )
    since: dict[TopicPartition, int] = {}
    longest: dict[TopicPartition, int] = {}
    for line in done.text.splitlines():
        row = json.loads(line)
        leader = row["value"].get("leader")
        place = TopicPartition(row["topicId"], row["partitionId"])
        if leader == -1:
            since.setdefault(place, row["timestamp"])
        elif leader is not None and leader >= 0 and place in since:
            longest[place] = max(longest.get(place, 0), row["timestamp"] - since.pop(place))
    assert not since, since
    return longest


def main() -> int:
    """Run it; return 1 if a record was lost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--release", default=RELEASE)
    release = parser.parse_args().release
    version = None if release == RELEASE else release.rsplit(".", 1)[0]
    jars = resolved_jars(release)
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        cluster = stack.enter_context(
            running_cluster(jars, folder, replace(SHAPE, release=version))
        )
        restarts = stack.enter_context(restarter(cluster))
        create_topics(cluster, {topic: (count, 3) for topic, count in TOPICS.items()})
        ready(cluster, *BROKERS)
        records = stack.enter_context(traffic(cluster.brokers, TOPICS))
        before = placement(cluster).partitions
        later = successors(cluster, folder)
        restart_all(cluster, restarts)
        after = placement(cluster).partitions
        assert {p: (r.replicas, r.leader) for p, r in before.items()} == {
            p: (after[p].replicas, after[p].leader) for p in before
        }
        replace_controllers(cluster, jars, later, version)
        count = records.end()
        print_line(str(count))
        longest = leaderless(cluster)
    print_line(f"longest without a leader: {max(longest.values(), default=0)} ms")
    return 1 if count.lost or count.failed else 0


def print_line(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
