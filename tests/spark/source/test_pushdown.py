"""Filters of Spark that a scan takes over."""

from datetime import UTC, datetime, timedelta

import pytest

from kraftops.dump.scan.arrow import MOST_MS
from kraftops.errors import UsageError
from kraftops.query.filters import Filter
from kraftops.query.row import Row
from kraftops.query.where import with_conditions
from kraftops.records.decoders import decoder_named
from kraftops.spark.source.reader import pushed
from tests.helpers.logs.segments import IN

filters = pytest.importorskip("pyspark.sql.datasource")
LOG = str(IN / "v3.9.1/meta/00000000000000000000.log")


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


@pytest.mark.parametrize(
    ("name", "microseconds", "since", "until"),
    [
        ("EqualTo", 7000, 7, 8),
        ("EqualTo", 7001, 8, 8),
        ("GreaterThan", 7000, 8, 100),
        ("GreaterThan", 7001, 8, 100),
        ("GreaterThanOrEqual", 7000, 7, 100),
        ("GreaterThanOrEqual", 7001, 8, 100),
        ("LessThan", 7000, 3, 7),
        ("LessThan", 7001, 3, 8),
        ("LessThanOrEqual", 7000, 3, 8),
        ("LessThanOrEqual", 7001, 3, 8),
    ],
)
def test_times_of_microseconds_are_exact(
    name: str, microseconds: int, since: int, until: int
) -> None:
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=microseconds)

    found, is_exact = pushed(
        Filter(since=3, until=100), getattr(filters, name)(("timestamp",), moment)
    )

    assert is_exact
    assert (found.since, found.until) == (since, until)


def test_times_that_spark_has_not_match_no_condition() -> None:
    moment = datetime(2026, 1, 1, tzinfo=UTC)

    found, _ = pushed(Filter(), filters.GreaterThan(("timestamp",), moment))

    assert found.until == MOST_MS + 1


def test_types_are_compared_again_by_spark() -> None:
    one = filters.In(("type",), ("TOPIC_RECORD", "PARTITION_RECORD"))

    found, is_exact = pushed(Filter(types=frozenset({"topic"})), one)

    assert not is_exact
    assert found.types == {"topic"}


def test_ids_are_conditions_that_spark_evaluates_again() -> None:
    topic = filters.EqualTo(("topicId",), "it's-9+")
    brokers, partitions = filters.In(("brokerId",), (1, -2)), filters.LessThan(("partitionId",), 5)

    found = Filter(where="kind = 'metadata'")
    for one in (topic, brokers, partitions):
        found, is_exact = pushed(found, one)
        assert not is_exact

    assert with_conditions(Filter(), [found.where], [decoder_named("metadata")], 0) == found
    row = Row("f", 0, kind="metadata", topic_id="it's-9+", partition_id=4, broker_id=-2)
    assert found.matches(row)
    assert not any(
        found.matches(row._replace(**other))
        for other in ({"topic_id": "x"}, {"partition_id": 5}, {"broker_id": None}, {"kind": "user"})
    )


@pytest.mark.parametrize(
    ("name", "column", "value"),
    [
        ("EqualTo", "partitionId", None),
        ("In", "brokerId", ()),
        ("In", "brokerId", (1, None)),
        ("GreaterThan", "topicId", "a"),
        ("StringStartsWith", "topicId", "a"),
    ],
)
def test_other_filters_on_ids_are_left_to_spark(name: str, column: str, value: object) -> None:
    one = getattr(filters, name)((column,), value)

    assert pushed(Filter(), one) == (Filter(), False)


@pytest.mark.parametrize("column", ["key", "leaderEpoch"])
def test_other_columns_are_left_to_spark(column: str) -> None:
    assert pushed(Filter(), filters.EqualTo((column,), 1)) == (Filter(), False)


def test_log_of_the_driver_says_what_is_pushed(capsys: pytest.CaptureFixture[str]) -> None:
    """Spark's plan does not."""
    from kraftops.spark.datasource import KraftopsDataSource

    source = KraftopsDataSource({"path": LOG, "pushdown": "true"})
    asked = [filters.GreaterThan(("offset",), 7), filters.EqualTo(("key",), "a\n")]

    left = source.reader(source.schema()).pushFilters(asked)

    assert left == asked[1:]
    assert capsys.readouterr().err == (
        "kraftops: filters in the scan: GreaterThan(attribute=('offset',), value=7);"
        " in Spark: EqualTo(attribute=('key',), value='a\\n')\n"
    )


def test_pushdown_is_refused_by_releases_that_have_none(monkeypatch: pytest.MonkeyPatch) -> None:
    from kraftops.spark.datasource import KraftopsDataSource

    source = KraftopsDataSource({"path": LOG, "pushdown": "true"})
    monkeypatch.setattr("kraftops.spark.source.reader.HAS_PUSHDOWN", False)

    with pytest.raises(UsageError, match=r"pushdown needs pyspark 4\.1"):
        source.reader(source.schema())
