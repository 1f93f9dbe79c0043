"""Health of partitions and brokers, from the metadata log or a broker."""

import socket
from pathlib import Path
from typing import Any

import pytest

from kraftops.image.load.loading import load
from kraftops.image.state.image import MetadataImage
from kraftops.placement.placement import TopicPartition
from kraftops.wire.cluster import ClusterConnections
from kraftops.wire.config.settings import Settings
from kraftops.wire.net.addresses import Address, Bootstrap
from kraftops.wire.net.deadline import Deadline
from kraftops.wire.rpc.cluster import ClusterNode
from kraftops.wire.rpc.connection import Connection
from kraftops.wire.rpc.endpoints import Endpoints
from kraftops_cli.cluster import health as health_module
from kraftops_cli.cluster.broker_states import KeptState
from kraftops_cli.cluster.health import (
    KeptFacts,
    NodeFacts,
    ask_health,
    controller_facts,
    health_of_image,
)
from tests.helpers.logs.metadata_logs import records_batch
from tests.helpers.nodes.lost_quorums import broker
from tests.helpers.wire.metadata_quorums import MetadataLog, topic
from tests.helpers.wire.peers import (
    APIS,
    Peer,
    answer,
    api_versions,
    described,
    free_port,
    read_request,
)

DIRECTORIES = [bytes(15) + b"\x07", bytes(15) + b"\x08"]
FEATURES = [{"name": "metadata.version", "minSupportedVersion": 7, "maxSupportedVersion": 30}]


def config(name: str, value: str, kind: int = 2) -> tuple[str, dict[str, object]]:
    return "ConfigRecord", {
        "resourceType": kind, "resourceName": name, "name": "min.insync.replicas", "value": value,
    }  # fmt: skip


def changed(number: int, **fields: object) -> tuple[str, dict[str, object]]:
    """Return a change of the partition of `topic(number)`, whose replicas are 1 and 2."""
    return "PartitionChangeRecord", {
        "partitionId": 0, "topicId": topic(number)[0][1]["topicId"], **fields,
    }  # fmt: skip


def image(folder: Path, *more: Any) -> MetadataImage:
    """Return an image of three partitions; each has replicas on 1 and 2, and 1 in sync."""
    log = MetadataLog()
    log.add(broker(1), broker(2), *topic(1), *topic(2), *topic(3), *more)
    return load(log.write(folder))


def test_partitions_are_counted_in_the_metadata_log(tmp_path: Path) -> None:
    health = health_of_image(
        image(
            tmp_path,
            changed(2, leader=-1),
            changed(3, isr=[1, 2], addingReplicas=[2], removingReplicas=[1]),
            config("t1", "2"),
            config("t2", "1"),
        )
    )

    assert health.counts[:3] == (3, 2, 1)
    assert (health.counts.under_min_isr, health.is_min_isr_assumed) == (1, False)
    assert [*health.moving] == [TopicPartition("t3", 0)]


def test_min_isr_is_that_of_the_cluster_or_assumed(tmp_path: Path) -> None:
    told = health_of_image(image(tmp_path / "a", config("", "2", kind=4)))
    assumed = health_of_image(image(tmp_path / "b"))

    assert (told.counts.under_min_isr, told.is_min_isr_assumed) == (3, False)
    assert (assumed.counts.under_min_isr, assumed.is_min_isr_assumed) == (0, True)


@pytest.mark.parametrize("value", ["\u00b2", "9" * 5000, "many"])
def test_min_isr_that_is_no_number_is_assumed(tmp_path: Path, value: str) -> None:
    """The metadata log may say anything."""
    health = health_of_image(image(tmp_path, config("t1", value)))

    assert (health.counts.under_min_isr, health.is_min_isr_assumed) == (0, True)


