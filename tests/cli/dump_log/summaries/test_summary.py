"""`kafka-dump-log --summary` of one log and of many, and with filters."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from kraftops.log.batch import Record
from tests.helpers.logs.corpus_rows import logs_of, parsed
from tests.helpers.logs.segments import IN, patched
from tests.helpers.logs.written import batch_bytes
from tests.helpers.tools.console import run_command, run_here

LOG_NAME = "00000000000000000000.log"
REAL = {
    "__cluster_metadata-0": "meta",
    "__consumer_offsets-7": "consumer_offsets",
    "__transaction_state-3": "transaction_state",
}


@pytest.fixture
def broker(tmp_path: Path) -> Path:
    """The log directory of a broker with 57 partitions, and a file that is not a log."""
    root = tmp_path / "broker"
    for name, source in REAL.items():
        (root / name).mkdir(parents=True)
        shutil.copy(IN / source / LOG_NAME, root / name)
    for number in range(54):
        topic = "orders" if number < 30 else f"payments.{number % 4}"
        directory = root / f"{topic}-{number}"
        directory.mkdir()
        for base in (0, 10):
            data = b"".join(
                batch_bytes([Record(base + n, 1_000 * number, b"k%d" % n, b"v" * number)])
                for n in range(number % 3 + 1)
            )
            (directory / f"{base:020}.log").write_bytes(data)
    (root / "meta.properties").write_text("version=1\n")
    return root


def objects(*arguments: object) -> list[dict[str, Any]]:
    done = run_here("--summary", "--format", "json", *map(str, arguments))
    assert (done.code, done.errors) == (0, []), done.err
    return logs_of(done.text)


def table(*arguments: object) -> list[str]:
    done = run_here("--summary", *map(str, arguments))
    assert (done.code, done.errors) == (0, []), done.err
    return done.text.splitlines()


def test_log_directory_of_a_broker_is_one_table(broker: Path) -> None:
    lines = table(broker)

    rows = lines[1:58]
    assert lines[0].startswith("TOPIC ")
    assert [row.split()[:2] for row in rows[:5]] == [
        ["__cluster_metadata", "0"],
        ["__consumer_offsets", "7"],
        ["__transaction_state", "3"],
        ["orders", "0"],
        ["orders", "1"],
    ]
    total = lines[58].split()
    assert total[:3] == ["total", "57", str(3 + 54 * 2)]
    assert int(total[3].replace(",", "")) == sum(
        int(row.split()[3].replace(",", "")) for row in rows
    )
    assert not any("…" in line or "more" in line for line in lines)


def test_json_has_all_logs_in_one_object(broker: Path) -> None:
    found = objects(broker)

    assert len(found) == 57
    assert [(one["topic"], one["partition"], one["segments"]) for one in found[3:5]] == [
        ("orders", 0, 2),
        ("orders", 1, 2),
    ]
    assert all(one["keys"]["error"] == 0 for one in found)
    assert {one["decoder"] for one in found} == {"metadata", "offsets", "transaction", "user"}


def test_logs_are_sorted_and_the_first_shown(broker: Path) -> None:
    found = objects(broker, "--sort", "bytes", "--top", "5")
    lines = table(broker, "--sort", "bytes", "--top", "5")

    sizes = [one["batches"]["bytes"] for one in objects(broker)]
    assert [one["batches"]["bytes"] for one in found] == sorted(sizes, reverse=True)[:5]
    assert [line.split()[0] for line in lines[1:6]] == [one["topic"] for one in found]
    assert lines[7] == "and 52 more, in the total"


def test_one_log_is_shown_with_all_about_it(broker: Path) -> None:
    (found,) = objects(broker, "--log", "orders-3")
    text = "\n".join(table(broker, "--log", "orders-3"))
    alone = "\n".join(table(broker / "orders-3"))

    assert (found["topic"], found["partition"]) == ("orders", 3)
    assert found["largest"]["records"][0]["keySize"] == 2
    assert text.startswith("log          orders-3\ndecoder      user\n")
    assert text == alone
    assert "HOTTEST KEYS" in text


def test_topic_names_all_its_partitions(broker: Path) -> None:
    assert len(objects(broker, "--log", "orders")) == 30
    done = run_here("--summary", "--log", "order", str(broker))
    assert done.out == b""
    assert done.code
    assert "no log 'order'" in done.err


def test_groups_are_whole_in_a_pipe_with_their_lag(broker: Path) -> None:
    log = broker / "a.none-0"
    log.mkdir()
    (log / f"{100:020}.log").write_bytes(batch_bytes([Record(100, 0, None, b"v")]))

    done = run_command("--summary", "--log", "__consumer_offsets", str(broker))
    lines = done.text.splitlines()

    (committed,) = (line for line in lines if line.startswith("a.classic ") and "a.none-0" in line)
    assert committed.split()[1:5] == ["a.none-0", "60", "101", "41"]
    assert "…" not in done.text
    assert not [line for line in lines if line.endswith(" more")]


def test_groups_of_copies_are_told_once_and_by_the_longest(broker: Path) -> None:
    copy = broker.parent / "copy" / "__consumer_offsets-7"
    copy.mkdir(parents=True)
    whole = (broker / copy.name / LOG_NAME).read_bytes()
    (copy / LOG_NAME).write_bytes(whole[: len(whole) // 2])

    alone = table(broker, "--log", "__consumer_offsets")
    several = run_here("--summary", "--log", "__consumer_offsets", str(copy.parent), str(broker))
    of_one = run_here("--summary", "--group", "a.classic", str(copy.parent), str(broker))

    groups = alone[next(at for at, line in enumerate(alone) if line.startswith("GROUP ")) :]
    assert several.text.splitlines()[: len(groups)] == groups
    assert several.text.count("GROUP ") == alone.count(groups[0]) + 1
    rows = [line for line in groups if line.startswith(("GROUP ", "a.classic "))]
    assert [line.split() for line in of_one.text.splitlines() if line] == [
        line.split() for line in rows
    ]


FILTERS = [
    ["--since", "2026-11-21T11:08:00Z"],
    ["--until", "2026-11-21T11:08:00Z"],
    ["--type", "partition_change"],
    ["--offset", "10..40"],
    ["--topic", "a.none"],
    ["--topic", "orders"],
    ["--topic", "__consumer_offsets", "--until", "2026-11-21T11:08:00Z"],
    ["--key", "a.classic"],
    ["--where", "control=true"],
    ["--limit", "100"],
    ["--tail", "100"],
    ["--limit", "7", "--offset", "30.."],
    ["--tail", "7", "--type", "topic,partition"],
    ["--max-bytes", "1000"],
]


@pytest.mark.parametrize("filters", FILTERS, ids=" ".join)
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_counts_are_those_of_the_rows(broker: Path, filters: list[str], jobs: str) -> None:
    arguments = [str(broker), *filters, "--jobs", jobs]
    rows = parsed(run_here("--format", "json", *arguments).text)

    found = objects(*arguments)

    assert sum(one["records"]["count"] for one in found) == len(rows)
    counts: dict[str, int] = {}
    for row in rows:
        name = Path(row["file"]).parent.name
        counts[name] = counts.get(name, 0) + 1
    assert {
        f"{one['topic']}-{one['partition']}": one["records"]["count"]
        for one in found
        if one["records"]["count"]
    } == counts


def test_damage_is_in_the_table_and_the_exit_code(broker: Path) -> None:
    path = broker / "orders-5" / LOG_NAME
    path.write_bytes(patched(path.read_bytes(), 70, b"?"))

    plain = run_here("--summary", str(broker))
    checked = run_here("--summary", "--check", str(broker))
    sound = run_here("--summary", "--check", str(broker / "orders-6"))

    assert (plain.code, checked.code, sound.code) == (2, 2, 0)
    assert plain.out == checked.out
    lines = [line.split() for line in plain.text.splitlines() if " place" in line]
    assert [line[:2] for line in lines] == [["orders", "5"]]
    assert plain.text.splitlines()[58].endswith("1 damaged")


def test_torn_end_of_a_running_log_is_no_damage(broker: Path) -> None:
    first, last = sorted((broker / "orders-5").glob("*.log"))
    last.write_bytes(last.read_bytes()[:-5])

    done = run_here("--summary", "--check", str(broker))
    (found,) = objects("--log", "orders-5", broker)
    first.write_bytes(first.read_bytes()[:-5])  # not at the end of the log
    other = run_here("--summary", str(broker))

    assert (done.code, other.code) == (0, 2)
    assert "torn end, " in done.text
    assert found["tornBytes"] == found["damage"]["bytes"] > 0


def test_replicas_of_two_brokers_are_two_lines(broker: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(broker / "orders-1", other / "orders-1")

    lines = table(broker / "orders-1", other / "orders-1")

    assert [line.split()[:2] for line in lines[1:3]] == [["orders", "1"]] * 2
    assert [
        line.rpartition("/")[0].endswith(one)
        for line, one in zip(lines[1:3], ("broker", "other"), strict=True)
    ]


def test_unreadable_file_does_not_refuse_the_rest(broker: Path) -> None:
    unreadable = broker / "5.log"
    unreadable.mkdir()

    done = run_here("--summary", "--format", "json", str(broker / "orders-1"), str(unreadable))

    assert done.code == 1
    assert str(unreadable) in done.err
    answer = json.loads(done.text)
    assert [log["topic"] for log in answer["logs"]] == ["orders"]
    assert (answer["command"], answer["error"]) == ("summary", "unreadable")


def test_standard_input_is_not_read_twice() -> None:
    done = run_here("--summary", "--tail", "3", "-")

    assert done.code == 1
    assert "reads twice" in done.err
