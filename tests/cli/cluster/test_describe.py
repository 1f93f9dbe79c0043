"""`kafka-cluster describe` of odd, missing and hidden quorums."""

import json
import socket
import subprocess

import pytest

from tests.helpers.tools.console import CLUSTER, ENVIRONMENT
from tests.helpers.tools.fake_cluster import NODES, cluster, serving
from tests.helpers.wire.peers import (
    Peer,
    answer,
    api_versions,
    described,
    read_request,
)


def test_quorum_that_may_not_be_seen_is_a_note() -> None:
    with serving(NODES) as peer:
        done = cluster("describe", "-b", str(peer.address))

    assert done.code == 0
    assert "\nquorum  -\n" in done.text
    assert done.errors[0].endswith("not permitted: it needs DESCRIBE on the cluster")


@pytest.mark.parametrize("voters", [0, 1])
def test_odd_quorum_is_shown(voters: int) -> None:
    """A quorum without voters, or a time that is in no year."""
    voter = {"replica_id": 1, "log_end_offset": 5, "last_caught_up_timestamp": 1 << 62}
    partition = {"partition_index": 0, "error_code": 0, "leader_id": 1, "leader_epoch": 3,
                 "high_watermark": 5, "current_voters": [voter] * voters, "observers": []}  # fmt: skip

    def handle(connection: socket.socket) -> None:
        while True:
            key, version, correlation, _ = read_request(connection)
            if key == 18:
                reply = api_versions(correlation, version=version)
            elif key == 60:
                reply = described(correlation, version, brokers=NODES)
            else:
                topics = [{"topic_name": "__cluster_metadata", "partitions": [partition]}]
                reply = answer("DescribeQuorum", version, correlation, error_code=0, topics=topics)
            connection.sendall(reply)

    with Peer(handle) as peer:
        done = cluster("describe", "-b", str(peer.address))
        told = cluster("describe", "-b", str(peer.address), "--format", "json")

    assert (done.code, done.err) == (0, "")
    assert "quorum leader  1, epoch 3, high watermark 5" in done.text
    assert len(json.loads(told.text)["quorum"]["replicas"]) == voters


def test_brokers_are_shown_where_no_controller_answers() -> None:
    """A broker forwards questions about the quorum, and waits for the answer."""

    def handle(connection: socket.socket) -> None:
        while True:
            key, version, correlation, _ = read_request(connection)
            if key == 18:
                connection.sendall(api_versions(correlation, version=version))
            elif key == 60:
                connection.sendall(described(correlation, version, brokers=NODES))

    with Peer(handle) as peer:
        done = cluster("describe", "-b", str(peer.address), "--timeout", "0.5")

    assert done.code == 5
    assert "registered-fenced" in done.text
    assert "\nquorum  -\n" in done.text
    assert done.errors == [
        f"kafka-cluster: the quorum is not known: {peer.address}: no answer within 0.5 s [no-answer]",
        "hint: brokers forward this question to controllers: do these run?",
    ]


def test_broker_that_is_not_there_is_named_behind_the_description() -> None:
    with serving(NODES) as peer:
        done = cluster("describe", "-b", str(peer.address), "--id", "22,99", "--id", "7")
        known = cluster("describe", "-b", str(peer.address), "--id", "22")

    assert done.code == 4
    assert "registered-fenced" in done.text
    assert done.errors[-1] == "kafka-cluster: no broker has the ids 7, 99 [broker-not-registered]"
    assert known.code == 0


def test_the_time_of_watch_may_be_left_out() -> None:
    with serving(NODES) as peer:
        command = [CLUSTER, "describe", "--watch", "-b", str(peer.address), "--format", "json"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=ENVIRONMENT, text=True) as run:
            assert run.stdout
            answers = [json.loads(run.stdout.readline()) for _ in range(2)]
            run.terminate()

    first, second = (answer["time"] for answer in answers)
    assert first < second
