"""`verify` finds what keeps servers from starting, or from having a quorum, one line each."""

import os
import shutil
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path

import pytest

from kraftops.storage.bootstrap.records import Bootstrap, bootstrap_bytes
from kraftops.storage.bootstrap.releases import LATEST_PRODUCTION
from kraftops.storage.config.server_config import load_config
from kraftops.storage.logdirs.inspector import Finding, findings, inspect
from kraftops.storage.logdirs.node import Node, read_node
from kraftops.storage.verify.cluster import verify_cluster
from kraftops.storage.verify.start import verify_node
from kraftops.uuids import from_text, to_text
from tests.helpers.logs.metadata_logs import (
    feature,
    kraft_version_batch,
    no_ops,
    records_batch,
    snapshot_bytes,
    voters_batch,
    write_log,
)
from tests.helpers.nodes.node_directories import (
    CLUSTER_ID,
    DYNAMIC,
    META,
    OTHER_ID,
    PROPERTIES,
    format_node,
    make_node,
)

OTHER = from_text(OTHER_ID)
CONTROLLER = {
    "process_roles": "controller",
    "listeners": "CONTROLLER://localhost:29093",
    "log_dirs": "d1",
}
BROKER = {"process_roles": "broker", "listeners": "PLAINTEXT://localhost:29092"}
TWO_SERVERS = {"controller.quorum.bootstrap.servers": "localhost:29093,elsewhere:29093"}


@pytest.fixture
def static(tmp_path: Path) -> Path:
    """A node with two directories and static voters."""
    node = make_node(tmp_path / "node")
    assert format_node(node).code == 0
    return node


@pytest.fixture
def standalone(tmp_path: Path) -> Path:
    """A node that is its only voter."""
    node = make_node(tmp_path / "node", DYNAMIC)
    assert format_node(node, "--standalone").code == 0
    return node


def verified(node: Path, cluster_id: str | None = None) -> list[Finding]:
    """Return what verify finds."""
    with chdir(node):
        return [*verify_node(read_node(load_config(PROPERTIES)), cluster_id)]


def stopping(node: Path, cluster_id: str | None = None) -> list[str]:
    """Return what would stop a server."""
    return [str(finding) for finding in verified(node, cluster_id) if finding.stops]


def notes(node: Path) -> list[str]:
    """Return what is noted only; nothing stops a server."""
    found = verified(node)
    assert not any(finding.stops for finding in found), found
    return [str(finding) for finding in found]


def identity(node: Path, directory: str = "d1") -> bytes:
    with chdir(node):
        states = {state.path: state for state in inspect(load_config(PROPERTIES))}
    meta = states[directory].meta
    assert meta
    assert meta.directory_id
    return meta.directory_id


def used(node: Path, *batches: bytes) -> None:
    """Let a server have written to the metadata log of a node."""
    shutil.rmtree(node / "d1/__cluster_metadata-0", ignore_errors=True)
    write_log(node / "d1", {0: [no_ops(0, 2), *batches]})


# Sound nodes


def test_nothing_is_wrong_with_a_static_node(static: Path) -> None:
    assert verified(static) == []


def test_nothing_is_wrong_with_a_standalone_node(standalone: Path) -> None:
    assert verified(standalone) == []


@pytest.mark.parametrize(
    ("roles", "servers"),
    [
        pytest.param(BROKER, DYNAMIC, id="broker"),
        pytest.param(CONTROLLER, TWO_SERVERS, id="controller that joins"),
    ],
)
def test_nodes_may_wait_for_others(
    tmp_path: Path, roles: dict[str, str], servers: dict[str, str]
) -> None:
    node = make_node(tmp_path / "node", servers, **roles)
    format_node(node, "--no-initial-controllers")

    assert verified(node) == []


def test_nothing_is_written_or_locked(standalone: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in standalone.rglob("*")}

    verified(standalone)

    assert {path: path.stat().st_mtime_ns for path in standalone.rglob("*")} == before


def test_retired_keys_are_noted_with_their_place(static: Path) -> None:
    make_node(
        static,
        zookeeper_connect="localhost:2181",
        control_plane_listener_name="CONTROLLER",
        broker_id_generation_enable="false",
        password_encoder_secret="x",
    )

    assert [note.partition(" is ignored")[0] for note in notes(static)] == [
        "server.properties: line 7: zookeeper.connect",
        "server.properties: line 8: control.plane.listener.name",
        "server.properties: line 9: broker.id.generation.enable",
        "server.properties: line 10: password.encoder.secret",
    ]


