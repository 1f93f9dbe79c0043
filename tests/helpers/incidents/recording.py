"""Record what a real quorum writes while nodes are killed, stopped, paused and moved.

`PYTHONPATH=. .venv/bin/python -m tests.helpers.incidents.recording SCENARIO FOLDER` writes the
metadata log of a controller, and `done.json` with what was done, and when. It takes some minutes.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from kraftops.placement.placement import TopicPartition
from kraftops.wire.admin.configs import ConfigChange, Operation, ResourceType, alter_configs
from kraftops.wire.admin.replicas import Election, alter_reassignments, elect_leaders
from kraftops.wire.config.settings import Settings
from kraftops.wire.net.addresses import parse_bootstrap
from kraftops.wire.net.deadline import Deadline
from kraftops.wire.rpc.bootstrap import connect
from kraftops.wire.rpc.cluster import unregister_broker
from kraftops.wire.rpc.connection import Connection
from tests.helpers.incidents.gates import Gate
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
from tests.helpers.kafka.nodes.configs import BROKER
from tests.helpers.kafka.nodes.live_logs import change_topics, metadata_folder
from tests.helpers.kafka.nodes.moving import create_topics
from tests.helpers.kafka.nodes.nodes import tool_command


@dataclass(frozen=True)
class Scenario:
    """A cluster, and what is done to it: the name of each deed, and the brokers that it hits."""

    release: str
    shape: Shape
    topics: dict[str, tuple[int, int]]
    deeds: tuple[tuple[str, tuple[int, ...]], ...]
    quiet: int = 12  # seconds between incidents
    fenced: int = 6  # seconds after which the controller has fenced a silent broker
    lagging: float = 4  # seconds after which a follower is out of ISRs
    level: str = ""  # the metadata.version of the upgrade


class Recorder:
    """Does one thing after another to a cluster, and notes each."""

    def __init__(self, cluster: Cluster, scenario: Scenario, gates: list[Gate]) -> None:
        self.cluster = cluster
        self._scenario = scenario
        self._gates = gates
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
            "full disk": self.fill_disk,
            "only disk full": self.fill_disk,
            "refused connections": self.refuse,
            "feature upgrade": self.upgrade,
            "stays away": lambda broker: cluster.nodes[broker].kill(),
            "stays stopped": lambda broker: cluster.nodes[broker].stop(),
            "every broker": self.kill,
            "short pause": self.pause_briefly,
            "stopped together": self.restart_together,
            "paused leader of the quorum": self.pause_leader,
            "leaders as assigned": self.elect,
            "topic deleted": self.delete,
            "restart with a crash": self.restart_with_crash,
            "slow follower": self.slow_down,
            "two falls apart": self.kill_in_turn,
            "pause two": self.pause_two,
            "stopped leader of the quorum": self.stop_leader,
            "restarted twice": self.restart_twice,
            "decommissioned": self.unregister,
            "killed and started at once": self.kill_and_start,
            "killed while moving": self.kill_while_moving,
            "strict default": self.stop_with_strict_default,
            "topic created wider": self.recreate_wider,
            "killed again and again": self.kill_again,
            "two stay away": self.kill_for_good,
            "reassignment beside a kill": self.reassign_beside_kill,
            "directory while another is away": self.lose_directory_beside_kill,
            "killed for good while moving": self.kill_for_good_while_moving,
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

    def pause_briefly(self, broker: int) -> None:
        """Keep a broker from running until it is out of ISRs that are written to."""
        pid = self.cluster.nodes[broker].pid
        os.kill(pid, signal.SIGSTOP)
        time.sleep(self._scenario.lagging)
        os.kill(pid, signal.SIGCONT)
        time.sleep(self._scenario.lagging)

    def restart_together(self, *brokers: int) -> None:
        """Stop brokers, and start them once all have ended."""
        for broker in brokers:
            self.cluster.nodes[broker].stop()
        for broker in brokers:
            self.cluster.nodes[broker].start()
        wait_ready(self.cluster)

    def pause_leader(self) -> None:
        """Keep the leader of the quorum from running until there is another."""
        pid = self.cluster.nodes[self.cluster.leader()].pid
        os.kill(pid, signal.SIGSTOP)
        time.sleep(self._scenario.fenced)
        os.kill(pid, signal.SIGCONT)
        wait_ready(self.cluster)

    def elect(self) -> None:
        """Have the preferred replicas lead the partitions of a topic."""
        topic = self._of_replicas[3]
        partitions = [TopicPartition(topic, number) for number in range(self._topics[topic][0])]
        with self.connected() as connection:
            elect_leaders(connection, Election.PREFERRED, partitions)

    def delete(self) -> None:
        """Delete a topic."""
        change_topics(self.cluster.brokers, "DeleteTopics", [self._of_replicas[1]])

    def kill_leader(self) -> None:
        """Kill the leader of the quorum, and start it once there is another."""
        leader = self.cluster.leader()
        self.cluster.nodes[leader].kill()
        wait_for_leader(self.cluster)
        restarted(self.cluster, leader)

    def reassign(self, *brokers: int) -> None:
        """Move the partitions of a topic, to two brokers unless some are named."""
        first = self._scenario.shape.first_broker
        replicas = [*brokers] or [first + 2, first]
        topic = self._of_replicas[len(replicas)]
        count, _ = self._topics[topic]
        wanted = {TopicPartition(topic, number): replicas for number in range(count)}
        with self.connected() as connection:
            assert not alter_reassignments(connection, wanted)

    def recreate(self) -> None:
        """Delete a topic, and create it again."""
        topic = self._of_replicas[1]
        change_topics(self.cluster.brokers, "DeleteTopics", [topic])
        create_topics(self.cluster, {topic: self._topics[topic]})

    def restart_with_crash(self, first: int, crashed: int, last: int) -> None:
        """Restart brokers one after another, of which one is killed."""
        self.restart(first)
        time.sleep(3)
        self.kill(crashed)
        time.sleep(3)
        self.restart(last)

    def slow_down(self, broker: int) -> None:
        """Keep a broker from running, while others are written to, but not until it is fenced."""
        topic, first = self._of_replicas[3], self._scenario.shape.first_broker
        ports = [self.cluster.port(node, BROKER)
                 for node in self.cluster.nodes if node >= first and node != broker]  # fmt: skip
        addresses = ",".join(f"localhost:{port}" for port in ports)
        words = [addresses, topic, str(self._topics[topic][0]), "14"]
        with subprocess.Popen([sys.executable, "-c", _SLOW_WRITER, *words]):
            time.sleep(3)
            self.pause_briefly(broker)

    def kill_in_turn(self, first: int, second: int) -> None:
        """Kill a broker while another is away, later than one cause would."""
        self.cluster.nodes[first].kill()
        time.sleep(14)
        self.cluster.nodes[second].kill()
        time.sleep(self._scenario.fenced)
        self.cluster.nodes[first].start()
        self.cluster.nodes[second].start()
        wait_ready(self.cluster)

    def pause_two(self, *brokers: int) -> None:
        """Keep brokers from running until they are fenced."""
        for broker in brokers:
            os.kill(self.cluster.nodes[broker].pid, signal.SIGSTOP)
        time.sleep(self._scenario.fenced)
        for broker in brokers:
            os.kill(self.cluster.nodes[broker].pid, signal.SIGCONT)
        wait_ready(self.cluster)

    def stop_leader(self) -> None:
        """Stop the leader of the quorum, and start it once there is another."""
        leader = self.cluster.leader()
        self.cluster.nodes[leader].stop()
        wait_for_leader(self.cluster)
        restarted(self.cluster, leader)

    def restart_twice(self, broker: int) -> None:
        """Restart a broker, and again once all is in sync."""
        self.restart(broker)
        time.sleep(8)
        self.restart(broker)

    def unregister(self, broker: int) -> None:
        """Stop a broker, and remove its registration."""
        self.cluster.nodes[broker].stop()
        time.sleep(self._scenario.fenced)
        with self.connected() as connection:
            unregister_broker(connection, broker)

    def kill_and_start(self, broker: int) -> None:
        """Kill a broker, and start it before it is fenced."""
        self.cluster.nodes[broker].kill()
        self.cluster.nodes[broker].start()
        time.sleep(self._scenario.fenced)
        wait_ready(self.cluster)

    def kill_while_moving(self, broker: int) -> None:
        """Move partitions, and kill a broker meanwhile."""
        self.reassign()
        self.kill(broker)

    def stop_with_strict_default(self, broker: int) -> None:
        """Have all topics need three replicas by default, then restart a broker."""
        for operation, value in ((Operation.SET, "3"), (Operation.DELETE, None)):
            with self.connected() as connection:
                change = {"": [ConfigChange("min.insync.replicas", operation, value)]}
                alter_configs(connection, ResourceType.BROKER, change)
            if value is not None:
                time.sleep(2)
                self.restart(broker)

    def recreate_wider(self) -> None:
        """Delete a topic, and create it with more partitions and replicas."""
        topic = self._of_replicas[1]
        change_topics(self.cluster.brokers, "DeleteTopics", [topic])
        time.sleep(4)
        create_topics(self.cluster, {topic: (7, 2)})

    def kill_again(self, broker: int) -> None:
        """Kill and start a broker three times."""
        for _ in range(3):
            self.kill(broker)
            time.sleep(2)

    def kill_for_good(self, *brokers: int) -> None:
        """Kill brokers a second apart."""
        for broker in brokers:
            self.cluster.nodes[broker].kill()
            time.sleep(1)

    def reassign_beside_kill(self, broker: int) -> None:
        """Kill a broker, and move partitions of which it has none."""
        self.cluster.nodes[broker].kill()
        time.sleep(self._scenario.fenced)
        self.reassign()
        restarted(self.cluster, broker)

    def lose_directory_beside_kill(self, broker: int, killed: int) -> None:
        """Take a log directory away while another broker is away."""
        self.cluster.nodes[killed].kill()
        time.sleep(self._scenario.fenced)
        self.lose_directory(broker)
        restarted(self.cluster, killed)

    def kill_for_good_while_moving(self, broker: int) -> None:
        """Move partitions to a broker, and kill it."""
        first = self._scenario.shape.first_broker
        self.reassign(first + 1, first + 2, broker)
        self.cluster.nodes[broker].kill()
        time.sleep(self._scenario.fenced)

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

    def fill_disk(self, broker: int) -> None:
        """Write more than a disk of the broker takes, and wait until the broker says so."""
        address = f"localhost:{self.cluster.port(broker, BROKER)}"
        topic = self._of_replicas[3]
        writer = [sys.executable, "-c", _WRITER, address, topic, str(self._topics[topic][0])]
        while "No space left" not in self.cluster.nodes[broker].logged():
            subprocess.run(writer, check=False, stderr=subprocess.DEVNULL, timeout=60)
        time.sleep(self._scenario.fenced)

    def refuse(self, broker: int) -> None:
        """Have the controllers refuse a broker until it is fenced."""
        for gate in self._gates:
            gate.close()
        time.sleep(self._scenario.fenced)
        for gate in self._gates:
            gate.open()
        assert broker in self.cluster.nodes
        wait_ready(self.cluster)

    def upgrade(self) -> None:
        """Raise metadata.version, by Kafka's own tool."""
        tool = tool_command(
            resolved_jars(self._scenario.release), "org.apache.kafka.tools.FeatureCommand"
        )
        level = ["--metadata", self._scenario.level]
        subprocess.run([*tool, "--bootstrap-server", self.cluster.brokers, "upgrade", *level],
                       check=True, stdout=sys.stderr)  # fmt: skip

    @contextmanager
    def connected(self) -> Iterator[Connection]:
        """Return a connection to a broker."""
        bootstrap = parse_bootstrap(self.cluster.brokers)
        with connect(bootstrap, Settings(timeout=60), Deadline(60)) as connection:
            yield connection


