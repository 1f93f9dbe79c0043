"""Plans for 2,000 partitions of a real cluster, beside kafka-reassign-partitions: time and bytes.

`PYTHONPATH=. python -m tests.bench.reassignments JARS` takes a minute. Bytes are those of the
loopback device, also what nodes send each other meanwhile: the first line has those of five seconds.
"""

import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.helpers.kafka.nodes.clusters import Shape, running_cluster
from tests.helpers.kafka.nodes.live_logs import change_topics
from tests.helpers.kafka.nodes.moving import ready
from tests.helpers.tools.console import CLUSTER, ENVIRONMENT

_PARTITIONS = 2000


def main(jars: Path, folder: Path) -> None:
    """Print a line for each command."""
    with running_cluster(jars, folder / "nodes", Shape(brokers=3)) as live:
        assignments = [
            {"partition_index": number, "broker_ids": [101 + number % 2]}
            for number in range(_PARTITIONS)
        ]
        counts = {"num_partitions": -1, "replication_factor": -1, "configs": []}
        topic = {"name": "many", "assignments": assignments, **counts}
        change_topics(live.brokers, "CreateTopics", [topic])
        ready(live, 101, 102, 103)
        measured("five seconds of nothing", ["sleep", "5"])
        main_class = "org.apache.kafka.tools.reassign.ReassignPartitionsCommand"
        theirs = ["java", "-Xmx256m", "-XX:TieredStopAtLevel=1", "-cp", f"{jars}/*", main_class]
        theirs += ["--bootstrap-server", live.brokers]
        topics, plan, own = (folder / name for name in ("topics.json", "plan.json", "own.json"))
        topics.write_text('{"version":1,"topics":[{"topic":"many"}]}')
        words = ["--topics-to-move-json-file", str(topics), "--broker-list", "101,102,103"]
        text = measured("Kafka --generate", [*theirs, *words, "--generate"])
        plan.write_text(text.strip().splitlines()[-1])
        ours = [CLUSTER, "rebalance", "-b", live.brokers]
        own.write_text(measured("rebalance --dry-run", [*ours, "--dry-run", "--format", "json"]))
        moves = len(json.loads(own.read_text())["partitions"])
        sys.stdout.write(f"partitions to move: ours {moves}, Kafka's {_PARTITIONS}\n")
        measured("rebalance", [*ours, "--plan", str(own), "--yes", "--batch", "1000"])
        measured("operations", [CLUSTER, "operations", "-b", live.brokers])
        of_plan = [*theirs, "--reassignment-json-file", str(plan)]
        measured("Kafka --execute", [*of_plan, "--execute"])
        measured("Kafka --verify", [*of_plan, "--verify"])


def measured(name: str, command: list[str]) -> str:
    """Run a command and print what it took; return its output."""
    before, begin, sent = _cpu_seconds(), time.monotonic(), _loopback_bytes()
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=ENVIRONMENT)
    wall, cpu = time.monotonic() - begin, _cpu_seconds() - before
    size = _loopback_bytes() - sent
    sys.stdout.write(f"{name}: {wall:.1f} s, CPU {cpu:.2f} s, {size:,} bytes\n")
    sys.stdout.flush()
    return done.stdout


def _cpu_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _loopback_bytes() -> int:
    lines = Path("/proc/net/dev").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.strip().startswith("lo:"))


if __name__ == "__main__":
    with TemporaryDirectory() as name:
        main(Path(sys.argv[1]), Path(name))
