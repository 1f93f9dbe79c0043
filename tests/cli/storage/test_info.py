"""`kafka-storage info` shows Kafka's text, or all that is known, and only looks."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.nodes.node_directories import (
    CLUSTER_ID,
    DYNAMIC,
    META,
    PROPERTIES,
    directory_ids,
    entries,
    format_node,
    locked,
    make_node,
    storage,
)
from tests.helpers.tools.console import STORAGE, Done, run_command


@pytest.fixture
def node(tmp_path: Path) -> Path:
    """A lone controller with two formatted directories and a user."""
    node = make_node(tmp_path / "node", DYNAMIC)
    user = "SCRAM-SHA-256=[name=alice,password=hunter2]"
    assert format_node(node, "-s", "-r", "4.0", "-S", user).code == 0
    return node


def info(node: Path, *args: str) -> Done:
    return storage(node, "info", "-c", PROPERTIES, *args)


def told(node: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(info(node, "--format", "json").text)
    return found


def test_text_is_kafkas(node: Path) -> None:
    done = info(node)

    (directory_id, _) = directory_ids(node)
    assert (done.code, done.err) == (0, "")
    assert done.text == (
        "Found log directories:\n  d1\n  d2\n\n"
        f"Found metadata: {{cluster.id={CLUSTER_ID}, directory.id={directory_id}, node.id=1, "
        "version=1}\n\n"
    )


def test_json_has_all_that_is_known(node: Path) -> None:
    (node / "d2/topic-0").mkdir()

    done = told(node)

    (one_id, two_id) = directory_ids(node)
    one, two = done["directories"]
    assert (done["command"], done["formatVersion"]) == ("info", 2)
    assert (done["nodeId"], done["roles"]) == (1, ["broker", "controller"])
    assert (done["problems"], done["findings"]) == ([], [])
    assert (one["path"], one["isMetadata"], one["exists"], one["isFormatted"]) == (
        "d1",
        True,
        True,
        True,
    )
    assert (one["version"], one["clusterId"], one["nodeId"]) == (1, CLUSTER_ID, 1)
    assert (one["directoryId"], two["directoryId"]) == (one_id, two_id)
    assert one["bootstrap"]["features"] == {
        "metadata.version": 25,
        "group.version": 1,
        "transaction.version": 2,
    }
    assert one["bootstrap"]["scramUsers"] == ["alice"]
    assert one["metadataLog"]["voters"] == [f"1@localhost:29093:{one_id}"]
    assert one["metadataLog"]["kraftVersion"] == 1
    assert one["metadataLog"]["snapshots"][0]["endOffset"] == 0
    assert one["metadataLog"]["segments"] == []
    assert one["freeBytes"] <= one["sizeBytes"]
    assert one["mode"] == f"{(node / 'd1').stat().st_mode & 0o7777:04o}"
    assert one["lockHolder"] is None
    assert (two["isMetadata"], two["partitions"], two["metadataLog"]) == (False, 1, None)


def test_json_names_the_holder_of_a_lock(node: Path) -> None:
    with locked(node / "d1") as pid:
        found = told(node)["directories"]
        table = info(node, "--format", "table").text

    name = os.path.basename(sys.executable)
    text = f"process {pid} ({name})"
    assert found[0]["lockHolder"] == {"pid": pid, "command": name, "text": text}
    assert found[1]["lockHolder"] is None
    assert text in table


def test_table_is_for_people(node: Path) -> None:
    done = info(node, "--format", "table")

    assert done.code == 0
    header, one, two = done.text.splitlines()
    assert header.split("  ")[0] == "DIRECTORY"
    for line, directory_id, role in zip(
        (one, two), directory_ids(node), ("meta", "data"), strict=True
    ):
        assert directory_id in line
        assert role in line
        assert CLUSTER_ID in line


@pytest.mark.parametrize("form", ["text", "json", "table"])
def test_every_form_exits_as_kafkas_tool(form: str, node: Path) -> None:
    well = info(node, "--format", form)
    (node / "d2" / META).unlink()
    bad = info(node, "--format", form)
    (node / "d2" / META).write_text("version=9\n")
    worse = info(node, "--format", form)

    assert (well.code, bad.code, worse.code) == (0, 1, 1)
    assert "d2 is not formatted." in bad.text
    assert (
        "Error loading d2/meta.properties: Unknown meta.properties version number 9" in worse.text
    )


def test_what_kafkas_tool_does_not_see_is_on_standard_error(node: Path) -> None:
    """Its exit code stays, and so does its text."""
    text = info(node).text
    (node / "d1/bootstrap.checkpoint").write_bytes(b"x")

    done = info(node)
    found = told(node)["findings"]
    table = info(node, "--format", "table").text

    assert (done.code, done.text) == (0, text)
    assert done.errors[0].startswith("kafka-storage: ")
    assert "bootstrap.checkpoint" in done.errors[0]
    assert done.errors[1].startswith("hint: ")
    assert len(found) == 1
    assert "bootstrap.checkpoint" in table


def test_secrets_are_in_no_form(node: Path) -> None:
    for form in ("text", "json", "table"):
        done = info(node, "--format", form)

        assert "hunter2" not in done.text + done.err
        assert "salt" not in done.text.lower()


@pytest.mark.parametrize("form", ["text", "json", "table"])
def test_nothing_is_made_or_changed(form: str, tmp_path: Path) -> None:
    node = make_node(tmp_path / "node", log_dirs="d1,d2,file")
    (node / "d2").mkdir()
    (node / "file").touch()
    before = entries(node)

    done = info(node, "--format", form)

    assert done.code == 1
    assert entries(node) == before


def test_override_replaces_a_key(node: Path) -> None:
    done = info(node, "--override", "log.dirs=d2,d3")

    assert done.code == 1
    assert done.text.startswith("Found log directory:\n  d2\n\n")
    assert "Found problem:\n  d3 does not exist\n" in done.text


def test_meta_properties_that_is_a_directory_is_an_error(tmp_path: Path) -> None:
    node = make_node(tmp_path / "node")
    (node / "d1" / META).mkdir(parents=True)

    text, table = info(node), info(node, "--format", "table")

    assert (text.code, text.out, len(text.errors)) == (1, b"", 1)
    assert text.errors[0] == "kafka-storage: d1/meta.properties: Is a directory"
    assert table.code == 1
    assert "Is a directory" in table.text


def test_installed_program_does_the_same(node: Path) -> None:
    done = run_command("info", "-c", PROPERTIES, "--format", "json", cwd=node, program=STORAGE)

    assert (done.code, done.err) == (0, "")
    found = json.loads(done.text)["directories"]
    assert [one["directoryId"] for one in found] == directory_ids(node)
