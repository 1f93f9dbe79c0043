"""Formats and rewrites are plain data for JSON."""

from pathlib import Path

import pytest

from kraftops.answers.fields import json_of
from kraftops.storage.config.server_config import load_config
from kraftops.storage.format.describe import (
    FORMAT,
    REWRITE,
    FormatOutcome,
    RewriteOutcome,
    new_entries,
)
from kraftops.storage.format.rewrite import RewriteRequest, plan_rewrite
from tests.helpers.nodes.formats import NODE, plan, run
from tests.helpers.nodes.node_directories import OTHER_ID, STATIC, make_node

pytestmark = pytest.mark.usefixtures("working_directory", "umask")


def test_planned_directories_have_the_files_to_create() -> None:
    make_node(NODE, STATIC)

    data = json_of(FORMAT.fields, FormatOutcome(plan(), [], is_dry=True))

    directories = data["directories"]
    assert isinstance(directories, list)
    assert data["changed"]
    assert [each["action"] for each in directories] == ["format", "format"]
    assert directories[1]["creates"][0] == {"path": "d2", "bytes": None, "mode": "0755"}


def test_formatted_directories_are_kept() -> None:
    make_node(NODE, STATIC)
    run()

    data = json_of(FORMAT.fields, FormatOutcome(plan(ignore_formatted=True), [], is_dry=False))

    directories = data["directories"]
    assert isinstance(directories, list)
    assert [each["action"] for each in directories] == ["keep", "keep"]
    assert (data["changed"], data["bootstrap"]) == (False, None)


def test_directory_of_two_targets_is_created_once() -> None:
    make_node(NODE, STATIC, log_dirs="new/d1,new/d2")

    entries = [[entry.path for entry in each] for each in new_entries(plan().targets)]

    assert entries[0][:2] == ["new", "new/d1"]
    assert entries[1][0] == "new/d2"
    assert Path("new").exists() is False


def test_rewrite_has_both_values_of_a_key() -> None:
    make_node(NODE, STATIC)
    run()
    rewrites = plan_rewrite(load_config("server.properties"), RewriteRequest(cluster_id=OTHER_ID))

    data = json_of(REWRITE.fields, RewriteOutcome(rewrites, is_dry=True))

    directories = data["directories"]
    assert isinstance(directories, list)
    assert (data["dryRun"], data["changed"]) == (True, False)
    assert directories[0]["changes"][0]["key"] == "cluster.id"
    assert directories[0]["changes"][0]["after"] == OTHER_ID
