"""The command log."""

import json
from pathlib import Path

import pytest

from kraftops.dump.scan.rows import scan
from kraftops.errors import UsageError
from kraftops.query.filters import Filter
from kraftops.query.query import Query
from kraftops.query.row import Row
from kraftops.query.row_lines import row_json
from kraftops.query.where import with_conditions
from kraftops.records.decoders import decoder_named
from kraftops_shell.output.outlets import StandardOutput, connect
from tests.helpers.logs.metadata_logs import write_log
from tests.helpers.logs.random_logs import LogBatch, new_record
from tests.helpers.tools.memory_console import Streams
from tests.helpers.tools.shell_session import LOG, NODE, NOW, SNAPSHOT, Answer, Shell

ORDERS = "/image/topics/byName/orders"


@pytest.fixture(scope="module")
def shell() -> Shell:
    return Shell(LOG)


def rows(*conditions: str) -> list[Row]:
    """Return the rows of a dump of the log."""
    found = with_conditions(Filter(), conditions, [decoder_named("metadata")], NOW)
    return list(scan(LOG, Query(decoder="metadata", filter=found)))


def offsets(found: Answer) -> list[int]:
    """Return the offsets of a table."""
    return [int(line.split()[0]) for line in found.lines[1:]]


def test_newest_records_come_last(shell: Shell) -> None:
    found = shell("log", "--limit", "3")

    changes = [row.offset for row in rows() if row.type != "NO_OP_RECORD"]
    assert offsets(found) == changes[-3:]
    assert found.lines[0].split() == ["offset", "timestamp", "type", "about", "value"]
    assert found.err == [
        f"log: {len(changes) - 3} earlier records are not shown; --limit and --since choose others"
    ]
    assert found.code == 0


def test_records_of_idle_time_are_shown_with_all(shell: Shell) -> None:
    found = shell("log", "--all", "--limit", "1000")

    assert offsets(found) == [row.offset for row in rows()]
    assert found.err == []


def test_json_is_that_of_a_dump(shell: Shell) -> None:
    assert shell("log", "--all", "--format", "json").out == "".join(map(row_json, rows()))


def test_columns_can_be_chosen(shell: Shell) -> None:
    told = shell("log", "--format", "json", "--columns", "type,offset", "--limit", "1").lines

    last = [row for row in rows() if row.type != "NO_OP_RECORD"][-1]
    assert told == [json.dumps({"type": last.type, "offset": last.offset}, separators=(",", ":"))]
    csv = shell("log", "--format", "csv", "--columns", "offset,type,crcValid", "--limit", "1").lines
    assert csv == ["offset,type,crcValid", f"{last.offset},{last.type},true"]
    table = shell("log", "--columns", "about", f"{ORDERS}/0", "--limit", "1").lines
    assert table == ["about", "orders-0"]


@pytest.mark.parametrize(
    "condition",
    [
        "value.leader = -1",
        "type = 'CONFIG_RECORD' and value.name ~ 'retention'",
        "1 in value.isr and len(value.isr) = 1",
        "offset >= 100 and not control",
        "timestamp > '2026-11-21T10:48:00Z'",
    ],
)
def test_conditions_are_those_of_a_dump(shell: Shell, condition: str) -> None:
    expected = [row.offset for row in rows(condition) if row.type != "NO_OP_RECORD"]

    found = shell("log", "--where", condition, "--limit", "1000")

    assert offsets(found) == expected
    assert expected


def test_wrong_condition_names_the_nearest_column(shell: Shell) -> None:
    with pytest.raises(UsageError, match="no column 'ofset'") as caught:
        shell("log", "--where", "ofset = 3")

    assert caught.value.hint == "perhaps offset"
    with pytest.raises(UsageError, match="no column 'valeu'"):
        shell("log", "--columns", "valeu")


def test_path_narrows_to_the_records_of_its_history(shell: Shell) -> None:
    history = shell("history-of", f"{ORDERS}/0").lines

    found = shell("log", f"{ORDERS}/0")

    made = 71  # the topic
    assert offsets(found) == [made, *(int(line.split()[0]) for line in history)]
    both = {*offsets(found), *offsets(shell("log", f"{ORDERS}/1"))}
    assert set(offsets(shell("log", f"{ORDERS}/{{0,1}}"))) == both
    quorum = shell("log", "/image/quorum/leader", "--columns", "offset,type")
    assert quorum.lines[1].split() == ["0", "LEADER_CHANGE"]


