"""The filters of `kafka-dump-log` on the command line."""

import json
import os
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from kraftops.log.batch import Record
from kraftops.query.conditions.parser import parse_condition
from kraftops.uuids import to_text
from tests.helpers.engine.random_conditions import truth
from tests.helpers.logs.corpus_rows import logs_of, parsed
from tests.helpers.logs.metadata_logs import no_ops, records_batch, snapshot_bytes, write_log
from tests.helpers.logs.segments import IN, patched
from tests.helpers.logs.written import batch_bytes
from tests.helpers.tools.console import Done, run_command, run_here

LOG_NAME = "00000000000000000000.log"
META = "--cluster-metadata-decoder"
FIRST, SECOND, OTHER = (bytes([number]) * 16 for number in (1, 2, 3))


def topic(name: str, identity: bytes) -> tuple[str, dict[str, Any]]:
    return "TopicRecord", {"name": name, "topicId": identity}


def partition(identity: bytes) -> tuple[str, dict[str, Any]]:
    return "PartitionRecord", {"topicId": identity, "partitionId": 0, "replicas": [1], "isr": [1]}


def removal(identity: bytes) -> tuple[str, dict[str, Any]]:
    return "RemoveTopicRecord", {"topicId": identity}


def config(topic_name: str) -> tuple[str, dict[str, Any]]:
    data = {"resourceType": 2, "resourceName": topic_name, "name": "retention.ms", "value": "1"}
    return "ConfigRecord", data


@pytest.fixture
def metadata(tmp_path: Path) -> Path:
    """The log of a cluster in which the topic `t` was deleted and created again."""
    return write_log(
        tmp_path,
        {
            0: [records_batch(0, topic("t", FIRST), partition(FIRST), topic("other", OTHER))],
            3: [records_batch(3, partition(OTHER), config("t"), removal(FIRST), config("other"))],
            7: [records_batch(7, topic("t", SECOND), partition(SECOND), removal(OTHER))],
        },
    )


def offsets(*arguments: str, **where: Any) -> list[int]:
    done = run_here(*arguments, "--format", "json", **where)
    clocks = [line for line in done.errors if line.endswith(", by the clock of this host")]
    assert (done.code, done.errors) == (0, clocks), done.err
    return [row["offset"] for row in parsed(done.text)]


# Topics


def test_topic_by_name_is_found_under_every_id_that_it_had(metadata: Path) -> None:
    assert offsets(str(metadata), "--topic", "t") == [0, 1, 4, 5, 7, 8]


def test_topic_by_id(metadata: Path) -> None:
    assert offsets(str(metadata), "--topic", to_text(FIRST)) == [0, 1, 5]
    assert offsets(str(metadata), f"--topic={to_text(SECOND)}") == [7, 8]


def test_of_several_topics_any_will_do(metadata: Path) -> None:
    assert offsets(str(metadata), "--topic", "t", "--topic", "other") == list(range(10))
    assert offsets(str(metadata), "--topic", "other", "--type", "config") == [6]


@pytest.fixture
def coordinator(tmp_path: Path) -> Path:
    """The directory of a partition of `__consumer_offsets`."""
    return Path(shutil.copytree(IN / "consumer_offsets", tmp_path / "__consumer_offsets-0"))


@pytest.mark.parametrize("options", [[], ["--limit", "1"], ["--summary"], ["--format", "csv"]])
@pytest.mark.parametrize("name", ["--topic=nosuch", "--group=nosuch"])
def test_name_that_no_log_knows_is_an_error(
    coordinator: Path, name: str, options: list[str]
) -> None:
    done = run_here(name, *options, str(coordinator))

    kind = name[2:7]
    assert (done.code, done.text) == (4, "")
    assert done.errors == [f"kafka-dump-log: none of these logs knows a {kind} nosuch [not-found]"]


def test_name_that_no_log_knows_is_an_object_in_json(metadata: Path) -> None:
    done = run_here("--topic", "nosuch", "--topic", "none", "--format", "json", str(metadata))

    assert (done.code, json.loads(done.text)["error"]) == (4, "not-found")
    assert done.errors == [
        "kafka-dump-log: none of these logs knows a topic none, nosuch [not-found]"
    ]


@pytest.mark.parametrize("options", [[], ["--check"]])
@pytest.mark.parametrize("name", ["--topic=nosuch", "--group=nosuch"])
def test_name_that_no_log_knows_is_a_note_in_kafkas_form(
    coordinator: Path, name: str, options: list[str]
) -> None:
    path = str(coordinator / LOG_NAME)

    done = run_here(name, "--offsets-decoder", *options, "--files", path)

    assert (done.code, len(done.text.splitlines())) == (0, 2)
    kind = name[2:7]
    assert done.errors == [f"kafka-dump-log: note: none of these logs knows a {kind} nosuch"]


