"""`kafka-storage verify` by its streams, exit codes and JSON."""

import json
import shutil
import socket
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kraftops.answers.fields import json_of
from kraftops.findings.answer import FINDING
from kraftops.findings.finding import Evidence, Finding, Place, Severity
from kraftops.storage.releases.table import releases
from kraftops.storage.verify.answer import VerifyAnswer
from kraftops.storage.verify.release import AssumedRelease, ReleaseSource, Target
from kraftops_cli.storage.verify import drawn_findings, verified_nodes
from tests.helpers.logs.random_logs import log_batches, log_bytes, new_record
from tests.helpers.nodes.assigned_partitions import (
    D1,
    D2,
    D9,
    assigned,
    broker,
    partition,
    partition_change,
    topic,
    write_meta,
)
from tests.helpers.nodes.installations import write_installation
from tests.helpers.nodes.node_directories import (
    CLUSTER_ID,
    DYNAMIC,
    META,
    OTHER_ID,
    PROPERTIES,
    entries,
    format_node,
    locked,
    make_node,
    storage,
)
from tests.helpers.tools.console import STORAGE, Done
from tests.helpers.tools.own_terminal import OwnTerminal
from tests.helpers.tools.terminal_program import Screen


@pytest.fixture
def node(tmp_path: Path) -> Path:
    """A node that is its only voter."""
    made = make_node(tmp_path / "node", DYNAMIC)
    assert format_node(made, "--standalone").code == 0
    return made


def verify(node: Path, *args: str) -> Done:
    return storage(node, "verify", "-c", PROPERTIES, *args)


def told(done: Done) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(done.text)
    return found


def test_sound_node_would_start(node: Path) -> None:
    done = verify(node)

    assert (done.code, done.text, done.err) == (
        0,
        "server.properties: node 1 would start (Kafka 4.3, by its features)\n",
        "",
    )


def test_voter_alone_does_not_tell_whether_a_majority_is_left(tmp_path: Path) -> None:
    voters = {"controller.quorum.voters": "1@localhost:29093,2@b:9093,3@c:9093"}
    node = make_node(tmp_path, voters)
    format_node(node)

    done = verify(node)

    assert (done.code, done.text.count("node 1 would start")) == (0, 1)
    unknown = "without -c for voters 2 and 3, it cannot be said whether a majority is left"
    assert done.errors[-1] == unknown


def test_each_finding_is_a_line_with_its_cure(node: Path) -> None:
    (node / "d2" / META).unlink()
    (node / "d1/lost+found").mkdir()

    done = verify(node)

    assert done.code == 2
    assert done.err == "server.properties: node 1 would not start (Kafka 4.3, by its features)\n"
    command = f"kafka-storage format -c {PROPERTIES} -t {CLUSTER_ID} -g -N"
    cure = "move it, or use a directory below the mount point"
    aside = 'mkdir -p d1.aside && mv d1/lost+found "$(mktemp -d d1.aside/lost+found.XXXXXX)"'
    assert done.text.splitlines() == [
        f"stops: d2: it is not formatted; format it: {command} [not-formatted]",
        (
            "stops: d1/lost+found: it is not the directory of a partition: a broker stops; "
            f"{cure}: {aside} [unknown-directory]"
        ),
    ]


def test_notes_are_on_standard_error_and_stop_nothing(node: Path) -> None:
    make_node(node, DYNAMIC, zookeeper_connect="localhost:2181")

    done = verify(node)

    assert done.code == 0
    assert done.text.startswith("server.properties: node 1 would start (")
    note = "zookeeper.connect is ignored: KRaft needs no ZooKeeper"
    assert done.errors == [f"note: server.properties: line 7: {note}; take it out [ignored-key]"]


def test_json_of_a_sound_node(node: Path) -> None:
    done = verify(node, "--format", "json")

    (one,) = told(done)["nodes"]
    (voter,) = one.pop("voters")
    assert voter.startswith("1@localhost:29093:")
    assert {**told(done), "nodes": [one]} == {
        "command": "verify",
        "formatVersion": 2,
        "isSound": True,
        "nodes": [
            {
                "config": PROPERTIES,
                "nodeId": 1,
                "roles": ["broker", "controller"],
                "clusterId": CLUSTER_ID,
                "wouldStart": True,
                "lossFindings": 0,
                "stopsFindings": 0,
                "riskFindings": 0,
                "noteFindings": 0,
                "release": "4.3",
                "oldestRelease": "4.3",
                "releaseFrom": "features",
            }
        ],
        "findings": [],
    }


