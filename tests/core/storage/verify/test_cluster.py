"""The nodes of one cluster fit each other, or there is a finding."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from kraftops.storage.config.server_config import load_config
from kraftops.storage.logdirs.node import Node, read_node
from kraftops.storage.verify.cluster import verify_cluster
from kraftops.uuids import to_text
from tests.helpers.logs.metadata_logs import (
    no_ops,
    voters_batch,
    write_log,
)
from tests.helpers.nodes.node_directories import (
    CLUSTER_ID,
    OTHER_ID,
    PROPERTIES,
    format_node,
    make_node,
)
from tests.helpers.nodes.verified_nodes import BROKER, CONTROLLER, OTHER


def controller(folder: Path, number: int, **changes: str) -> Path:
    """Make a controller that knows others, without formatting it."""
    listeners = f"CONTROLLER://localhost:{29000 + number}"
    keys = {**CONTROLLER, "node_id": str(number), "listeners": listeners, **changes}
    servers = {"controller.quorum.bootstrap.servers": "localhost:29001,localhost:29002"}
    return make_node(folder / f"node-{number}", servers, **keys)


def conflicts(*nodes: Path) -> list[str]:
    """Return the findings between nodes."""
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
    assert conflicts(*pair) == []


def formatted_again(*args: str, cluster_id: str = CLUSTER_ID) -> Callable[[Path], None]:
    """Format a node anew."""

    def format_again(node: Path) -> None:
        shutil.rmtree(node / "d1")
        assert format_node(node, *args, cluster_id=cluster_id).code == 0

    return format_again


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param(
            formatted_again("-I", VOTERS, cluster_id=OTHER_ID),
            [f"node-2/server.properties: its cluster id is {OTHER_ID}, and node-1/server"],
            id="other cluster",
        ),
        pytest.param(
            formatted_again("-I", VOTERS.replace("2@localhost:29002", "3@localhost:29002")),
            ["node-2/d1: its voters are 1@", "node-2/d1: its directory id is "],
            id="other voters",
        ),
        pytest.param(
            formatted_again("-N"),
            ["node-2/d1: its directory id is "],
            id="directory id that nobody knows",
        ),
        pytest.param(
            lambda node: controller(node.parent, 2, process_roles="broker", listeners=""),
            ["node-2/server.properties: it is the voter 2@localhost:29002:"],
            id="voter that is not a controller",
        ),
    ],
)
def test_controllers_with_a_conflict(
    pair: list[Path], change: Callable[[Path], None], expected: list[str]
) -> None:
    change(pair[1])

    found = conflicts(*pair)

    assert len(found) == len(expected), found
    for line, start in zip(found, expected, strict=True):
        assert line.startswith(start)


def test_two_nodes_with_one_id(tmp_path: Path) -> None:
    nodes = [make_node(tmp_path / name, log_dirs="d1") for name in ("a", "b")]
    for node in nodes:
        format_node(node)

    assert conflicts(*nodes) == [
        "b/server.properties: its node id 1 is also the id of a/server.properties"
    ]


def test_one_directory_of_two_nodes(pair: list[Path]) -> None:
    shutil.rmtree(pair[1] / "d1")
    (pair[1] / "d1").symlink_to(pair[0] / "d1")

    assert conflicts(*pair)[0] == (
        "node-2/d1: node-1/server.properties and node-2/server.properties both have it"
    )


def test_copy_of_a_directory(pair: list[Path]) -> None:
    shutil.rmtree(pair[1] / "d1")
    shutil.copytree(pair[0] / "d1", pair[1] / "d1")

    assert conflicts(*pair)[0] == (
        f"node-2/d1: its directory id {to_text(b'1' * 16)} is also the id of node-1/d1"
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
    assert conflicts(*nodes) == [f"{there}, and {first} has 1@a:1,2@b:2"]


def test_controllers_without_voters_wait_for_each_other(tmp_path: Path) -> None:
    nodes = [controller(tmp_path, number) for number in (1, 2)]
    for node in nodes:
        format_node(node, "-N")

    assert conflicts(*nodes) == ["no controller has voters: each would wait for the others"]
    assert conflicts(nodes[0]) == []


@pytest.fixture
def broker(tmp_path: Path) -> Path:
    """A broker with the log of a quorum that is lost."""
    servers = {"controller.quorum.bootstrap.servers": "localhost:29001"}
    directories = f"d1,{tmp_path}/node-9/d2"
    node = make_node(tmp_path / "node-9", servers, **BROKER, node_id="9", log_dirs=directories)
    assert format_node(node).code == 0
    write_log(node / "d1", {0: [voters_batch(0, (1, b"1" * 16)), no_ops(1, 3)]})
    return node


def test_new_quorum_beside_the_log_of_a_broker(tmp_path: Path, broker: Path) -> None:
    node = controller(tmp_path, 1)
    assert format_node(node, "--standalone").code == 0

    found = conflicts(node, broker)

    assert found[0].startswith("node-1/d1: its voters are 1@localhost:29001:")
    assert "node-9/d1 has 1@localhost:29093" in found[0]
    assert found[1].startswith("node-1/d1: its directory id is ")


def test_waiting_controllers_go_on_from_the_log_of_a_broker(tmp_path: Path, broker: Path) -> None:
    """Its other disk has partitions, whose losses count too."""
    (broker / "d2/orders-0").mkdir()
    nodes = [controller(tmp_path, number) for number in (1, 2)]
    for node in nodes:
        assert format_node(node, "-N").code == 0
    conflicts(*nodes, broker)  # makes the paths absolute

    every = [read_node(load_config(str(node / PROPERTIES))) for node in (*nodes, broker)]
    (finding,) = [each for each in verify_cluster(every) if each.code == "all-wait"]

    sources = f"--from {broker}/d1/__cluster_metadata-0 --from {broker}/d2"
    assert f"{sources} --voters self --dry-run" in finding.commands[0]


def test_newest_log_knows_the_voters(pair: list[Path]) -> None:
    """A controller that was away for a while is no conflict."""
    one, two = b"1" * 16, b"2" * 16
    write_log(pair[0] / "d1", {0: [no_ops(0, 5), voters_batch(5, (1, one), (2, two), (3, OTHER))]})
    write_log(pair[1] / "d1", {0: [no_ops(0, 5)]})

    assert conflicts(*pair) == []


def test_controllers_that_were_formatted_again_could_lose_all_records(tmp_path: Path) -> None:
    """Two of three controllers are wiped, and formatted with the same list."""
    nodes = [controller(tmp_path, number) for number in (1, 2, 3)]
    voters = f"{VOTERS},3@localhost:29003:{to_text(b'3' * 16)}"
    for node in nodes:
        assert format_node(node, "-I", voters).code == 0
    assert conflicts(*nodes) == []

    write_log(nodes[0] / "d1", {0: [no_ops(0, 400)]})

    found = conflicts(*nodes)
    assert [text.split(",")[0] for text in found] == [
        f"node-{number}/d1: its metadata log is empty" for number in (2, 3)
    ]