# Directories


def test_directory_that_is_missing_or_not_formatted(static: Path) -> None:
    shutil.rmtree(static / "d2")

    (finding,) = verified(static)

    assert str(finding) == "d2: it does not exist"
    assert finding.cure == (
        f"mount it if it is a disk; else kafka-storage format -t {CLUSTER_ID} -g -N formats it"
    )
    (static / "d2").mkdir()
    assert stopping(static) == ["d2: it is not formatted"]


def test_format_would_have_to_be_forced_on_partitions(static: Path) -> None:
    (static / "d2" / META).unlink()
    (static / "d2/t-0").mkdir()

    (finding,) = verified(static)

    assert finding.cure == f"kafka-storage format -t {CLUSTER_ID} -g -N --force formats it"


def test_lost_metadata_directory_is_to_be_restored(static: Path) -> None:
    shutil.rmtree(static / "d1")

    (finding,) = verified(static)

    assert str(finding) == "d1: it does not exist"
    assert "restore it: the metadata is in there" in finding.cure


def test_new_node_is_to_be_formatted(tmp_path: Path) -> None:
    node = make_node(tmp_path / "node")

    assert {finding.cure for finding in verified(node)} == {
        "mount it if it is a disk; else kafka-storage format formats it"
    }


def test_file_in_the_place_of_a_directory(static: Path) -> None:
    shutil.rmtree(static / "d2")
    (static / "d2").touch()

    assert stopping(static) == ["d2: it is not a directory"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "its meta.properties has no node id and no cluster id"),
        ("broker.id=1\n", "its meta.properties has no cluster id"),
        (f"cluster.id={CLUSTER_ID}\n", "its meta.properties has no node id"),
        (
            "version=1\nnode.id=1\n",
            "its meta.properties cannot be read: cluster.id was not found.",
        ),
        ("x=\\u1\n", "its meta.properties cannot be read: line 1: Malformed \\uxxxx encoding."),
    ],
)
def test_meta_properties_that_is_not_whole(static: Path, text: str, problem: str) -> None:
    (static / "d2" / META).write_text(text)

    assert stopping(static) == [f"d2: {problem}"]


def test_voters_say_what_a_lost_directory_id_was(standalone: Path) -> None:
    expected = to_text(identity(standalone))
    (standalone / "d1" / META).write_text("version=2\n")

    cures = [finding.cure for finding in verified(standalone)]

    ids = f"node.id=1, cluster.id={CLUSTER_ID}, directory.id={expected}"
    assert cures == [f"restore it from a copy, or write version=1, {ids}"]


def test_other_cluster_and_other_node_name_both_values(static: Path) -> None:
    text = (static / "d2" / META).read_text()
    (static / "d2" / META).write_text(
        text.replace(CLUSTER_ID, OTHER_ID).replace("node.id=1", "node.id=2")
    )

    assert stopping(static) == [
        f"d2: its cluster id is {OTHER_ID}, not {CLUSTER_ID}",
        "d2: it is of node 2, the configuration of node 1",
    ]


def test_cluster_id_may_be_asked_for(static: Path) -> None:
    assert stopping(static, CLUSTER_ID) == []
    assert stopping(static, OTHER_ID) == [
        f"d1: its cluster id is {CLUSTER_ID}, not {OTHER_ID}",
        f"d2: its cluster id is {CLUSTER_ID}, not {OTHER_ID}",
    ]


def test_directory_under_two_names(static: Path) -> None:
    (static / "link").symlink_to("d1")
    make_node(static, log_dirs="d1,link")

    assert stopping(static) == ["link: it is d1 under another name"]


def test_metadata_log_in_a_data_directory(static: Path) -> None:
    (static / "d2/__cluster_metadata-0").mkdir()

    assert stopping(static) == [
        "d2/__cluster_metadata-0: a metadata log outside of the metadata directory d1"
    ]


@pytest.mark.parametrize(("roles", "count"), [(BROKER, 1), (CONTROLLER, 0)])
def test_only_a_broker_stumbles_over_odd_directories(
    tmp_path: Path, roles: dict[str, str], count: int
) -> None:
    node = make_node(tmp_path / "node", TWO_SERVERS, **{**roles, "log_dirs": "d1"})
    format_node(node, "-N")
    (node / "d1/lost+found").mkdir()

    assert len(stopping(node)) == count


