"""`kafka-storage verify` by its streams, exit codes and JSON."""

import json
from pathlib import Path
from typing import Any

import pytest

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
from tests.helpers.tools.console import Done


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
        "server.properties: node 1 would start\n",
        "",
    )


def test_each_finding_is_a_line_with_its_cure(node: Path) -> None:
    (node / "d2" / META).unlink()
    (node / "d1/lost+found").mkdir()

    done = verify(node)

    assert done.code == 2
    assert done.err == ""
    cure = "move it, or use a directory below the mount point"
    assert done.text.splitlines() == [
        f"d2: it is not formatted; kafka-storage format -t {CLUSTER_ID} -g -N formats it",
        f"d1/lost+found: a directory that is no partition, which stops a broker; {cure}",
    ]


def test_notes_are_on_standard_error_and_stop_nothing(node: Path) -> None:
    make_node(node, DYNAMIC, zookeeper_connect="localhost:2181")

    done = verify(node)

    assert (done.code, done.text) == (0, "server.properties: node 1 would start\n")
    note = "zookeeper.connect is ignored: KRaft needs no ZooKeeper"
    assert done.errors == [
        f"kafka-storage: note: server.properties: line 7: {note}",
        "hint: take it out",
    ]


def test_json_of_a_sound_node(node: Path) -> None:
    done = verify(node, "--format", "json")

    (one,) = told(done)["nodes"]
    (voter,) = one.pop("voters")
    assert voter.startswith("1@localhost:29093:")
    assert {**told(done), "nodes": [one]} == {
        "command": "verify",
        "formatVersion": 1,
        "isSound": True,
        "nodes": [
            {
                "config": PROPERTIES,
                "nodeId": 1,
                "roles": ["broker", "controller"],
                "clusterId": CLUSTER_ID,
            }
        ],
        "findings": [],
        "notes": [],
    }


def test_json_of_findings(node: Path) -> None:
    make_node(node, DYNAMIC, zookeeper_connect="localhost:2181")
    (node / "d1/lost+found").mkdir()

    done = verify(node, "--format", "json")

    assert done.code == 2
    assert told(done)["isSound"] is False
    assert told(done)["findings"] == [
        {
            "path": "d1/lost+found",
            "problem": "a directory that is no partition, which stops a broker",
            "cure": "move it, or use a directory below the mount point",
            "stops": True,
        }
    ]
    assert told(done)["notes"] == [
        {
            "path": "server.properties: line 7",
            "problem": "zookeeper.connect is ignored: KRaft needs no ZooKeeper",
            "cure": "take it out",
            "stops": False,
        }
    ]


def test_expected_cluster_id_is_compared(node: Path) -> None:
    assert verify(node, "--cluster-id", CLUSTER_ID).code == 0

    done = verify(node, "--cluster-id", OTHER_ID)

    assert done.code == 2
    assert done.text.startswith(f"d1: its cluster id is {CLUSTER_ID}, not {OTHER_ID}; ")


def test_override_counts(node: Path) -> None:
    done = verify(node, "--override", "log.dirs=d1")

    assert done.code == 0

    done = verify(node, "--override", "node.id=7")

    assert done.code == 2
    assert "d1: it is of node 1, the configuration of node 7" in done.text


def test_refused_configuration_is_a_finding(node: Path) -> None:
    make_node(node, DYNAMIC, num_partitions="many")

    done = verify(node, "-c", "other.properties")

    assert (done.code, done.text) == (1, "")
    assert done.errors[0].startswith("kafka-storage: cannot read other.properties: ")

    done = verify(node)

    assert done.code == 2
    assert done.text.startswith(
        "server.properties: line 7: "
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
        "server.properties: its node id 1 is also the id of server.properties",
        f"server.properties: its cluster id is {OTHER_ID}, and server.properties has {CLUSTER_ID}",
        f"server.properties: its controller.quorum.voters are {voters}",
    ]


def test_nothing_is_written_or_locked(node: Path) -> None:
    before = entries(node)

    verify(node)

    assert entries(node) == before


def test_lock_is_seen_and_its_holder_named(node: Path) -> None:
    with locked(node / "d1") as pid:
        done = verify(node)

    assert done.code == 2
    assert done.text.startswith(f"d1: process {pid} (python")
    assert done.text.endswith(" holds its lock; stop it first\n")


def test_config_is_needed(node: Path) -> None:
    done = storage(node, "verify")

    assert done.code == 1
    assert "--config" in done.err