@pytest.mark.parametrize("name", ["--topic=a.none", "--group=a.newg"])
def test_known_name_without_chosen_records_is_no_error(coordinator: Path, name: str) -> None:
    """Also of several names, of which one is known."""
    given = [name, f"{name[:8]}nosuch", "--offset", "900000..", "--format", "csv"]

    done = run_here(*given, str(coordinator))

    assert (done.code, done.errors, len(done.text.splitlines())) == (0, [], 1)


def test_id_that_a_log_knows_is_no_error(metadata: Path) -> None:
    assert offsets(str(metadata), "--topic", to_text(SECOND), "--type", "noop") == []
    assert run_here("--topic", "A" * 22, str(metadata)).code == 4


def test_damage_leaves_open_whether_a_log_knows_a_name(coordinator: Path) -> None:
    path = coordinator / LOG_NAME
    path.write_bytes(patched(path.read_bytes(), 70, b"?"))

    done = run_here("--group", "nosuch", "--format", "json", str(coordinator))

    assert done.code == 2
    assert "knows" not in done.err


def test_unreadable_partition_leaves_open_whether_a_log_knows_a_name(
    coordinator: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = coordinator.with_name("__consumer_offsets-1")
    other.mkdir()
    listdir = os.listdir

    def list_but_one(path: str) -> list[str]:
        if path == str(other):
            raise PermissionError(13, "Permission denied", path)
        return listdir(path)

    monkeypatch.setattr(os, "listdir", list_but_one)

    done = run_here("--group", "nosuch", "--format", "json", str(coordinator.parent))

    assert done.code == 1
    assert "Permission denied" in done.err
    assert "knows" not in done.err


def test_log_of_an_empty_topic_is_known(tmp_path: Path) -> None:
    path = tmp_path / "orders-0" / LOG_NAME
    path.parent.mkdir()
    path.touch()

    for name in (str(path), str(path.parent)):
        done = run_here("--topic", "orders", "--format", "json", name)
        assert (done.code, done.text, done.errors) == (0, "", [])


def test_name_of_a_topic_is_looked_up_in_the_other_segments_too(metadata: Path) -> None:
    """Also with an offset filter that begins after its creation."""
    assert offsets(str(metadata), "--topic", "t", "--offset", "5..") == [5, 7, 8]


def test_name_of_a_topic_is_looked_up_in_the_snapshot(tmp_path: Path) -> None:
    folder = write_log(
        tmp_path,
        {5: [records_batch(5, partition(FIRST), partition(OTHER))]},
        {(5, 1): snapshot_bytes(records_batch(0, topic("t", FIRST)))},
    )

    rows = parsed(run_here(str(folder), "--topic", "t", "--format", "json").text)

    assert [row["type"] for row in rows] == ["TOPIC_RECORD", "PARTITION_RECORD"]


def test_name_of_a_topic_cannot_be_looked_up_in_standard_input(metadata: Path) -> None:
    data = b"".join(path.read_bytes() for path in sorted(metadata.iterdir()))
    given = ["--files", "-", META, "--format", "json"]

    by_name = run_command(*given, "--topic", "t", stdin=data)
    by_id = run_command(*given, "--topic", to_text(FIRST), stdin=data)

    assert (by_name.code, json.loads(by_name.out)["error"]) == (1, "usage")
    assert "topics cannot be looked up in standard input" in by_name.errors[0]
    assert [row["offset"] for row in parsed(by_id.text)] == [0, 1, 5]


def test_topic_of_committed_offsets() -> None:
    path = str(IN / "consumer_offsets" / LOG_NAME)
    every = parsed(run_here("--files", path, "--offsets-decoder", "--format", "json").text)

    found = offsets(
        "--files", path, "--offsets-decoder", "--topic", "a.none", "--type", "offsetcommit"
    )

    assert found
    assert found == [
        row["offset"]
        for row in every
        if row["type"] == "OFFSET_COMMIT" and row["key"]["topic"] == "a.none"
    ]


def test_topic_of_transactions_and_of_remote_segments() -> None:
    transactions = IN / "transaction_state" / LOG_NAME
    remote = IN / "craft/rlmm" / LOG_NAME

    assert offsets("--files", str(transactions), "--transaction-log-decoder", "--topic", "a.txn")
    assert offsets("--files", str(remote), "--remote-log-metadata-decoder", "--topic", "tiered")


# Keys


def test_key_of_a_group() -> None:
    path = str(IN / "consumer_offsets" / LOG_NAME)
    every = parsed(run_here("--files", path, "--offsets-decoder", "--format", "json").text)

    found = offsets("--files", path, "--offsets-decoder", "--key", "a.classic")

    assert found == [row["offset"] for row in every if row["key"].get("group") == "a.classic"]
    assert 0 < len(found) < len(every)


def test_key_of_a_user_and_of_several() -> None:
    path = str(IN / "user/none" / LOG_NAME)
    every = parsed(run_here("--files", path, "--format", "json").text)
    keys = sorted({row["key"] for row in every if row["key"]})[:2]

    found = offsets("--files", path, "--key", keys[0], "--key", keys[1])

    assert found == [row["offset"] for row in every if row["key"] in keys]


def test_key_of_a_transactional_id() -> None:
    path = str(IN / "transaction_state" / LOG_NAME)

    rows = parsed(
        run_here(
            "--files", path, "--transaction-log-decoder", "--key", "a.tx-1", "--format", "json"
        ).text
    )

    assert rows
    assert {row["key"]["transactionalId"] for row in rows} == {"a.tx-1"}


# Groups

OFFSETS = str(IN / "craft/offsets-all" / LOG_NAME)
SHARES = str(IN / "share_group_state" / LOG_NAME)


def groups_of(path: str, decoder: str) -> list[tuple[int, str | None]]:
    rows = parsed(run_here("--files", path, decoder, "--format", "json").text)
    keys = [(row["offset"], row["key"]) for row in rows]
    return [
        (offset, key.get("group", key.get("groupId")))
        for offset, key in keys
        if isinstance(key, dict)
    ]


@pytest.mark.parametrize(
    ("path", "decoder"),
    [
        (OFFSETS, "--offsets-decoder"),
        (str(IN / "consumer_offsets" / LOG_NAME), "--offsets-decoder"),
        (SHARES, "--share-group-state-decoder"),
    ],
)
def test_group_chooses_the_records_whose_key_names_it(path: str, decoder: str) -> None:
    every = groups_of(path, decoder)
    names = sorted({name for _, name in every if name})
    assert names

    for name in names:
        found = offsets("--files", path, decoder, "--group", name)
        assert found == [offset for offset, group in every if group == name]

    several = [f"--group={name}" for name in names[:2]]
    found = offsets("--files", path, decoder, *several)
    assert found == [offset for offset, group in every if group in names[:2]]


def test_group_is_chosen_in_all_forms_and_besides_other_filters() -> None:
    asked = ["--files", str(IN / "consumer_offsets" / LOG_NAME), "--offsets-decoder"]
    asked += ["--group", "a.newg", "--where", "value is not null", "--type", "offsetcommit"]
    found = offsets(*asked)

    text = run_here(*asked).text
    csv = run_here(*asked, "--format", "csv").text
    (counted,) = logs_of(run_here(*asked, "--format", "json", "--summary").text)

    assert found
    lines = [line for line in text.splitlines() if line.startswith("| offset: ")]
    assert [int(line.split()[2]) for line in lines] == found
    assert all('"group":"a.newg"' in line for line in lines)
    assert len(csv.splitlines()) == 1 + len(found)
    assert counted["records"]["count"] == len(found)


def test_group_is_found_in_all_logs_of_coordinators(tmp_path: Path) -> None:
    """A user's topic beside them, with such a key, has no records about groups."""
    for source, name in (
        ("consumer_offsets", "__consumer_offsets-0"),
        ("share_group_state", "__share_group_state-0"),
    ):
        shutil.copytree(IN / source, tmp_path / name)
    user = tmp_path / "orders-0"
    user.mkdir()
    record = Record(0, 0, b'{"group":"a.share"}', b"v")
    (user / LOG_NAME).write_bytes(batch_bytes([record]))

    done = run_here(str(tmp_path), "--group", "a.share", "--format", "json")

    assert {row["kind"] for row in parsed(done.text)} == {"offsets", "share"}


def test_group_is_refused_where_no_log_has_groups(metadata: Path) -> None:
    done = run_here("--group", "g", str(metadata))

    assert (done.code, done.text) == (1, "")
    assert done.errors[0] == "kafka-dump-log: none of these logs has records about groups [usage]"


@pytest.mark.parametrize("option", ["--group=a.classic", "--where=key.group='a.classic'"])
def test_check_of_chosen_records_is_no_check_of_the_directory(tmp_path: Path, option: str) -> None:
    shutil.copytree(IN / "consumer_offsets", tmp_path / "__consumer_offsets-0")

    done = run_here("--check", option, str(tmp_path))

    assert (done.code, done.errors) == (0, [])
    assert done.text.count("\n| offset: ") == 40


# Times


def test_times_are_iso_or_durations(tmp_path: Path) -> None:
    now = datetime.now(UTC)
    hours = [5, 3, 1]
    times = [int((now - timedelta(hours=h)).timestamp() * 1000) for h in hours]
    records = [Record(n, time, None, b"v") for n, time in enumerate(times)]
    (tmp_path / "0.log").write_bytes(batch_bytes(records))
    iso = (now - timedelta(hours=2)).isoformat(timespec="milliseconds")

    for arguments, expected in (
        (["--since", "4h"], [1, 2]),
        (["--since", "4h", "--until", "2h"], [1]),
        (["--until", "3h30m"], [0]),
        (["--since", iso], [2]),
        (["--since", str(times[1])], [1, 2]),
        (["--until", str(times[1])], [0]),
    ):
        assert offsets("--files", "0.log", *arguments, cwd=tmp_path) == expected, arguments


# Where


def test_where_all_must_hold() -> None:
    path = str(IN / "meta" / LOG_NAME)
    every = parsed(run_here("--files", path, META, "--format", "json").text)
    wanted = next(row for row in every if row["type"] == "PARTITION_RECORD")
    where = [f"--where=value.topicId = '{wanted['topicId']}'", "--where=value.partitionId=0"]

    found = offsets("--files", path, META, *where)

    assert found == [
        row["offset"]
        for row in every
        if (row["value"] or {}).get("topicId") == wanted["topicId"]
        and row["value"].get("partitionId") == 0
    ]


@pytest.mark.parametrize(
    "where",
    [
        "control=true",
        "transactional=true",
        "producerId=0",
        "codec='lz4'",
        "headers.trace-id is not null",
        "topic is null and crcValid",
    ],
)
def test_where_of_a_batch_and_of_headers(where: str) -> None:
    names = [str(path) for path in sorted((IN / "user/txn").glob("*.log"))]

    found = parsed(run_here(*names, "--where", where, "--format", "json").text)

    every = parsed(run_here(*names, "--print-data-log", "--format", "json").text)
    assert found
    assert found == [row for row in every if truth(parse_condition(where), row)]


def test_damage_can_be_asked_for(tmp_path: Path) -> None:
    (tmp_path / "0.log").write_bytes(batch_bytes([Record(0, 0, None, b"v")]) + b"garbage")

    done = run_here(
        "--files", "0.log", "--where", "kind='damage'", "--format", "json", cwd=tmp_path
    )

    assert [row["kind"] for row in parsed(done.text)] == ["damage"]


# With Kafka's text


def test_text_has_the_line_of_a_batch_only_before_records_that_match(metadata: Path) -> None:
    done = run_here("--files", str(metadata / f"{3:020}.log"), META, "--type", "removetopic")

    lines = done.text.splitlines()
    assert [line.split()[0] for line in lines] == ["Dumping", "Log", "baseOffset:", "|"]
    assert lines[3].startswith("| offset: 5 ")


def test_type_of_a_directory_needs_no_decoder(metadata: Path) -> None:
    done = run_here(str(metadata), "--type", "REMOVE_TOPIC_RECORD")

    assert done.text.count("\n| offset: ") == 2
    assert done.text.count("Dumping ") == 3


@pytest.mark.parametrize(
    "arguments", [["--offset", "3..6"], ["--offset", "..2"], ["--since", "2026-01-01"]]
)
def test_text_without_records_has_lines_of_batches(arguments: list[str], metadata: Path) -> None:
    names = [str(path) for path in sorted(metadata.iterdir())]

    done = run_here(*names, *arguments)

    found = [line.split()[1] for line in done.text.splitlines() if line.startswith("baseOffset")]
    assert found == {"3..6": ["3"], "..2": ["0"], "2026-01-01": []}[arguments[1]]
    assert "| offset" not in done.text


@pytest.mark.parametrize("jobs", ["1", "2", "4"])
def test_jobs_change_nothing_of_what_is_chosen(jobs: str, tmp_path: Path) -> None:
    batches = []
    for n in range(0, 9000, 300):
        batches += [no_ops(n, 299), records_batch(n + 299, topic("t", FIRST))]
    folder = write_log(tmp_path, {0: batches * 10})
    for form in ("text", "json"):
        given = [str(folder), "--type", "topic", "--format", form]

        assert run_here(*given, "--jobs", jobs).out == run_here(*given, "--jobs", "1").out


# What is refused


def refused(*arguments: str, cwd: Path | str = ".") -> Done:
    done = run_here("--files", str(IN / "meta" / LOG_NAME), *arguments, cwd=cwd)
    assert (done.code, done.out) == (1, b"")
    assert done.errors[0].startswith("kafka-dump-log: ")
    return done


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--limit", "1", "--tail", "1"], "--limit and --tail do not go together"),
        (["--limit", "0", "--tail", "0"], "--limit and --tail do not go together"),
        (["--follow", "--tail", "3"], "--follow takes no --tail"),
        (["--follow", "--limit", "3"], "--follow and --limit do not go together"),
        (["--follow", "--output", "x"], "--follow and --output do not go together"),
        (["--follow", "--salvage"], "--follow and --salvage do not go together"),
        (["--summary", "--limit", "1", "--tail", "1"], "--limit and --tail do not go together"),
        (["--sort", "bytes"], "--sort needs --summary"),
        (["--log", "orders"], "--log needs --summary"),
        (["--top", "3"], "--top needs --summary"),
        (["--summary", "--format", "csv"], "--summary and --format csv do not go together"),
    ],
)
def test_contradictions_are_refused(arguments: list[str], words: str, tmp_path: Path) -> None:
    assert words in refused(META, *arguments, cwd=tmp_path).errors[0]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([META, "--type", "PARTITION_CHANG_RECORD"], "PARTITION_CHANGE_RECORD"),
        ([META, "--type", "OFFSET_COMMIT"], "no record type 'OFFSET_COMMIT'"),
        (["--offsets-decoder", "--type", "offsetcomit"], "OFFSET_COMMIT"),
        ([META, "--type", ""], "no record type ''"),
        (["--type", "topic"], "--cluster-metadata-decoder"),
        (["--print-data-log", "--type", "topic"], "no record type"),
        ([META, "--where", "vlaue.x=1"], "perhaps value"),
        ([META, "--where", "value"], "value is text, and true is a boolean"),
        ([META, "--offset", "7..5"], "7 is beyond 5"),
        ([META, "--offset", "x"], "is not a range of offsets"),
        ([META, "--since", "tomorrow"], "is not a valid time"),
        ([META, "--until", "2026-99-01"], "is not a valid time"),
    ],
)
def test_bad_filters_are_refused(arguments: list[str], words: str) -> None:
    assert words in refused(*arguments).err


