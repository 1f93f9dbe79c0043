"""Subcommands that move replicas and leaders of real brokers, or say whether a stop is safe."""

import json
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kraftops.placement.placement import TopicPartition
from kraftops.tree.names import (
    ACL_OPERATIONS,
    ACL_PATTERNS,
    ACL_PERMISSIONS,
    ACL_RESOURCES,
)
from kraftops.wire.admin.replicas import alter_reassignments
from kraftops.wire.config.settings import Settings
from kraftops.wire.net.addresses import parse_bootstrap
from kraftops.wire.net.deadline import Deadline
from kraftops.wire.rpc.bootstrap import connect
from tests.helpers.kafka.nodes import admin_answers
from tests.helpers.kafka.nodes.clusters import Cluster, Shape, restarted, running_cluster
from tests.helpers.kafka.nodes.contents import AUTHORIZED
from tests.helpers.kafka.nodes.live_logs import change_topics
from tests.helpers.kafka.nodes.moving import Run, create_topics, placement, ready, tool
from tests.helpers.tools.console import KRAFTOPS, run_command

pytestmark = [pytest.mark.kafka, pytest.mark.slow]

TOPICS = {"one": (4, 1), "two": (6, 2)}


@pytest.fixture(scope="module")
def live(jars: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A controller and three brokers with topics; each test leaves them as they were."""
    shape = Shape(brokers=3, settings=AUTHORIZED)
    with running_cluster(jars, tmp_path_factory.mktemp("live"), shape) as found:
        create_topics(found, TOPICS)
        yield found


def test_plan_is_one_for_kafkas_tool(live: Cluster, jars: Path, tmp_path: Path) -> None:
    """Kafka's tool takes the plan, and ours takes what Kafka's tool proposes."""
    plan = tool(
        "decommission", "-b", live.brokers, "--id", "103", "--dry-run", "--check-disks",
        "--format", "json",
    )  # fmt: skip
    path = tmp_path / "plan.json"
    path.write_bytes(plan.out)

    verified = reassign(jars, live, "--reassignment-json-file", str(path), "--verify")
    topics = tmp_path / "topics.json"
    topics.write_text('{"version":1,"topics":[{"topic":"two"}]}')
    proposed = reassign(
        jars, live, "--topics-to-move-json-file", str(topics), "--broker-list", "101,102",
        "--generate",
    )  # fmt: skip
    path.write_text(proposed.strip().splitlines()[-1])
    done = tool("decommission", "-b", live.brokers, "--id", "103", "--plan", str(path), "--dry-run")

    assert "There is no active reassignment of partition" in verified
    assert verified.count("replica set is") == len(json.loads(plan.text)["partitions"])
    assert (done.code, "broker 103 is not emptied: the plan leaves out one-" in done.err) == (
        3,
        True,
    )
    assert "two-" in done.text


def reassign(jars: Path, cluster: Cluster, *args: str) -> str:
    """Run kafka-reassign-partitions."""
    done = subprocess.run(
        ["java", "-Xmx128m", "-XX:TieredStopAtLevel=1", "-cp", f"{jars}/*",
         "org.apache.kafka.tools.reassign.ReassignPartitionsCommand",
         "--bootstrap-server", cluster.brokers, *args],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )  # fmt: skip
    return done.stdout


def test_stop_is_safe_or_not(live: Cluster) -> None:
    ready(live, 101, 102, 103)
    place = placement(live).partitions
    alone = next(each.leader for each in place.values() if len(each.replicas) == 1)

    one = tool("safe-to-stop", "-b", live.brokers, "--id", str(alone), "--format", "json")
    by_log = tool("safe-to-stop", "-C", live.controllers, "--id", str(alone), "--format", "json")
    missing = tool("safe-to-stop", "-b", live.brokers, "--id", "104")

    found = json.loads(one.text)
    assert (one.code, found["isSafe"]) == (2, False)
    assert all(each["isOffline"] for each in found["partitions"])
    assert len(found["partitions"]) == sum(each.replicas == (alone,) for each in place.values())
    assert json.loads(by_log.text)["partitions"] == found["partitions"]
    assert missing.code == 4


def test_leaders_leave_and_come_back(live: Cluster, tmp_path: Path) -> None:
    ready(live, 101, 102, 103)
    before = placement(live).partitions
    path = tmp_path / "leaders.json"

    drained = tool("drain", "-b", live.brokers, "--id", "101", "--save", str(path), "--yes")
    under_way = json.loads(tool("operations", "-b", live.brokers, "--format", "json").text)
    between = placement(live, leftovers="kraftops.drain").partitions
    restored = tool("undrain", "-b", live.brokers, "--plan", str(path), "--yes")
    after = placement(live).partitions

    alone = [partition for partition, each in before.items() if each.replicas == (101,)]
    assert drained.code == (2 if alone else 0), drained.err
    assert [each["name"] for each in under_way["operations"]] == ["drain-101"]
    assert [p for p, each in between.items() if each.leader == 101] == alone
    assert all({*between[p].replicas} == {*before[p].replicas} for p in before)
    assert (restored.code, restored.err) == (0, "")
    assert {p: each.replicas for p, each in after.items()} == {
        p: each.replicas for p, each in before.items()
    }
    led = {p: each.leader for p, each in after.items() if before[p].leader == each.replicas[0]}
    assert all(each == after[p].replicas[0] for p, each in led.items())


def test_throttles_of_others_are_refused(live: Cluster) -> None:
    rate = "leader.replication.throttled.rate"
    ready(live, 101, 102, 103)
    change_broker(live, 102, rate, 0, "1000")

    done = tool("decommission", "-b", live.brokers, "--id", "101", "--throttle", "1", "--yes")
    change_broker(live, 102, rate, 1, None)

    assert done.code == 3
    assert "throttles are already set: broker 102" in done.err
    placement(live)


def change_broker(
    cluster: Cluster, broker: int, key: str, operation: int, value: str | None
) -> None:
    address = f"localhost:{cluster.port(broker, 'PLAINTEXT')}"
    change = {"name": key, "config_operation": operation, "value": value}
    resource = {"resource_type": 4, "resource_name": str(broker), "configs": [change]}
    with connect(parse_bootstrap(address), Settings(), Deadline(30)) as connection:
        answer = connection.ask(
            "IncrementalAlterConfigs", resources=[resource], validate_only=False
        )
    assert [each.error_code for each in answer.responses] == [0]


def test_cancel_takes_back_what_is_in_flight_and_what_the_plan_moved(
    live: Cluster, tmp_path: Path
) -> None:
    ready(live, 101, 102, 103)
    before = placement(live)
    path = tmp_path / "plan.json"
    ask = ("-b", live.brokers, "--id", "103")
    path.write_bytes(tool("decommission", *ask, "--dry-run", "--format", "json").out)
    run = Run(*ask, "--plan", str(path), "--batch", "2")
    run.until("batch")
    run.until("batch")
    run.kill()

    state = json.loads(tool("decommission", "status", "-b", live.brokers, "--format", "json").text)
    log = ("-C", live.controllers)
    without_plan = tool("decommission", "cancel", *ask, *log, "--yes")
    between = placement(live)
    cancelled = tool("decommission", "cancel", *ask, "--yes", "--plan", str(path))
    after = placement(live)

    moved = [
        str(p)
        for p, each in before.partitions.items()
        if 103 in each.replicas and 103 not in between.partitions[p].replicas
    ]
    (operation,) = state["operations"]
    assert (operation["name"], operation["cordonedBrokers"]) == ("decommission-103", [103])
    assert operation["isRunning"] is False
    assert moved
    listed = without_plan.text.splitlines()[1:]
    assert listed == [f"{partition}: stays where it is" for partition in moved]
    assert "replicas that have been moved stay where they are: " in without_plan.err
    assert (without_plan.code, cancelled.code) == (2, 0), without_plan.err + cancelled.err
    assert {p: each.replicas for p, each in after.partitions.items()} == {
        p: each.replicas for p, each in before.partitions.items()
    }


def test_operations_of_others_are_seen_and_ended(live: Cluster) -> None:
    """A throttle, and a reassignment to a broker that is down, neither of which says whose it is."""
    ready(live, 101, 102, 103)
    before = placement(live).partitions
    moved = next(p for p, each in before.items() if {101, 102} == {*each.replicas})
    ask = ("-b", live.brokers)
    live.nodes[103].stop()
    change_broker(live, 101, "leader.replication.throttled.rate", 0, "1000")
    with connect(parse_bootstrap(live.brokers), Settings(), Deadline(30)) as connection:
        assert alter_reassignments(connection, {moved: [101, 103]}) == {}

    seen = tool("operations", *ask, "--format", "json")
    refused = tool("rebalance", *ask, "--yes")
    cancelled = tool("operations", "cancel", "reassignments", *ask, "--yes")
    cleared = tool("operations", "clear-throttles", "throttles", *ask, "--yes")
    nothing = tool("operations", *ask)
    missing = tool("operations", "cancel", "reassignments", *ask, "--yes")
    restarted(live, 103)

    operations = {each["name"]: each for each in json.loads(seen.text)["operations"]}
    assert {*operations} == {"reassignments", "throttles"}
    reassignments = operations["reassignments"]
    assert (reassignments["state"], reassignments["secondsLeft"]) == ("stalled", None)
    assert [each["code"] for each in reassignments["obstacles"]] == ["target-down"]
    assert operations["throttles"]["throttledBrokers"] == [101]
    assert refused.code == 3
    assert "other reassignments are in flight" in refused.err
    assert (cancelled.code, cancelled.text) == (0, "reassignments: cancelled in flight: 1\n")
    assert (cleared.code, nothing.text) == (0, "nothing is under way\n")
    assert missing.code == 4
    ready(live, 101, 102, 103)
    assert placement(live).partitions[moved].replicas == before[moved].replicas


def test_brokers_are_loaded_evenly(live: Cluster) -> None:
    ready(live, 101, 102, 103)

    done = tool("rebalance", "-C", live.controllers, "-b", live.brokers, "--yes", "--timeout", "50")

    counts = placement(live).replica_counts()
    assert done.code == 0, done.err
    assert max(counts.values()) - min(counts.values()) <= 1
    assert tool("rebalance", "-b", live.brokers, "--yes").text == "Moved partitions: 0.\n"


def test_views_of_the_shell_are_what_brokers_answer(live: Cluster) -> None:
    """Both are asked while nothing changes; ours has the metadata log of the controllers alone."""
    ready(live, 101, 102, 103)
    admin_answers.fill(live.brokers)
    ready(live, 101, 102, 103)

    def rows(*words: str) -> list[dict[str, Any]]:
        done = run_command(
            "metadata-shell", "-C", live.controllers, *words, "--format", "ndjson", program=KRAFTOPS
        )
        assert done.code == 0, done.err
        return [json.loads(line) for line in done.text.splitlines()]

    placed = admin_answers.partitions(live.brokers)
    shown = rows("partitions")
    topics = rows("topics")
    assert len(placed) > 20
    assert {
        (row["topic"], row["partition"]): (
            *(row["leader"], row["leaderEpoch"], sorted(row["isr"]), row["replicas"]),
        )
        for row in shown
    } == placed
    assert {row["topic"]: row["partitions"] for row in topics} == Counter(
        topic for topic, _ in placed
    )
    assert {row["underReplicated"] for row in shown} == {False}
    assert {
        (row["type"], row["name"], row["key"]): row["value"]
        for row in rows("configs")
        if row["type"] == "TOPIC" or not row["name"]
    } == admin_answers.configs(live.brokers, [row["topic"] for row in topics])
    by_name = [ACL_RESOURCES.index, ACL_PATTERNS.index, ACL_OPERATIONS.index, ACL_PERMISSIONS.index]
    resource, pattern, operation, permission = by_name
    assert sorted(
        (
            *(resource(row["resource"]), row["name"], pattern(row["pattern"]), row["principal"]),
            *(row["host"], operation(row["operation"]), permission(row["permission"])),
        )
        for row in rows("acls")
    ) == admin_answers.acls(live.brokers)
    parts = {"user": "user", "clientId": "client-id", "ip": "ip"}
    assert {
        (
            frozenset(
                (kind, None if row[name] == "<default>" else row[name])
                for name, kind in parts.items()
                if row[name] is not None
            ),
            row["key"],
        ): row["value"]
        for row in rows("quotas")
    } == admin_answers.quotas(live.brokers)
    brokers = {row["broker"]: (row["state"], row["leaders"]) for row in rows("brokers")}
    leaders = Counter(leader for leader, *_ in placed.values())
    assert brokers == {number: ("active", leaders[number]) for number in (101, 102, 103)}
    made = rows("log", "--where", "type = 'TOPIC_RECORD'")
    assert {row["value"]["name"] for row in made} >= {row["topic"] for row in topics}
    (one,) = rows("log", f"/image/topics/byName/{admin_answers.TOPIC}", "--limit", "1")
    assert one["type"] in ("PARTITION_RECORD", "PARTITION_CHANGE_RECORD")
    change_topics(live.brokers, "DeleteTopics", [admin_answers.TOPIC])


def test_nothing_is_done_without_consent(live: Cluster) -> None:
    before = placement(live)

    done = tool("decommission", "-b", live.brokers, "--id", "103")
    unknown = tool("decommission", "-b", live.brokers, "--id", "999", "--yes")

    assert (done.code, unknown.code) == (3, 4)
    assert "--yes agrees to it" in done.err
    assert "no broker has the id 999, and no decommission of it has begun" in unknown.err
    assert placement(live) == before


@pytest.mark.long
def test_older_release_is_left_without_cordon(older_jars: Path, tmp_path: Path) -> None:
    """Brokers of Kafka 3.9 do not list fenced brokers, and know no cordon."""
    with running_cluster(older_jars, tmp_path, Shape(brokers=2, release="3.9")) as found:
        create_topics(found, {"old": (4, 1)})
        ask = ("-b", found.brokers, "--id", "102", "--yes", "--throttle", "10000000")
        empty = tool("decommission", *ask, "--no-wait", "--timeout", "50")
        found.nodes[102].stop()
        gone = tool("decommission", *ask, "--timeout", "50")
        place = placement(found)

    assert (empty.code, gone.code) == (0, 0), empty.err + gone.err
    assert [*place.brokers] == [101]
    assert {each.replicas for each in place.partitions.values()} == {(101,)}
    assert place.partitions[TopicPartition("old", 0)].leader == 101
