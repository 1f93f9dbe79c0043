"""The table of several logs."""

from typing import Any

import pytest

from kraftops.dump.summary.logs import Log, fields_of
from kraftops.query.summary_order import SORTS
from kraftops_cli.dump_log.summaries.table import in_order, logs_text
from tests.helpers.logs.segments import IN
from tests.helpers.logs.summaries import empty_summary, summarised
from tests.helpers.tools.own_terminal import OwnTerminal, pipe

LOGS = {
    ("orders-10", 2): "user/txn/00000000000000000018.log",
    ("orders-2", 10): "meta/00000000000000000000.log",
    ("orders-2", 9): "dmg/hole/00000000000000000000.log",
    (None, None): "craft/magic-mixed/00000000000000000000.log",
}
PIPE = pipe()


@pytest.fixture
def found() -> list[dict[str, Any]]:
    summaries = {
        Log("user", topic, number): summarised(str(IN / path))
        for (topic, number), path in LOGS.items()
    }
    return list(fields_of(summaries).values())


def order(found: list[dict[str, Any]], sort: str) -> list[Any]:
    return [(one["topic"], one["partition"]) for one in in_order(found, sort)]


def test_topics_and_partitions_are_in_natural_order(found: list[dict[str, Any]]) -> None:
    assert order(found, "topic") == [
        ("orders-2", 9),
        ("orders-2", 10),
        ("orders-10", 2),
        (None, None),
    ]


@pytest.mark.parametrize("sort", SORTS)
def test_every_order_has_all_logs(found: list[dict[str, Any]], sort: str) -> None:
    assert set(order(found, sort)) == set(LOGS)


def test_other_columns_have_the_largest_first(found: list[dict[str, Any]]) -> None:
    assert order(found, "records")[0] == ("orders-2", 10)
    assert order(found, "damage")[0] == ("orders-2", 9)
    assert order(found, "time")[0] == ("orders-2", 10)
    assert order(found, "offset")[0] == ("orders-2", 10)


def test_table_has_a_line_for_each_log_and_a_total(found: list[dict[str, Any]]) -> None:
    lines = logs_text(in_order(found, "topic"), PIPE).splitlines()
    header, first, *_ = lines
    total = lines[5].split()

    assert " ".join(header.split()) == (
        "TOPIC PARTITION SEGMENTS RECORDS BYTES OFFSETS FROM (UTC) TO (UTC) DAMAGE"
    )
    assert first.startswith("orders-2           9         1        3")
    assert first.endswith("1 place, 550 B")
    assert total[:3] == ["total", "4", "4"]
    assert int(total[3]) == sum(one["records"]["count"] for one in found)


def test_top_shows_the_first_and_counts_all(found: list[dict[str, Any]]) -> None:
    lines = logs_text(in_order(found, "records"), PIPE, top=1).splitlines()

    assert [line.split()[0] for line in lines[:4]] == ["TOPIC", "orders-2", "total", "and"]
    assert lines[2].split()[1] == "4"
    assert lines[3] == "and 3 more, in the total"


def test_open_transactions_of_all_logs_follow(found: list[dict[str, Any]]) -> None:
    text = logs_text(found, PIPE)

    (log,) = (one for one in found if one["topic"] == "orders-10")
    count = len(log["transactions"]["open"])
    assert count > 1
    assert text.count("  orders-10-2  ") == count
    assert "OPEN TRANSACTION  PRODUCER  EPOCH  LOG" in text


def test_directories_tell_replicas_apart() -> None:
    summaries = {
        Log("user", "t", 0, directory): summarised(
            str(IN / f"{directory}/00000000000000000000.log")
        )
        for directory in ("meta", "consumer_offsets")
    }

    lines = logs_text(list(fields_of(summaries).values()), PIPE).splitlines()

    assert lines[0].endswith("DIRECTORY")
    assert [line.rpartition("/")[2] for line in lines[1:3]] == ["meta", "consumer_offsets"]


def test_names_are_whole_on_a_narrow_terminal(found: list[dict[str, Any]]) -> None:
    name = "a-topic-with-a-name-that-is-much-longer-than-a-column-can-be"
    found[0]["topic"] = name

    with OwnTerminal(columns=100) as terminal:
        text = terminal.plain(logs_text(found, terminal.console))

    width = text.index("PARTITION")
    assert name in "".join(line[:width].strip() for line in text.splitlines()[1:])
    assert max(map(len, text.splitlines())) <= 100


def test_nothing_is_a_table_too() -> None:
    (one,) = fields_of({Log("user", "t", 0): empty_summary()}).values()

    assert logs_text([one], PIPE).splitlines()[1].split() == [
        "t", "0", "0", "0", "0", "B", "-", "-", "-", "-",
    ]  # fmt: skip
