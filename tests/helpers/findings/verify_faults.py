"""Faults in nodes that `kafka-storage verify` finds, by code."""

import json
import os
import shutil
import socket
from collections.abc import Callable, Mapping
from contextlib import chdir
from pathlib import Path
from unittest.mock import patch

from kraftops.image.verify.loading import Allowance, loading_findings
from kraftops.log.batch import Record
from kraftops.server.loader.contract import NEWEST_RELEASE
from kraftops.storage.config.server_config import load_config
from kraftops.storage.logdirs.node import read_node
from kraftops.uuids import to_text
from tests.helpers.logs.log_directories import REAL
from tests.helpers.logs.metadata_logs import (
    feature,
    kraft_version_batch,
    no_ops,
    records_batch,
    snapshot_bytes,
    voters_batch,
    write_log,
)
from tests.helpers.logs.random_logs import MetadataRecord, new_record, uuid
from tests.helpers.logs.written import batch_bytes
from tests.helpers.nodes import lost_quorums
from tests.helpers.nodes.assigned_partitions import (
    D1,
    D2,
    D9,
    TOPIC,
    assigned,
    broker,
    partition,
    topic,
    write_meta,
)
from tests.helpers.nodes.node_directories import (
    CLUSTER_ID,
    DYNAMIC,
    META,
    OTHER_ID,
    PROPERTIES,
    format_node,
    locked,
    make_node,
    storage,
)
from tests.helpers.nodes.verified_nodes import OTHER, identity

Raise = Callable[[Path], set[str]]
Change = Callable[[Path], object]
LOG = f"d1/__cluster_metadata-0/{0:020}.log"
_VOTERS = ",".join(
    f"{number}@localhost:{29000 + number}:{to_text(str(number).encode() * 16)}" for number in (1, 2)
)
_BEGINNING = [kraft_version_batch(0, 1), voters_batch(1, *lost_quorums.VOTERS)]


def codes_of(folder: Path, *args: str, configs: tuple[str, ...] = (PROPERTIES,)) -> set[str]:
    """Return the codes of the findings about nodes."""
    named = [word for config in configs for word in ("-c", config)]
    done = storage(folder, "verify", *named, *args, "--format", "json")
    return {finding["code"] for finding in json.loads(done.text)["findings"]}


def static(*changes: Change, args: tuple[str, ...] = (), **keys: str) -> Raise:
    """Return what changes a formatted node with static voters, and verifies it."""

    def found(folder: Path) -> set[str]:
        node = make_node(folder / "node")
        assert format_node(node).code == 0
        for change in changes:
            change(node)
        if keys:
            make_node(node, **keys)
        return codes_of(node, *args)

    return found


def standalone(*changes: Change, **keys: str) -> Raise:
    """Return what changes a formatted node that is its only voter, and verifies it."""

    def found(folder: Path) -> set[str]:
        node = make_node(folder / "node", DYNAMIC)
        assert format_node(node, "--standalone").code == 0
        for change in changes:
            change(node)
        if keys:
            make_node(node, DYNAMIC, **keys)
        return codes_of(node)

    return found


def write(path: str, data: bytes) -> Change:
    def change(node: Path) -> None:
        (node / path).parent.mkdir(parents=True, exist_ok=True)
        (node / path).write_bytes(data)

    return change


def log_of(*batches: bytes) -> Change:
    """Return the change that has a server write the metadata log."""

    def change(node: Path) -> None:
        shutil.rmtree(node / "d1/__cluster_metadata-0", ignore_errors=True)
        write_log(node / "d1", {0: [no_ops(0, 2), *batches]})

    return change


def voters_of(*ids: int) -> Change:
    """Return the change that gives a node a first snapshot with these voters."""

    def change(node: Path) -> None:
        shutil.rmtree(node / "d1/__cluster_metadata-0")
        voters = [(number, OTHER) for number in ids]
        snapshot = snapshot_bytes(kraft_version_batch(0, 1), voters_batch(1, *voters))
        write_log(node / "d1", {}, {(0, 0): snapshot})

    return change