def test_directory_has_the_records_about_all_below(shell: Shell) -> None:
    def types(path: str) -> set[str]:
        found = shell("log", path, "--columns", "type", "--limit", "1000", "--all")
        return set(found.lines[1:])

    about_topics = {"TOPIC_RECORD", "PARTITION_RECORD", "PARTITION_CHANGE_RECORD"}
    assert types("/image/topics") == types("/image/topics/byName") >= about_topics
    assert types("/image/configs") == {"CONFIG_RECORD", "REMOVE_TOPIC_RECORD"}
    assert types("/image/cluster") >= {"REGISTER_BROKER_RECORD", "REGISTER_CONTROLLER_RECORD"}
    assert types("/") == types("/image") == {row.type for row in rows()}
    assert (
        shell("log", "/image/topics", "--format", "json").out
        != shell("log", "/image", "--format", "json").out
    )


def test_directory_of_partitions_in_a_state_has_their_records(shell: Shell) -> None:
    state = "/image/topics/byState/leaderless/orders"
    numbers = [path.rpartition("/")[2] for path in shell("find", state).lines[1:]]

    every = [set(offsets(shell("log", f"{state}/{number}"))) for number in numbers]

    assert set(offsets(shell("log", state, "--limit", "1000"))) == set.union(*every)
    assert len(every) > 3
    with pytest.raises(UsageError, match="no history of its own"):
        shell("log", "/local/version")


def test_deleted_node_is_found_by_its_name(shell: Shell) -> None:
    found = shell("log", "/image/scram/SCRAM-SHA-256/zed", "--columns", "type,about")

    assert [line.split() for line in found.lines[1:]] == [
        ["USER_SCRAM_CREDENTIAL_RECORD", "user", "zed"],
        ["REMOVE_USER_SCRAM_CREDENTIAL_RECORD", "user", "zed"],
    ]
    nothing = shell("log", "/image/topics/byName/nope")
    assert nothing.err == [
        "log: /image/topics/byName/nope: nothing of it is in the log. [not-found]"
    ]
    assert nothing.code == 1


def test_deleted_topic_has_its_name_in_the_log(shell: Shell) -> None:
    gone = rows("type = 'REMOVE_TOPIC_RECORD'")[0]
    (made,) = rows(f"type = 'TOPIC_RECORD' and topicId = '{gone.topic_id}'")
    name = json.loads(made.value or "")["name"]

    found = shell("log", "--columns", "about", "--since", str(gone.offset), "--limit", "1000")

    assert found.lines[1] == name


def test_log_ends_where_the_state_does() -> None:
    assert offsets(Shell(LOG, at_offset=200)("log", "--limit", "1", "--all")) == [200]
    assert offsets(Shell(LOG, at_offset=200)("log", f"{ORDERS}/0")) == [71, 75, 121, 145]
    assert offsets(Shell(NODE)("log", f"{ORDERS}/0"))[0] == 71


def test_span_is_of_offsets_or_times(shell: Shell) -> None:
    span = ("--since", "120", "--until", "130", "--all")
    assert offsets(shell("log", *span)) == list(range(120, 131))
    times = {row.offset: row.timestamp or 0 for row in rows()}
    ago = f"{NOW - times[350]}ms"
    later = [offset for offset, time in times.items() if time >= times[350]]
    earlier = [offset for offset, time in times.items() if time < times[350]]
    assert offsets(shell("log", "--since", ago, "--all", "--limit", "999")) == later
    assert offsets(shell("log", "--until", ago, "--all", "--limit", "999")) == earlier
    assert 350 in later
    with pytest.raises(UsageError, match="'soon' is not a valid time"):
        shell("log", "--since", "soon")


@pytest.mark.parametrize(("is_terminal", "shown"), [(True, "no records\n"), (False, "")])
def test_nothing_is_said_on_a_terminal(is_terminal: bool, shown: str) -> None:
    shell = Shell(LOG)
    streams = Streams(is_terminal=is_terminal, environment={"TERM": "xterm"})
    connect(shell.session, streams.console, StandardOutput(streams.console))

    shell("log", "--where", "offset < 0")

    assert streams.out.getvalue() == shown


