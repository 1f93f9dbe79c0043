"""Runs of `kafka-cluster` that move replicas of a real cluster, and its placement."""

import json
import re
import subprocess
import threading

from kraftops.placement.disks import LogDirectory
from kraftops.placement.placement import Placement, placement_of
from kraftops.wire.admin.log_dirs import ask_log_dirs
from kraftops.wire.config.settings import Settings
from kraftops.wire.net.addresses import parse_bootstrap
from kraftops.wire.net.deadline import Deadline
from kraftops.wire.quorum.live_image import LiveImage
from kraftops.wire.rpc.bootstrap import connect
from kraftops.wire.rpc.endpoints import Endpoints
from tests.helpers.kafka.nodes.clusters import Cluster
from tests.helpers.kafka.nodes.live_logs import change_topics
from tests.helpers.tools.console import CLUSTER, ENVIRONMENT, Done, run_command

_LEFTOVERS = re.compile(r"kraftops|throttled|cordoned")


def create_topics(cluster: Cluster, topics: dict[str, tuple[int, int]]) -> None:
    """Create topics with numbers of partitions and of replicas."""
    change_topics(
        cluster.brokers,
        "CreateTopics",
        [
            {"name": name, "num_partitions": partitions, "replication_factor": replicas,
             "assignments": [], "configs": []}
            for name, (partitions, replicas) in topics.items()
        ],
    )  # fmt: skip


def tool(*args: str) -> Done:
    """Run `kafka-cluster`."""
    done = run_command(*args, program=CLUSTER)
    assert "Traceback" not in done.err
    return done


def placement(cluster: Cluster, *, leftovers: str = "") -> Placement:
    """Return the placement in the metadata log, with nothing of ours left in configurations.

    Keys that begin with *leftovers* may be left.
    """
    target = Endpoints(parse_bootstrap(cluster.controllers), Settings(timeout=30))
    with LiveImage(target) as live:
        keys = {key for values in live.image.configs.values() for key in values}
        left = [key for key in keys if _LEFTOVERS.search(key)]
        unexpected = [key for key in left if not leftovers or not key.startswith(leftovers)]
        assert unexpected == [], unexpected
        return placement_of(live.image)


def directories(cluster: Cluster, broker: int) -> list[LogDirectory]:
    """Return the log directories of a broker."""
    address = f"localhost:{cluster.port(broker, 'PLAINTEXT')}"
    with connect(parse_bootstrap(address), Settings(), Deadline(30)) as connection:
        return ask_log_dirs(connection)


_EVENTS = {
    "cordoned": "no new partitions go to ",
    "batch": "begun: ",
    "progress": "in flight: ",
    "throttles-removed": "throttles of ours are removed",
    "stop": " empty: stop ",
    "unregistered": " is unregistered",
}
"""What the lines of events have in common, by their names in JSON."""


class Run:
    """A run of `decommission --format json`, whose events are read as they come."""

    def __init__(self, *args: str) -> None:
        self.lines: list[str] = []
        self._process = subprocess.Popen(
            [CLUSTER, "decommission", *args, "--yes", "--format", "json"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=ENVIRONMENT,
        )
        self._timer = threading.Timer(120, self._process.kill)
        self._timer.start()

    def until(self, *names: str) -> str:
        """Read events up to one of these names; return its line."""
        assert self._process.stderr
        for line in self._process.stderr:
            self.lines.append(line.decode())
            if any(_EVENTS[name] in self.lines[-1] for name in names):
                return self.lines[-1]
        raise AssertionError(f"no {names}: {self.lines} {self.end()}")

    def kill(self) -> None:
        """End it by kill -9."""
        self._process.kill()
        self._process.communicate()
        self._timer.cancel()

    def end(self) -> tuple[int, dict[str, object], str]:
        """Return its exit code, its answer, and the rest of what it wrote to standard error."""
        out, err = self._process.communicate(timeout=120)
        self._timer.cancel()
        return self._process.returncode, json.loads(out), err.decode()


def ready(cluster: Cluster, *brokers: int) -> None:
    """Wait until brokers are there and all replicas are in sync."""
    conditions = [f"broker={broker}:unfenced" for broker in brokers]
    conditions += ["no-under-replicated", "no-reassignments"]
    arguments = [word for each in conditions for word in ("--for", each)]
    # Before Kafka 4.0, brokers list no fenced ones.
    done = tool("wait", "-C", cluster.controllers, *arguments, "--timeout", "50")
    assert (done.code, done.err) == (0, "")
