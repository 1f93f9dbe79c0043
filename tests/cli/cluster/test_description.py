"""The description of a cluster is made of the answers that it gives."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kraftops.errors import AnswerError, WireError
from kraftops.image.load.loading import load
from kraftops.reassign.marks import DECOMMISSION, Mark
from kraftops.wire.admin.configs import ConfigValue
from kraftops.wire.cluster import ClusterConnections
from kraftops.wire.config.settings import Settings
from kraftops.wire.net.addresses import Address, Bootstrap
from kraftops.wire.net.deadline import Deadline
from kraftops.wire.quorum.fetch import SnapshotId
from kraftops.wire.rpc.cluster import ClusterNode, ClusterNodes, QuorumInfo, ReplicaState
from kraftops.wire.rpc.connection import NodeKind
from kraftops.wire.rpc.endpoints import Endpoints
from kraftops_cli.cluster.broker_states import KeptState
from kraftops_cli.cluster.description import (
    BrokerDescription,
    KeptAnswers,
    _listed_brokers,
    _registered_brokers,
    ask_description,
    members_in,
    operations_in,
    snapshot_lag_of,
    with_facts,
)
from kraftops_cli.cluster.health import NodeFacts
from tests.helpers.nodes.lost_quorums import broker
from tests.helpers.tools.fake_cluster import NODES, serving
from tests.helpers.wire.metadata_quorums import MetadataLog, topic
from tests.helpers.wire.peers import APIS, Peer, free_port, silent


def target(*addresses: Any, kind: NodeKind = NodeKind.BROKER) -> ClusterConnections:
    settings = Settings(timeout=1.0, connect_timeout=0.5)
    endpoints = Endpoints([*map(Bootstrap, addresses)], settings)
    sides = (None, endpoints) if kind is NodeKind.CONTROLLER else (endpoints, None)
    return ClusterConnections(*sides, deadline=Deadline(1.0))


def replica(node: int, end: int) -> ReplicaState:
    return ReplicaState(node, None, end, -1, -1)


def test_roles_are_those_of_the_quorum() -> None:
    quorum = QuorumInfo(2, 1, 5, [replica(1, 7), replica(2, 9)], [replica(3, 8)], {})

    assert [
        (member.role, member.state.node_id, member.lag) for member in members_in(quorum, 9, 0, {})
    ] == [("voter", 1, 2), ("leader", 2, 0), ("observer", 3, 1)]


@pytest.mark.parametrize(("snapshot", "lag"), [(SnapshotId(90, 1), 10), (None, 100)])
def test_lag_of_the_snapshot_counts_records(snapshot: SnapshotId | None, lag: int) -> None:
    live: Any = SimpleNamespace(offset=100, snapshot=snapshot)

    assert snapshot_lag_of(live) == lag


def test_answers_that_are_not_permitted_are_skipped() -> None:
    skipped: list[str] = []
    with serving(NODES) as peer:
        kept = KeptAnswers(lambda part, _: skipped.append(part))
        found = ask_description(target(peer.address), kept)
        ask_description(target(peer.address), kept)

    assert skipped == ["the quorum"]
    assert (found.quorum, found.quorum_error) == (None, None)
    brokers = found.brokers
    assert brokers is not None
    assert [(each.id, each.state) for each in brokers] == [
        (1, "active"), (22, "registered-fenced"),
    ]  # fmt: skip
    assert (brokers[0].directories, brokers[0].replicas) == (None, None)


def test_cluster_without_an_answer_is_an_error() -> None:
    with free_port() as port, Peer(silent) as peer:
        address = peer.address._replace(port=port)
        with pytest.raises(WireError, match=str(port)):
            ask_description(target(address), KeptAnswers())


def test_cluster_of_another_id_is_an_error() -> None:
    with serving(NODES) as peer:
        named = target(peer.address)
        asked = replace(named, brokers=replace(named.endpoints, cluster_id="mine"))

        with pytest.raises(AnswerError, match="not mine"):
            ask_description(asked, KeptAnswers(lambda *_: pytest.fail("nothing is skipped")))


def test_brokers_of_the_metadata_log_have_their_replicas(tmp_path: Path) -> None:
    log = MetadataLog()
    change = ("BrokerRegistrationChangeRecord", {"brokerId": 2, "brokerEpoch": 2, "fenced": -1})
    log.add(broker(2), broker(3), change, *topic(1), *topic(2))
    live: Any = SimpleNamespace(image=load(log.write(tmp_path)))

    assert _registered_brokers(live, KeptState()) == [
        BrokerDescription(2, "active", None, [], [], 2, 0),
        BrokerDescription(3, "registered-fenced", None, [], [], 0, 0),
    ]


def test_brokers_have_what_operations_set_on_them() -> None:
    mark = Mark(DECOMMISSION, None, brokers=(1,))
    value = ConfigValue("1000", is_dynamic=True)
    cordon = {"cordoned.log.dirs": value, "leader.replication.throttled.rate": value}
    facts = {1: NodeFacts(configs=cordon), 2: NodeFacts(configs={})}
    nodes = [ClusterNode(number, Address("a", number), None, False) for number in (1, 2, 3)]
    listed = _listed_brokers(ClusterNodes("x", None, nodes), None)

    brokers = with_facts(listed, facts, (), [mark])

    assert [broker.settings for broker in brokers] == [
        (True, True, 1000),
        (False, False, None),
        None,
    ]
    assert [operation.name for operation in operations_in([mark], facts, None)] == [
        "decommission-1", "throttles", "cordon-1",
    ]  # fmt: skip


def test_partitions_are_unknown_to_a_user_who_sees_no_topics() -> None:
    """Kafka leaves hidden topics out without a word: that is not a cluster without partitions."""
    skipped: list[str] = []
    apis = {**APIS, 46: (0, 0)}
    with serving(NODES, apis, sees_all=False) as peer:
        hidden = ask_description(
            target(peer.address),
            KeptAnswers(lambda part, error: skipped.append(f"{part}: {error.hint}")),
        )
    with serving(NODES, apis, sees_all=True) as peer:
        empty = ask_description(target(peer.address), KeptAnswers())

    assert hidden.health is None
    assert skipped[-1] == (
        "the partitions: kafka-acls --add --topic '*' --operation DESCRIBE grants it"
    )
    assert empty.health is not None
