"""`kafka-cluster` with nodes that only seem to be there."""

import json
import os
import select
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.tools.console import CLUSTER, ENVIRONMENT, Done, run_here
from tests.helpers.wire.peers import (
    APIS,
    CLUSTER_ID,
    Peer,
    answer,
    api_versions,
    broker,
    described,
    free_port,
    read_request,
)

NODES = [
    {"broker_id": 1, "host": "ä.example", "port": 9092, "rack": "zürich-😀", "is_fenced": False},
    {"broker_id": 22, "host": "b", "port": 65535, "rack": None, "is_fenced": True},
]


def cluster(*args: str, cwd: Path | str = ".", stdin: str = "") -> Done:
    done = run_here(*args, program=CLUSTER, cwd=cwd, stdin=stdin)
    assert "Traceback" not in done.err
    return done


@pytest.fixture
def peer() -> Iterator[Peer]:
    with Peer(broker) as found:
        yield found


def serving(nodes: list[dict[str, object]], apis: dict[int, tuple[int, int]] = APIS) -> Peer:
    """Return a broker of a cluster of *nodes* that has no topics and allows nothing."""

    def handle(connection: socket.socket) -> None:
        while True:
            key, version, correlation, _ = read_request(connection)
            if key == 18:
                reply = api_versions(correlation, apis, version=version)
            elif key == 60:
                reply = described(correlation, version, brokers=nodes)
            elif key == 3:
                reply = answer("Metadata", version, correlation, brokers=[], topics=[])
            elif key == 55:
                reply = answer("DescribeQuorum", version, correlation, error_code=31, topics=[])
            elif key == 64:
                reply = answer("UnregisterBroker", version, correlation, error_code=0)
            else:
                return
            connection.sendall(reply)

    return Peer(handle)


def test_json_is_one_line(peer: Peer) -> None:
    done = cluster("id", "-b", str(peer.address), "--format", "json")

    assert json.loads(done.text)["clusterId"] == CLUSTER_ID
    assert done.text.count("\n") == 1


@pytest.mark.parametrize(
    "words",
    [
        ("list-endpoints",),
        ("api-versions",),
        ("describe",),
        ("wait", "--brokers", "1"),
        ("unregister", "-i", "22", "--force"),
    ],
)
def test_json_names_the_cluster(words: tuple[str, ...]) -> None:
    with serving(NODES) as peer:
        done = cluster(*words, "-b", str(peer.address), "--format", "json")

    assert json.loads(done.text)["clusterId"] == CLUSTER_ID


def test_quorum_that_may_not_be_seen_is_a_note() -> None:
    with serving(NODES) as peer:
        done = cluster("describe", "-b", str(peer.address))

    assert done.code == 0
    assert "\nquorum  -\n" in done.text
    assert done.errors[0].endswith("not permitted: it needs DESCRIBE on the cluster")


@pytest.mark.parametrize("voters", [0, 1])
def test_odd_quorum_is_shown(voters: int) -> None:
    """One without voters, or with a time that is in no year."""
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
    """A broker hands on what is asked of the quorum, and waits."""

    def handle(connection: socket.socket) -> None:
        while True:
            key, version, correlation, _ = read_request(connection)
            if key == 18:
                connection.sendall(api_versions(correlation, version=version))
            elif key == 60:
                connection.sendall(described(correlation, version, brokers=NODES))

    with Peer(handle) as peer:
        done = cluster("describe", "-b", str(peer.address), "--timeout", "0.5")

    assert done.code == 1
    assert "registered-fenced" in done.text
    assert "\nquorum  -\n" in done.text
    assert done.errors == [
        f"kafka-cluster: the quorum is not known: {peer.address}: no answer within 0.5 s",
        "hint: brokers hand on to controllers what is asked of it: do these run?",
    ]


def test_waiting_in_vain_says_the_cause_and_the_time_once() -> None:
    with free_port() as port:
        done = cluster("wait", "-b", f"localhost:{port}", "--brokers", "2", "--timeout", "0.7")

    assert done.errors[0] == (
        f"kafka-cluster: localhost:{port}: connection refused; tried for 0.7 s"
    )


def test_widths_are_those_of_java() -> None:
    """In UTF-16 units; heads and `null` are not counted."""
    with serving(NODES) as peer:
        done = cluster("list-endpoints", "-b", str(peer.address), "--include-fenced-brokers")

    assert done.text == (
        "ID         HOST      PORT       RACK      STATE      ENDPOINT_TYPE  \n"
        "1          ä.example 9092       zürich-😀 unfenced   broker         \n"
        "22         b         65535      null      fenced     broker         \n"
    )


def test_cluster_without_nodes_has_a_table() -> None:
    with serving([]) as peer:
        done = cluster("list-endpoints", "-b", str(peer.address))

    assert (
        done.text
        == f"{'ID':10} {'HOST':100} {'PORT':10} {'RACK':10} {'STATE':10} {'ENDPOINT_TYPE':15}\n"
    )


