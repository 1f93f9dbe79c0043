"""Descriptions of clusters as text and as JSON."""

from dataclasses import replace

from kraftops.wire.net.addresses import Address
from kraftops.wire.rpc.cluster import ClusterNode, ClusterNodes, Feature, QuorumInfo, ReplicaState
from kraftops.wire.rpc.connection import VersionRange
from kraftops_cli.cluster.description import ClusterDescription
from kraftops_cli.cluster.description_output import description_json, description_text

NOTHING = ClusterDescription(
    is_of_controllers=False, nodes=None, quorum=None, features=[], live=None, quorum_error=None
)
QUORUM = QuorumInfo(
    1, 3, 9,
    [ReplicaState(1, bytes(15) + b"\x01", 10, -1, 0), ReplicaState(2, None, 7, 5, -1)],
    [ReplicaState(3, None, -1, -1, -1)],
    {1: [("CONTROLLER", Address("a", 9093))]},
)  # fmt: skip


def test_values_that_are_not_available_are_dashes() -> None:
    assert description_text(NOTHING).split("\n\n") == [
        "cluster id     -\nquorum leader  -\nsnapshot       -",
        "brokers  -",
        "quorum  -",
        "FEATURE  FINALIZED  SUPPORTED\n",
    ]
    assert description_json(NOTHING) == {
        "clusterId": None, "quorum": None, "snapshot": None, "brokers": None, "features": [],
    }  # fmt: skip


def test_lag_is_counted_from_the_longest_log() -> None:
    description = replace(NOTHING, quorum=QUORUM)

    table = description_text(description).split("\n\n")[2]
    replicas = description_json(description)["quorum"]["replicas"]  # type: ignore[index]

    assert [line.split()[:4] for line in table.splitlines()[1:]] == [
        ["1", "leader", "10", "0"], ["2", "voter", "7", "3"], ["3", "observer", "-", "-"],
    ]  # fmt: skip
    assert [each["lag"] for each in replicas] == [0, 3, None]
    assert replicas[0]["listeners"] == [{"name": "CONTROLLER", "host": "a", "port": 9093}]


def test_brokers_and_features_of_a_broker() -> None:
    nodes = [
        ClusterNode(2, Address("b", 2), "r", True),
        ClusterNode(1, Address("a", 1), None, False),
    ]
    features = [Feature("f", VersionRange(0, 3), 2), Feature("g", None, None)]
    description = replace(NOTHING, nodes=ClusterNodes("x", None, nodes), features=features)

    _, brokers, _, table = description_text(description).split("\n\n")

    assert [line.split() for line in brokers.splitlines()[1:]] == [
        ["1", "active", "-", "-", "a:1", "-"],
        ["2", "registered-fenced", "r", "-", "b:2", "-"],
    ]
    assert (
        table == "FEATURE  FINALIZED  SUPPORTED\nf        2          0-3\ng        -          -\n"
    )


def test_controllers_alone_do_not_know_the_brokers() -> None:
    nodes = ClusterNodes("x", 1, [ClusterNode(1, Address("a", 1), None, None)])
    description = replace(NOTHING, is_of_controllers=True, nodes=nodes)

    assert description.brokers() is None
    assert "quorum leader  1\n" in description_text(description)
