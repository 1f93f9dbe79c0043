"""Brokers are taken out of a real cluster, while it is in use and everything goes wrong."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.helpers.kafka.nodes.clusters import Cluster, Shape, running_cluster, wait_for_leader
from tests.helpers.kafka.nodes.live_logs import change_topics
from tests.helpers.kafka.nodes.moving import Run, create_topics, placement, ready, tool
from tests.helpers.kafka.nodes.traffic import traffic
from tests.helpers.project.imports import REPOSITORY
from tests.helpers.tools.console import CLUSTER, ENVIRONMENT

pytestmark = [pytest.mark.kafka, pytest.mark.slow]

BROKERS = range(101, 106)
RACKS = {broker: f"r{number % 3 + 1}" for number, broker in enumerate(BROKERS)}
TOPICS = {"one": (8, 1), "two": (12, 2), "three": (12, 3)}
"""Numbers of partitions and of replicas."""


@pytest.mark.long
def test_brokers_leave_while_everything_goes_wrong(jars: Path, tmp_path: Path) -> None:
    """Two leave; afterwards they come back, and the script in the guide replaces the others."""
    shape = Shape(
        controllers=3,
        brokers=len(BROKERS),
        node_settings={broker: {"broker.rack": rack} for broker, rack in RACKS.items()},
    )
    with running_cluster(jars, tmp_path / "nodes", shape) as live:
        create_topics(live, TOPICS)
        check_chaos(live)
        for broker in (104, 105):
            live.nodes[broker].start()
        check_script(live, tmp_path)


def test_topic_of_the_last_moment_gets_nothing_on_an_empty_broker(
    jars: Path, tmp_path: Path
) -> None:
    """Asked by brokers alone: the cordon stays until it has stopped, also between two runs."""
    with running_cluster(jars, tmp_path, Shape(brokers=4, is_dynamic=True)) as live:
        create_topics(live, {"early": (12, 2)})
        ready(live, 101, 102, 103, 104)
        run = Run("-b", live.brokers, "--id", "103")
        run.until("stop")
        create_topics(live, {"late": (12, 1)})
        check_empty(live, 103)
        live.nodes[103].stop()
        assert run.end()[0] == 0
        runs = [Run("-b", live.brokers, "--id", "104", "--no-wait").end() for _ in range(2)]
        assert [(code, emptied["changed"]) for code, emptied, _ in runs] == [(0, True), (0, False)]
        create_topics(live, {"later": (12, 1)})
        check_empty(live, 104)
        live.nodes[104].stop()
        code, answer, err = Run("-b", live.brokers, "--id", "104").end()
        after = placement(live)

    assert (code, answer["brokers"]) == (0, [{"id": 104, "outcome": "done"}]), err
    assert [*after.brokers] == [101, 102]
    assert {name.topic for name in after.partitions} >= {"early", "late", "later"}


def check_empty(live: Cluster, broker: int) -> None:
    """A broker that runs gets no replica of what has just been created."""
    ready(live, broker)
    done = tool("wait", "-b", live.brokers, "--for", f"broker={broker}:empty", "--timeout", "1")
    assert done.code == 0, done.err


def check_chaos(live: Cluster) -> None:
    """Five kills of the tool, one of the leading controller, a restart of a broker, no loss."""
    ask = ("-b", live.brokers, "-C", live.controllers, "--id", "104,105", "--batch", "3")
    throttled = (*ask, "--throttle", "3000000")
    with traffic(live.brokers, {name: count for name, (count, _) in TOPICS.items()}) as records:
        run = Run(*throttled)
        run.until("cordoned")
        run.kill()

        run = Run(*throttled)
        run.until("batch")
        run.kill()

        run = Run(*throttled)
        run.until("progress", "batch")
        leader = wait_for_leader(live)
        live.nodes[leader].kill()
        run.until("batch")
        run.kill()

        run = Run(*throttled)
        live.nodes[101].stop()
        live.nodes[101].start()
        run.until("throttles-removed")
        run.kill()

        run = Run(*ask)
        stop = run.until("stop")
        run.kill()

        run = Run(*ask)
        run.until("stop")
        live.nodes[104].stop()
        live.nodes[105].stop()
        run.until("unregistered")
        run.kill()
        code, last, err = Run(*ask).end()
        count = records.end()

    assert code == 0, err
    assert "104, 105" in stop
    assert {each["outcome"] for each in last["brokers"]} <= {"done", "already"}  # type: ignore[attr-defined]
    assert count.acknowledged > 500
    assert count.lost == 0
    found = placement(live)
    assert [*found.brokers] == [101, 102, 103]
    assert not any(found.on(frozenset({104, 105})))
    assert not found.moving
    replicas = {p.topic: len(each.replicas) for p, each in found.partitions.items()}
    assert replicas == {name: number for name, (_, number) in TOPICS.items()}
    for each in found.partitions.values():
        assert len({RACKS[broker] for broker in each.replicas}) == len(each.replicas)


def check_script(live: Cluster, folder: Path) -> None:
    """The rolling decommission in the guide; a program `ssh` of the test stops the brokers."""
    ready(live, 101, 102, 103, 104, 105)
    change_topics(live.brokers, "DeleteTopics", ["three"])
    guide = (REPOSITORY / "docs/guides/take-a-broker-out.md").read_text("utf-8")
    (script,) = re.findall(r"^```sh\n(BROKERS=.*?)^```$", guide, re.MULTILINE | re.DOTALL)
    leaving = [101, 102, 103]
    for old, new in (
        (r"BROKERS=.*", f"BROKERS={live.brokers}"),
        (r"104 105", " ".join(map(str, leaving))),
    ):
        script, count = re.subn(old, new, script)
        assert count == 1
    pids = {broker: live.nodes[broker].pid for broker in leaving}
    ssh = folder / "ssh"
    ssh.write_text(
        "#!/bin/sh\ncase $1 in\n"
        + "".join(f"broker-{broker}) kill {pid};;\n" for broker, pid in pids.items())
        + "esac\n"
    )
    ssh.chmod(0o755)
    path = os.pathsep.join([str(folder), str(Path(CLUSTER).parent), ENVIRONMENT["PATH"]])

    done = subprocess.run(
        ["sh", "-eu", "-c", script],
        env={**ENVIRONMENT, "PATH": path},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout.count("is empty and can be stopped") == len(leaving)
    assert done.stdout.count("is decommissioned") == len(leaving)
    found = placement(live)
    assert [*found.brokers] == [104, 105]
    replicas = {(p.topic, len(each.replicas)) for p, each in found.partitions.items()}
    assert replicas == {("one", 1), ("two", 2)}
    assert all(each.leader in (104, 105) for each in found.partitions.values())
