"""Descriptions of clusters as text and as JSON."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from kraftops.answers.fields import json_of
from kraftops.placement.placement import Replicas, TopicPartition
from kraftops.wire.net.addresses import Address
from kraftops.wire.rpc.cluster import ClusterNode, ClusterNodes, Feature, QuorumInfo, ReplicaState
from kraftops.wire.rpc.connection import VersionRange
from kraftops_cli.cluster.describe import description_text
from kraftops_cli.cluster.description import (
    BrokerFilter,
    ClusterDescription,
    _listed_brokers,
    members_in,
    with_facts,
)
from kraftops_cli.cluster.description_fields import DESCRIPTION, FEATURE
from kraftops_cli.cluster.health import Counts, Health, NodeFacts
from kraftops_terminal.console import Console

PLAIN = Console(lambda _: None, -1, is_terminal=False)
NOTHING = ClusterDescription(0)
QUORUM = QuorumInfo(
    1, 3, 9,
    [ReplicaState(1, bytes(15) + b"\x01", 10, -1, 0), ReplicaState(2, None, 7, 5, -1)],
    [ReplicaState(3, None, -1, -1, -1)],
    {1: [("CONTROLLER", Address("a", 9093))]},
)  # fmt: skip


def with_quorum(quorum: QuorumInfo, now: int = 0) -> ClusterDescription:
    members = members_in(quorum, 10, now, {})
    return replace(NOTHING, now=now, leader=quorum.leader, quorum=quorum, members=members)


def description_json(description: ClusterDescription) -> dict[str, Any]:
    return json_of(DESCRIPTION.fields, description)


def feature_json(features: Sequence[Feature]) -> list[dict[str, Any]]:
    return [json_of(FEATURE, feature) for feature in features]


def test_values_that_are_not_available_are_dashes() -> None:
    assert description_text(NOTHING, PLAIN).split("\n\n") == [
        "cluster id     -\nquorum leader  -\nsnapshot       -\npartitions     -",
        "brokers  -",
        "quorum  -",
        "features  none\n",
    ]
    assert description_json(NOTHING) == {
        "time": 0, "clusterId": None, "quorum": None, "snapshot": None, "partitions": None, "brokers": None,
        "operations": None, "controllers": None, "features": [],
    }  # fmt: skip


def test_lag_is_counted_from_the_longest_log() -> None:
    description = with_quorum(QUORUM)

    table = description_text(description, PLAIN).split("\n\n")[2]
    replicas = description_json(description)["quorum"]["replicas"]  # type: ignore[index]

    assert [line.split()[:5] for line in table.splitlines()[1:]] == [
        ["1", "leader", "-", "10", "0"], ["2", "voter", "-", "7", "3"], ["3", "observer", "-", "-", "-"],
    ]  # fmt: skip
    assert [each["lag"] for each in replicas] == [0, 3, None]
    assert replicas[0]["listeners"] == [{"name": "CONTROLLER", "host": "a", "port": 9093}]


def test_brokers_and_features_of_a_broker() -> None:
    nodes = [
        ClusterNode(2, Address("b", 2), "r", True),
        ClusterNode(1, Address("a", 1), None, False),
    ]
    features = [Feature("f", VersionRange(0, 3), 2), Feature("g", None, None)]
    brokers = _listed_brokers(ClusterNodes("x", None, nodes), None)
    description = replace(NOTHING, brokers=brokers, features=features)

    _, listed, _, table = description_text(description, PLAIN).split("\n\n")

    assert [line.split() for line in listed.splitlines()[1:]] == [
        ["1", "active", *["-"] * 7, "a:1", "-", "-"],
        ["2", "registered-fenced", "r", *["-"] * 6, "b:2", "-", "-"],
    ]
    assert (
        table == "FEATURE  FINALIZED  SUPPORTED\nf        2          0-3\ng        -          -\n"
    )


def test_leader_is_known_without_the_quorum() -> None:
    assert "quorum leader  1\n" in description_text(replace(NOTHING, leader=1), PLAIN)


def test_levels_of_the_metadata_version_have_names() -> None:
    features = [Feature("metadata.version", VersionRange(7, 30), 27), Feature("g", None, 1)]

    version, other = feature_json(features)

    assert (version["finalizedName"], version["minName"], version["maxName"]) == (
        "4.1-IV1", "3.3-IV3", "4.4-IV0" if version["max"] == 31 else "4.3-IV0",
    )  # fmt: skip
    assert other["finalizedName"] is None
    assert "27 (4.1-IV1)" in description_text(replace(NOTHING, features=features), PLAIN)


def test_times_are_ages_in_text_and_both_in_json() -> None:
    voter = ReplicaState(1, None, 9, 90_000, 40_000)
    future = ReplicaState(2, None, 9, 1 << 62, -1)
    quorum = QUORUM._replace(voters=[voter, future], observers=[])
    description = with_quorum(quorum, 100_500)

    first, second = description_json(description)["quorum"]["replicas"]  # type: ignore[index]

    assert (first["lastFetchAgeMs"], first["lastCaughtUpAgeMs"]) == (10_500, 60_500)
    assert first["lastCaughtUpTimestamp"] == 40_000
    assert (second["lastFetchAgeMs"], second["lastCaughtUpAgeMs"]) == (None, None)
    assert "1 min ago" in description_text(description, PLAIN)


def test_health_is_counted_and_reassignments_are_listed() -> None:
    moving = {TopicPartition("t", 3): Replicas((1, 2, 3), (1,), 1, (3,), (2,))}
    health = Health(Counts(120, 7, 1, 2, 1), is_min_isr_assumed=True, moving=moving)
    description = replace(NOTHING, health=health)

    assert (
        "partitions     120, 7 under-replicated, 1 offline, 2 under min ISR (of 1, which is"
        " assumed), 1 in reassignment\n" in description_text(description, PLAIN)
    )
    assert description_json(description)["partitions"] == {
        "count": 120, "underReplicated": 7, "offline": 1, "underMinIsr": 2, "isMinIsrAssumed": True,
        "reassignments": [
            {"topic": "t", "partition": 3, "replicas": [1, 2, 3], "adding": [3], "removing": [2]}
        ],
    }  # fmt: skip


def test_brokers_are_chosen_and_have_release_and_failed_directories() -> None:
    nodes = [
        ClusterNode(number, Address("a", number), rack, is_fenced)
        for number, rack, is_fenced in [(1, "r1", False), (2, "r1", True), (3, "r2", True)]
    ]
    facts = {2: NodeFacts("4.3", (), ("/d2",))}
    brokers = with_facts(_listed_brokers(ClusterNodes("x", None, nodes), None), facts, (), ())

    def ids(chosen: BrokerFilter) -> list[int]:
        return [broker.id for broker in filter(chosen.allows, brokers)]

    assert ids(BrokerFilter()) == [1, 2, 3]
    assert ids(BrokerFilter(ids=frozenset({1, 3}))) == [1, 3]
    assert ids(BrokerFilter(racks=frozenset({"r1"}), only_fenced=True)) == [2]
    second = description_json(replace(NOTHING, brokers=brokers))["brokers"][1]  # type: ignore[index]
    assert (second["release"], second["failedDirectories"]) == ("4.3", ["/d2"])