def test_server_that_cannot_tell_of_fenced_brokers_is_an_error() -> None:
    with serving(NODES, APIS | {60: (0, 1)}) as peer:
        done = cluster("list-endpoints", "-b", str(peer.address), "--include-fenced-brokers")

    assert (done.code, done.text) == (1, "")
    assert "DescribeCluster (60) version 2, only 0 to 1" in done.errors[0]


def test_state_that_cannot_be_seen_is_refused_by_the_permission() -> None:
    with serving(NODES) as peer:
        done = cluster("unregister", "-b", str(peer.address), "-i", "22")
        forced = cluster("unregister", "-b", str(peer.address), "-i", "22", "--force")

    assert (done.code, done.text) == (1, "")
    assert "DESCRIBE on the topics would tell" in done.errors[0]
    assert (forced.code, forced.text) == (0, "Broker 22 is no longer registered.\n")


def test_warnings_are_lines_on_standard_error(peer: Peer, tmp_path: Path) -> None:
    (tmp_path / "c.properties").write_text("no.such.key=1\nacks=all\n")

    done = cluster("id", "-b", str(peer.address), "--config", "c.properties", cwd=tmp_path)

    assert (done.code, done.text) == (0, f"Cluster ID: {CLUSTER_ID}\n")
    assert done.errors == [
        "kafka-cluster: warning: --config has been deprecated and will be removed in a future version",
        "hint: --command-config is its name now",
        "kafka-cluster: warning: c.properties: line 1: the key no.such.key is unknown and means nothing",
    ]  # fmt: skip


@pytest.mark.parametrize("seconds", ["0", "-1", "x"])
def test_timeout_is_a_number(peer: Peer, seconds: str) -> None:
    assert cluster("id", "-b", str(peer.address), "--timeout", seconds).code == 1


@pytest.mark.parametrize(
    "command", ["cluster-id", "unregister", "list-endpoints", "api-versions", "describe", "wait"]
)
def test_help_ends_well(command: str) -> None:
    done = cluster(command, "--help")

    assert done.code == 0
    assert "--bootstrap-server" in done.text
    assert "--expect-cluster-id" in done.text


@pytest.mark.parametrize("prefix", ["cluster", "unreg", "list"])
def test_kafkas_commands_may_be_shortened(prefix: str) -> None:
    assert "one of the arguments" in cluster(prefix, "-i1" if prefix == "unreg" else "--").err or (
        prefix != "unreg"
    )


def test_question_on_a_terminal_is_answered(tmp_path: Path) -> None:
    """Only there is anybody asked."""
    import pty

    nodes = [{**NODES[1], "broker_id": 7}]
    with serving(nodes) as peer:
        for typed, code in (("n\n", 1), ("\x04", 1), ("y\n", 0)):
            master, slave = pty.openpty()
            command = [CLUSTER, "unregister", "-b", str(peer.address), "-i", "7", "--force"]
            with subprocess.Popen(
                command, stdin=slave, stdout=subprocess.PIPE, stderr=slave, env=ENVIRONMENT
            ) as asking:
                os.write(master, typed.encode())
                out, _ = asking.communicate(timeout=20)
            shown = ""
            while select.select([master], [], [], 0)[0]:
                shown += os.read(master, 4096).decode()
            os.close(slave)
            os.close(master)

            assert "Unregister broker 7?" in shown
            assert ("kafka-cluster: nothing is changed\r\n" in shown) == (code == 1)
            assert asking.returncode == code
            assert bool(out) == (code == 0)


def test_start_loads_no_client_of_kafka_python(peer: Peer) -> None:
    """Nor TLS stores, nor SASL."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", CLUSTER, "id", "-b", str(peer.address)],
        capture_output=True,
        text=True,
        env=ENVIRONMENT,
        timeout=60,
        check=True,
    )
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}

    assert "kafka.protocol.data_container" in loaded
    heavy = ("kafka.admin", "kafka.consumer", "kafka.net", "kafka.producer", "cryptography",
             "asyncio", "kraftops.log", "kraftops.schema", "kraftops.wire.auth.tls", "urllib.request")  # fmt: skip
    assert [name for name in sorted(loaded) if name.startswith(heavy)] == []


def test_dead_port_is_told_at_once() -> None:
    with free_port() as port:
        done = cluster("cluster-id", "-C", f"localhost:{port}")

    assert done.errors == [
        f"kafka-cluster: localhost:{port}: connection refused",
        "hint: nothing listens there: check host and port, and whether the node runs",
    ]


def test_package_that_imports_nothing_can_be_found() -> None:
    """Other libraries ask whether it is there, as PySpark does."""
    code = (
        "from kraftops_cli.live.kafka_package import skip_kafka_clients; skip_kafka_clients();"
        "from importlib.util import find_spec; print(find_spec('kafka').name)"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "kafka\n"


@pytest.mark.parametrize("seconds", ["nan", "inf", "1e20", "0", "-1", "soon"])
def test_time_that_no_clock_takes_is_refused(seconds: str) -> None:
    done = cluster("cluster-id", "-b", "localhost:1", "--timeout", seconds)

    assert done.code == 1
    assert f"'{seconds}' is no number of seconds" in done.err
