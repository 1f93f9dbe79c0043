"""The command history-of."""

import json
from pathlib import Path

import pytest

from kraftops.errors import UsageError
from tests.helpers.logs.metadata_logs import write_log
from tests.helpers.logs.random_logs import LogBatch, new_record
from tests.helpers.tools.corpus import DATA
from tests.helpers.tools.shell_session import LOG, NODE, SNAPSHOT, Shell

ORDERS = "/image/topics/byName/orders"


@pytest.fixture(scope="module")
def shell() -> Shell:
    return Shell(LOG)


def test_history_has_a_line_for_each_change(shell: Shell) -> None:
    found = shell("history-of", f"{ORDERS}/0")

    assert [line.split()[0] for line in found.lines] == ["75", "121", "145", "350", "555"]
    assert found.lines[0].startswith(
        f'75  2026-11-21T10:47:56.840Z  PARTITION_RECORD  {ORDERS}/0  {{"partitionId":0,'
    )
    assert found.lines[3] == (
        f"350  2026-11-21T10:48:49.846Z  PARTITION_CHANGE_RECORD  {ORDERS}/0  isr [4,1] → [1]; "
        "eligibleLeaderReplicas [] → [4]; leader 4 → 1; leaderEpoch 0 → 1; partitionEpoch 2 → 3"
    )


def test_deleted_node_has_a_history(shell: Shell) -> None:
    found = shell("history-of", "/image/scram/SCRAM-SHA-256/zed")

    assert [line.split()[2] for line in found.lines] == [
        "USER_SCRAM_CREDENTIAL_RECORD",
        "REMOVE_USER_SCRAM_CREDENTIAL_RECORD",
    ]
    assert found.lines[1].endswith("/zed  removed")
    assert shell("history-of", "../image/./scram/SCRAM-SHA-256/zed").out == found.out


def test_history_can_be_json(shell: Shell) -> None:
    told = json.loads(shell("history-of", f"{ORDERS}/0", "--format", "json").out)["changes"]

    assert [one["offset"] for one in told] == [75, 121, 145, 350, 555]
    assert told[3]["fields"][0] == {"field": "isr", "old": [4, 1], "new": [1]}
    assert told[3]["type"] == "PARTITION_CHANGE_RECORD"
    assert told[3]["timestampMs"] == 1795258129846
    assert told[0]["change"] == "added"
    assert told[0]["fields"] is None


def test_history_of_a_pattern_covers_all_matches(shell: Shell) -> None:
    both = shell("history-of", f"{ORDERS}/{{0,1}}").lines

    each = [*shell("history-of", f"{ORDERS}/0").lines, *shell("history-of", f"{ORDERS}/1").lines]
    assert both == sorted(each, key=lambda line: int(line.split()[0]))


@pytest.mark.parametrize("limit", [(), ("--limit", "5")])
def test_history_of_a_pattern_of_directories_is_in_one_order(limit: tuple[str, ...]) -> None:
    """Some of them, as byBroker, have no history of their own."""
    shell = Shell(DATA / "incidents/principals/00000000000000000000.log")

    below = shell("history-of", "/image/*", *limit).lines

    assert below
    assert below == shell("history-of", "/image", *limit).lines


def test_history_of_a_pattern_has_what_is_gone() -> None:
    """A topic was created again; configurations that are not there now have their lines."""
    shell = Shell(DATA / "incidents/three/00000000000000000000.log")
    now = Shell(NODE)

    lines = shell("history-of", "/image/topics/byName/sing*/id").lines
    assert [line.split()[2] for line in lines] == [
        "TOPIC_RECORD",
        "REMOVE_TOPIC_RECORD",
        "TOPIC_RECORD",
    ]
    everything = now("history-of", "/image/configs/*").lines
    assert {line.split()[3] for line in everything} == {
        line.split()[3] for line in now("history-of", "/image/configs").lines
    }


def test_directories_above_have_a_history() -> None:
    for path in ("/image/acls", "/image/scram", "/image/clientQuotas", "/image/features"):
        assert Shell(NODE)("history-of", path).lines, path


def test_history_ends_where_the_state_does() -> None:
    found = Shell(LOG, at_offset=200)("history-of", f"{ORDERS}/0")

    assert [line.split()[0] for line in found.lines] == ["75", "121", "145"]


def test_history_of_a_directory_reads_the_log_and_not_the_snapshot() -> None:
    assert Shell(NODE)("history-of", f"{ORDERS}/0").lines[0].split()[0] == "75"
    assert Shell(SNAPSHOT)("history-of", f"{ORDERS}/0").lines[0].split()[0] == "<=412"


def test_unknown_node_has_no_history(shell: Shell) -> None:
    found = shell("history-of", "/image/topics/byName/nope")

    assert (found.out, found.code) == ("", 1)
    assert found.err == [
        "history-of: /image/topics/byName/nope: nothing of it is in the log. [not-found]"
    ]
    with pytest.raises(UsageError, match="no history of its own"):
        shell("history-of", "/local/version")


@pytest.mark.parametrize(
    ("name", "meant"), [("orders", "TOPIC:orders"), ("TOPIC:order", "TOPIC:orders")]
)
def test_node_that_is_meant_is_named(shell: Shell, name: str, meant: str) -> None:
    (error,) = shell("history-of", f"/image/configs/{name}").err

    assert error.endswith(
        f"/{name}: nothing of it is in the log: did you mean {meant}? [not-found]"
    )


def test_repeated_record_is_a_step_without_fields(tmp_path: Path) -> None:
    config = new_record("ConfigRecord", resourceType=4, resourceName="1", name="k", value="v")
    write_log(tmp_path, {0: [bytes(LogBatch(0, [config, config]))]})

    found = Shell(tmp_path)("history-of", "/image/configs/BROKER:1/k")

    assert found.lines[1].endswith("/image/configs/BROKER:1/k  nothing changed")


def test_the_last_changes_of_a_directory_are_shown(shell: Shell) -> None:
    brokers = shell("history-of", "/image/cluster/brokers").lines
    limited = shell("history-of", "/image/cluster/brokers", "--limit", "3").lines
    everything = shell("history-of", "/image", "--limit", "5")

    assert limited == brokers[-3:]
    assert [int(line.split()[0]) for line in everything.lines] == [578, 579, 580, 581, 582]
    topics = shell("history-of", "/image/topics")
    assert topics.err == ["history-of: these are the last 100 changes: --limit N shows others"]
    assert all(" /image/topics/byName/" in line for line in topics.lines)


def test_a_directory_of_which_nothing_is_in_the_log_is_not_meant_instead() -> None:
    shell = Shell(DATA / "incidents/three")

    assert shell("history-of", "/image/acls").err == [
        "history-of: /image/acls: nothing of it is in the log. [not-found]"
    ]