_WRITER = """
import sys
from kafka import KafkaProducer
producer = KafkaProducer(bootstrap_servers=sys.argv[1], acks=1, batch_size=1 << 19,
                         max_block_ms=5000, delivery_timeout_ms=8000, request_timeout_ms=4000)
for number in range(900):
    producer.send(sys.argv[2], bytes(1 << 15), partition=number % int(sys.argv[3]))
producer.flush(10)
"""
_SLOW_WRITER = """
import sys, time
from kafka import KafkaProducer
producer = KafkaProducer(bootstrap_servers=sys.argv[1], acks=1)
end = time.time() + float(sys.argv[4])
while time.time() < end:
    for number in range(int(sys.argv[3])):
        producer.send(sys.argv[2], bytes(100), partition=number)
    time.sleep(.1)
"""
_DISKS = {"full disk": "8m", "only disk full": "36m"}
"""The sizes of disks: each broker gets some 22 MB each time, and half of it on one of two disks."""
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
    "unseen-4.3": Scenario(
        "4.3.1",
        Shape(
            3,
            4,
            release="4.1-IV1",
            first_broker=31,
            settings={**_SLOW, _SESSION: "5000"},
            node_settings={
                broker: {"broker.rack": "pqpq"[broker - 31]} for broker in range(31, 35)
            },
        ),
        {"ticks": (6, 3), "fills": (4, 2), "ref": (2, 1)},
        (
            ("start", ()),
            ("refused connections", (32,)),
            ("feature upgrade", ()),
            ("full disk", (33,)),
            ("leader of the quorum", ()),
            ("refused connections", (32,)),
            ("only disk full", (34,)),
        ),
        quiet=14,
        fenced=9,
        level="4.3-IV0",
    ),
    "fresh-4.3": Scenario(
        "4.3.1",
        Shape(
            3,
            4,
            first_broker=51,
            settings={**_SLOW, _SESSION: "7000", "replica.lag.time.max.ms": "2000"},
            node_settings={51 + index: {"broker.rack": rack} for index, rack in enumerate("uvwu")},
        ),
        {"alerts": (6, 3), "metrics": (4, 2), "solo": (3, 1)},
        (
            ("start", ()),
            ("kill", (54,)),
            ("short pause", (53,)),
            ("leaders as assigned", ()),
            ("paused leader of the quorum", ()),
            ("stopped together", (52, 54)),
            ("every broker", (51, 52, 53, 54)),
            ("topic deleted", ()),
            ("stays stopped", (51,)),
        ),
        quiet=12,
        fenced=10,
    ),
    "fresh-3.9": Scenario(
        "3.9.1",
        Shape(
            3,
            release="3.9-IV0",
            first_broker=1,
            is_combined=True,
            settings={**_IDLE, _SESSION: "4000"},
        ),
        {"invoices": (5, 3), "visits": (4, 2), "notes": (2, 1)},
        (
            ("start", ()),
            ("restart", (2,)),
            ("kill", (3,)),
            ("reassignment", ()),
            ("topic created again", ()),
            ("pause", (3,)),
            ("two at once", (1, 2)),
            ("stays away", (1,)),
        ),
        quiet=10,
        fenced=8,
    ),
    "later-4.3": Scenario(
        "4.3.1",
        Shape(
            3,
            4,
            first_broker=71,
            settings={**_SLOW, _SESSION: "5000", "replica.lag.time.max.ms": "2000"},
        ),
        {"carts": (6, 3), "views": (4, 2), "lone": (3, 1)},
        (
            ("start", ()),
            ("restart with a crash", (71, 72, 73)),
            ("slow follower", (74,)),
            ("two falls apart", (71, 72)),
            ("pause two", (73, 74)),
            ("stopped leader of the quorum", ()),
            ("restarted twice", (72,)),
            ("decommissioned", (74,)),
        ),
        quiet=11,
        fenced=8,
    ),
    "later-3.9": Scenario(
        "3.9.1",
        Shape(1, 3, release="3.9-IV0", first_broker=81, settings={**_IDLE, _SESSION: "4000"}),
        {"jobs": (5, 3), "runs": (4, 2), "tags": (2, 1)},
        (
            ("start", ()),
            ("killed and started at once", (82,)),
            ("killed while moving", (81,)),
            ("strict default", (83,)),
            ("topic created wider", ()),
            ("killed again and again", (82,)),
            ("two stay away", (81, 83)),
        ),
        quiet=10,
        fenced=7,
    ),
    "beside-4.1": Scenario(
        "4.1.1",
        Shape(3, 4, release="4.1-IV1", first_broker=91, settings={**_SLOW, _SESSION: "5500"}),
        {"fares": (6, 3), "stops": (5, 2), "memo": (2, 1)},
        (
            ("start", ()),
            ("kill", (92,)),
            ("reassignment beside a kill", (94,)),
            ("directory", (93,)),
            ("directory while another is away", (94, 91)),
            ("killed for good while moving", (94,)),
        ),
        quiet=13,
        fenced=9,
    ),
}
_REFUSED = "refused connections"