def test_directory_that_cannot_be_written(static: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    access = os.access

    def denied(path: str, mode: int, **kwargs: bool) -> bool:
        return path != "d2" and access(path, mode, **kwargs)

    monkeypatch.setattr(os, "access", denied)

    assert stopping(static) == [f"d2: user {os.geteuid()} cannot write to it"]


# The metadata log


def test_new_cluster_without_bootstrap_file_is_noted(static: Path) -> None:
    (static / "d1/bootstrap.checkpoint").unlink()

    assert notes(static) == [
        "d1: it has no bootstrap.checkpoint, so that a new cluster begins without features"
    ]
    used(static)
    assert notes(static) == []


def test_damaged_bootstrap_file(static: Path) -> None:
    (static / "d1/bootstrap.checkpoint").write_bytes(b"")

    (finding,) = verified(static)

    assert (str(finding), finding.stops) == ("d1/bootstrap.checkpoint: it is empty", True)
    assert finding.cure == (
        "remove meta.properties and __cluster_metadata-0, and kafka-storage format anew"
    )
    used(static)
    assert verified(static)[0].cure == "remove it: a cluster that has begun needs it no more"


def bootstrapped(node: Path, level: int) -> None:
    version = LATEST_PRODUCTION._replace(level=level)
    (node / "d1/bootstrap.checkpoint").write_bytes(bootstrap_bytes(Bootstrap(version, {}, ()), 0))


def test_features_that_are_not_known(static: Path) -> None:
    bootstrapped(static, 31)

    assert stopping(static) == [
        "d1/bootstrap.checkpoint: metadata.version=31 is not what Kafka 4.3 knows"
    ]
    make_node(static, unstable_feature_versions_enable="true")
    assert stopping(static) == []


def test_features_of_the_log_count_once_it_has_some(static: Path) -> None:
    bootstrapped(static, 99)
    used(static, records_batch(2, feature("metadata.version", 30)))
    assert stopping(static) == []

    used(static, records_batch(2, feature("metadata.version", 30), feature("new.version", 1)))
    assert stopping(static) == [
        "d1/__cluster_metadata-0: new.version=1 is not what Kafka 4.3 knows"
    ]


def test_kraft_version_that_is_not_known(standalone: Path) -> None:
    used(standalone, kraft_version_batch(2, 2), voters_batch(3, (1, identity(standalone))))

    assert stopping(standalone) == [
        "d1/__cluster_metadata-0: kraft.version=2 is not what Kafka 4.3 knows"
    ]


def test_loss_of_records_stops_the_only_voter(static: Path) -> None:
    used(static, no_ops(2, 1), no_ops(3, 1))
    path = static / f"d1/__cluster_metadata-0/{0:020}.log"
    data = bytearray(path.read_bytes())
    data[65] ^= 1
    path.write_bytes(data)

    problem = (
        f"{path.relative_to(static)}: position 0: the CRC does not match; "
        "a server drops the log from there up to offset 4"
    )
    assert stopping(static) == [problem]
    make_node(static, {"controller.quorum.voters": "1@localhost:29093,2@elsewhere:29093"})
    assert notes(static) == [problem]


def test_missing_offsets(static: Path) -> None:
    used(static, no_ops(9, 1))

    assert stopping(static) == [
        "d1/__cluster_metadata-0: offsets 2 to 8 are neither in the log nor in a snapshot"
    ]


def test_lost_metadata_log(static: Path) -> None:
    """The partitions that are left would be set aside, unless there are other controllers."""
    (static / "d2/t-0").mkdir()
    topic = static / "d2/t-0/partition.metadata"
    topic.write_text(f"version: 0\ntopic_id: {OTHER_ID}\n")

    expected = [
        "d1: its metadata log is empty, but there are topics in d2: a new cluster sets them aside"
    ]
    assert stopping(static) == expected
    make_node(static, {"controller.quorum.voters": "1@localhost:29093,2@elsewhere:29093"})
    assert notes(static) == expected


def test_directories_that_the_cluster_knows_of_another_broker(static: Path) -> None:
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
        "logDirs": [identity(static, "d2")],
    }
    used(static, records_batch(2, ("RegisterBrokerRecord", registration), version=3))

    assert stopping(static) == [
        "d2: the cluster knows it as of broker 5, and refuses it of broker 1"
    ]


def test_damaged_quorum_state(static: Path) -> None:
    used(static)
    (static / "d1/__cluster_metadata-0/quorum-state").write_text("")

    assert stopping(static) == ["d1/__cluster_metadata-0/quorum-state: it is no JSON"]


# The quorum

WAITS = "controller.quorum.bootstrap.servers names no other controller: it would wait for ever"


