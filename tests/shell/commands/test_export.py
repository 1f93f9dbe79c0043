"""The command export."""

import json
from pathlib import Path

import pytest

from kraftops.errors import SourceError
from kraftops.fileio.output import OutputError
from tests.helpers.logs.metadata_logs import write_log
from tests.helpers.logs.random_logs import LogBatch, new_record, uuid
from tests.helpers.tools.shell_session import LOG, Shell

ORDERS = "/image/topics/byName/orders"


@pytest.fixture(scope="module")
def shell() -> Shell:
    return Shell(LOG)


def test_export_is_the_tree_as_json(shell: Shell) -> None:
    told = json.loads(shell("export", "/").out)

    assert told["image"]["topics"]["byName"]["orders"]["name"] == "orders"
    assert told["image"]["features"]["metadataVersion"] == "4.3-IV0"
    assert told["image"]["cluster"]["failedReplicas"] == {}
    assert json.loads(shell("export", "/local/version").out) == "1"
    assert json.loads(shell("export", ORDERS, "--format", "json").out)["id"]


def test_export_has_lines_of_paths_and_values(shell: Shell) -> None:
    told = [json.loads(line) for line in shell("export", "--format", "ndjson").lines]

    assert {"path": f"{ORDERS}/name", "value": "orders"} in told
    assert len(told) == len(shell("find", "/", "-type", "f").lines)


def test_export_writes_whole_files(shell: Shell, tmp_path: Path) -> None:
    path = tmp_path / "out.json"

    found = shell("export", "/image", "--output", str(path))

    assert (found.out, found.code) == ("", 0)
    assert path.read_text("utf-8") == shell("export", "/image").out
    assert [one.name for one in tmp_path.iterdir()] == ["out.json"]


def test_failed_export_keeps_the_old_file(tmp_path: Path) -> None:
    topics = [
        new_record("TopicRecord", name="t", topicId=uuid(1)),
        new_record("PartitionRecord", topicId=uuid(1)),
    ]
    folder = write_log(tmp_path / "log", {0: [bytes(LogBatch(0, topics))]})
    shell = Shell(tmp_path / "log")
    path = tmp_path / "out.json"
    path.write_text("before")
    for log in folder.iterdir():
        log.write_bytes(b"")

    with pytest.raises(SourceError, match="has changed since it was read"):
        shell("export", "/image", "--overwrite", "--output", str(path))

    assert path.read_text() == "before"
    assert sorted(one.name for one in tmp_path.iterdir()) == ["log", "out.json"]
    with pytest.raises(OutputError):
        shell("export", "/local", "--output", str(tmp_path / "nope" / "out.json"))


def test_export_of_nothing_is_an_error(shell: Shell, tmp_path: Path) -> None:
    found = shell("export", "/nope", "--output", str(tmp_path / "x"))

    assert (found.err, found.code) == (["export: /nope: no such file or directory. [not-found]"], 1)
    assert list(tmp_path.iterdir()) == []
