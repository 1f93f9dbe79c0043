"""Names of listeners, voters and bootstrap servers that do not resolve, with a deadline."""

import shlex
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kraftops.findings.finding import Finding
from kraftops.storage.config.server_config import load_config
from kraftops.storage.logdirs.node import read_node
from kraftops.storage.verify.names import name_findings
from tests.helpers.logs.metadata_logs import control_batch, no_ops, snapshot_bytes, write_log
from tests.helpers.nodes.lost_quorums import IDS, controller
from tests.helpers.nodes.node_directories import PROPERTIES

KRAFT_VOTERS = 6
BROKER = {"process_roles": "broker", "listeners": "PLAINTEXT://localhost:29092"}


@pytest.fixture(autouse=True)
def resolver(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """A resolver that knows localhost and names of `.here`, and keeps those that it is asked for."""
    asked: list[str] = []

    def getaddrinfo(host: str, *_: object) -> list[object]:
        asked.append(host)
        if host == "localhost" or host.endswith(".here"):
            return []
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    return asked


def voters(folder: Path, *hosts: str) -> None:
    """Write a metadata log with voters at these hosts."""
    data = [
        {
            "voterId": number,
            "voterDirectoryId": IDS[number],
            "endpoints": [{"name": "CONTROLLER", "host": host, "port": 29093}],
            "kRaftVersionFeature": {"minSupportedVersion": 0, "maxSupportedVersion": 1},
        }
        for number, host in enumerate(hosts, 1)
    ]
    batch = control_batch(0, KRAFT_VOTERS, {"version": 0, "voters": data})
    write_log(folder / "meta", {0: [no_ops(0, 3)]}, {(0, 0): snapshot_bytes(batch)})


def found_in(*nodes: Path, limit: float = 5) -> list[Finding]:
    read = [read_node(load_config(str(path / PROPERTIES))) for path in nodes]
    return list(name_findings(read, limit))


def node(folder: Path, *hosts: str, number: int = 1, **changes: str) -> Path:
    """Make a controller with voters at these hosts."""
    made = controller(folder, number, log_dirs=f"{folder}/meta", **changes)
    if hosts:
        voters(made, *hosts)
    return made


def told(findings: list[Finding]) -> list[tuple[str, str]]:
    return [(finding.code, finding.severity) for finding in findings]


def test_names_that_resolve_are_sound(tmp_path: Path, resolver: list[str]) -> None:
    made = node(tmp_path / "n", "c1.here", "c2.here", "10.0.0.1", "c4.here")

    assert found_in(made) == []
    assert sorted(set(resolver)) == ["c1.here", "c2.here", "c4.here", "localhost"]
    assert len(resolver) == 4


def test_lost_names_of_most_voters_stop_a_controller(tmp_path: Path) -> None:
    made = node(tmp_path / "n", "c1.gone", "c2.gone", "c3.gone")

    (finding,) = found_in(made)

    assert (finding.code, finding.severity) == ("unresolved-voter", "stops")
    assert finding.place.path == f"{tmp_path}/n/meta"
    assert finding.text == (
        "hosts of voters do not resolve: c1.gone (Name or service not known), "
        "c2.gone (Name or service not known), c3.gone (Name or service not known); "
        "of 3 voters 1 can be reached, which is not a majority"
    )
    (command,) = finding.commands
    assert shlex.split(command) == [
        "kafka-storage",
        "recover",
        "-c",
        f"{tmp_path}/n/{PROPERTIES}",
        "--listener-hosts",
        "c1.gone=NEW,c2.gone=NEW,c3.gone=NEW",
        "--dry-run",
    ]


@pytest.mark.parametrize(
    "hosts",
    [("c1.here", "c2.here", "c3.gone"), ("c1.here", "c2.gone", "c3.gone"), ("c1.gone",)],
)
def test_candidate_needs_no_name_of_its_own(tmp_path: Path, hosts: tuple[str, ...]) -> None:
    """With itself and those that it reaches it has a majority."""
    assert told(found_in(node(tmp_path / "n", *hosts))) == [("unresolved-voter", "note")]


def test_broker_needs_the_name_of_a_voter(tmp_path: Path) -> None:
    made = node(tmp_path / "n", "c1.gone", **BROKER)

    assert told(found_in(made)) == [("unresolved-voter", "stops")]


def test_logs_of_other_nodes_are_in_the_command(tmp_path: Path) -> None:
    hosts = ("c1.gone", "c2.gone")
    nodes = [node(tmp_path / f"n{number}", *hosts, number=number) for number in (1, 2)]

    first, second = found_in(*nodes)

    assert f"--from {nodes[1]}/meta/__cluster_metadata-0 --listener-hosts" in first.commands[0]
    assert f"--from {nodes[0]}/meta/__cluster_metadata-0 --listener-hosts" in second.commands[0]


def test_static_voters_are_changed_in_the_configuration(tmp_path: Path) -> None:
    static = {
        "controller_quorum_bootstrap_servers": "",
        "controller_quorum_voters": "1@localhost:29093,2@c2.gone:1,3@c3.gone:1",
    }

    (finding,) = found_in(node(tmp_path / "n", **static))

    assert (finding.code, finding.severity) == ("unresolved-voter", "stops")
    assert finding.place.path == f"{tmp_path}/n/{PROPERTIES}: line 6"
    assert finding.cure.endswith("or change controller.quorum.voters on all nodes")


@pytest.mark.parametrize(
    ("servers", "severity"),
    [("c.gone:1,d.gone:1", "stops"), ("c.gone:1,localhost:1", "note")],
)
def test_broker_needs_one_bootstrap_server(tmp_path: Path, servers: str, severity: str) -> None:
    made = node(tmp_path / "n", **BROKER, controller_quorum_bootstrap_servers=servers)

    assert told(found_in(made)) == [("unresolved-bootstrap-server", severity)]


def test_host_of_a_listener_stops_a_server(tmp_path: Path) -> None:
    listeners = "PLAINTEXT://b.gone:29092,INTERNAL://:29094"
    mapped = {
        "listener_security_protocol_map": "PLAINTEXT:PLAINTEXT,INTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT"
    }
    made = node(tmp_path / "n", **{**BROKER, **mapped, "listeners": listeners})

    found = found_in(made)

    assert told(found) == [("unresolved-listener", "stops")]
    assert "b.gone (Name or service not known); a server cannot listen there" in found[0].text


def test_advertised_host_is_a_note(tmp_path: Path) -> None:
    advertised = "PLAINTEXT://b.gone:29092"
    made = node(tmp_path / "n", **BROKER, advertised_listeners=advertised)

    assert told(found_in(made)) == [("unresolved-listener", "note")]


def test_resolver_that_hangs_is_waited_for_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    over = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_: over.wait(60))
    hosts = [f"c{number}" for number in range(1, 6)]
    made = node(tmp_path / "n", *hosts)
    begin = time.monotonic()

    found = found_in(made, limit=0.3)

    over.set()
    assert time.monotonic() - begin < 10
    assert ("unresolved-voter", "stops") in told(found)
    assert found[0].text.count("no answer within 0.3 s") == 1


@pytest.mark.parametrize("host", ["a\x1b[31m b", "x; touch z $(id)", "a" * 300, "\0", "a=b,c=d"])
def test_hostile_host_is_in_no_command(
    tmp_path: Path, host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()  # the real resolver refuses them
    made = node(tmp_path / "n", host, "localhost")

    (finding,) = found_in(made)

    (command,) = finding.commands
    changes = shlex.split(command)[-2]
    assert changes == (f"{host}=NEW" if host.isalpha() else "OLD=NEW")