def meta_with(directory: str, old: str, new: str) -> Change:
    def change(node: Path) -> None:
        path = node / directory / META
        path.write_text(path.read_text().replace(old, new))

    return change


def with_partition(name: str, topic_id: bytes | None, *records: MetadataRecord) -> Raise:
    """Return what verifies broker 1 with t-0 in d1, and a partition in d2."""

    def found(folder: Path) -> set[str]:
        known = (topic(), assigned(0, {1: D1}), *records)
        node = broker(folder / "node", 1, {"d1": D1, "d2": D2}, *known)
        partition(node / "d1", "t-0")
        if name:
            partition(node / "d2", name, topic_id=topic_id)
        return codes_of(node)

    return found


def controllers(*changes: Change, static_voters: tuple[str, str] | None = None) -> Raise:
    """Return what changes the second of two controllers, and verifies both."""

    def found(folder: Path) -> set[str]:
        nodes = []
        for number in (1, 2):
            node = folder / f"n{number}"
            servers = {"controller.quorum.bootstrap.servers": "localhost:29001,localhost:29002"}
            if static_voters:
                servers = {"controller.quorum.voters": static_voters[number - 1]}
            make_node(
                node,
                servers,
                process_roles="controller",
                node_id=str(number),
                listeners=f"CONTROLLER://localhost:{29000 + number}",
                log_dirs=str(node / "d1"),
            )
            args = () if static_voters else ("-I", _VOTERS)
            assert format_node(node, *args).code == 0
            nodes.append(node)
        for change in changes:
            change(nodes[1])
        return codes_of(folder, configs=tuple(str(node / PROPERTIES) for node in nodes))

    return found


def formatted_again(*args: str, cluster_id: str = CLUSTER_ID) -> Change:
    def change(node: Path) -> None:
        shutil.rmtree(node / "d1")
        assert format_node(node, *args, cluster_id=cluster_id).code == 0

    return change


def with_key(old: str, new: str) -> Change:
    """Return the change of a line of the configuration."""

    def change(node: Path) -> None:
        path = node / PROPERTIES
        path.write_text(path.read_text().replace(old, new))

    return change


def voters(*ends: int | None, change: Change | None = None) -> Raise:
    """Return what verifies three voters whose logs have that many records more than a new one."""

    def found(folder: Path) -> set[str]:
        nodes = []
        for number, end in enumerate(ends, 1):
            place = folder / f"n{number}"
            node = lost_quorums.controller(place, number, log_dirs=f"{place}/meta")
            if end is None:
                first = snapshot_bytes(voters_batch(0, *lost_quorums.VOTERS))
                write_log(node / "meta", {}, {(0, 0): first})
            else:
                write_log(node / "meta", {0: [*_BEGINNING, no_ops(2, end)]})
            nodes.append(node)
        if change:
            change(folder)
        return codes_of(folder, configs=tuple(str(node / PROPERTIES) for node in nodes))

    return found


def _timed(offset: int, *seconds: int, epoch: int = 1) -> list[bytes]:
    """Return a batch for each time: a leader that goes on has followers."""
    return [
        batch_bytes([Record(offset + index, second * 1000, None, b"")], leader_epoch=epoch)
        for index, second in enumerate(seconds)
    ]


def _part_from_the_first(folder: Path) -> None:
    """Let the two others have had a leader of a later epoch."""
    write_log(folder / "n1/meta", {0: [*_BEGINNING, *_timed(2, 0, 30, 60)]})
    for number in (2, 3):
        write_log(folder / f"n{number}/meta", {0: _timed(0, 70, 80, epoch=5)})


def _recover_two(folder: Path) -> None:
    for number in (1, 3):
        lost_quorums.recover(folder / f"n{number}", "--voters", "self")


def _lose_two(folder: Path) -> None:
    for number in (2, 3):
        shutil.rmtree(folder / f"n{number}/meta")


def _registered(node: Path) -> None:
    registration = {
        "brokerId": 5,
        "incarnationId": OTHER,
        "brokerEpoch": 1,
        "endPoints": [],
        "features": [],
        "rack": None,
        "fenced": True,
        "isMigratingZkBroker": False,
        "inControlledShutdown": False,
        "logDirs": [identity(node, "d2")],
    }
    log_of(records_batch(2, ("RegisterBrokerRecord", registration), version=3))(node)


