"""Record what a real quorum writes while nodes are killed, stopped, paused and moved.

`PYTHONPATH=. .venv/bin/python -m tests.helpers.incidents.recording FOLDER` writes the metadata log of
a controller, and `done.json` with what was done, and when. It takes some minutes.
"""

import json
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from kraftops.placement.placement import TopicPartition
from kraftops.wire.admin.configs import ConfigChange, Operation, ResourceType, alter_configs
from kraftops.wire.admin.replicas import alter_reassignments
from kraftops.wire.config.settings import Settings
from kraftops.wire.net.addresses import parse_bootstrap
from kraftops.wire.net.deadline import Deadline
from kraftops.wire.rpc.bootstrap import connect
from kraftops.wire.rpc.connection import Connection
from tests.helpers.kafka.jvm.jars import resolved_jars
from tests.helpers.kafka.nodes.clusters import (
    Cluster,
    Shape,
    restarted,
    running_cluster,
    wait_for_leader,
    wait_ready,
)
from tests.helpers.kafka.nodes.live_logs import change_topics, metadata_folder
from tests.helpers.kafka.nodes.moving import create_topics

TOPICS = {"orders": (6, 3), "payments": (3, 2), "single": (2, 1)}
_QUIET = 12  # seconds between incidents
_FENCED = 6  # seconds after which the controller has fenced a silent broker; its session has 3


class Recorder:
    """Does one thing after another to a cluster, and notes each."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.done: list[dict[str, object]] = []

    def do(self, name: str, work: Callable[[], object], *brokers: int) -> None:
        """Do something, and note it with the brokers that it hits."""
        begin = time.time_ns() // 1_000_000
        work()
        end = time.time_ns() // 1_000_000
        self.done.append({"name": name, "begin": begin, "end": end, "brokers": [*brokers]})
        sys.stderr.write(f"{name}: {end - begin} ms\n")
        time.sleep(_QUIET)

    def kill(self, *brokers: int) -> None:
        """Kill brokers, and start them once they are fenced."""
        for broker in brokers:
            self.cluster.nodes[broker].kill()
        time.sleep(_FENCED)
        for broker in brokers:
            self.cluster.nodes[broker].start()
        wait_ready(self.cluster)

    def restart(self, *brokers: int) -> None:
        """Stop and start brokers, one after another."""
        for broker in brokers:
            self.cluster.nodes[broker].stop()
            restarted(self.cluster, broker)

    def pause(self, broker: int, times: int = 1) -> None:
        """Keep a broker from running until it is fenced."""
        pid = self.cluster.nodes[broker].pid
        for _ in range(times):
            os.kill(pid, signal.SIGSTOP)
            time.sleep(_FENCED)
            os.kill(pid, signal.SIGCONT)
            wait_ready(self.cluster)
            time.sleep(1)

    def kill_leader(self) -> None:
        """Kill the leader of the quorum, and start it once there is another."""
        leader = self.cluster.leader()
        self.cluster.nodes[leader].kill()
        wait_for_leader(self.cluster)
        restarted(self.cluster, leader)

    def reassign(self) -> None:
        """Move the partitions of a topic."""
        wanted = {TopicPartition("payments", number): [103, 101] for number in range(3)}
        with self.connected() as connection:
            assert not alter_reassignments(connection, wanted)

    def recreate(self) -> None:
        """Delete a topic, and create it again."""
        change_topics(self.cluster.brokers, "DeleteTopics", ["single"])
        create_topics(self.cluster, {"single": (2, 1)})

    def configure(self, key: str, value: str | None, topic: str = "orders") -> None:
        """Change a configuration of a topic."""
        operation = Operation.DELETE if value is None else Operation.SET
        with self.connected() as connection:
            change = {topic: [ConfigChange(key, operation, value)]}
            alter_configs(connection, ResourceType.TOPIC, change)

    def stop_with_strict_topic(self) -> None:
        """Have a topic need all its replicas, then stop one of them."""
        self.configure("min.insync.replicas", "3")
        self.restart(101)

    @contextmanager
    def connected(self) -> Iterator[Connection]:
        """Return a connection to a broker."""
        bootstrap = parse_bootstrap(self.cluster.brokers)
        with connect(bootstrap, Settings(timeout=60), Deadline(60)) as connection:
            yield connection


def record(folder: Path) -> None:
    """Record all incidents."""
    with tempfile.TemporaryDirectory() as scratch:
        settings = {"metadata.max.idle.interval.ms": "5000"}
        shape = Shape(controllers=3, brokers=3, settings=settings)
        with running_cluster(resolved_jars("4.3.1"), Path(scratch), shape) as cluster:
            create_topics(cluster, TOPICS)
            recorder = Recorder(cluster)
            recorder.do("start", lambda: time.sleep(3))
            recorder.do("restart", lambda: recorder.restart(101), 101)
            recorder.do("kill", lambda: recorder.kill(102), 102)
            recorder.do("pause", lambda: recorder.pause(103), 103)
            recorder.do("two at once", lambda: recorder.kill(101, 102), 101, 102)
            recorder.do("rolling restart", lambda: recorder.restart(101, 102, 103), 101, 102, 103)
            recorder.do("leader of the quorum", recorder.kill_leader)
            recorder.do("reassignment", recorder.reassign)
            recorder.do("topic created again", recorder.recreate)
            recorder.do("flapping", lambda: recorder.pause(103, times=3), 103)
            recorder.do("bad configuration", recorder.stop_with_strict_topic, 101)
            recorder.do("stays away", cluster.nodes[102].kill, 102)
            leader = cluster.leader()
            _copy(metadata_folder(cluster.nodes[leader]), folder)
    (folder / "done.json").write_text(json.dumps(recorder.done, indent=1) + "\n")


def _copy(source: Path, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for path in source.glob("*.log"):
        shutil.copy(path, folder)


if __name__ == "__main__":
    record(Path(sys.argv[1]))
