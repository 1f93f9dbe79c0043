"""Directories are plain data for JSON."""

import json
from pathlib import Path

import pytest

from kraftops.answers.fields import json_of
from kraftops.storage.config.server_config import load_config
from kraftops.storage.logdirs.describe import DIRECTORY
from kraftops.storage.logdirs.directories import read_directories
from tests.helpers.nodes.node_directories import DYNAMIC, format_node, make_node


def test_unformatted_directory_has_null_for_unknown_values(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(make_node(tmp_path / "node", DYNAMIC))

    data = json_of(DIRECTORY, read_directories(load_config("server.properties"))[0])

    assert (data["exists"], data["isFormatted"]) == (False, False)
    assert data["clusterId"] is data["user"] is data["bootstrap"] is data["metadataLog"] is None


def test_formatted_directory_has_bootstrap_and_voters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = make_node(tmp_path / "node", DYNAMIC)
    assert format_node(node, "--standalone").code == 0
    monkeypatch.chdir(node)

    data = json.loads(
        json.dumps(json_of(DIRECTORY, read_directories(load_config("server.properties"))[0]))
    )

    assert data["bootstrap"]["isUsable"]
    assert data["metadataLog"]["kraftVersion"] == 1
    assert data["metadataLog"]["voters"][0].startswith("1@localhost:29093:")