def _damaged(node: Path) -> None:
    log_of(no_ops(2, 1), no_ops(3, 1))(node)
    data = bytearray((node / LOG).read_bytes())
    data[65] ^= 1
    (node / LOG).write_bytes(data)


def _without_the_footer(node: Path) -> None:
    path = node / f"d1/__cluster_metadata-0/{0:020}-{0:010}.checkpoint"
    data = path.read_bytes()
    path.chmod(0o600)
    path.write_bytes(data[:-5])


def _with_real_log(node: Path) -> None:
    shutil.rmtree(node / "d1/__cluster_metadata-0", ignore_errors=True)
    shutil.copytree(REAL / "stopped/__cluster_metadata-0", node / "d1/__cluster_metadata-0")
    (node / LOG).unlink()


def _unreadable(node: Path) -> None:
    (node / "d2/.lock").unlink()
    (node / "d2/.lock").symlink_to(".lock")


def _running(folder: Path) -> set[str]:
    node = make_node(folder / "node")
    format_node(node)
    with locked(node / "d1"):
        return codes_of(node)


def _not_writable(folder: Path) -> set[str]:
    node = make_node(folder / "node")
    format_node(node)
    with patch.object(os, "access", lambda path, *_, **__: path != "d2"):
        return codes_of(node)