def test_json_of_findings(node: Path) -> None:
    make_node(node, DYNAMIC, zookeeper_connect="localhost:2181")
    (node / "d1/lost+found").mkdir()

    done = verify(node, "--format", "json")

    assert done.code == 2
    assert told(done)["isSound"] is False
    findings = [
        Finding(
            "unknown-directory",
            Severity.STOPS,
            "it is not the directory of a partition: a broker stops",
            Place(directory="d1", file="d1/lost+found"),
            "move it, or use a directory below the mount point",
            ('mkdir -p d1.aside && mv d1/lost+found "$(mktemp -d d1.aside/lost+found.XXXXXX)"',),
        ),
        Finding(
            "ignored-key",
            Severity.NOTE,
            "zookeeper.connect is ignored: KRaft needs no ZooKeeper",
            Place(file="server.properties: line 7"),
            "take it out",
        ),
    ]
    assert told(done)["findings"] == [json_of(FINDING, finding) for finding in findings]


def test_expected_cluster_id_is_compared(node: Path) -> None:
    assert verify(node, "--cluster-id", CLUSTER_ID).code == 0

    done = verify(node, "--cluster-id", OTHER_ID)

    assert done.code == 2
    assert done.text.startswith(f"stops: d1: its cluster id is {CLUSTER_ID}, not {OTHER_ID}; ")


def test_override_counts(node: Path) -> None:
    done = verify(node, "--override", "log.dirs=d1")

    assert done.code == 0

    done = verify(node, "--override", "node.id=7")

    assert done.code == 2
    assert "d1: it is of node 1, the configuration of node 7" in done.text


def test_refused_configuration_is_a_finding(node: Path) -> None:
    make_node(node, DYNAMIC, num_partitions="many")

    done = verify(node, "-c", "other.properties")

    assert (done.code, done.text) == (4, "")
    assert done.errors[0].startswith("kafka-storage: cannot read other.properties: ")

    done = verify(node)

    assert done.code == 2
    assert done.text.startswith(
        "stops: server.properties: line 7: "
        "Invalid value many for configuration num.partitions: Not a number of type INT; "
    )


def test_nodes_of_a_cluster_are_compared(node: Path, tmp_path: Path) -> None:
    other = make_node(tmp_path / "other", log_dirs="d1")
    format_node(other, cluster_id=OTHER_ID)
    path = other / PROPERTIES
    path.write_text(path.read_text().replace("log.dirs=d1", f"log.dirs={other}/d1"))

    done = verify(node, "-c", str(path))

    assert done.code == 2
    lines = [line.partition(";")[0].replace(f"{other}/", "") for line in done.text.splitlines()]
    voters = "1@localhost:29093, and server.properties has none"
    assert lines == [
        "stops: server.properties: its node id 1 is also the id of server.properties",
        f"stops: server.properties: its cluster id is {OTHER_ID}, and server.properties has {CLUSTER_ID}",
        f"stops: server.properties: its controller.quorum.voters are {voters}",
    ]


def test_nothing_is_written_or_locked(node: Path) -> None:
    before = entries(node)

    verify(node)

    assert entries(node) == before


def test_lock_is_seen_and_its_holder_named(node: Path) -> None:
    with locked(node / "d1") as pid:
        done = verify(node)
        beforehand = verify(node, "--release-version", "4.3")

    assert done.code == 2
    assert done.text.startswith(f"stops: d1: process {pid} (python")
    assert done.text.endswith(" holds its lock; stop it first [running]\n")
    assert beforehand.code == 0
    assert beforehand.text.endswith("node 1 would start (Kafka 4.3, by --release-version)\n")
    assert "[running]" in beforehand.err


def test_names_are_looked_up_with_resolve_only(node: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def getaddrinfo(host: str, *_: object) -> None:
        asked.append(host)
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)

    assert (verify(node).code, asked) == (0, [])
    done = verify(node, "--resolve", "--format", "json")

    assert (done.code, asked) == (2, ["localhost"])
    assert [(finding["code"], finding["severity"]) for finding in told(done)["findings"]] == [
        ("unresolved-listener", "stops"),
        ("unresolved-voter", "note"),
        ("unresolved-bootstrap-server", "note"),
    ]


def test_config_is_needed(node: Path) -> None:
    done = storage(node, "verify")

    assert done.code == 1
    assert "--config" in done.err


def test_directory_of_another_broker_is_not_rewritten_nor_its_partitions_judged(
    tmp_path: Path,
) -> None:
    records = (topic(), assigned(0, {1: D1}), assigned(1, {9: D9}), assigned(2, {1: D2, 9: D9}))
    node = broker(tmp_path / "node", 9, {"e": D9, "d2": D2}, *records)
    write_meta(node / "d2", 1, D2)
    partition(node / "e", "t-1")
    partition(node / "d2", "t-0", records=300)

    done = verify(node)

    assert done.code == 2
    (line,) = done.text.splitlines()
    assert line.startswith(
        "stops: d2: it is of node 1, the configuration of node 9; mount the disk"
    )
    assert "rewrite" not in line


