"""Rolling restarts of real nodes."""

import json
from pathlib import Path

import pytest

from tests.helpers.kafka.nodes.clusters import Shape, running_cluster
from tests.helpers.kafka.nodes.moving import create_topics, placement, ready, tool
from tests.helpers.kafka.nodes.restarts import restarter

pytestmark = [pytest.mark.kafka, pytest.mark.slow]


def test_all_nodes_restart_and_lead_again(jars: Path, tmp_path: Path) -> None:
    """A command that fails ends it, the same again goes on, and the active controller comes last."""
    shape = Shape(controllers=3, is_combined=True, settings={"min.insync.replicas": "2"})
    with running_cluster(jars, tmp_path, shape) as cluster, restarter(cluster) as restarts:
        create_topics(cluster, {"three": (6, 3)})
        ready(cluster, 1, 2, 3)
        before = placement(cluster).partitions
        leader = cluster.nodes[1].quorum().leader
        first, second = sorted({1, 2, 3} - {leader})
        restarts.faults[second] = lambda: "No route to host"
        words = ("-b", cluster.brokers, "--hook", restarts.hook, "--yes", "--format", "json")
        order = tool("restart", *words, "--dry-run")
        failed = tool("restart", *words)
        under_way = tool("operations", "-b", cluster.brokers, "--format", "json")
        done = tool("restart", *words)
        assert done.code == 0, done.text + done.err
        ready(cluster, 1, 2, 3)
        after = placement(cluster).partitions

    assert [node["id"] for node in json.loads(order.text)["nodes"]] == [first, second, leader]
    answer = json.loads(failed.text)
    assert (failed.code, answer["error"], answer["id"]) == (1, "hook-failed", second)
    assert answer["message"].endswith("has ended with 1: No route to host")
    (operation,) = json.loads(under_way.text)["operations"]
    assert (operation["name"], operation["brokers"]) == ("restart", sorted([second, leader]))
    assert (operation["done"], operation["partitions"]) == (1, 3)
    assert restarts.restarted == [first, second, leader]
    assert {p: (r.replicas, r.leader) for p, r in after.items()} == {
        p: (r.replicas, r.leader) for p, r in before.items()
    }