def _unresolved(folder: Path) -> set[str]:
    def getaddrinfo(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    node = make_node(folder / "node", DYNAMIC)
    format_node(node, "--standalone")
    with patch.object(socket, "getaddrinfo", getaddrinfo):
        return codes_of(node, "--resolve")


def _port_in_use(folder: Path) -> set[str]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        listeners = f"PLAINTEXT://localhost:{port},CONTROLLER://localhost:0"
        return static(args=("--here",), listeners=listeners)(folder)


def _not_foretold(folder: Path) -> set[str]:
    """The limit is lower than that of verify."""
    node = make_node(folder / "node", DYNAMIC)
    format_node(node, "--standalone")
    shutil.copytree(REAL / "running/txn-0", node / "d2/txn-0")
    with chdir(node):
        read = read_node(load_config(PROPERTIES))
        return {
            finding.code
            for finding in loading_findings(read, None, NEWEST_RELEASE, Allowance(1000))
        }


def _older_disks(folder: Path) -> set[str]:
    """Have a broker with disks from before its registration, beside one that has it."""
    backup = [topic(), assigned(0, {1: D1})]
    epoch = len(backup)
    registered = new_record("RegisterBrokerRecord", 1, brokerId=1, brokerEpoch=epoch, fenced=True)
    unfenced = new_record("UnfenceBrokerRecord", id=1, epoch=epoch)
    logs = {1: backup, 2: [*backup, registered, unfenced]}
    nodes = [
        broker(folder / str(number), number, {str(folder / str(number) / "d"): uuid(number)}, *log)
        for number, log in logs.items()
    ]
    return codes_of(folder, configs=tuple(f"{node.name}/{PROPERTIES}" for node in nodes))


def _same_directory(node: Path) -> None:
    shutil.rmtree(node / "d1")
    (node / "d1").symlink_to(node.parent / "n1/d1")


FAULTS: Mapping[str, Raise] = {
    "not-foretold": _not_foretold,
    "partition-twice": static(
        lambda node: [partition(node / name, "t-0") for name in ("d1", "d2")]
    ),
    "unknown-directory": static(lambda node: (node / "d2/lost+found").mkdir()),
    "file-for-partition": static(write("d2/t-0", b"")),
    "unreadable": static(_unreadable),
    "not-writable": _not_writable,
    "running": _running,
    "directory-twice": static(lambda node: (node / "link").symlink_to("d1"), log_dirs="d1,link"),
    "not-a-directory": static(lambda node: shutil.rmtree(node / "d2"), write("d2", b"")),
    "not-formatted": static(lambda node: shutil.rmtree(node / "d2")),
    "bad-meta": static(write(f"d2/{META}", b"version=1\nnode.id=1\n")),
    "incomplete-meta": static(write(f"d2/{META}", b"")),
    "other-cluster": static(meta_with("d2", CLUSTER_ID, OTHER_ID)),
    "other-node-id": static(meta_with("d2", "node.id=1", "node.id=2")),
    "reserved-directory-id": static(lambda node: write_meta(node / "d2", 1, (7).to_bytes(16))),
    "directory-id-twice": static(lambda node: shutil.copy(node / "d1" / META, node / "d2" / META)),
    "shared-directory": controllers(_same_directory),
    "stray-metadata-log": static(lambda node: (node / "d2/__cluster_metadata-0").mkdir()),
    "bad-bootstrap": static(write("d1/bootstrap.checkpoint", b"")),
    "no-bootstrap": static(lambda node: (node / "d1/bootstrap.checkpoint").unlink()),
    "bad-configuration": static(num_partitions="many"),
    "ignored-key": static(zookeeper_connect="localhost:2181"),
    "misspelt-key": static(min_insync_replica="2"),
    "unresolved-listener": _unresolved,
    "unresolved-voter": _unresolved,
    "unresolved-bootstrap-server": _unresolved,
    "foreign-address": static(
        args=("--here",), listeners="PLAINTEXT://192.0.2.1:29092,CONTROLLER://localhost:29093"
    ),
    "port-in-use": _port_in_use,
    "missing-class": static(
        authorizer_class_name="kafka.security.authorizer.AclAuthorizer",
        args=("--release-version", "4.3"),
    ),
    "foreign-class": static(
        authorizer_class_name="com.example.Absent", args=("--release-version", "4.3")
    ),
    "wrong-class": static(
        authorizer_class_name="org.apache.kafka.common.metrics.JmxReporter",
        args=("--release-version", "4.3"),
    ),
    "no-remote-manager": static(
        remote_log_storage_system_enable="true", args=("--release-version", "4.3")
    ),
    "damage": static(_damaged),
    "harmless-damage": standalone(_without_the_footer),
    "bad-quorum-state": static(log_of(), write("d1/__cluster_metadata-0/quorum-state", b"")),
    "metadata-lost": static(lambda node: partition(node / "d2", "t-0")),
    "metadata-log-lost": static(_with_real_log),
    "newer-feature": static(log_of(records_batch(2, feature("new.version", 1)))),
    "behind": voters(398, 398, None),
    "ends-differ": voters(3, 3, 4),
    "rival-history": voters(398, None, None),
    "two-histories": voters(3, None, None, change=_part_from_the_first),
    "rival-quorums": voters(8, 8, 8, change=_recover_two),
    "quorum-lost": voters(8, 8, 8, change=_lose_two),
    "all-wait": controllers(
        lambda node: [formatted_again("-N")(each) for each in (node, node.parent / "n1")]
    ),
    "no-voters": standalone(lambda node: shutil.rmtree(node / "d1/__cluster_metadata-0")),
    "not-a-voter": standalone(voters_of(2)),
    "not-a-controller": controllers(
        with_key("roles=controller", "roles=broker"),
        with_key("listeners=CONTROLLER\\://localhost\\:29002", "listeners=PLAINTEXT://:29002"),
    ),
    "other-directory-id": standalone(voters_of(1)),
    "voters-differ": controllers(formatted_again("-I", _VOTERS.replace("2@", "3@"))),
    "static-voters-differ": controllers(
        static_voters=("1@localhost:29001,2@b:2", "1@a:1,2@localhost:29002")
    ),
    "static-voters-ignored": standalone(controller_quorum_voters="1@localhost:29093"),
    "node-id-twice": controllers(with_key("node.id=2", "node.id=1")),
    "registered-elsewhere": static(_registered),
    "older-disks": _older_disks,
    "other-broker": with_partition("t-1", TOPIC, assigned(1, {9: D9})),
    "other-directory": with_partition("t-1", TOPIC, assigned(1, {1: D1})),
    "other-name": with_partition("other-1", TOPIC),
    "unknown-topic": with_partition("gone-0", uuid(1 << 99)),
    "unknown-partition": with_partition("t-7", TOPIC),
}
