"""Streams as queries of Spark."""

from pathlib import Path
from typing import Any

import pytest

from kraftops.spark.session.session import Session
from tests.helpers.spark.streams import GrowingLog, write_new

pytestmark = pytest.mark.spark


def run(spark: Any, logs: Path, target: Path, **options: str) -> Any:
    """Write what has come since the last run, and return the query."""
    stream = spark.readStream.format("kraftops").options(**options).load(str(logs))
    return write_new(stream, target)


def test_runs_write_each_record_once(session: Session, tmp_path: Path) -> None:
    spark: Any = session.spark
    logs, target = tmp_path / "logs", tmp_path / "target"
    log = GrowingLog(logs / "orders-0")
    for _ in range(5):
        size = len(log.append(10))
    query = run(spark, logs, target, maxBytesPerTrigger=str(2 * size))
    assert len(query.recentProgress) == 3
    log.roll()
    log.append(10)
    GrowingLog(logs / "orders-1").append(3)
    run(spark, logs, target)

    written = spark.read.parquet(str(target / "table"))

    whole = spark.read.format("kraftops").load(str(logs))
    assert sorted(map(str, written.collect())) == sorted(map(str, whole.collect()))
    assert written.count() == 63


def test_a_loss_is_named_by_the_failed_query(session: Session, tmp_path: Path) -> None:
    spark: Any = session.spark
    logs, target = tmp_path / "logs", tmp_path / "target"
    log = GrowingLog(logs / "orders-0")
    log.append(1)
    run(spark, logs, target)
    log.append(2)
    read = log.path
    log.roll()
    read.unlink()

    with pytest.raises(Exception, match="the records from offset 1 to 2 are deleted"):
        run(spark, logs, target)


def test_passwords_in_options_are_not_shown_in_plans(session: Session) -> None:
    spark: Any = session.spark
    login = 'org.apache.kafka.common.security.plain.PlainLoginModule required password="MARKED";'
    options = {
        "controllers": "127.0.0.1:9093",
        "kafka.sasl.jaas.config": login,
        "kafka.ssl.truststore.password": "MARKED",
    }

    stream = spark.readStream.format("kraftops").options(**options).load()

    plan = stream._jdf.queryExecution().toString()
    assert "127.0.0.1:9093" in plan
    assert "redacted" in plan
    assert "MARKED" not in plan
