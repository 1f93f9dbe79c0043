"""Compare tables and streams of the data source, on any master and release, with local rows.

python -m tests.helpers.spark.compare_source MASTER DIRECTORY
"""

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyspark
import pytest

from kraftops.spark.session.session import started
from kraftops.spark.session.settings import Settings
from tests.helpers.logs.segments import IN
from tests.helpers.spark.cluster import CONF
from tests.helpers.spark.streams import GrowingLog, table, write_new

LOG = str(IN / "v3.9.1/meta/00000000000000000000.log")
GROUPS = str(IN / "consumer_offsets/00000000000000000000.log")
DAMAGED = str(IN / "dmg")
RELEASE = tuple(map(int, pyspark.__version__.split(".")[:2]))
TABLES: list[tuple[str, dict[str, str]]] = [
    (LOG, {"decoder": "metadata"}),
    (LOG, {"decoder": "metadata", "columns": "offset,type,valueJson", "splitBytes": "2000"}),
    (LOG, {"decoder": "metadata", "columns": "crcValid"}),
    (LOG, {"decoder": "metadata", "record": "PARTITION_RECORD"}),
    (LOG, {"decoder": "metadata", "where": "partitionId = 0", "offsets": "3.."}),
    (LOG, {"decoder": "metadata", "types": "topic,partition", "until": "2100-01-01"}),
    (LOG, {"decoder": "user"}),
    (GROUPS, {"decoder": "offsets", "groups": "a.classic", "showSecrets": "true"}),
    (DAMAGED, {"decoder": "user", "columns": "file,kind,crcValid,error"}),
    (DAMAGED, {"decoder": "user", "columns": "file,offset", "mode": "DROPMALFORMED"}),
]
"""Paths and options of tables."""


def compare_tables(spark: Any) -> None:
    """Compare tables with their rows as this process reads them."""
    for path, options in TABLES:
        found = spark.read.format("kraftops").options(**options).load(path)
        assert _sorted(found.toArrow().to_pylist()) == _sorted(table(path, **options)), options
    _compare_values(spark)
    with pytest.raises(Exception, match="DecodeError"):
        spark.read.format("kraftops").options(mode="FAILFAST", decoder="user").load(
            DAMAGED
        ).toArrow()


def _compare_values(spark: Any) -> None:
    """Compare values that Spark parses with texts, and rows that filters of Spark choose."""
    logs = spark.read.format("kraftops").option("decoder", "metadata")
    of_logs = {"decoder": "metadata", "columns": "offset,valueJson"}
    texts = {row["offset"]: json.loads(row["valueJson"]) for row in table(LOG, **of_logs)}
    values = logs.option("columns", "offset,valueJson").load(LOG)
    parsed = values.selectExpr("offset", "to_json(parse_json(valueJson)) AS value").collect()
    assert {row.offset: json.loads(row.value) for row in parsed} == texts
    pushing = logs.option("pushdown", "true")
    if RELEASE < (4, 1):
        with pytest.raises(Exception, match=r"pushdown needs pyspark 4\.1 or later"):
            pushing.load(LOG).count()
    else:
        found = pushing.load(LOG).where("offset > 4 AND offset <= 9").collect()
        assert {row.offset for row in found} == {number for number in texts if 4 < number <= 9}


def _sorted(rows: Iterable[dict[str, Any]]) -> list[str]:
    return sorted(map(repr, rows))


def compare_streams(spark: Any, directory: Path) -> None:
    """Run a query again and again while a log grows and rolls; each record is written once."""
    logs, target = directory / "logs", directory / "target"
    log = GrowingLog(logs / "orders-0")
    for _ in range(3):
        log.append(20)
    limited = spark.readStream.format("kraftops").option("maxBytesPerTrigger", "1k")
    if RELEASE < (4, 2):
        with pytest.raises(Exception, match=r"maxBytesPerTrigger needs pyspark 4\.2 or later"):
            write_new(limited.load(str(logs)), target / "refused")
    else:
        write_new(limited.load(str(logs)), target)
    write_new(spark.readStream.format("kraftops").load(str(logs)), target)
    log.roll()
    log.append(7)
    GrowingLog(logs / "orders-1").append(3)
    write_new(spark.readStream.format("kraftops").load(str(logs)), target)

    written = spark.read.parquet(str(target / "table")).toArrow().to_pylist()
    assert _sorted(written) == _sorted(table(str(logs)))
    (logs / "orders-0" / f"{0:020}.log").unlink()
    log.append(1)
    write_new(spark.readStream.format("kraftops").load(str(logs)), target)
    log.path.write_bytes(b"")
    with pytest.raises(Exception, match="orders-0: it ends at offset"):
        write_new(spark.readStream.format("kraftops").load(str(logs)), target)


def main() -> None:
    """Start Spark, and compare."""
    master, directory = sys.argv[1], Path(sys.argv[2])
    conf = () if master.startswith("sc:") else CONF  # a server has its own
    with started(Settings(master, conf)) as session:
        compare_tables(session.spark)
        compare_streams(session.spark, directory)


if __name__ == "__main__":
    main()
