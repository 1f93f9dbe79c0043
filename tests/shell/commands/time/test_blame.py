"""The command blame."""

import json
from pathlib import Path

import pytest

from kraftops.errors import UsageError
from tests.helpers.logs.metadata_logs import write_log
from tests.helpers.logs.random_logs import LogBatch, new_record
from tests.helpers.project.json_schemas import problems
from tests.helpers.tools.shell_session import LOG, SNAPSHOT, Shell

PARTITION = "/image/topics/byName/orders/0"


@pytest.fixture(scope="module")
def shell() -> Shell:
    return Shell(LOG)


def test_each_field_has_its_last_change(shell: Shell) -> None:
    lines = shell("blame", PARTITION).lines

    found = {line.split()[5]: (line.split()[0], line.split()[4]) for line in lines}
    assert found["replicas"] == ("75", "PARTITION_RECORD")
    assert found["directories"] == ("145", "PARTITION_CHANGE_RECORD")
    assert found["leader"] == ("555", "PARTITION_CHANGE_RECORD")
    assert lines[0].startswith("75  2026-11-21T10:47:56.840Z   epoch 1  ")


def test_the_fields_agree_with_the_history(shell: Shell) -> None:
    text = shell("blame", PARTITION, "--format", "json").out
    assert problems("metadata-shell-blame", text) == []
    told = json.loads(text)["fields"]
    steps = json.loads(shell("history-of", PARTITION, "--format", "json").out)["changes"]

    for one in told:
        values = [(step["offset"], step["new"][one["field"]]) for step in steps]
        last = max(
            offset
            for at, (offset, value) in enumerate(values)
            if not at or values[at - 1][1] != value
        )
        assert (one["offset"], one["value"]) == (last, values[-1][1])


def test_a_value_without_fields_has_one_line(shell: Shell) -> None:
    (line,) = shell("blame", "/image/configs/TOPIC:Aa/retention.ms").lines

    assert " CONFIG_RECORD " in line
    assert line.endswith('"1007"')


def test_a_field_that_came_back_counts_from_then(tmp_path: Path) -> None:
    values = ("1", "2", "1")
    batches = [
        bytes(
            LogBatch(
                at,
                [new_record("ConfigRecord", resourceType=4, resourceName="1", name="k", value=one)],
            )
        )
        for at, one in enumerate(values)
    ]
    write_log(tmp_path, {0: batches})

    (line,) = Shell(tmp_path)("blame", "/image/configs/BROKER:1/k").lines

    assert line.startswith("2  ")


def test_what_only_a_snapshot_has_changed_before_its_end() -> None:
    assert Shell(SNAPSHOT)("blame", PARTITION).lines[0].startswith("<=412  ")


def test_other_nodes_are_refused(shell: Shell) -> None:
    assert shell("blame", "/image").err == ["blame: /image: Is a directory [usage]"]
    assert shell("blame", "/nope").code == 1
    with pytest.raises(UsageError, match="no history of its own"):
        shell("blame", "/local/version")
