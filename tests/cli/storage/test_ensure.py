"""`format --ensure` says by its exit code and JSON whether it did something, and what it could not."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.nodes.node_directories import (
    CLUSTER_ID,
    DYNAMIC,
    META,
    OTHER_ID,
    entries,
    format_node,
    locked,
    make_node,
)
from tests.helpers.tools.console import Done

SCRAM = "SCRAM-SHA-256=[name=alice,password=in-wonderland]"


@pytest.fixture
def node(tmp_path: Path) -> Path:
    """A node with two directories that are not formatted."""
    return make_node(tmp_path / "node")


def ensure(node: Path, *args: str, cluster_id: str = CLUSTER_ID) -> Done:
    return format_node(node, "--ensure", "--format", "json", *args, cluster_id=cluster_id)


def told(done: Done) -> dict[str, Any]:
    assert done.code == 0, done.err
    found: dict[str, Any] = json.loads(done.text)
    return found


def actions(done: Done) -> dict[str, str]:
    return {one["path"]: one["action"] for one in told(done)["directories"]}


def contents(node: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in node.rglob("*") if path.is_file()}


def test_new_directories_are_formatted(node: Path) -> None:
    done = ensure(node)

    assert told(done)["changed"] is True
    assert actions(done) == {"d1": "formatted", "d2": "formatted"}
    assert done.err == ""


def test_formatted_directories_are_left_alone(node: Path) -> None:
    ensure(node)
    before = contents(node)

    done = ensure(node)

    assert told(done)["changed"] is False
    assert actions(done) == {"d1": "keep", "d2": "keep"}
    assert contents(node) == before
    assert done.err == ""


def test_only_empty_directories_are_formatted(node: Path) -> None:
    ensure(node)
    make_node(node, log_dirs="d1,d2,d3")
    before = contents(node)

    done = ensure(node)

    assert told(done)["changed"] is True
    assert actions(done) == {"d1": "keep", "d2": "keep", "d3": "formatted"}
    assert contents(node).items() >= before.items()


def test_dry_run_changes_nothing_and_shows_the_changes(node: Path) -> None:
    before = entries(node)

    done = ensure(node, "--dry-run")

    assert told(done)["changed"] is True
    assert actions(done) == {"d1": "format", "d2": "format"}
    assert entries(node) == before


@pytest.mark.parametrize(
    ("change", "message"),
    [
        pytest.param(
            ("cluster.id", OTHER_ID),
            f"Invalid cluster.id in: d2/meta.properties. Expected {CLUSTER_ID}, but read {OTHER_ID}",
            id="cluster",
        ),
        pytest.param(
            ("node.id", "7"),
            "Stored node id 7 doesn't match previous node id 1 in d2/meta.properties. ",
            id="node",
        ),
        pytest.param(
            ("directory.id", "AAAAAAAAAAAAAAAAAAAAAQ"),
            "Invalid reserved directory ID AAAAAAAAAAAAAAAAAAAAAQ found in d2",
            id="directory",
        ),
        pytest.param(
            ("version", "2"),
            "cannot read a log directory: d2/meta.properties: "
            "Unknown meta.properties version number 2",
            id="unreadable",
        ),
    ],
)
def test_difference_is_refused_and_nothing_written(
    node: Path, change: tuple[str, str], message: str
) -> None:
    make_node(node, log_dirs="d1,d2,d3")
    ensure(node)
    (node / "d3" / META).unlink()
    path = node / "d2" / META
    key, value = change
    lines = [line for line in path.read_text().splitlines() if not line.startswith(key)]
    path.write_text("\n".join([*lines, f"{key}={value}\n"]))
    before = contents(node)

    done = ensure(node)

    assert done.code == 1
    assert json.loads(done.text)["message"].startswith(message)
    assert done.errors[0].startswith(f"kafka-storage: {message}")
    assert done.errors[1].startswith("hint: ")
    assert contents(node) == before


def test_other_quorum_is_refused(node: Path) -> None:
    ensure(node)
    make_node(node, DYNAMIC)

    done = ensure(node, "--standalone")

    assert (done.code, json.loads(done.text)["error"]) == (3, "differs")
    assert done.errors[0].startswith(
        "kafka-storage: d1 was formatted with no voters of its own "
        "(a static quorum, or --no-initial-controllers), asked is the voters 1@localhost:29093:"
    )


def test_flags_without_effect_are_named(node: Path) -> None:
    ensure(node)

    done = ensure(node, "-S", SCRAM, "-f", "group.version=0", "-r", "4.0")

    assert told(done)["changed"] is False
    assert done.errors == [
        f"kafka-storage: warning: {flag} has no effect: d1 is formatted already"
        for flag in ("--release-version", "--feature", "--add-scram, --add-scram-file")
    ]


def test_text_equals_kafkas_tool(node: Path) -> None:
    first = format_node(node, "--ensure")
    second = format_node(node, "--ensure")

    assert [line.split()[0] for line in first.text.splitlines()] == [
        "Bootstrap",
        "Formatting",
        "Formatting",
    ]
    assert (second.code, second.text) == (0, "All of the log directories are already formatted.\n")


@pytest.mark.parametrize("flag", ["--ensure", "-g"])
def test_formatted_directories_of_a_running_server_are_left_alone(node: Path, flag: str) -> None:
    """Entrypoints and playbooks run beside servers, too."""
    ensure(node)
    with locked(node / "d1"):
        done = format_node(node, flag)

    assert done.code == 0
    assert done.text == "All of the log directories are already formatted.\n"


def test_lost_metadata_beside_partitions_is_no_new_quorum(tmp_path: Path) -> None:
    node = make_node(tmp_path / "node", DYNAMIC)
    ensure(node, "-s")
    (node / "d2" / "orders-0").mkdir()
    (node / "d2" / "orders-0" / "00000000000000000000.log").write_bytes(b"data")
    shutil.rmtree(node / "d1")

    done = ensure(node, "-s")
    forced = ensure(node, "-s", "--force")

    assert (done.code, json.loads(done.text)["error"]) == (3, "metadata-lost")
    assert [
        (finding["topic"], finding["partition"]) for finding in json.loads(done.text)["lost"]
    ] == [("orders", 0)]
    assert (
        "d2 holds partitions, but the metadata directory d1 is empty: a new quorum sets them "
        "aside: orders-0 (0 records, 4 bytes)"
    ) in done.err
    assert "warning: d2 holds partitions, but the metadata directory d1 is empty" in forced.err
    assert told(forced)["changed"] is True