def test_secrets_are_redacted(shell: Shell) -> None:
    found = shell("log", "--where", "type ~ 'SCRAM'", "--format", "json").out

    assert "<redacted>" in found


def test_snapshot_has_no_log() -> None:
    with pytest.raises(UsageError, match="a snapshot alone"):
        Shell(SNAPSHOT)("log")


def test_flag_of_another_format_is_refused(shell: Shell) -> None:
    found = shell("log", "--format", "json", "--csv-safe")

    assert found.err == ["--csv-safe needs --format csv [usage]"]


def test_record_that_repeats_a_value_is_shown(tmp_path: Path) -> None:
    config = new_record("ConfigRecord", resourceType=4, resourceName="1", name="k", value="v")
    write_log(tmp_path, {0: [bytes(LogBatch(0, [config, config]))]})

    found = Shell(tmp_path)("log", "/image/configs/BROKER:1/k", "--columns", "offset,about")

    assert [line.split() for line in found.lines[1:]] == [
        ["0", "BROKER:1", "k"],
        ["1", "BROKER:1", "k"],
    ]


def test_span_goes_over_segments(tmp_path: Path) -> None:
    records = [
        new_record("ConfigRecord", resourceType=4, resourceName="1", name="k", value=str(number))
        for number in range(9)
    ]
    segments = {base: [bytes(LogBatch(base, records[base : base + 3]))] for base in (0, 3, 6)}
    write_log(tmp_path, segments)
    shell = Shell(tmp_path)

    for first in range(9):
        for last in range(first, 9):
            found = shell("log", "--since", str(first), "--until", str(last))
            assert offsets(found) == list(range(first, last + 1))
            assert offsets(shell("log", "--until", str(last), "--limit", "2")) == [
                offset for offset in (last - 1, last) if offset >= 0
            ]


def test_codes_have_names(shell: Shell) -> None:
    where = "type in ('CONFIG_RECORD', 'ACCESS_CONTROL_ENTRY_RECORD')"
    values = [
        json.loads(line)["value"]
        for line in shell("log", "--where", where, "--format", "json").lines
    ]
    table = shell("log", "--columns", "value", "--where", where)

    decoded = [json.loads(line) for line in table.lines[1:]]
    types = {
        2: "TOPIC",
        3: "GROUP",
        4: "CLUSTER",
        5: "TRANSACTIONAL_ID",
        6: "DELEGATION_TOKEN",
        7: "USER",
    }
    configs = {2: "TOPIC", 4: "BROKER", 16: "CLIENT_METRICS", 32: "GROUP"}
    expected = [(configs if "value" in value else types)[value["resourceType"]] for value in values]
    assert [value["resourceType"] for value in decoded] == expected
    assert {"ALLOW", "DENY"} >= {one["permissionType"] for one in decoded if "host" in one} != set()


@pytest.mark.parametrize(
    ("condition", "others"),
    [
        ("about = 'orders-0'", "type is not null"),
        ("about = 'orders-0' and value.leader = -1", "value.leader = -1"),
        ("about ~ '^broker' or type = 'CONFIG_RECORD'", "type is not null"),
    ],
)
def test_conditions_can_be_on_what_a_record_is_about(
    shell: Shell, condition: str, others: str
) -> None:
    table = shell("log", "--limit", "5000", "--columns", "offset,type,about", "--where", others)
    lines = [line.split(maxsplit=2) for line in table.lines[1:]]

    def holds(type_name: str, about: str) -> bool:
        if "orders-0" in condition:
            return about == "orders-0"
        return about.startswith("broker") or type_name == "CONFIG_RECORD"

    expected = [int(line[0]) for line in lines if holds(line[1], "".join(line[2:]))]
    assert offsets(shell("log", "--limit", "5000", "--where", condition)) == expected
    found = shell("log", "--format", "json", "--where", condition).lines
    assert [json.loads(line)["offset"] for line in found] == expected


def test_about_is_no_column_of_a_dump(shell: Shell) -> None:
    with pytest.raises(UsageError, match="about is a column of tables"):
        shell("log", "--columns", "about", "--format", "csv")
    with pytest.raises(UsageError, match="there is no column 'abut'"):
        shell("log", "--where", "abut = 'x'")