def test_lone_controller_without_voters_waits_for_ever(standalone: Path) -> None:
    shutil.rmtree(standalone / "d1/__cluster_metadata-0")

    assert stopping(standalone) == [f"d1: it has no voters, and {WAITS}"]


@pytest.mark.parametrize(
    ("servers", "is_alone"),
    [
        ("localhost:29093", True),
        ("127.0.0.1:29093,localhost:29093", True),
        (f"{os.uname().nodename}:29093", True),
        ("[::1]:29093", True),
        ("localhost:29094", False),
        ("elsewhere:29093", False),
        ("localhost:29093,elsewhere:29093", False),
    ],
)
def test_controller_is_alone_if_it_asks_only_itself(
    tmp_path: Path, servers: str, is_alone: bool
) -> None:
    node = make_node(
        tmp_path / "node",
        {"controller.quorum.bootstrap.servers": servers},
        **{**CONTROLLER, "listeners": "CONTROLLER://:29093"},
    )
    format_node(node, "-N")

    assert bool(stopping(node)) == is_alone


def vote(node: Path, *voters: tuple[int, bytes]) -> None:
    """Give a node the snapshot of other voters."""
    snapshot = snapshot_bytes(kraft_version_batch(0, 1), voters_batch(1, *voters))
    folder = node / "d1/__cluster_metadata-0"
    shutil.rmtree(folder)
    write_log(node / "d1", {}, {(0, 0): snapshot})


def test_only_voter_with_another_directory_id_does_not_vote(standalone: Path) -> None:
    own = to_text(identity(standalone))
    vote(standalone, (1, OTHER))

    assert stopping(standalone) == [
        f"d1: its directory id is {own}, the voters have node 1 with {OTHER_ID}: it would not vote"
    ]


def test_one_of_several_voters_with_another_directory_id_is_noted(standalone: Path) -> None:
    """So it is after a disk was replaced: it joins, and can be made a voter again."""
    vote(standalone, (1, OTHER), (2, OTHER))

    (note,) = notes(standalone)

    assert note.endswith("it would not vote")


def test_voters_without_this_node(standalone: Path) -> None:
    vote(standalone, (2, OTHER))

    assert stopping(standalone) == [
        f"d1: this node is none of its voters 2@localhost:29093:{OTHER_ID}, and {WAITS}"
    ]
    make_node(standalone, TWO_SERVERS)
    assert notes(standalone) == []


def test_one_of_two_voters_may_wait_for_the_other(standalone: Path) -> None:
    vote(standalone, (1, identity(standalone)), (2, OTHER))

    assert verified(standalone) == []


def test_static_voters_that_are_ignored_are_noted(standalone: Path) -> None:
    make_node(standalone)

    assert notes(standalone) == [
        "d1: it has voters of its own: controller.quorum.voters is ignored"
    ]


def test_damaged_voters_are_one_finding(standalone: Path) -> None:
    path = standalone / f"d1/__cluster_metadata-0/{0:020}-{0:010}.checkpoint"
    path.chmod(0o600)
    path.write_bytes(b"")

    assert stopping(standalone) == [f"{path.relative_to(standalone)}: it is empty"]


# Nodes of one cluster


def controller(folder: Path, number: int, **changes: str) -> Path:
    """Make a controller that knows others, without formatting it."""
    listeners = f"CONTROLLER://localhost:{29000 + number}"
    keys = {**CONTROLLER, "node_id": str(number), "listeners": listeners, **changes}
    servers = {"controller.quorum.bootstrap.servers": "localhost:29001,localhost:29002"}
    return make_node(folder / f"node-{number}", servers, **keys)


def fit(*nodes: Path) -> list[str]:
    """Return what does not fit between nodes."""
    found: list[Node] = []
    for path in nodes:
        config = path / PROPERTIES
        text = config.read_text()
        config.write_text(text.replace("log.dirs=d1", f"log.dirs={path}/d1"))
        found.append(read_node(load_config(str(config))))
    return [str(finding).replace(f"{nodes[0].parent}/", "") for finding in verify_cluster(found)]


VOTERS = f"1@localhost:29001:{to_text(b'1' * 16)},2@localhost:29002:{to_text(b'2' * 16)}"


@pytest.fixture
def pair(tmp_path: Path) -> list[Path]:
    """Two controllers that were formatted together."""
    nodes = [controller(tmp_path, number) for number in (1, 2)]
    for node in nodes:
        assert format_node(node, "-I", VOTERS).code == 0
    return nodes


