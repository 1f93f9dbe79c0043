"""The commands of the tables: flags, forms of output, and errors."""

import json
import shutil
from contextlib import chdir
from pathlib import Path

import pytest

from kraftops.dump.summary.summarise import summarise
from kraftops.errors import UsageError
from kraftops.query.query import Query
from kraftops.views.registry import VIEWS
from kraftops_shell.output.outlets import StandardOutput, connect
from tests.helpers.logs.summaries import as_json
from tests.helpers.project.imports import REPOSITORY
from tests.helpers.project.json_schemas import problems
from tests.helpers.tools.memory_console import Streams
from tests.helpers.tools.shell_session import LOG, NODE, Answer, Shell

OFFSETS = REPOSITORY / "tests/data/dump-4.3.1/in/consumer_offsets"


@pytest.fixture(scope="module")
def shell() -> Shell:
    """A cluster while broker 4 was fenced and 1 led most."""
    return Shell(NODE, at_offset=540)


def column(found: Answer, at: int = 0) -> list[str]:
    """Return a column of a table, without its title."""
    return [line.split()[at] for line in found.lines[1:]]


@pytest.mark.parametrize("name", VIEWS)
def test_table_json_and_csv_have_the_same_rows(shell: Shell, name: str) -> None:
    table, told, csv = shell(name), shell(name, "--format", "json"), shell(name, "--format", "csv")

    answer = json.loads(told.out)
    rows = answer[name]
    assert (answer["command"], answer["formatVersion"]) == (name, 2)
    assert [json.loads(line) for line in shell(name, "--format", "ndjson").lines] == rows
    assert rows, f"add what {name} lists to the node of this test"
    assert len(table.lines) == len(csv.lines) == len(rows) + 1
    assert csv.lines[0].split(",") == [*rows[0]]
    assert set(table.lines[0].split()) < {*rows[0]}
    assert {table.code, told.code, csv.code} == {0}


def test_partitions_of_a_broker(shell: Shell) -> None:
    def chosen(*flags: str) -> list[tuple[str, int]]:
        told = json.loads(shell("partitions", "--format", "json", *flags).out)["partitions"]
        return [(one["topic"], one["partition"]) for one in told]

    every = json.loads(shell("partitions", "--format", "json").out)["partitions"]
    on = [(one["topic"], one["partition"]) for one in every if 1 in one["replicas"]]
    led = [(one["topic"], one["partition"]) for one in every if one["leader"] == 1]
    assert chosen("--broker", "1") == on
    assert chosen("--broker", "1", "--leader") == led != []
    assert chosen("--broker", "1", "--follower") == [one for one in on if one not in led]
    assert chosen("--broker", "1", "--topic", "orders,grow") == [
        one for one in on if one[0] in ("orders", "grow")
    ]


def test_conditions_and_order(shell: Shell) -> None:
    found = shell(
        *("partitions", "--where", "topic = 'orders' and len(isr) < len(replicas)"),
        *("--sort", "-partition", "--columns", "partition,topic", "--limit", "3"),
    )

    assert found.lines[0].split() == ["partition", "topic"]
    numbers = [int(one) for one in column(found)]
    assert len(numbers) == 3
    assert numbers == sorted(numbers, reverse=True)
    assert column(shell("partitions", "--topic", "orders"), 1) == [*map(str, range(12))]


def test_topics_are_in_natural_order(shell: Shell) -> None:
    assert column(shell("topics", "--where", "replication < 2"))[:2] == [
        "Aa",
        "UPPER-Case.and_dots",
    ]


def test_numbers_of_json_are_those_of_the_log(shell: Shell) -> None:
    found = shell("configs", "--format", "json", "--where", "key = 'segment.bytes'")
    (row,) = json.loads(found.out)["configs"]

    assert row == {
        "type": "TOPIC",
        "name": "UPPER-Case.and_dots",
        "key": "segment.bytes",
        "value": "1048576",
        "source": "DYNAMIC_TOPIC_CONFIG",
        "lastOffset": 132,
        "lastTime": 1795258077569,
        "inSnapshot": False,
    }


