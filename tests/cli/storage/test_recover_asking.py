"""`kafka-storage recover` asks the other controllers first, and refuses beside a leader."""

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kraftops.wire.net.addresses import Address
from tests.helpers.logs.metadata_logs import no_ops, records_batch, voters_batch, write_log
from tests.helpers.logs.random_logs import leader_change
from tests.helpers.nodes.lost_quorums import (
    BEGINNING,
    VOTERS,
    controller,
    log_files,
    other_node,
    recover,
    recovery_data,
    refusal,
)
from tests.helpers.wire.peers import (
    CONTROLLER_APIS,
    Handler,
    Peer,
    answer,
    api_versions,
    broker,
    read_request,
    silent,
)
from tests.helpers.wire.quorums import Controllers, Log, quorum


def survivor(folder: Path, address: Address, **changes: str) -> Path:
    """Make controller 1 of three, whose log has voter 2 at an address."""
    node = controller(folder / "n1", **changes)
    voters = voters_batch(5, *VOTERS, epoch=1, ports={2: address.port})
    write_log(node / "meta", {0: [*BEGINNING, voters]})
    return node


@contextmanager
def running(log: Log) -> Iterator[Controllers]:
    """Start controller 2 of a quorum, which tells its voters."""
    with quorum(log, 2) as controllers:

        def described(version: int, correlation: int, body: bytes) -> bytes:
            replicas = [{"replica_id": node_id, "log_end_offset": 9} for node_id in (2, 3)]
            partition = {
                "partition_index": 0,
                "leader_id": log.leader,
                "leader_epoch": log.epoch,
                "current_voters": replicas,
            }
            topics = [{"topic_name": "__cluster_metadata", "partitions": [partition]}]
            return answer("DescribeQuorum", version, correlation, topics=topics)

        controllers.more[55] = described
        yield controllers


def test_leader_of_this_cluster_refuses_a_recovery(tmp_path: Path) -> None:
    with running(Log(leader=2, epoch=4)) as controllers:
        address = controllers.address(2)
        node = survivor(tmp_path, address)
        before = log_files(node)

        refused = refusal(node, "--voters", "self")

        assert refused["error"] == "quorum-alive"
        names = ("address", "leader", "epoch", "voters")
        assert [refused[name] for name in names] == [str(address), 2, 4, ["2", "3"]]
        assert f"{address} answers: controller 2 leads" in refused["message"]
        assert log_files(node) == before


def test_offline_asks_nobody_and_says_so(tmp_path: Path) -> None:
    with running(Log(leader=2)) as controllers:
        node = survivor(tmp_path, controllers.address(2))

        found = recovery_data(node, "--voters", "self", "--offline")

        assert [finding["code"] for finding in found["findings"]] == [
            "voters-not-given",
            "not-asked",
        ]
        assert controllers.peers[2].connections == 0


def test_follower_of_a_leader_that_this_host_does_not_reach_refuses(tmp_path: Path) -> None:
    with running(Log(leader=3, epoch=7)) as controllers:
        node = survivor(tmp_path, controllers.address(2))

        refused = refusal(node, "--voters", "self")

        assert (refused["error"], refused["leader"], refused["epoch"]) == ("quorum-alive", 3, 7)


def test_last_word_of_a_follower_that_falls_silent_counts(tmp_path: Path) -> None:
    log = Log(leader=3, epoch=7)
    with running(log) as controllers:

        class Asked(list[tuple[str, object]]):
            def append(self, question: tuple[str, object]) -> None:
                super().append(question)
                controllers.mute.add(2)

        log.asked = Asked()
        node = survivor(tmp_path, controllers.address(2))

        refused = refusal(node, "--voters", "self")

        assert (refused["error"], refused["leader"], refused["epoch"]) == ("quorum-alive", 3, 7)


def test_voter_without_a_leader_is_alive_and_need_not_be_lost(tmp_path: Path) -> None:
    with running(Log(leader=-1, epoch=3)) as controllers:
        node = survivor(tmp_path, controllers.address(2))

        found = recovery_data(node, "--voters", "self", "--dry-run")

        (alive, _) = found["findings"]
        assert (alive["code"], alive["severity"], alive["node"]) == ("voter-alive", "risk", 2)
        assert str(controllers.address(2)) in alive["text"]
        assert "voter 2 is alive" in recover(node, "--voters", "self", "--dry-run").text


def test_most_voters_that_run_without_a_leader_refuse(tmp_path: Path) -> None:
    with running(Log(leader=-1, epoch=3)) as second, running(Log(leader=-1, epoch=4)) as third:
        node = controller(tmp_path / "n1")
        ports = {2: second.address(2).port, 3: third.address(2).port}
        voters = voters_batch(5, *VOTERS, epoch=1, ports=ports)
        write_log(node / "meta", {0: [*BEGINNING, voters]})

        refused = refusal(node, "--voters", "self")

        assert (refused["error"], refused["leader"], refused["epoch"]) == ("quorum-alive", None, 4)
        assert "voters 2, 3 of 1, 2, 3 run without a leader" in refused["message"]


