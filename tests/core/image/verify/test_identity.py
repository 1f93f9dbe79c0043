"""Exchanged disks are told from exchanged meta.properties by partitions and votes."""

import shlex
from pathlib import Path

import pytest

from tests.helpers.nodes.example_cluster import example_cluster, exchange
from tests.helpers.nodes.node_directories import storage

META = "data/meta.properties"


@pytest.fixture
def cluster(tmp_path: Path) -> Path:
    """The small cluster of the documentation."""
    return example_cluster(tmp_path)


def severe(cluster: Path, *nodes: int) -> list[str]:
    configs = [word for node in nodes for word in ("-c", f"node-{node}.properties")]
    lines = storage(cluster, "verify", *configs).text.splitlines()
    return [line for line in lines if not line.startswith("note: ")]


@pytest.mark.parametrize("nodes", [(101, 103), (1, 2)], ids=["brokers", "controllers"])
def test_exchanged_disks_are_one_finding_without_a_rewrite(
    nodes: tuple[int, int], cluster: Path
) -> None:
    first, second = nodes
    exchange(cluster / f"node-{first}/data", cluster / f"node-{second}/data")

    (line,) = severe(cluster, *nodes)

    assert line.startswith(f"stops: the disks of nodes {first} and {second} are exchanged: ")
    assert "or the mounts; rewrite nothing [other-node-id]" in line


@pytest.mark.parametrize("nodes", [(101, 102), (1, 2)], ids=["brokers", "controllers"])
def test_exchanged_meta_properties_are_written_again(nodes: tuple[int, int], cluster: Path) -> None:
    files = [cluster / f"node-{node}" / META for node in nodes]
    before = [dict(line.split("=") for line in file.read_text().split()[-4:]) for file in files]
    exchange(*files)

    for line, node in zip(severe(cluster, *nodes), nodes, strict=True):
        assert f"its content that of node {node}; do not change the configuration" in line
        command = shlex.split(line.partition("write the right file: ")[2].removesuffix("]"))
        written = dict(word.split("=") for word in command if "=" in word)
        assert written == before[nodes.index(node)]


def test_meta_properties_of_a_broker_over_that_of_another_are_not_two_brokers(
    cluster: Path,
) -> None:
    (cluster / "node-102" / META).write_bytes((cluster / "node-101" / META).read_bytes())

    (line,) = severe(cluster, 101, 102)

    assert "node.id=102 cluster.id=" in line
    assert "directory.id=slI3pJv7TO2R-Gej8FozLw > node-102/data/meta.properties" in line


def test_without_evidence_no_line_changes_an_identity(cluster: Path) -> None:
    exchange(cluster / "node-2" / META, cluster / "node-3" / META)

    (line,) = severe(cluster, 2)

    assert line.startswith(
        "stops: node-2/data: it is of node 3, the configuration of node 2; mount"
    )
    assert "kafka-storage" not in line
    assert "printf" not in line


def test_vote_of_another_controller_is_named(cluster: Path) -> None:
    """As after exchanged disks whose meta.properties was rewritten."""
    state = "data/__cluster_metadata-0/quorum-state"
    exchange(cluster / "node-1" / state, cluster / "node-2" / state)

    (line,) = severe(cluster, 1)

    assert line.startswith("risk: node-1/data/__cluster_metadata-0/quorum-state: it has a vote for")
