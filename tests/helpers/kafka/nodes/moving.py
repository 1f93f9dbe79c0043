"""Runs of `kafka-cluster` that move replicas of a real cluster, and its placement."""

import json
import re
import subprocess
import threading

from kraftops.placement.placement import Placement, placement_of
from kraftops.wire.config.settings import Settings
from kraftops.wire.net.addresses import parse_bootstrap
from kraftops.wire.quorum.live_image import LiveImage
from kraftops.wire.quorum.quorum_target import QuorumTarget
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


def placement(cluster: Cluster) -> Placement:
    """Return the placement in the metadata log, with nothing of ours left in configurations."""
    target = QuorumTarget(parse_bootstrap(cluster.controllers), Settings(timeout=30))
    with LiveImage(target) as live:
        keys = {key for values in live.image.configs.values() for key in values}
        assert [key for key in keys if _LEFTOVERS.search(key)] == []
        return placement_of(live.image)


class Run:
    """A run of `decommission --format json`, whose events are read as they come."""

    def __init__(self, *args: str) -> None:
        self.events: list[dict[str, object]] = []
        self._process = subprocess.Popen(
            [CLUSTER, "decommission", *args, "--yes", "--format", "json"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=ENVIRONMENT,
        )
        self._timer = threading.Timer(120, self._process.kill)
        self._timer.start()

    def until(self, *names: str) -> dict[str, object]:
        """Read events up to one of these names."""
        assert self._process.stdout
        for line in self._process.stdout:
            self.events.append(json.loads(line))
            if self.events[-1].get("event") in names:
                return self.events[-1]
        raise AssertionError(f"no {names}: {self.events} {self.end()}")

    def kill(self) -> None:
        """End it by kill -9."""
        self._process.kill()
        self._process.communicate()
        self._timer.cancel()

    def end(self) -> tuple[int, dict[str, object], str]:
        """Return its exit code, its last line and what it wrote to standard error."""
        out, err = self._process.communicate(timeout=120)
        self._timer.cancel()
        lines = [json.loads(line) for line in out.splitlines()]
        return self._process.returncode, (lines or self.events)[-1], err.decode()


def ready(cluster: Cluster, *brokers: int) -> None:
    """Wait until brokers are there and all replicas are in sync."""
    conditions = [f"broker={broker}:unfenced" for broker in brokers]
    conditions += ["no-under-replicated", "no-reassignments"]
    arguments = [word for each in conditions for word in ("--until", each)]
    done = tool("wait", "-b", cluster.brokers, *arguments, "--timeout", "50")
    assert (done.code, done.err) == (0, "")
