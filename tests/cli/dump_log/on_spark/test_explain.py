"""The plan of a dump on Spark as text."""

from pathlib import Path
from typing import Any

import pytest

from kraftops.dump.sources.names import Source
from kraftops.log.ranges import ByteRange
from kraftops.query.filters import Filter
from kraftops.query.query import Query
from kraftops.spark.jobs.planning import LabelledRange, Split
from kraftops_cli.dump_log.on_spark.run import plan_text
from kraftops_cli.dump_log.plan import Plan
from kraftops_cli.spark.options import SparkRequest


def lines(asked: Plan, splits: list[Split] | None = None, **options: Any) -> dict[str, str]:
    """Return the lines of a plan by their first word."""
    text = plan_text(asked, SparkRequest(**options), splits or [])
    return dict(line.split(None, 1) for line in text.splitlines())


def plan(query: Query | None = None, **values: Any) -> Plan:
    return Plan(sources=(), query=query or Query(), **values)


def test_ranges_follow_the_number_of_their_split(tmp_path: Path) -> None:
    path = tmp_path / "0.log"
    path.write_bytes(bytes(1234))
    source = Source(str(path), None, None, None, 0)
    ranges = [LabelledRange(ByteRange("a", 0, 10)), LabelledRange(ByteRange("b"))]
    splits = [Split(0, (ranges[0],), 10), Split(1, (ranges[0], ranges[1]), 20)]

    text = plan_text(
        Plan(sources=(source,), query=Query()), SparkRequest(master="local[2]"), splits
    )

    assert text.splitlines() == [
        "master    local[2,4], 4 tries a task",
        "sources   1 files, 1,234 bytes",
        "decoder   by directory",
        "output    none: --output DIR is missing",
        "splits    2",
        "       0  a 0..10",
        "       1  a 0..10",
        "          b 0..end",
    ]


def test_filter_has_only_the_conditions_that_are_given() -> None:
    filter_ = Filter(types=frozenset({"b", "a"}), first_offset=5)

    assert lines(plan(Query(filter=filter_)))["filter"] == "types=a,b, first_offset=5"
    assert "filter" not in lines(plan())


def test_decoder_is_named() -> None:
    assert lines(plan(Query(decoder="metadata")))["decoder"] == "metadata"


@pytest.mark.parametrize(
    ("values", "options", "text"),
    [
        ({"summary": True}, {}, "a summary"),
        ({"query": Query(check=True)}, {}, "a row for each damage"),
        ({"output": "o"}, {"sink": "delta"}, "a table of delta, written by Spark: o"),
        (
            {"output": "o"},
            {"sink": "delta", "partition_by": "type"},
            "a table of delta by type, written by Spark: o",
        ),
        (
            {"output": "o"},
            {"sink": "delta", "sql": "SELECT 1"},
            "the answer to 'SELECT 1' in a table of delta: o",
        ),
        ({}, {"sql": "SELECT 1"}, "the answer to 'SELECT 1'"),
        ({"output": "o"}, {"sql": "SELECT 1"}, "the answer to 'SELECT 1' in o"),
        ({"output": "o"}, {}, "text, a part a split, written by the workers: o"),
        ({"output": "o"}, {"single_file": True}, "text, one file, joined: o"),
        ({"output": "o"}, {"partition_by": "type"}, "text by type, written by Spark: o"),
        ({"output": "s3://o"}, {"partition_by": "type"}, "text by type, written by the workers"),
    ],
)
def test_output_says_who_writes_it(
    values: dict[str, Any], options: dict[str, Any], text: str
) -> None:
    assert lines(plan(**values), **options)["output"].startswith(text)
