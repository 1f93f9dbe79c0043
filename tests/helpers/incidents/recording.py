"""Record what a real quorum writes while nodes are killed, stopped, paused and moved.

`PYTHONPATH=. .venv/bin/python -m tests.helpers.incidents.recording SCENARIO FOLDER` writes the
metadata log of a controller, and `done.json` with what was done, and when. It takes some minutes.
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
from dataclasses import dataclass, replace
from functools import partial
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
    FIRST_BROKER,
    Cluster,
    Shape,
    restarted,
    running_cluster,
    wait_for_leader,
    wait_ready,
)
from tests.helpers.kafka.nodes.live_logs import change_topics, metadata_folder
from tests.helpers.kafka.nodes.moving import create_topics


@dataclass(frozen=True)
class Scenario:
    """A cluster, and what is done to it: the name of each deed, and the brokers that it hits."""

    release: str
    shape: Shape
    topics: dict[str, tuple[int, int]]
    deeds: tuple[tuple[str, tuple[int, ...]], ...]
    quiet: int = 12  # seconds between incidents
    fenced: int = 6  # seconds after which the controller has fenced a silent broker


class Recorder:
    """Does one thing after another to a cluster, and notes each."""

    def __init__(self, cluster: Cluster, scenario: Scenario) -> None:
        self.cluster = cluster
        self._scenario = scenario
        self._topics = topics = scenario.topics
        self.done: list[dict[str, object]] = []
        self._of_replicas = {replicas: name for name, (_, replicas) in topics.items()}
        self.deeds: dict[str, Callable[..., object]] = {
            "start": lambda: time.sleep(3),
            "restart": self.restart,
            "kill": self.kill,
            "pause": self.pause,
            "two at once": self.kill,
            "rack": self.kill,
            "rolling restart": self.restart,
            "leader of the quorum": self.kill_leader,
            "reassignment": self.reassign,
            "topic created again": self.recreate,
            "flapping": partial(self.pause, times=3),
            "bad configuration": self.stop_with_strict_topic,
            "directory": self.lose_directory,
            "stays away": lambda broker: cluster.nodes[broker].kill(),
            "stays stopped": lambda broker: cluster.nodes[broker].stop(),
        }

    def do(self, name: str, work: Callable[[], object], *brokers: int) -> None:
        """Do something, and note it with the brokers that it hits."""
        begin = time.time_ns() // 1_000_000
        work()
        end = time.time_ns() // 1_000_000
        self.done.append({"name": name, "begin": begin, "end": end, "brokers": [*brokers]})
        sys.stderr.write(f"{name}: {end - begin} ms\n")
        time.sleep(self._scenario.quiet)

    def kill(self, *brokers: int) -> None:
        """Kill brokers, and start them once they are fenced."""
        for broker in brokers:
            self.cluster.nodes[broker].kill()
        time.sleep(self._scenario.fenced)
        for broker in brokers:
            self.cluster.nodes[broker].start()
        wait_ready(self.cluster)

    def restart(self, *brokers: int) -> None:
        """Stop and start brokers, one after another."""
        for broker in brokers:
            self.cluster.nodes[broker].stop()
            restarted(self.cluster, broker)

    def pause(self, broker: int, *, times: int = 1) -> None:
        """Keep a broker from running until it is fenced."""
        pid = self.cluster.nodes[broker].pid
        for _ in range(times):
            os.kill(pid, signal.SIGSTOP)
            time.sleep(self._scenario.fenced)
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
        topic = self._of_replicas[2]
        count, _ = self._topics[topic]
        first = self._scenario.shape.first_broker
        wanted = {TopicPartition(topic, number): [first + 2, first] for number in range(count)}
        with self.connected() as connection:
            assert not alter_reassignments(connection, wanted)

    def recreate(self) -> None:
        """Delete a topic, and create it again."""
        topic = self._of_replicas[1]
        change_topics(self.cluster.brokers, "DeleteTopics", [topic])
        create_topics(self.cluster, {topic: self._topics[topic]})

    def configure(self, key: str, value: str | None, topic: str) -> None:
        """Change a configuration of a topic."""
        operation = Operation.DELETE if value is None else Operation.SET
        with self.connected() as connection:
            change = {topic: [ConfigChange(key, operation, value)]}
            alter_configs(connection, ResourceType.TOPIC, change)

    def stop_with_strict_topic(self, broker: int) -> None:
        """Have a topic need all its replicas, then stop one of them."""
        self.configure("min.insync.replicas", "3", self._of_replicas[3])
        self.restart(broker)

    def lose_directory(self, broker: int) -> None:
        """Take a log directory away from a broker that runs."""
        config = self.cluster.nodes[broker].config
        metadata = metadata_folder(self.cluster.nodes[broker]).parent
        lost = next(path for path in config.log_dirs if path != metadata)
        lost.rename(lost.with_suffix(".gone"))
        time.sleep(self._scenario.fenced)

    @contextmanager
    def connected(self) -> Iterator[Connection]:
        """Return a connection to a broker."""
        bootstrap = parse_bootstrap(self.cluster.brokers)
        with connect(bootstrap, Settings(timeout=60), Deadline(60)) as connection:
            yield connection


_SESSION = "broker.session.timeout.ms"
_MANY = range(1001, 1005)
_IDLE = {"metadata.max.idle.interval.ms": "5000"}
_SLOW = {"metadata.max.idle.interval.ms": "2000", _SESSION: "4500"}
_RACKS = {
    broker: {"broker.rack": "ab"[broker % 2]} for broker in range(FIRST_BROKER, FIRST_BROKER + 4)
}
SCENARIOS = {
    "three": Scenario(
        "4.3.1",
        Shape(controllers=3, brokers=3, settings=_IDLE),
        {"orders": (6, 3), "payments": (3, 2), "single": (2, 1)},
        (
            ("start", ()),
            ("restart", (101,)),
            ("kill", (102,)),
            ("pause", (103,)),
            ("two at once", (101, 102)),
            ("rolling restart", (101, 102, 103)),
            ("leader of the quorum", ()),
            ("reassignment", ()),
            ("topic created again", ()),
            ("flapping", (103,)),
            ("bad configuration", (101,)),
            ("stays away", (102,)),
        ),
    ),
    "racks-3.9": Scenario(
        "3.9.1",
        Shape(3, 4, release="3.9-IV0", settings=_SLOW, node_settings=_RACKS),
        {"billing": (8, 3), "clicks": (4, 2), "audit": (3, 1)},
        (
            ("start", ()),
            ("rolling restart", (104, 102)),
            ("topic created again", ()),
            ("leader of the quorum", ()),
            ("rack", (102, 104)),
            ("pause", (104,)),
            ("stays stopped", (101,)),
        ),
    ),
    "racks-4.1": Scenario(
        "4.1.1",
        Shape(1, 4, release="4.1-IV1", settings=_SLOW, node_settings=_RACKS),
        {"audit": (3, 1), "clicks": (4, 2), "billing": (5, 3)},
        (
            ("start", ()),
            ("bad configuration", (103,)),
            ("two at once", (101, 104)),
            ("reassignment", ()),
            ("kill", (104,)),
            ("flapping", (101,)),
            ("directory", (102,)),
            ("stays away", (103,)),
        ),
    ),
    # The rules were not changed for what follows.
    "unseen-4.0": Scenario(
        "4.0.0",
        Shape(3, 3, release="4.0-IV3", first_broker=11, settings={**_SLOW, _SESSION: "6000"}),
        {"trades": (5, 3), "quotes": (6, 2), "ref": (2, 1)},
        (
            ("start", ()),
            ("kill", (11,)),
            ("reassignment", ()),
            ("pause", (13,)),
            ("rolling restart", (13, 12, 11)),
            ("leader of the quorum", ()),
            ("flapping", (12,)),
            ("stays stopped", (13,)),
        ),
        quiet=14,
        fenced=9,
    ),
    "unseen-4.2": Scenario(
        "4.2.1",
        Shape(
            1,
            4,
            release="4.2-IV1",
            first_broker=1001,
            settings={**_IDLE, _SESSION: "3500"},
            node_settings={broker: {"broker.rack": "xxyy"[broker - 1001]} for broker in _MANY},
        ),
        {"ref": (2, 1), "trades": (7, 3), "quotes": (3, 2)},
        (
            ("start", ()),
            ("restart", (1002,)),
            ("rack", (1003, 1004)),
            ("topic created again", ()),
            ("two at once", (1001, 1003)),
            ("bad configuration", (1002,)),
            ("kill", (1001,)),
            ("directory", (1003,)),
            ("stays away", (1004,)),
        ),
        quiet=9,
        fenced=7,
    ),
}


def record(folder: Path, scenario: Scenario) -> None:
    """Record all incidents of a scenario."""
    with tempfile.TemporaryDirectory() as scratch:
        shape = _with_directories(scenario, Path(scratch))
        with running_cluster(resolved_jars(scenario.release), Path(scratch), shape) as cluster:
            create_topics(cluster, scenario.topics)
            recorder = Recorder(cluster, scenario)
            for name, brokers in scenario.deeds:
                recorder.do(name, partial(recorder.deeds[name], *brokers), *brokers)
            leader = cluster.leader()
            _copy(metadata_folder(cluster.nodes[leader]), folder)
    (folder / "done.json").write_text(json.dumps(recorder.done, indent=1) + "\n")


def _with_directories(scenario: Scenario, scratch: Path) -> Shape:
    """Give two log directories to the broker that loses one."""
    settings = {**scenario.shape.node_settings}
    for name, brokers in scenario.deeds:
        if name == "directory":
            (broker,) = brokers
            directories = ",".join(str(scratch / f"{broker}-{letter}") for letter in "xy")
            own = {"log.dirs": directories, "log.flush.offset.checkpoint.interval.ms": "1000"}
            settings[broker] = {**settings.get(broker, {}), **own}
    return replace(scenario.shape, node_settings=settings)


def _copy(source: Path, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for path in source.glob("*.log"):
        shutil.copy(path, folder)


if __name__ == "__main__":
    record(Path(sys.argv[2]), SCENARIOS[sys.argv[1]])
