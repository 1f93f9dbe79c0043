"""Voters of a real quorum: shown, added, replaced and removed, and what is refused meanwhile."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.kafka.jvm.jars import resolved_jars
from tests.helpers.kafka.nodes.clusters import (
    Cluster,
    Shape,
    formatted_later,
    running_cluster,
    wait_for_leader,
)
from tests.helpers.kafka.nodes.configs import later_controller
from tests.helpers.kafka.nodes.nodes import running, until
from tests.helpers.tools.fake_cluster import cluster as tool

pytestmark = [pytest.mark.kafka, pytest.mark.slow]

EARLIER = [*filter(None, os.environ.get("KRAFTOPS_KAFKA_RELEASES", "").split(","))]


def controllers(*args: str, code: int = 0) -> dict[str, Any]:
    done = tool("controllers", *args, "--format", "json")
    assert done.code == code, done.text + done.err
    answer: dict[str, Any] = json.loads(done.text)
    return answer


def voters(answer: dict[str, Any]) -> set[int]:
    return {member["id"] for member in answer["members"] if member["role"] != "observer"}


def change(cluster: Cluster, *args: str, code: int = 0) -> dict[str, Any]:
    limit = () if "--timeout" in args else ("--timeout", "30")
    return controllers(*args, "-C", cluster.controllers, "--yes", *limit, code=code)


@pytest.mark.parametrize("release", ["4.3.1", *EARLIER])
def test_controllers_change_one_at_a_time(jars: Path, tmp_path: Path, release: str) -> None:
    """A voter that is down is replaced; until then nothing else is, that could cost the majority."""
    release_jars = jars if release == "4.3.1" else resolved_jars(release)
    version = None if release == "4.3.1" else release.rsplit(".", 1)[0]
    shape = Shape(controllers=3, brokers=1, is_dynamic=True, release=version)
    with running_cluster(release_jars, tmp_path, shape) as cluster:
        three = [cluster.nodes[node].config for node in (1, 2, 3)]
        fourth = later_controller(tmp_path, 4, three)
        formatted_later(fourth, version)
        by_broker = controllers("-b", cluster.brokers)
        leader = by_broker["leader"]
        lost, kept = [node for node in (1, 2, 3) if node != leader]
        with running(release_jars, fourth) as node:
            cluster.nodes[4] = node
            cluster.nodes[lost].kill()
            refused = [
                change(cluster, *words, code=3)["error"]
                for words in (
                    ("add", "-i", "4"),
                    ("replace", "-i", str(leader), "--by", "4"),
                )
            ]
            replaced = change(cluster, "replace", "-i", str(lost), "--by", "4")
            again = change(cluster, "replace", "-i", str(lost), "--by", "4")
            cluster.nodes[lost].start()
            added = controllers(
                "add", "-b", cluster.brokers, "-i", str(lost), "--yes", "--timeout", "30"
            )
            removed = change(cluster, "remove", "-i", str(leader))
            wait_for_leader(cluster)
            late = change(cluster, "add", "-i", "9", "--timeout", "3", code=5)
            stops = tool(
                "safe-to-stop", "-b", cluster.brokers, "--id", f"{kept},4", "--format", "json"
            )
            unknown = tool("safe-to-stop", "-b", cluster.brokers, "--id", "99")
            each = tool("safe-to-stop", "-C", cluster.controllers, "--format", "json")
            change(cluster, "remove", "-i", str(lost))
            stays = controllers(
                "remove", "-b", cluster.brokers, "-i", str(kept), "--yes", "--timeout", "30", code=3
            )

    assert voters(by_broker) == {1, 2, 3}
    assert by_broker["isDynamic"]
    assert (unknown.code, "broker 99 is not registered" in unknown.err) == (4, True)
    assert {m["release"] for m in by_broker["members"]} == {release.rsplit(".", 1)[0]}
    assert [m["kind"] for m in by_broker["members"] if m["role"] == "observer"] == ["broker"]
    assert all(m["directoryId"] and m["isCaughtUp"] for m in by_broker["members"] if m["id"] < 9)
    assert refused == ["majority-at-risk"] * 2
    assert [event["event"] for event in replaced["events"]][-2:] == ["removed", "added"]
    assert voters(replaced) == {leader, kept, 4}
    assert (again["outcome"], again["changed"]) == ("already", False)
    assert voters(added) == {1, 2, 3, 4}
    assert voters(removed) == {1, 2, 3, 4} - {leader}
    assert late["error"] == "not-in-time"
    assert (stays["error"], stays["nodes"]) == ("quorum-not-found", [4, 101])
    assert stops.code == 2
    assert "majority" in json.loads(stops.text)["quorumReason"]
    assert {node["id"]: node["isSafe"] for node in json.loads(each.text)["nodes"]} == dict.fromkeys(
        [*voters(removed), 101], True
    )


@pytest.mark.skipif(not EARLIER, reason="run by hand, with KRAFTOPS_KAFKA_RELEASES")
def test_static_voters_stay(jars: Path, tmp_path: Path) -> None:
    with running_cluster(jars, tmp_path, Shape()) as cluster:
        answer = controllers("-C", cluster.controllers)
        refused = change(cluster, "add", "-i", "2", code=3)

    assert not answer["isDynamic"]
    assert refused["error"] == "static-quorum"


@pytest.mark.skipif(not EARLIER, reason="run by hand, with KRAFTOPS_KAFKA_RELEASES")
def test_a_controller_that_joins_by_itself_is_recognised(jars: Path, tmp_path: Path) -> None:
    """Removed while it runs, it would vote again a moment later (KIP-853, Kafka 4.2)."""
    joins = {"controller.quorum.auto.join.enable": "true"}
    with running_cluster(jars, tmp_path, Shape(is_dynamic=True)) as cluster:
        second = later_controller(tmp_path, 2, [cluster.nodes[1].config]).changed(joins)
        formatted_later(second)
        with running(jars, second) as node:
            cluster.nodes[2] = node
            assert until(lambda: cluster.nodes[1].quorum().voters == {1, 2})
            answer = controllers("-C", cluster.controllers)
            refused = change(cluster, "remove", "-i", "2", code=3)

    assert {member["id"]: member["isAutoJoining"] for member in answer["members"]} == {
        1: False,
        2: True,
    }
    assert "would join again" in refused["message"]