def test_terminal_shows_some_rows_and_counts_the_others() -> None:
    shell = Shell(LOG)
    streams = Streams(is_terminal=True, environment={"TERM": "xterm"})
    connect(shell.session, streams.console, StandardOutput(streams.console))

    shell("partitions", "--limit", "2", "--columns", "topic,partition")

    assert streams.out.getvalue().splitlines()[-1] == "and 34 more; --limit shows others"


@pytest.mark.parametrize(
    ("words", "message", "hint", "code"),
    [
        (("partitions", "--topic", "ordres"), "there is no topic", "perhaps orders", 4),
        (("partitions", "--broker", "9"), "there is no broker 9", "the registered", 4),
        (("topics", "--where", "replicaton < 3"), "no column", "perhaps replication", 1),
        (("topics", "--sort", "nmae"), "no column", "the columns are", 1),
        (("topics", "--columns", "Topics"), "no column", "perhaps topic", 1),
        (("topics", "--where", "topic <"), "a value is expected", "as leader = 3", 1),
        (("topics", "--where", "topic = 3"), "topic is text", "", 1),
    ],
)
def test_wrong_names_are_refused(
    shell: Shell, words: tuple[str, ...], message: str, hint: str, code: int
) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        shell(*words)

    assert (caught.value.hint or "").startswith(hint)
    assert caught.value.exit_code == code


@pytest.mark.parametrize(
    "words",
    [
        ("topics", "--csv-safe"),
        ("topics", "--format", "xml"),
        ("partitions", "--leader"),
        ("partitions", "--broker", "1", "--leader", "--follower"),
        ("partitions", "--broker", "one"),
        ("topics", "--limit", "-1"),
    ],
)
def test_contradictions_are_refused(shell: Shell, words: tuple[str, ...]) -> None:
    found = shell(*words)

    assert (found.out, found.code, len(found.err)) == ("", 1, 1)


@pytest.mark.parametrize("source", ["", "__cluster_metadata-0"])
def test_groups_are_those_of_offsets_beside_the_log(tmp_path: Path, source: str) -> None:
    shutil.copytree(NODE / "__cluster_metadata-0", tmp_path / "__cluster_metadata-0")
    shutil.copytree(OFFSETS, tmp_path / "__consumer_offsets-7")
    (tmp_path / "__consumer_offsets-9.0123456789abcdef0123456789abcdef-delete").mkdir()
    told = as_json(summarise(str(OFFSETS / "00000000000000000000.log"), Query(decoder="offsets")))

    rows = json.loads(Shell(tmp_path / source)("groups", "--format", "json").out)["groups"]

    found = {group["group"]: group for group in told["groups"]["groups"]}
    assert [problems("metadata-shell-groups", json.dumps(row)) for row in rows] == [[]] * 3
    assert len(found) == 3
    assert {row["group"] for row in rows} == found.keys()
    for row in rows:
        group = found[row["group"]]
        fields = ("kind", "state", "members", "epoch", "protocolType")
        assert [row[name] for name in fields] == [group[name] for name in fields]
        assert row["partitions"] == len(group["offsets"])
        times = [one["committedMs"] for one in group["offsets"]]
        assert row["lastCommit"] == max(times, default=None)


def test_groups_are_beside_a_log_in_the_working_directory(tmp_path: Path) -> None:
    shutil.copytree(NODE / "__cluster_metadata-0", tmp_path / "__cluster_metadata-0")
    shutil.copytree(OFFSETS, tmp_path / "__consumer_offsets-7")

    with chdir(tmp_path):
        shown = Shell(Path("__cluster_metadata-0"))("groups", "--format", "json")

    assert len(json.loads(shown.out)["groups"]) == 3


def test_log_without_groups_says_where_they_are(shell: Shell) -> None:
    with pytest.raises(UsageError, match="the metadata log has no groups") as caught:
        shell("groups")

    assert "dump-log --summary" in (caught.value.hint or "")
    assert caught.value.exit_code == 4


def test_kafkas_form_has_no_views() -> None:
    found = Shell(LOG, kafka=True)("topics")

    assert found.out.startswith("invalid choice: 'topics'")