def test_control_records_need_no_decoder() -> None:
    done = run_here("--files", str(IN / "meta" / LOG_NAME), "--type", "leaderchange")

    assert done.code == 0
    assert "LeaderChange" in done.text


@pytest.mark.parametrize(
    "names",
    [
        ["-"],
        ["0.log.gz"],
        ["0.index"],
        ["00000000000000000042-0000000007.checkpoint"],
        ["0.log", "1.log"],
        ["what.txt"],
    ],
)
def test_only_one_segment_or_partition_can_be_followed(names: list[str], tmp_path: Path) -> None:
    for name in names:
        (tmp_path / name).touch()

    done = run_here("--follow", "--files", ",".join(names), cwd=tmp_path)

    assert (done.code, done.out) == (1, b"")
    assert done.errors[0].startswith("kafka-dump-log: --follow follows ")


def test_file_that_is_not_there_cannot_be_followed(tmp_path: Path) -> None:
    done = run_here("--follow", "--files", "0.log", cwd=tmp_path)

    assert done.code == 1
    assert done.errors == ["kafka-dump-log: cannot read 0.log: No such file or directory"]


def test_source_is_not_changed(metadata: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(metadata, copy)

    run_here(str(metadata), "--topic", "t", "--format", "json")

    assert {p.name: p.read_bytes() for p in metadata.iterdir()} == {
        p.name: p.read_bytes() for p in copy.iterdir()
    }


@pytest.mark.parametrize(
    "asked", [["--key", "b"], ["--where", "value='two'"], ["--where", "key='b'"]]
)
def test_filter_by_what_is_in_records_shows_records(asked: list[str], tmp_path: Path) -> None:
    """Also without a decoder: lines of batches would not identify the records."""
    records = [Record(0, 10, b"a", b"one"), Record(1, 11, b"b", b"two")]
    rest = batch_bytes([Record(2, 20, b"c", b"three")])
    (tmp_path / "0.log").write_bytes(batch_bytes(records) + rest)

    done = run_here("--files", "0.log", *asked, cwd=tmp_path)

    assert done.code == 0
    lines = done.text.splitlines()[2:]
    assert [line.split(" CreateTime")[0][:20] for line in lines] == [
        "baseOffset: 0 lastOf",
        "| offset: 1",
    ]
