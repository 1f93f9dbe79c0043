"""`kafka-cluster list-endpoints`: its table and its errors."""

import socket

import pytest

from kraftops_cli.terminal.streams import Terminal
from tests.helpers.tools.fake_cluster import NODES, cluster, serving
from tests.helpers.wire.peers import APIS, Peer, api_versions, described, read_request


def test_column_widths_count_utf16_units() -> None:
    """As in Java; headers and `null` are not counted."""
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


def test_server_that_cannot_list_fenced_brokers_is_an_error() -> None:
    with serving(NODES, APIS | {60: (0, 1)}) as peer:
        done = cluster("list-endpoints", "-b", str(peer.address), "--include-fenced-brokers")

    assert (done.code, done.text) == (1, "")
    assert "DescribeCluster (60) version 2, only 0 to 1" in done.errors[0]


@pytest.fixture
def on_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Terminal, "is_escaping", True)


def test_control_characters_of_a_server_are_kafkas_in_a_pipe() -> None:
    with serving([{**NODES[0], "host": "h\x1b[31m"}]) as peer:
        done = cluster("list-endpoints", "-b", str(peer.address))

    assert " h\x1b[31m " in done.text


@pytest.mark.usefixtures("on_terminal")
@pytest.mark.parametrize("command", ["list-endpoints", "describe"])
def test_control_characters_of_a_server_are_escaped(command: str) -> None:
    """A rack or host with them could draw on the terminal, or look like another row."""
    odd = {**NODES[0], "host": "h\x1b[31m", "rack": "r\n2\u202e"}
    with serving([odd]) as peer:
        done = cluster(command, "-b", str(peer.address))

    assert "h\\x1b[31m" in done.text
    assert "r\\n2\\u202e" in done.text
    assert not {"\x1b", "\u202e"} & {*done.text}


@pytest.mark.usefixtures("on_terminal")
def test_control_characters_of_a_cluster_id_are_escaped() -> None:
    def handle(connection: socket.socket) -> None:
        while True:
            key, version, correlation, _ = read_request(connection)
            reply = described(correlation, version, cluster_id="x\x1b[31m")
            connection.sendall(api_versions(correlation) if key == 18 else reply)

    with Peer(handle) as peer:
        done = cluster("cluster-id", "-b", str(peer.address))

    assert done.text == "Cluster ID: x\\x1b[31m\n"