def test_newest_log_of_several_nodes_says_where_partitions_belong(tmp_path: Path) -> None:
    """A broker that was down has not read that its replica was moved."""
    records = (topic(), assigned(0, {2: D2}))
    old = broker(tmp_path / "old", 2, {"d2": D2}, *records)
    partition(old / "d2", "t-0")
    broker(old, 2, {str(old / "d2"): D2})
    (old / PROPERTIES).rename(old / "2.properties")
    broker(old, 9, {str(old / "d9"): D9}, *records, partition_change(0, {9: D9}))

    assert storage(old, "verify", "-c", "2.properties").code == 0
    done = storage(old, "verify", "-c", "2.properties", "-c", PROPERTIES)

    assert done.code == 2
    assert "its records are on broker 2, which sets them aside" in done.text
    assert f"mv {old}/d2/t-0 {old}/d9/t-0" in done.text


class _Node:
    """A node with its directories."""

    def __init__(self, number: int, *directories: str) -> None:
        self.config = SimpleNamespace(node_id=number, path=f"n{number}.properties")
        self.directories = [SimpleNamespace(path=path) for path in directories]


def test_findings_are_grouped_by_node_with_their_cures() -> None:
    command = "kafka-storage recover" + " -c n1.properties" * 8
    release = AssumedRelease(Target(releases()[-1]), releases()[-2], ReleaseSource.FEATURES)
    nodes: list[Any] = [_Node(1, "/d1", "/d1-metadata"), _Node(2, "/d2\x1b[2J")]
    found = [
        Finding("stray", Severity.NOTE, "a stray", Place(file="/d2\x1b[2J/t-0"), "look at it"),
        Finding(
            "quorum-lost",
            Severity.STOPS,
            "the quorum is lost",
            cure="go on from the newest log",
            commands=(command,),
            evidence=(Evidence("quorum-state", "the voters are 1, 2, 3"),),
            consequence="no controller can be elected",
        ),
        Finding(
            "incomplete-meta",
            Severity.STOPS,
            "no node.id",
            Place(file="/d1-metadata/meta.properties"),
            "add node.id=1",
        ),
    ]

    with OwnTerminal(columns=80) as terminal:
        answered = VerifyAnswer(verified_nodes(nodes, [release] * 2, found), found)
        raw = "".join(drawn_findings(terminal.console, answered))
        lines = terminal.plain(raw).splitlines()

    assert [line.rstrip() for line in lines] == [
        "NODE  STATE            LOSS  STOPS  RISK  NOTE  RELEASE     CONFIGURATION",
        "   1  would not start     0      1     0     0  4.2 to 4.3  n1.properties",
        "   2  would start         0      0     0     1  4.2 to 4.3  n2.properties",
        "",
        "node 1: n1.properties",
        "stops: /d1-metadata/meta.properties: no node.id [incomplete-meta]",
        "   cure: add node.id=1",
        "",
        "node 2: n2.properties",
        "note: /d2\\x1b[2J/t-0: a stray [stray]",
        "   cure: look at it",
        "",
        "cluster",
        "stops: the quorum is lost [quorum-lost]",
        "   evidence: quorum-state: the voters are 1, 2, 3",
        "   so: no controller can be elected",
        "   cure: go on from the newest log",
        f"   {command}",
        "",
        "2 stops, 1 note",
    ]
    assert "\x1b[1;31mstops\x1b[0m" in raw
    assert "\x1b[2J" not in raw


def test_nodes_are_listed_on_a_terminal(tmp_path: Path) -> None:
    paths = [make_node(tmp_path / name) / "server.properties" for name in ("a", "b")]
    arguments = [word for path in paths for word in ("-c", str(path))]

    with Screen(STORAGE, "verify", *arguments, columns=200) as screen:
        assert screen.wait_for_end() == 2

    assert [line.split()[-1] for line in screen.text.splitlines() if line.startswith("node ")] == [
        str(path) for path in paths
    ]
    assert "7 stops" in screen.text


# Releases, installations, this host


def test_release_that_does_not_know_the_metadata(node: Path) -> None:
    done = verify(node, "--release-version", "4.0.1")

    assert done.code == 2
    assert "Kafka 4.0 does not know metadata.version=30; start Kafka 4.3 or later" in done.text


