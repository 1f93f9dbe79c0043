"""The columns of the table `log` that statements name."""

import pytest

from kraftops.dump.sources.names import expand
from kraftops.query.query import Query
from kraftops.query.row import COLUMNS
from kraftops.spark.session.session import Session
from kraftops.spark.sql.tables import answer, named_columns
from tests.helpers.logs.segments import IN

METADATA = str(IN / "meta/00000000000000000000.log")


@pytest.mark.parametrize(
    ("sql", "names"),
    [
        ("SELECT type, count(*) FROM log WHERE `offset` > 5 GROUP BY type", "offset type"),
        ("SELECT count(*) FROM log", "crcValid"),
        (
            """SELECT a.TYPE FROM log a JOIN log b ON a.`offset` = b.baseoffset
               WHERE EXISTS (SELECT 1 FROM log c WHERE c.topic = a.topic)""",
            "baseOffset topic offset type",
        ),
        ("SELECT (SELECT max(position) FROM log) FROM log LIMIT 1", "position"),
        ("SELECT headers[0].key FROM log ORDER BY timestamp", "timestamp headers key"),
    ],
)
def test_only_columns_of_the_statement_are_named(sql: str, names: str) -> None:
    assert named_columns(sql, COLUMNS) == tuple(names.split())


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM log",
        "SELECT struct(*) FROM log",
        "SELECT count(l.*) FROM log l",
        "SELECT /*+ BROADCAST(log) */ * FROM log",
        "SELECT offset FROM log NATURAL JOIN (SELECT offset FROM log)",
        "SELECT a.offset FROM (TABLE log) a",
        "FROM log",
        "FROM log |> SELECT offset",
        "SELECT offset FROM log PIVOT (count(offset) FOR type IN ('a'))",
        "SELECT IDENTIFIER('off' || 'set') FROM log",
        "SHOW TABLES",
    ],
)
def test_all_columns_are_read_where_some_are_not_named(sql: str) -> None:
    assert named_columns(sql, COLUMNS) == ()


@pytest.mark.spark
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
