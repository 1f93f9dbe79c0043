"""The columns of the table `log` that statements name."""

from typing import Any

import pytest

from kraftops.dump.sources.names import expand
from kraftops.query.query import Query
from kraftops.query.row import COLUMNS
from kraftops.spark.session.session import Session
from kraftops.spark.source.schemas import row_schema
from kraftops.spark.sql.named_columns import named_columns
from kraftops.spark.sql.tables import answer
from tests.helpers.logs.segments import IN
from tests.helpers.tools.distribution import long_after

METADATA = str(IN / "meta/00000000000000000000.log")
FIELDS = "spark.sql.debug.maxToStringFields"

pytestmark = pytest.mark.spark


@pytest.fixture
def spark(session: Session) -> Any:
    """A session with an empty table `log`."""
    spark = session.spark
    spark.createDataFrame([], row_schema(["metadata"])).createOrReplaceTempView("log")
    return spark


@pytest.mark.parametrize(
    ("sql", "names"),
    long_after(
        3,
        [
            ("SELECT count(*) FROM log", "crcValid"),
            (
                """SELECT a.type FROM log a JOIN log b ON a.`offset` = b.baseOffset
                   WHERE EXISTS (SELECT 1 FROM log c WHERE c.topic = a.topic)""",
                "baseOffset topic offset type",
            ),
            ("SELECT (SELECT max(position) FROM log) FROM log LIMIT 1", "position"),
            ("SELECT type, count(*) FROM log WHERE `offset` > 5 GROUP BY type", "offset type"),
            ("SELECT headers[0].key AS value FROM log ORDER BY timestamp", "timestamp headers"),
        ],
    ),
)
def test_only_columns_of_the_statement_are_named(spark: Any, sql: str, names: str) -> None:
    before = spark.conf.get(FIELDS, None)

    assert named_columns(spark, sql, COLUMNS) == tuple(names.split())
    assert spark.conf.get(FIELDS, None) == before


@pytest.mark.parametrize("sql", long_after(1, ["SELECT struct(*) FROM log", "SELECT * FROM log"]))
def test_a_star_names_all(spark: Any, sql: str) -> None:
    assert named_columns(spark, sql, COLUMNS) == COLUMNS


@pytest.mark.parametrize(
    "sql",
    long_after(
        3,
        ["SELECT nope FROM log", "SHOW TABLES", "SELECT 1 / 0 FROM log", "no SQL", "SELECT 1"],
    ),
)
def test_nothing_is_known_of_other_statements(spark: Any, sql: str) -> None:
    assert named_columns(spark, sql, COLUMNS) == ()


@pytest.mark.parametrize(
    ("sql", "count"),
    [
        ("SELECT max(`offset`) AS found FROM log", 1),
        ("SELECT max(`offset`) AS found FROM (SELECT * EXCEPT (value) FROM log)", len(COLUMNS)),
    ],
)
def test_answers_read_what_is_named(session: Session, sql: str, count: int) -> None:
    found = answer(session, expand([METADATA]), Query(decoder="metadata"), sql).collect()

    last = session.spark.read.format("kraftops").option("decoder", "metadata").load(METADATA)
    assert found[0].found == last.agg({"offset": "max"}).collect()[0][0]
    assert len(session.spark.table("log").columns) == count
