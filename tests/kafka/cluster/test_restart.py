"""Rolling restarts of real nodes."""

import json
import time
from pathlib import Path

import pytest

from kraftops.reassign.marks import MARK_VALUE, RESTART, Author, Mark
from kraftops.wire.admin.configs import (
    DEFAULTS,
    ConfigChange,
    Operation,
    ResourceType,
    alter_configs,
)
from kraftops.wire.config.settings import Settings
from kraftops.wire.net.addresses import parse_bootstrap
from kraftops.wire.net.deadline import Deadline
from kraftops.wire.rpc.bootstrap import connect
from tests.helpers.kafka.nodes.clusters import Cluster, Shape, running_cluster
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
        restarts.faults[first] = lambda: "No route to host"
        again = tool("restart", *words, "--id", str(first))
        cancelled = tool("operations", "cancel", "restart", "-b", cluster.brokers, "--yes")
        back = placement(cluster).partitions

    assert [node["id"] for node in json.loads(order.text)["nodes"]] == [first, second, leader]
    answer = json.loads(failed.text)
    assert (failed.code, answer["error"], answer["id"]) == (1, "hook-failed", second)
    assert answer["message"].endswith("has ended with 1: No route to host")
    (operation,) = json.loads(under_way.text)["operations"]
    assert (operation["name"], operation["brokers"]) == ("restart", sorted([second, leader]))
    assert (operation["done"], operation["partitions"]) == (1, 3)
    assert restarts.restarted == [first, second, leader]
    assert (again.code, cancelled.code) == (1, 0), cancelled.err
    for partitions in (after, back):
        assert {p: (r.replicas, r.leader) for p, r in partitions.items()} == {
            p: (r.replicas, r.leader) for p, r in before.items()
        }


@pytest.mark.long
def test_brokers_of_a_rack_restart_at_once_and_a_lost_run_is_taken_over(
    jars: Path, tmp_path: Path
) -> None:
    """With a rack for each half of the brokers, every partition keeps one of its two replicas."""
    racks = {broker: {"broker.rack": "ab"[(broker - 101) // 2]} for broker in range(101, 105)}
    shape = Shape(controllers=3, brokers=4, is_dynamic=True, node_settings=racks)
    with running_cluster(jars, tmp_path, shape) as live, restarter(live) as restarts:
        create_topics(live, {"two": (8, 2), "single": (4, 1)})
        ready(live, *racks)
        check_stops(live)
        words = ("-b", live.brokers, "--hook", restarts.hook, "--yes", "--format", "json")
        brokers = ("restart", *words, "--roles", "brokers", "--at-once", "2")

        refused = tool(*brokers)
        done = tool(*brokers, "--exclude-topic", "single")
        first, restarts.restarted = restarts.restarted, []
        mark_elsewhere(live, 101)
        busy = tool("restart", *words, "--allow-single-replica")
        taken = tool("restart", *words, "--allow-single-replica", "--take-over")
        second, restarts.restarted = restarts.restarted, []
        leader = live.leader()
        followers = tool("restart", *words, "--roles", "controllers")
        placement(live)

    assert refused.code == 3, refused.text
    assert "can never stop safely: " in json.loads(refused.text)["message"]
    assert done.code == 0, done.text + done.err
    hooks = [e["ids"] for e in json.loads(done.text)["events"] if e["event"] == "hook"]
    assert hooks == [[101, 102], [103, 104]]
    assert sorted(first) == [101, 102, 103, 104]
    assert busy.code == 3
    assert "by ann@elsewhere (1)" in json.loads(busy.text)["message"]
    assert (taken.code, second) == (0, [101]), taken.text + taken.err
    assert followers.code == 0, followers.text + followers.err
    assert restarts.restarted == [*sorted({1, 2, 3} - {leader}), leader]


def check_stops(live: Cluster) -> None:
    """Each node alone; then a rack with a controller, and two controllers of three."""
    single = {
        each.leader for name, each in placement(live).partitions.items() if name.topic == "single"
    }
    ask = ("safe-to-stop", "-b", live.brokers, "--format", "json")
    alone = tool(*ask)
    mixed = tool(*ask, "--id", "101,102,1", "--allow-single-replica")
    quorum = tool(*ask, "--id", "101,1,2", "--exclude-topic", "single")

    nodes = {node["id"]: node for node in json.loads(alone.text)["nodes"]}
    assert alone.code == 2
    assert {node for node, each in nodes.items() if not each["isSafe"]} == single
    assert {node: each["roles"] for node, each in nodes.items()} == {
        node: ["controller" if node < 101 else "broker"] for node in (1, 2, 3, 101, 102, 103, 104)
    }
    assert (mixed.code, json.loads(mixed.text)["brokers"]) == (0, [1, 101, 102]), mixed.text
    answer = json.loads(quorum.text)
    assert (quorum.code, answer["partitions"]) == (2, [])
    assert "the quorum would lose its majority" in answer["quorumReason"]


def mark_elsewhere(live: Cluster, broker: int) -> None:
    """Leave the mark of a restart whose process was on another host."""
    author = Author("ann", "elsewhere", 1, int(time.time()) * 1000)
    key = Mark(RESTART, author, brokers=(broker,), partitions=1).key
    changes = {DEFAULTS: [ConfigChange(key, Operation.SET, MARK_VALUE)]}
    with connect(parse_bootstrap(live.brokers), Settings(), Deadline(30)) as connection:
        alter_configs(connection, ResourceType.BROKER, changes)
