"""The command stat."""

import json

import pytest

from tests.helpers.tools.shell_session import LOG, SNAPSHOT, Shell

ORDERS = "/image/topics/byName/orders"


@pytest.fixture(scope="module")
def shell() -> Shell:
    return Shell(LOG)


def test_stat_has_the_record_of_a_leaf(shell: Shell) -> None:
    found = dict(line.split(maxsplit=1) for line in shell("stat", f"{ORDERS}/0").lines)

    assert found["path"] == f"{ORDERS}/0"
    assert found["offset"] == "555"
    assert found["timestamp"] == "2026-11-21T10:50:11.725Z"
    assert found["recordType"] == "PARTITION_CHANGE_RECORD"
    assert found["records"] == "5"
    assert found["source"] == str(LOG)


def test_stat_of_several_nodes_has_blocks(shell: Shell) -> None:
    told = json.loads(shell("stat", "--format", "json", "/image", "/local").out)["nodes"]

    assert [one["path"] for one in told] == ["/image", "/local"]
    assert told[0]["sort"] == "directory"
    assert told[0]["children"] == 14
    assert shell("stat", "/image", "/local").out.count("\n\n") == 1
    assert shell("stat", "/nope").err == ["stat: /nope: no such file or directory. [not-found]"]


def test_stat_of_a_snapshot_has_an_upper_bound() -> None:
    shell = Shell(SNAPSHOT)

    assert "<=412" in shell("stat", ORDERS).out
    assert json.loads(shell("stat", ORDERS, "--format", "ndjson").out)["isInSnapshot"] is True


def test_failure_is_in_the_answer_and_behind_rows_that_are_lines() -> None:
    words = ("stat", "/image", "/nope", "--format")
    message = "stat: /nope: no such file or directory."
    shell = Shell(LOG)

    answer = json.loads(shell(*words, "json").out)
    row, failure = map(json.loads, shell(*words, "ndjson").lines)

    assert [node["path"] for node in answer["nodes"]] == [row["path"]] == ["/image"]
    for told in (answer, failure):
        assert (told["command"], told["error"], told["message"]) == ("stat", "not-found", message)
