"""Do twenty tasks of a notebook, on any master and release, and compare them with local rows.

python -m tests.helpers.spark.notebook_tasks MASTER DIRECTORY LAKE [WORKER_PROCESS…]

LAKE is `delta`, `iceberg` or `parquet`, which stands for both where a release has neither.
"""

import json
import os
import shutil
import signal
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import Any

import pyspark
import pytest
from pyspark.sql import functions as f

from kraftops.log.batch import Record
from kraftops.spark.session.session import started
from kraftops.spark.session.settings import Settings
from tests.helpers.logs.segments import IN
from tests.helpers.logs.written import batch_bytes
from tests.helpers.spark.cluster import CONF, executors_of, wait
from tests.helpers.spark.lakes import CATALOG, lake_conf
from tests.helpers.spark.streams import LATE, GrowingLog
from tests.helpers.tools.console import run_here

RELEASE = tuple(map(int, pyspark.__version__.split(".")[:2]))
METADATA = str(IN / "v3.9.1/meta/00000000000000000000.log")
GROUPS = str(IN / "consumer_offsets/00000000000000000000.log")
COLUMNS = "topic,partition,offset,value"
HOUR = 3_600_000
MORNING = 1_700_000_000_000


def rows_of(*args: str) -> list[dict[str, Any]]:
    """Return the rows of a dump without Spark."""
    return [json.loads(line) for line in run_here("--format", "json", *args).text.splitlines()]