def record(folder: Path, scenario: Scenario) -> None:
    """Record all incidents of a scenario."""
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        scratch = Path(name)
        gates = [Gate(scratch / f"node-{node}.properties")
                 for node in range(1, scenario.shape.controllers + 1)]  # fmt: skip
        for gate in gates:
            gate.open()
        shape = _equipped(scenario, scratch, gates, stack)
        with running_cluster(resolved_jars(scenario.release), scratch, shape) as cluster:
            create_topics(cluster, scenario.topics)
            recorder = Recorder(cluster, scenario, gates)
            for deed, brokers in scenario.deeds:
                recorder.do(deed, partial(recorder.deeds[deed], *brokers), *brokers)
            leader = cluster.leader()
            _copy(metadata_folder(cluster.nodes[leader]), folder)
    (folder / "done.json").write_text(json.dumps(recorder.done, indent=1) + "\n")


def _equipped(scenario: Scenario, scratch: Path, gates: list[Gate], stack: ExitStack) -> Shape:
    """Give brokers what deeds need: a second log directory, a small disk, or gates."""
    settings = {node: {**own} for node, own in scenario.shape.node_settings.items()}
    for name, brokers in scenario.deeds:
        own = settings.setdefault(brokers[0], {}) if brokers else {}
        if name == _REFUSED:
            voters = (f"{node}@localhost:{gate.port}" for node, gate in enumerate(gates, 1))
            own["controller.quorum.voters"] = ",".join(voters)
        elif name.startswith("directory") or name in _DISKS:
            paths = [scratch / f"{brokers[0]}-{letter}" for letter in "xy"]
            if name in _DISKS:
                own["metadata.log.dir"] = str(scratch / f"{brokers[0]}-metadata")
                stack.enter_context(_small_disk(paths[1], _DISKS[name]))
                paths[1] /= "logs"
            own["log.flush.offset.checkpoint.interval.ms"] = "1000"
            own["log.dirs"] = ",".join(map(str, paths[name == "only disk full" :]))
    return replace(scenario.shape, node_settings=settings)


@contextmanager
def _small_disk(path: Path, size: str) -> Iterator[None]:
    """Mount a small file system in memory, as root may."""
    path.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", path], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", path], check=True)


def _copy(source: Path, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for path in source.glob("*.log"):
        shutil.copy(path, folder)


if __name__ == "__main__":
    record(Path(sys.argv[2]), SCENARIOS[sys.argv[1]])
