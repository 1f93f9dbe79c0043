"""`kafka-cluster wait`."""

import json
import socket
import time

from tests.helpers.tools.fake_cluster import NODES, cluster, serving
from tests.helpers.wire.peers import (
    APIS,
    Peer,
    answer,
    api_versions,
    described,
    free_port,
    read_request,
)


def test_timeout_names_the_cause_and_the_time_once() -> None:
    with free_port() as port:
        done = cluster("wait", "-b", f"localhost:{port}", "--for", "brokers=2", "--timeout", "0.7")

    refused = f"localhost:{port}: connection refused"
    assert done.errors[0] == f"kafka-cluster: after 0.7 s: {refused} [not-in-time]"


def test_condition_is_waited_for_during_an_election() -> None:
    """Without a controller, a broker answers NOT_CONTROLLER to ListPartitionReassignments."""
    errors = [41, 41, 0]

    def handle(connection: socket.socket) -> None:
        while True:
            key, version, correlation, _ = read_request(connection)
            if key == 18:
                reply = api_versions(correlation, APIS | {46: (0, 0)}, version=version)
            elif key == 46:
                code = errors.pop(0) if errors else 0
                reply = answer(
                    "ListPartitionReassignments", version, correlation, error_code=code, topics=[]
                )
            elif key == 3:
                reply = answer("Metadata", version, correlation, brokers=[], topics=[])
            else:
                everything = {"cluster_authorized_operations": 0x1FF8}
                reply = described(correlation, version, **everything)
            connection.sendall(reply)

    with Peer(handle) as peer:
        done = cluster("wait", "-b", str(peer.address), "--for", "no-reassignments")

    assert (done.code, done.text) == (0, "no-reassignments: true\n")
    assert errors == []


def test_number_of_brokers_is_a_condition_that_needs_no_view_of_topics() -> None:
    """The user may not see all topics, and the brokers are two, one of which is fenced."""
    with serving(NODES, APIS | {46: (0, 0)}) as peer:
        ask = ("wait", "-b", str(peer.address), "--timeout", "0.7")
        both = cluster(*ask, "--for", "brokers=2")
        unfenced = cluster(*ask, "--for", "brokers=2:unfenced")

    assert (both.code, both.text) == (0, "brokers=2: true\n")
    assert (unfenced.code, unfenced.text) == (5, "")
    assert "1 broker there, not 2" in unfenced.err


def test_condition_that_a_server_cannot_answer_is_not_waited_for() -> None:
    began = time.monotonic()
    with serving(NODES) as peer:
        done = cluster(
            *("wait", "-b", str(peer.address), "--for", "no-reassignments", "--format", "json")
        )

    assert (done.code, json.loads(done.text)["error"]) == (1, "not-supported")
    assert time.monotonic() - began < 10