def test_directory_that_a_later_change_lacks_has_failed(tmp_path: Path) -> None:
    log = MetadataLog()
    name, first = broker(1)
    registration = (name, {**first, "features": FEATURES, "logDirs": DIRECTORIES})
    change = {"brokerId": 1, "brokerEpoch": 1, "logDirs": DIRECTORIES[:1]}
    log._append(records_batch(log.end, registration, broker(2), version=3), 2)
    log._append(records_batch(log.end, ("BrokerRegistrationChangeRecord", change), version=2), 1)

    found = load(log.write(tmp_path))
    brokers, controllers = KeptState().facts(found), controller_facts(found)

    assert (brokers[1].release, brokers[2].release) == ("4.3", None)
    assert brokers[1].failed == ("AAAAAAAAAAAAAAAAAAAACA",)
    assert brokers[2].failed == ()
    assert controllers == {}


# A broker


def served(connection: socket.socket) -> None:
    """Answer as a broker with a partition of three replicas, of which one is in sync."""
    partition = {"partition_index": 0, "leader_id": 1, "replica_nodes": [1, 2, 3], "isr_nodes": [1]}
    offline = {**partition, "partition_index": 1, "leader_id": -1, "isr_nodes": []}
    topics = [{"name": "t", "partitions": [partition, offline], "error_code": 0}]
    value = {"name": "min.insync.replicas", "value": "2", "config_source": 5}
    config = {
        "error_code": 0, "resource_type": 2, "resource_name": "t", "configs": [value],
    }  # fmt: skip
    directories = [
        {"error_code": 0, "log_dir": "/d1", "topics": []},
        {"error_code": 56, "log_dir": "/d2", "topics": []},
    ]
    apis = {**APIS, 32: (1, 4), 35: (1, 4), 46: (0, 0)}
    while True:
        key, version, correlation, _ = read_request(connection)
        names = {3: "Metadata", 32: "DescribeConfigs", 35: "DescribeLogDirs"}
        values: dict[int, dict[str, object]] = {
            3: {"brokers": [], "topics": topics},
            32: {"results": [config]},
            35: {"error_code": 0, "results": directories},
        }
        if key == 18:
            reply = api_versions(correlation, apis, version=version)
        elif key == 60:
            reply = described(correlation, version)
        elif key == 46:
            reply = answer(
                "ListPartitionReassignments", version, correlation, error_code=0, topics=[]
            )
        else:
            reply = answer(names[key], version, correlation, **values[key])
        connection.sendall(reply)


def test_partitions_are_counted_by_a_broker() -> None:
    with Peer(served) as peer, Connection(peer.address, Settings(), Deadline(5)) as connection:
        health = ask_health(connection)

    assert health.counts[:3] == (2, 2, 1)
    assert (health.counts.under_min_isr, health.is_min_isr_assumed) == (2, False)
    assert health.moving == {}
    assert health.loads == {1: (2, 1), 2: (2, 0), 3: (2, 0)}


def test_brokers_tell_release_and_failed_directories_and_silent_ones_are_left_out() -> None:
    with Peer(served) as peer, free_port() as port:
        nodes = [
            ClusterNode(1, peer.address, None, False),
            ClusterNode(2, peer.address._replace(port=port), None, False),
            ClusterNode(3, peer.address, None, True),
        ]
        target = ClusterConnections(
            Endpoints([Bootstrap(peer.address)], Settings()), deadline=Deadline(5)
        )

        found = KeptFacts().current(target, nodes)

    assert [*found] == [1]
    assert (found[1].release, found[1].failed) == ("4.1 or later", ("/d2",))


def test_brokers_are_asked_again_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """With every description, a thousand would be too many."""
    address = Address("a", 1)
    nodes = [ClusterNode(number, address, None, False) for number in range(1, 91)]
    asked: list[int] = []

    def ask(_: object, node: ClusterNode) -> NodeFacts | None:
        asked.append(node.node_id)
        return NodeFacts(str(len(asked)))

    monkeypatch.setattr(health_module, "ask_node", ask)
    target: Any = None
    kept = KeptFacts()

    assert len(kept.current(target, nodes)) == len(asked) == 90
    del asked[:]
    gone = nodes[5]._replace(is_fenced=True)
    found = kept.current(target, [*nodes[:5], gone, *nodes[6:]])
    assert (asked, len(found), found[1].release) == ([1, 2], 89, "1")
    del asked[:]
    kept.current(target, nodes)
    assert asked == [3, 4, 6]
