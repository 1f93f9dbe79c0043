"""`kafka-storage rewrite` by its streams, exit codes and JSON."""

import json
import shutil
from pathlib import Path

import pytest

from tests.helpers.nodes.assigned_partitions import (
    D2,
    D9,
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
    entries,
    format_node,
    locked,
    make_node,
    storage,
)
from tests.helpers.tools.console import Done


@pytest.fixture
def node(tmp_path: Path) -> Path:
    """A node with two formatted directories."""
    made = make_node(tmp_path / "node")
    assert format_node(made).code == 0
    return made


def rewrite(node: Path, *args: str) -> Done:
    return storage(node, "rewrite", "-c", PROPERTIES, *args)


def contents(node: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in node.rglob("*") if path.is_file()}


def test_each_change_is_a_line(node: Path) -> None:
    (node / "d2" / META).write_text(f"broker.id=1\ncluster.id={OTHER_ID}\n")

    done = rewrite(node, "--cluster-id", OTHER_ID)

    assert (done.code, done.err) == (0, "")
    assert done.text.splitlines() == [
        f"d1/meta.properties: changed cluster.id: {CLUSTER_ID} -> {OTHER_ID}",
        "d2/meta.properties: nothing to change",
    ]


def test_dry_run_shows_it_and_writes_nothing(node: Path) -> None:
    before = contents(node)

    done = rewrite(node, "--cluster-id", OTHER_ID, "--dry-run")

    assert done.text.splitlines() == [
        f"{name}/meta.properties: would change cluster.id: {CLUSTER_ID} -> {OTHER_ID}"
        for name in ("d1", "d2")
    ]
    assert contents(node) == before


def test_json(node: Path) -> None:
    done = rewrite(node, "--cluster-id", OTHER_ID, "--format", "json")

    found = json.loads(done.text)
    first = found["directories"][0]
    assert first.pop("properties")["cluster.id"] == OTHER_ID
    assert {**found, "directories": [first]} == {
        "command": "rewrite",
        "formatVersion": 2,
        "dryRun": False,
        "changed": True,
        "directories": [
            {
                "path": "d1",
                "isMetadata": True,
                "changes": [{"key": "cluster.id", "before": CLUSTER_ID, "after": OTHER_ID}],
            }
        ],
    }


@pytest.mark.parametrize("args", [("--dry-run",), ("--cluster-id", CLUSTER_ID)])
def test_json_where_nothing_was_changed(node: Path, args: tuple[str, ...]) -> None:
    done = rewrite(node, "--node-id", "1", "--format", "json", *args)

    assert done.code == 0
    assert json.loads(done.text)["changed"] is False


def test_running_node_is_refused(node: Path) -> None:
    before = contents(node)
    with locked(node / "d2") as pid:
        done = rewrite(node, "--cluster-id", OTHER_ID)

    assert done.code == 3
    assert done.errors[0].startswith(f"kafka-storage: d2 is in use: process {pid} (")
    assert done.errors[1] == "hint: stop it, then rewrite"
    assert contents(node) == before


def test_refusal_is_one_line(node: Path) -> None:
    (node / "d2" / META).write_text("version=2\n")

    done = rewrite(node, "--node-id", "2")

    assert (done.code, done.out) == (1, b"")
    assert done.errors == [
        (
            "kafka-storage: cannot read d2/meta.properties: Unknown meta.properties version number 2"
            " [not-done]"
        ),
        "hint: nothing was written: a rewrite is done in all directories or none",
    ]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((), "nothing to rewrite [usage]"),
        (("--cluster-id", ""), "the cluster id is empty [usage]"),
        (
            ("--node-id", "-1"),
            "Invalid value for '--node-id': '-1' is not a number from 0 to 2147483647",
        ),
    ],
)
def test_bad_requests(node: Path, args: tuple[str, ...], message: str) -> None:
    done = rewrite(node, *args)

    assert done.code == 1
    assert done.errors[0] == f"kafka-storage: {message}"


def test_doubtful_ids_are_warned_of(tmp_path: Path) -> None:
    node = make_node(tmp_path / "node", DYNAMIC)
    format_node(node, "--standalone")

    done = rewrite(node, "--cluster-id", "köln", "--node-id", "2")

    assert done.code == 0
    assert [line for line in done.errors if line.startswith("kafka-storage: ")] == [
        "kafka-storage: warning: the cluster id 'köln' is not a canonical UUID",
        "kafka-storage: warning: the configuration is of node 1, d1 of node 2",
        "kafka-storage: warning: the configuration is of node 1, d2 of node 2",
        "kafka-storage: warning: the voters in d1 name node 1",
    ]
    assert b"cluster.id=k\\u00F6ln\n" in (node / "d1" / META).read_bytes()


@pytest.fixture
def taken(tmp_path: Path) -> Path:
    """Return broker 9 with a directory of broker 1, which has 300 records of t-0."""
    records = (topic(), assigned(0, {1: D2}))
    node = broker(tmp_path / "node", 9, {"e": D9, "d2": D2}, *records)
    write_meta(node / "d2", 1, D2)
    partition(node / "d2", "t-0", records=300)
    return node


@pytest.mark.parametrize("dry_run", [[], ["--dry-run"]])
def test_directory_of_another_broker_is_refused(taken: Path, dry_run: list[str]) -> None:
    before = entries(taken)

    done = storage(taken, "rewrite", "-c", PROPERTIES, "--node-id", "9", *dry_run)

    assert (done.code, done.text) == (3, "")
    message, hint = done.errors
    assert "partitions in d2 on other brokers" in message
    assert "t-0 (300 records, " in message
    assert "--force" in hint
    assert entries(taken) == before


def test_refusal_is_json_with_what_would_be_lost(taken: Path) -> None:
    done = storage(taken, "rewrite", "-c", PROPERTIES, "--node-id", "9", "--format", "json")

    answer = json.loads(done.text)
    assert (done.code, answer["error"], answer["changed"]) == (3, "other-broker", False)
    (lost,) = answer["lost"]
    assert (lost["topic"], lost["partition"], lost["records"]) == ("t", 0, 300)
    assert lost["bytes"] > 0


def test_force_takes_the_directory_of_another_broker(taken: Path) -> None:
    done = storage(taken, "rewrite", "-c", PROPERTIES, "--node-id", "9", "--force")

    assert done.code == 0
    assert done.errors[0].startswith("kafka-storage: warning: the metadata has partitions in d2 on")
    assert "d2/meta.properties: changed node.id: 1 -> 9\n" in done.text


def test_partitions_of_unknown_brokers_are_a_warning(taken: Path) -> None:
    shutil.rmtree(taken / "e/__cluster_metadata-0")

    done = storage(taken, "rewrite", "-c", PROPERTIES, "--node-id", "9")

    assert done.code == 0
    warning = "d2 holds partitions, and there is no metadata log that says of which broker"
    hint = "hint: --metadata DIR names one"
    assert done.errors[:2] == [f"kafka-storage: warning: {warning}", hint]
