"""UUIDs, releases and feature levels are shown as text and JSON."""

import json
from pathlib import Path

from kraftops.uuids import from_text
from tests.helpers.nodes.node_directories import storage


def test_uuid_is_the_same_in_both_forms(tmp_path: Path) -> None:
    text = storage(tmp_path, "random-uuid")
    data = json.loads(storage(tmp_path, "random-uuid", "--format", "json").text)

    assert len(from_text(text.text.strip())) == 16
    assert data["command"] == "random-uuid"
    assert len(from_text(data["uuid"])) == 16


def test_release_has_its_metadata_version_and_features(tmp_path: Path) -> None:
    text = storage(tmp_path, "version-mapping", "-r", "3.9").text
    data = json.loads(storage(tmp_path, "version-mapping", "-r", "3.9", "--format", "json").text)

    assert text.startswith("metadata.version=21 (3.9)\nkraft.version=1\n")
    assert data["metadataVersion"] == {"level": 21, "name": "3.9-IV0"}
    assert data["features"]["kraft.version"] == 1


def test_dependencies_before_an_unknown_feature_are_shown(tmp_path: Path) -> None:
    feature = "eligible.leader.replicas.version=1"

    done = storage(tmp_path, "feature-dependencies", "-f", feature, "-f", "unknown=1")

    assert done.code == 1
    assert done.text == f"{feature} requires:\n    metadata.version=23 (4.0-IV1)\n"
    assert "Unknown feature: unknown" in done.err


def test_dependencies_are_a_list_in_json(tmp_path: Path) -> None:
    done = storage(tmp_path, "feature-dependencies", "-f", "group.version=1", "--format", "json")

    assert json.loads(done.text)["features"] == [{"feature": "group.version=1", "requires": []}]