def test_controllers_that_were_formatted_together_fit(pair: list[Path]) -> None:
    assert fit(*pair) == []


def anew(*args: str, cluster_id: str = CLUSTER_ID) -> Callable[[Path], None]:
    """Format a node anew."""

    def spoil(node: Path) -> None:
        shutil.rmtree(node / "d1")
        assert format_node(node, *args, cluster_id=cluster_id).code == 0

    return spoil


@pytest.mark.parametrize(
    ("spoil", "expected"),
    [
        pytest.param(
            anew("-I", VOTERS, cluster_id=OTHER_ID),
            [f"node-2/server.properties: its cluster id is {OTHER_ID}, that of node-1/server"],
            id="other cluster",
        ),
        pytest.param(
            anew("-I", VOTERS.replace("2@localhost:29002", "3@localhost:29002")),
            ["node-2/d1: its voters are 1@", "node-2/d1: its directory id is "],
            id="other voters",
        ),
        pytest.param(
            anew("-N"), ["node-2/d1: its directory id is "], id="directory id that nobody knows"
        ),
        pytest.param(
            lambda node: controller(node.parent, 2, process_roles="broker", listeners=""),
            ["node-2/server.properties: it is the voter 2@localhost:29002:"],
            id="voter that is no controller",
        ),
    ],
)
def test_controllers_that_do_not_fit(
    pair: list[Path], spoil: Callable[[Path], None], expected: list[str]
) -> None:
    spoil(pair[1])

    found = fit(*pair)

    assert len(found) == len(expected), found
    for line, start in zip(found, expected, strict=True):
        assert line.startswith(start)


def test_one_node_id_twice(tmp_path: Path) -> None:
    nodes = [make_node(tmp_path / name, log_dirs="d1") for name in ("a", "b")]
    for node in nodes:
        format_node(node)

    assert fit(*nodes) == ["b/server.properties: its node id 1 is that of a/server.properties too"]


def test_one_directory_of_two_nodes(pair: list[Path]) -> None:
    shutil.rmtree(pair[1] / "d1")
    (pair[1] / "d1").symlink_to(pair[0] / "d1")

    assert fit(*pair)[0] == (
        "node-2/d1: node-1/server.properties and node-2/server.properties both have it"
    )


def test_copy_of_a_directory(pair: list[Path]) -> None:
    shutil.rmtree(pair[1] / "d1")
    shutil.copytree(pair[0] / "d1", pair[1] / "d1")

    assert fit(*pair)[0] == (
        f"node-2/d1: its directory id {to_text(b'1' * 16)} is that of node-1/d1 too"
    )


def test_static_voters_differ(tmp_path: Path) -> None:
    nodes = []
    for number, voters in ((1, "1@a:1,2@b:2"), (2, "1@a:1,2@c:2")):
        keys = {**CONTROLLER, "node_id": str(number)}
        node = make_node(tmp_path / f"n{number}", {"controller.quorum.voters": voters}, **keys)
        format_node(node)
        nodes.append(node)

    first, second = (f"n{number}/server.properties" for number in (1, 2))
    there = f"{second}: its controller.quorum.voters are 1@a:1,2@c:2"
    assert fit(*nodes) == [f"{there}, those of {first} are 1@a:1,2@b:2"]


def test_controllers_that_all_wait(tmp_path: Path) -> None:
    nodes = [controller(tmp_path, number) for number in (1, 2)]
    for node in nodes:
        format_node(node, "-N")

    assert fit(*nodes) == ["no controller has voters: each would wait for the others"]
    assert fit(nodes[0]) == []


def test_newest_log_knows_the_voters(pair: list[Path]) -> None:
    """A controller that was away for a while is no misfit."""
    one, two = b"1" * 16, b"2" * 16
    write_log(pair[0] / "d1", {0: [no_ops(0, 5), voters_batch(5, (1, one), (2, two), (3, OTHER))]})
    write_log(pair[1] / "d1", {0: [no_ops(0, 5)]})

    assert fit(*pair) == []


# What info tells of it


def test_info_finds_only_what_small_files_tell(standalone: Path) -> None:
    used(standalone, no_ops(9, 1))
    (standalone / "d1/lost+found").mkdir()
    shutil.copy(standalone / "d1" / META, standalone / "d2" / META)

    with chdir(standalone):
        config = load_config(PROPERTIES)
        found = [str(finding) for finding in findings(config, inspect(config))]

    assert found == [f"d2: its directory id {to_text(identity(standalone))} is that of d1 too"]