class Notebook:
    """A session, logs of two brokers, a damaged and a growing log, and a table of a lake."""

    def __init__(self, spark: Any, directory: Path, lake: str, workers: list[int]) -> None:
        self.spark, self.directory, self.lake, self.workers = spark, directory, lake, workers
        self.brokers = [directory / "archive" / name for name in ("101", "102")]
        self.growing = GrowingLog(directory / "growing/orders-0")
        self.table = f"{CATALOG}.db.orders" if lake == "iceberg" else str(directory / "lake/table")
        for broker in self.brokers:
            for partition in range(3):
                self._write(broker / f"orders-{partition}", 120)
            self._write(broker / "a.none-0", 80)
            identity = f"version=1\ncluster.id=c\nnode.id={broker.name}\n"
            (broker / "meta.properties").write_text(identity)
        self.damaged = directory / "damaged/orders-0" / f"{0:020}.log"
        shutil.copytree(self.brokers[0] / "orders-0", self.damaged.parent)
        content = bytearray(self.damaged.read_bytes())
        content[-3] ^= 1
        self.damaged.write_bytes(content)

    @staticmethod
    def _write(folder: Path, count: int) -> None:
        """Write segments of forty records in four batches, an hour each."""
        folder.mkdir(parents=True)
        for base in range(0, count, 40):
            batches = (
                batch_bytes(
                    [
                        Record(offset, MORNING + base // 40 * HOUR, b"k%d" % (offset % 7), b"v" * 9)
                        for offset in range(first, first + 10)
                    ]
                )
                for first in range(base, base + 40, 10)
            )
            (folder / f"{base:020}.log").write_bytes(b"".join(batches))

    def log(self, *paths: Path | str, **options: str) -> Any:
        """Return a table of the data source."""
        names = [str(path) for path in paths or self.brokers]
        return self.spark.read.format("kraftops").options(**options).load(names)

    def offsets(self, *paths: Path | str, **options: str) -> Counter[Any]:
        """Return topics, partitions and offsets of a table, counted."""
        rows = self.log(*paths, columns="topic,partition,offset", **options).collect()
        return Counter(tuple(row) for row in rows)

    def stream(self) -> None:
        """Append what has come to the growing log to the table, and stop."""
        log = self.spark.readStream.format("kraftops").option("columns", COLUMNS)
        while True:
            writer = log.load(str(self.growing.folder.parent)).writeStream.format(self.lake)
            checkpoint = str(self.directory / "checkpoint")
            writer = writer.option("checkpointLocation", checkpoint).trigger(availableNow=True)
            begin = writer.toTable if self.lake == "iceberg" else writer.start
            query = begin(self.table)
            try:
                query.awaitTermination()
            except Exception as error:
                if LATE not in str(error):
                    raise
            else:
                return

    def in_lake(self) -> Counter[int]:
        """Return the offsets in the table, counted."""
        rows = self.spark.read.format(self.lake).load(self.table).select("offset").collect()
        return Counter(row.offset for row in rows)


def _all(topic: str, count: int, partitions: int = 1) -> Counter[Any]:
    return Counter((topic, p, offset) for p in range(partitions) for offset in range(count))


EVERY = _all("orders", 120, 3) + _all("a.none", 80)


def counts_each_partition_once(book: Notebook) -> None:
    assert book.offsets() == EVERY


def reads_all_copies_with_their_brokers(book: Notebook) -> None:
    table = book.log(replicas="all", columns="broker")
    counts = {row.broker: row["count"] for row in table.groupBy("broker").count().collect()}
    assert counts == {101: EVERY.total(), 102: EVERY.total()}


def reads_one_topic(book: Notebook) -> None:
    assert book.offsets(topics="a.none") == _all("a.none", 80)


def reads_one_partition_by_a_condition(book: Notebook) -> None:
    read = book.offsets(where="topic = 'orders' and partition = 1")
    assert read == Counter(("orders", 1, offset) for offset in range(120))


def reads_a_range_of_offsets(book: Notebook) -> None:
    read = book.offsets(topics="orders", offsets="35..84")
    assert read == Counter(("orders", p, offset) for p in range(3) for offset in range(35, 85))


def reads_an_hour(book: Notebook) -> None:
    read = book.offsets(topics="a.none", since="2023-11-14T23:00:00Z")
    assert read == Counter(("a.none", 0, offset) for offset in range(40, 80))


def reads_between_offsets_of_partitions(book: Notebook) -> None:
    limits = {"startingOffsets": '{"a.none":{"0":10}}', "endingOffsets": '{"a.none":{"0":30}}'}
    read = book.offsets(book.brokers[0] / "a.none-0", **limits)
    assert read == Counter(("a.none", 0, offset) for offset in range(10, 30))


def filters_of_spark_are_pushed(book: Notebook) -> None:
    if RELEASE < (4, 1):
        return
    book.spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")
    table = book.log(pushdown="true", columns="topic,partition,offset")
    chosen = table.where("topic = 'orders' and partition = 2 and `offset` < 15")
    assert chosen.count() == 15


def has_a_view_in_sql(book: Notebook) -> None:
    book.spark.sql(
        "CREATE OR REPLACE TEMPORARY VIEW orders USING kraftops OPTIONS"
        f" (path '{book.brokers[0] / 'orders-0'}', columns 'offset,key')"
    )
    keys = book.spark.sql("SELECT key, count(*) AS n FROM orders GROUP BY key").collect()
    assert sum(row.n for row in keys) == 120
    assert len(keys) == 7


def has_the_newest_record_of_each_key(book: Notebook) -> None:
    book.log(book.brokers[0] / "orders-0", columns="offset,key").createOrReplaceTempView("log")
    newest = book.spark.sql("SELECT key, max(`offset`) AS newest FROM log GROUP BY key").collect()
    expected = {b"k%d" % (offset % 7): offset for offset in range(120)}
    assert {bytes(row.key): row.newest for row in newest} == expected


def tells_the_lag_of_groups_by_a_join(book: Notebook) -> None:
    options = {"decoder": "offsets", "record": "OFFSET_COMMIT", "columns": "offset,key,value"}
    book.log(GROUPS, **options).createOrReplaceTempView("commits")
    book.log(columns="topic,partition,offset").createOrReplaceTempView("log")
    lags = book.spark.sql("""
        WITH newest AS (SELECT key.group, key.topic, key.partition,
                               max_by(value.offset, `offset`) AS committed
                        FROM commits GROUP BY ALL),
             ends AS (SELECT topic, partition, max(`offset`) + 1 AS end FROM log GROUP BY ALL)
        SELECT `group`, end - committed AS lag FROM newest JOIN ends USING (topic, partition)
        WHERE committed IS NOT NULL
    """).collect()
    commits = {}
    for row in rows_of("--offsets-decoder", "--type", "offset_commit", GROUPS):
        if row["key"]["topic"] == "a.none":
            commits[row["key"]["group"]] = row["value"]
    expected = {group: 80 - value["offset"] for group, value in commits.items() if value}
    assert len(expected) > 1
    assert {row.group: row.lag for row in lags} == expected


def reads_fields_of_metadata(book: Notebook) -> None:
    rows = rows_of("--cluster-metadata-decoder", "--type", "partition", METADATA)
    table = book.log(METADATA, decoder="metadata", record="PARTITION_RECORD", columns="value")
    replicas = [row.replicas for row in table.select("value.replicas").collect()]
    assert sorted(replicas) == sorted(row["value"]["replicas"] for row in rows)


def parses_json_of_metadata(book: Notebook) -> None:
    table = book.log(METADATA, decoder="metadata", types="topic", columns="valueJson")
    name = f.expr("variant_get(parse_json(valueJson), '$.name', 'string')")
    names = {row[0] for row in table.select(name).collect()}
    rows = rows_of("--cluster-metadata-decoder", "--type", "topic", METADATA)
    assert names == {row["value"]["name"] for row in rows}


def reads_what_a_consumer_gets(book: Notebook) -> None:
    level = {"kafka.isolation.level": "read_committed"}
    states = book.log(IN / "user/txn", decoder="user", transactionState="true")
    committed = states.where("transactionState = 'committed' OR NOT transactional")
    expected = {row.offset for row in committed.where("NOT control").collect()}
    opened = [row.offset for row in states.where("transactionState = 'open'").collect()]
    stable = {offset for offset in expected if not opened or offset < min(opened)}
    read = book.log(IN / "user/txn", decoder="user", columns="offset", **level).collect()
    assert {row.offset for row in read} == stable
    assert len(stable) > 20


def names_the_file_of_each_row(book: Notebook) -> None:
    table = book.log(book.brokers[0] / "a.none-0", metadata="true")
    sizes = table.select("metadata.file_path", "metadata.file_size").distinct().collect()
    assert {(row[0], row[1]) for row in sizes} == {
        (str(path), path.stat().st_size) for path in (book.brokers[0] / "a.none-0").glob("*.log")
    }


def shows_damage(book: Notebook) -> None:
    folder = book.damaged.parent
    table = book.log(folder, columns="file,position,crcValid").where("NOT crcValid")
    assert {row.file for row in table.collect()} == {str(book.damaged)}
    assert book.log(folder, columns="offset", mode="DROPMALFORMED").count() == 110
    with pytest.raises(Exception, match="DecodeError"):
        book.log(folder, mode="FAILFAST").collect()


def grows_a_table_by_each_run(book: Notebook) -> None:
    if book.lake == "iceberg":
        book.spark.sql(
            f"CREATE TABLE {book.table} (topic string, partition int, offset bigint, value binary)"
            " USING iceberg"
        )
    book.growing.append(20)
    book.stream()
    assert book.in_lake() == Counter(range(20))
    book.growing.roll()
    book.growing.append(7)
    book.stream()
    assert book.in_lake() == Counter(range(27))


def a_run_again_adds_nothing(book: Notebook) -> None:
    before = book.in_lake()
    book.stream()
    assert book.in_lake() == before


def loads_what_a_table_lacks(book: Notebook) -> None:
    book.growing.append(5)
    book.log(book.growing.folder, columns=COLUMNS).createOrReplaceTempView("log")
    if book.lake == "parquet":  # where a stream writes files, Spark sees no others
        return
    name = f"delta.`{book.table}`" if book.lake == "delta" else book.table
    book.spark.sql(
        f"MERGE INTO {name} t USING log s ON t.topic = s.topic AND t.partition = s.partition"
        " AND t.`offset` = s.`offset` WHEN NOT MATCHED THEN INSERT *"
    )
    assert book.in_lake() == Counter(range(32))


def loses_no_row_with_a_worker(book: Notebook) -> None:
    """On a cluster, an executor is killed; elsewhere, the Python worker of a first attempt."""

    @f.udf("bigint")
    def dying(number: int) -> int:
        from pyspark import TaskContext

        context = TaskContext.get()
        if context and context.attemptNumber() == 0 and context.partitionId() == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return number

    @f.udf("bigint")
    def slow(number: int) -> int:
        import time

        time.sleep(0.02)
        return number

    def kill() -> None:
        wait(lambda: bool(executors_of(book.workers)), Path(os.devnull))
        os.kill(next(iter(executors_of(book.workers).values())), signal.SIGKILL)

    table = book.log(columns="topic,partition,offset", splitBytes="3000")
    assert table.rdd.getNumPartitions() > 2 if book.workers else True
    change: Any = slow if book.workers else dying
    killer = Thread(target=kill if book.workers else lambda: None)
    killer.start()
    rows = table.withColumn("offset", change("offset")).collect()
    killer.join()
    assert Counter(tuple(row) for row in rows) == EVERY


TASKS: tuple[Callable[[Notebook], None], ...] = (
    counts_each_partition_once,
    reads_all_copies_with_their_brokers,
    reads_one_topic,
    reads_one_partition_by_a_condition,
    reads_a_range_of_offsets,
    reads_an_hour,
    reads_between_offsets_of_partitions,
    filters_of_spark_are_pushed,
    has_a_view_in_sql,
    has_the_newest_record_of_each_key,
    tells_the_lag_of_groups_by_a_join,
    reads_fields_of_metadata,
    parses_json_of_metadata,
    reads_what_a_consumer_gets,
    names_the_file_of_each_row,
    shows_damage,
    grows_a_table_by_each_run,
    a_run_again_adds_nothing,
    loads_what_a_table_lacks,
    loses_no_row_with_a_worker,
)


def main() -> None:
    """Start Spark, and do the tasks; those that fail are named."""
    master, directory, lake, *workers = sys.argv[1:]
    conf = () if master.startswith("sc:") else CONF  # a server has its own
    if conf and lake != "parquet":
        conf = (*CONF, *lake_conf(lake, Path(directory)).items())
    failed = 0
    with started(Settings(master, conf)) as session:
        book = Notebook(session.spark, Path(directory), lake, [*map(int, workers)])
        for task in TASKS:
            try:
                task(book)
            except Exception as error:  # noqa: BLE001 - others are done all the same
                failed += 1
                text = str(error).partition("\n\tat ")[0][-1500:]  # without the frames of the JVM
                sys.stderr.write(f"{task.__name__}: {type(error).__name__}: {text}\n")
    raise SystemExit(failed)


if __name__ == "__main__":
    main()