def test_leader_in_the_log_of_another_node_is_asked(tmp_path: Path) -> None:
    with running(Log(leader=2)) as controllers:
        node = controller(tmp_path / "n1")
        write_log(node / "meta", {0: BEGINNING})
        ports = {2: controllers.address(2).port}
        source = other_node(tmp_path / "c3", 3, voters_batch(5, *VOTERS, epoch=1, ports=ports))

        assert refusal(node, "--voters", "self", f"--from={source}")["error"] == "quorum-alive"


def test_bootstrap_servers_are_asked(tmp_path: Path) -> None:
    with running(Log(leader=2)) as controllers:
        servers = {"controller_quorum_bootstrap_servers": str(controllers.address(2))}
        node = controller(tmp_path / "n1", **servers)
        write_log(node / "meta", {0: BEGINNING})

        assert refusal(node, "--voters", "self")["error"] == "quorum-alive"


STATIC = records_batch(1, ("FeatureLevelRecord", {"name": "metadata.version", "featureLevel": 21}))
"""Of a static quorum, which has no records of voters."""


def test_static_voters_are_asked_once_the_configuration_has_none(tmp_path: Path) -> None:
    """Static voters have registered; the page of a plan takes controller.quorum.voters away."""
    with running(Log(leader=2)) as controllers:
        address = controllers.address(2)
        endpoint = {"name": "CONTROLLER", "host": "localhost", "port": address.port}
        registration = {
            "controllerId": 2,
            "incarnationId": bytes(16),
            "zkMigrationReady": False,
            "endPoints": [{**endpoint, "securityProtocol": 0}],
            "features": [],
        }
        node = controller(tmp_path / "n1")
        registered = records_batch(2, ("RegisterControllerRecord", registration))
        write_log(node / "meta", {0: [leader_change(0, 2), STATIC, registered]})

        assert refusal(node, "--voters", "self")["error"] == "quorum-alive"


@pytest.mark.parametrize("has_election", [False, True])
def test_static_voters_are_lost_voters_once_the_configuration_has_none(
    tmp_path: Path, *, has_election: bool
) -> None:
    """The newest election names them; or a quorum-state, if a snapshot has replaced that."""
    node = controller(tmp_path / "n1")
    beginning = leader_change(0, 2) if has_election else no_ops(0, 1)
    write_log(node / "meta", {0: [beginning, STATIC]})
    if not has_election:
        voters = [{"voterId": 1}, {"voterId": 2}]
        state = {"leaderId": 2, "leaderEpoch": 1, "votedId": -1, "data_version": 0}
        state |= {"appliedOffset": 0, "clusterId": "", "currentVoters": voters}
        path = node / "meta/__cluster_metadata-0/quorum-state"
        path.write_text(json.dumps(state))

    found = recovery_data(node, "--voters", "self")

    assert found["lostVoters"] == [2]
    (finding,) = found["findings"]
    assert finding["text"].startswith("of the voters 1, 2 the logs of 2 were not given:")


def test_log_that_names_no_voters_is_told(tmp_path: Path) -> None:
    node = controller(tmp_path / "n1")
    write_log(node / "meta", {0: [no_ops(0, 1), STATIC]})

    (finding,) = recovery_data(node, "--voters", "self")["findings"]

    assert finding["code"] == "voters-not-given"
    assert finding["text"].startswith("no given log names the voters")


def fetching(error: int) -> Handler:
    """Return the handler of a controller that answers each Fetch with an error."""

    def handle(connection: socket.socket) -> None:
        while True:
            key, version, correlation, _ = read_request(connection)
            reply = api_versions(correlation, CONTROLLER_APIS, version=version)
            if key == 1:
                reply = answer("Fetch", version, correlation, error_code=error, responses=[])
            connection.sendall(reply)

    return handle


@pytest.mark.parametrize(
    "handler",
    [
        pytest.param(broker, id="broker"),
        pytest.param(fetching(104), id="other-cluster"),
        pytest.param(silent, id="silent"),
    ],
)
def test_other_servers_at_the_address_do_not_matter(tmp_path: Path, handler: Handler) -> None:
    with Peer(handler) as peer:
        node = survivor(tmp_path, peer.address)

        (finding,) = recovery_data(node, "--voters", "self")["findings"]
        assert finding["code"] == "voters-not-given"
        assert peer.connections == 1


def test_controller_that_does_not_say_whether_it_leads_refuses(tmp_path: Path) -> None:
    with Peer(fetching(31)) as peer:
        node = survivor(tmp_path, peer.address)

        refused = refusal(node, "--voters", "self")

        assert (refused["error"], refused["address"]) == ("cannot-ask", str(peer.address))
        assert "--offline" in refused["hint"]


def test_configuration_without_a_login_refuses(tmp_path: Path) -> None:
    protocols = {"listener_security_protocol_map": "CONTROLLER:SASL_PLAINTEXT"}
    node = survivor(tmp_path, Address("localhost", 9), **protocols)

    refused = refusal(node, "--voters", "self")

    assert (refused["error"], "how to log in" in refused["message"]) == ("cannot-ask", True)