def test_release_of_an_installation(node: Path, tmp_path: Path) -> None:
    home = write_installation(tmp_path / "kafka", "kafka_2.13-4.0.0.jar")

    assert "Kafka 4.0 does not know" in verify(node, "--kafka-home", str(home)).text


def test_release_and_installation_must_agree(node: Path, tmp_path: Path) -> None:
    home = write_installation(tmp_path / "kafka", "kafka_2.13-4.0.0.jar")

    done = verify(node, "--kafka-home", str(home), "--release-version", "4.3")

    assert done.code == 1
    assert done.errors[0] == f"kafka-storage: {home} is Kafka 4.0, not 4.3 [usage]"


def test_release_takes_values_that_later_ones_refuse(node: Path) -> None:
    args = ("--override", "log.segment.bytes=2000")

    assert "must be at least 1048576" in verify(node, *args).text
    assert "log.segment.bytes" not in verify(node, *args, "--release-version", "3.9").text


def test_registration_tells_the_release(node: Path) -> None:
    share = "group.coordinator.rebalance.protocols=classic,consumer,streams"
    features = {"name": "metadata.version", "minSupportedVersion": 7, "maxSupportedVersion": 25}
    records = [
        new_record("FeatureLevelRecord", name="metadata.version", featureLevel=25),
        new_record("RegisterBrokerRecord", brokerId=1, features=[features]),
    ]
    shutil.rmtree(node / "d1/__cluster_metadata-0")
    log = node / "d1/__cluster_metadata-0" / f"{0:020}.log"
    log.parent.mkdir()
    log.write_bytes(log_bytes(log_batches(records)))
    make_node(node)

    done = verify(node, "--override", share)

    assert "Kafka 4.0 refuses group.coordinator.rebalance.protocols" in done.text
    assert (
        done.err == "server.properties: node 1 would not start (Kafka 4.0, by its registration)\n"
    )


@pytest.mark.parametrize(
    ("args", "told_by"),
    [
        (("--release-version", "4.3"), ("4.3", "4.3", "option")),
        (("--kafka-home", "kafka"), ("4.3", "4.3", "installation")),
        ((), ("4.3", "3.9", "features")),
    ],
)
def test_answer_names_the_release_and_what_tells_it(
    tmp_path: Path, args: tuple[str, ...], told_by: tuple[str, str, str]
) -> None:
    node = make_node(tmp_path / "node")
    assert format_node(node, "--release-version", "3.9").code == 0
    write_installation(node / "kafka", "kafka_2.13-4.3.1.jar")

    (row,) = told(verify(node, *args, "--format", "json"))["nodes"]

    assert (row["release"], row["oldestRelease"], row["releaseFrom"]) == told_by


def test_key_is_retired_by_a_release(node: Path) -> None:
    args = ("--override", "zookeeper.connect=localhost:2181")

    assert "zookeeper.connect is ignored" in verify(node, *args, "--release-version", "4.0").err
    assert "zookeeper.connect" not in verify(node, *args, "--release-version", "3.9").err


def test_difference_between_possible_releases_is_a_note(tmp_path: Path) -> None:
    node = make_node(tmp_path / "node")
    assert format_node(node, "--release-version", "3.9").code == 0
    (node / "d1/bootstrap.checkpoint").chmod(0o600)

    done = verify(
        node, "--override", "authorizer.class.name=kafka.security.auth.SimpleAclAuthorizer"
    )
    assert done.code == 2
    assert "which Kafka 4.3 does not have" in done.text

    done = verify(node, "--override", "control.plane.listener.name=PLAINTEXT")
    assert done.code == 0
    assert "with Kafka 3.9, but not 4.3: Kafka 3.9 refuses control.plane.listener.name" in done.err


def test_port_in_use_is_found_here_only(node: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        make_node(
            node, DYNAMIC, listeners=f"PLAINTEXT://localhost:{port},CONTROLLER://localhost:29093"
        )

        assert verify(node).code == 0
        done = verify(node, "--here")

    assert done.code == 2
    assert (
        f"another process listens on the port of the listener PLAINTEXT://localhost:{port}"
        in done.text
    )


def test_foreign_provider_of_a_keystore_is_a_note(node: Path) -> None:
    with (node / PROPERTIES).open("a") as file:
        file.write("config.providers=vault\nconfig.providers.vault.class=com.example.Vault\n")
        file.write("ssl.keystore.password=${vault:kafka:password}\n")

    done = verify(node)

    assert done.code == 0
    assert (
        "config.providers.vault.class is com.example.Vault, which is not a class of Kafka's"
        in done.err
    )
    assert storage(node, "info", "-c", PROPERTIES).code == 0
