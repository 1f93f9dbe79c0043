"""Filters of Spark that a scan takes over."""

import pytest

from kraftops.query.filters import Filter
from kraftops.spark.source.pushdown import pushed

filters = pytest.importorskip("pyspark.sql.datasource")


@pytest.mark.parametrize(
    ("name", "first", "last"),
    [
        ("EqualTo", 7, 7),
        ("GreaterThan", 8, 20),
        ("GreaterThanOrEqual", 7, 20),
        ("LessThan", 3, 6),
        ("LessThanOrEqual", 3, 7),
    ],
)
def test_offsets_are_exact(name: str, first: int, last: int) -> None:
    known = Filter(first_offset=3, last_offset=20)

    found, is_exact = pushed(known, getattr(filters, name)(("offset",), 7))

    assert is_exact
    assert (found.first_offset, found.last_offset) == (first, last)


def test_end_of_timestamps_is_exclusive() -> None:
    found, is_exact = pushed(Filter(), filters.LessThanOrEqual(("timestamp",), 7))

    assert is_exact
    assert found.until == 8


def test_types_are_compared_again_by_spark() -> None:
    one = filters.In(("type",), ("TOPIC_RECORD", "PARTITION_RECORD"))

    found, is_exact = pushed(Filter(types=frozenset({"topic"})), one)

    assert not is_exact
    assert found.types == {"topic"}


@pytest.mark.parametrize("column", ["key", "partition"])
def test_other_columns_are_left_to_spark(column: str) -> None:
    assert pushed(Filter(), filters.EqualTo((column,), 1)) == (Filter(), False)
