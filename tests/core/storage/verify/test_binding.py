"""Listeners are compared with what Linux lists, recorded here, and on this host."""

import socket
from contextlib import chdir
from pathlib import Path

import pytest

from kraftops.findings.finding import Finding
from kraftops.storage.config.server_config import load_config
from kraftops.storage.logdirs.node import read_node
from kraftops.storage.verify.binding import Host, binding_findings, read_host
from tests.helpers.nodes.node_directories import PROPERTIES, locked, make_node

FIB_TRIE = """\
Local:
  +-- 0.0.0.0/0 3 0 5
     +-- 10.0.0.0/8 2 0 2
        |-- 10.0.0.0
           /8 link UNICAST
        |-- 10.1.2.3
           /32 host LOCAL
        |-- 10.255.255.255
           /32 link BROADCAST
     |-- 127.0.0.1
        /32 host LOCAL
"""
HEAD = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
ROW = "   0: {} 00000000:0000 {} 00000000:00000000 00:00000000 00000000     0        0 4711 1\n"
PORT = 29092


def host_of(folder: Path, tcp: str = "", tcp6: str = "", inet6: str = "") -> Host:
    """Return what Linux would list, on a host with the addresses 10.1.2.3 and loopback."""
    net = folder / "net"
    net.mkdir()
    texts = {"tcp": HEAD + tcp, "tcp6": HEAD + tcp6, "fib_trie": FIB_TRIE, "if_inet6": inet6}
    for name, text in texts.items():
        (net / name).write_text(text)
    return read_host(str(folder))


def listening(address: str, port: int = PORT, state: str = "0A") -> str:
    return ROW.format(f"{address}:{port:04X}", state)


def found(folder: Path, host: Host, listener: str) -> list[Finding]:
    listeners = f"PLAINTEXT://{listener}:{PORT},CONTROLLER://localhost:29093"
    advertised = f"PLAINTEXT://localhost:{PORT}"
    node = make_node(folder / "node", listeners=listeners, advertised_listeners=advertised)
    with chdir(node):
        return [*binding_findings(read_node(load_config(PROPERTIES)), host)]


def codes(folder: Path, host: Host, listener: str) -> list[str]:
    return [finding.code for finding in found(folder, host, listener)]


@pytest.mark.parametrize("listener", ["10.1.2.3", "127.0.0.1", "127.0.0.9", "0.0.0.0", "", "[::]"])
def test_own_addresses_pass(tmp_path: Path, listener: str) -> None:
    assert codes(tmp_path, host_of(tmp_path), listener) == []


@pytest.mark.parametrize("listener", ["10.255.255.255", "10.1.2.4", "[2001:db8::1]"])
def test_foreign_addresses_are_found(tmp_path: Path, listener: str) -> None:
    assert codes(tmp_path, host_of(tmp_path), listener) == ["foreign-address"]


def test_addresses_of_ipv6_are_listed_apart(tmp_path: Path) -> None:
    host = host_of(tmp_path, inet6="20010db8000000000000000000000001 02 40 00 80 eth0\n")

    assert codes(tmp_path, host, "[2001:db8::1]") == []


def test_name_that_does_not_resolve_is_left_to_the_look_up_of_names(tmp_path: Path) -> None:
    assert codes(tmp_path, host_of(tmp_path), "no.such.host.invalid") == []


def test_nothing_is_said_of_addresses_where_nothing_lists_them(tmp_path: Path) -> None:
    assert codes(tmp_path, read_host(str(tmp_path / "none")), "192.0.2.1") == []


@pytest.mark.parametrize(
    ("listener", "address", "is_taken"),
    [
        ("127.0.0.1", "0100007F", True),
        ("127.0.0.1", "0200007F", False),
        ("127.0.0.1", "00000000", True),
        ("0.0.0.0", "0200007F", True),
        ("", "0200007F", True),
    ],
)
def test_ports_of_ipv4(tmp_path: Path, listener: str, address: str, is_taken: bool) -> None:
    host = host_of(tmp_path, tcp=listening(address))

    assert codes(tmp_path, host, listener) == ["port-in-use"] * is_taken


@pytest.mark.parametrize(
    ("address", "is_taken"),
    [
        ("00000000000000000000000000000000", True),
        ("00000000000000000000000001000000", False),
        ("0000000000000000FFFF00000100007F", True),
    ],
)
def test_ports_of_ipv6(tmp_path: Path, address: str, is_taken: bool) -> None:
    host = host_of(tmp_path, tcp6=listening(address))

    assert codes(tmp_path, host, "127.0.0.1") == ["port-in-use"] * is_taken


def test_connections_and_other_ports_are_not_in_the_way(tmp_path: Path) -> None:
    tcp = listening("0100007F", state="01") + listening("0100007F", port=PORT + 7)

    assert codes(tmp_path, host_of(tmp_path, tcp=tcp), "127.0.0.1") == []


def test_running_server_has_its_own_ports(tmp_path: Path) -> None:
    host = host_of(tmp_path, tcp=listening("0100007F"))
    node = make_node(tmp_path / "node")
    (node / "d1").mkdir()

    with locked(node / "d1"):
        assert codes(tmp_path, host, "127.0.0.1") == []


def test_socket_of_this_process_is_found_and_named(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        node = make_node(
            tmp_path / "node",
            listeners=f"PLAINTEXT://localhost:{port},CONTROLLER://localhost:0",
        )
        with chdir(node):
            [finding] = binding_findings(read_node(load_config(PROPERTIES)), read_host())

    assert finding.code == "port-in-use"
    assert ": process " in finding.text
