"""Driver of a stream, which tests kill: follow logs into a table until a file asks for the end.

    python -m tests.helpers.spark.stream_program LOGS TARGET FORMAT MAX_BYTES

A query that ends, since its workers are killed, is started again. `TARGET/end` ends it: what is there by then is written, compared with the table that
`spark.read` shows of the same logs, and counted on standard output.
"""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

COLUMNS = ("file", "position", "topic", "partition", "offset", "timestamp", "leaderEpoch", "value")
DELTA = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.databricks.delta.snapshotPartitions": "1",
}

MOST_STARTS = 50


def session(form: str) -> Any:
    """Return a session of Spark in this process."""
    from pyspark.sql import SparkSession

    builder: Any = SparkSession.builder.master("local[2,4]")
    conf = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "768m",
        "spark.sql.shuffle.partitions": "2",
        "spark.log.level": "ERROR",
    }
    if form == "delta":
        conf |= DELTA | {"spark.jars": ",".join(_delta_jars())}
    for name, value in conf.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def _delta_jars() -> list[str]:
    return [str(jar) for jar in sorted(Path(os.environ["KRAFTOPS_DELTA_JARS"]).glob("*.jar"))]


def start(spark: Any, logs: str, target: Path, form: str, most: str) -> Any:
    """Start the query."""
    stream = spark.readStream.format("kraftops").option("decoder", "user")
    return (
        stream.option("columns", ",".join(COLUMNS))
        .option("maxBytesPerTrigger", most)
        .load(logs)
        .writeStream.format(form)
        .option("checkpointLocation", str(target / "checkpoint"))
        .trigger(processingTime="50 milliseconds")
        .start(str(target / "table"))
    )


def compared(spark: Any, logs: str, target: Path, form: str) -> dict[str, int]:
    """Return how many rows the target has, lacks, and has too many."""
    whole = spark.read.format("kraftops").option("decoder", "user")
    whole = whole.option("columns", ",".join(COLUMNS)).load(logs)
    written = spark.read.format(form).load(str(target / "table")).select(*COLUMNS)
    return {
        "rows": written.count(),
        "lost": whole.exceptAll(written).count(),
        "surplus": written.exceptAll(whole).count(),
    }


def main() -> None:
    """Run the program."""
    logs, folder, form, most = sys.argv[1:]
    target = Path(folder)
    spark = session(form)
    ended = 0
    query = start(spark, logs, target, form, most)
    while not (target / "end").exists():
        if not query.isActive:
            ended += 1
            if ended > MOST_STARTS:
                sys.exit(f"the query ended: {query.exception()}")
            query = start(spark, logs, target, form, most)
        time.sleep(0.05)
    if not query.isActive:
        query = start(spark, logs, target, form, most)
    query.processAllAvailable()
    query.stop()
    sys.stdout.write(json.dumps(compared(spark, logs, target, form)))
    spark.stop()


if __name__ == "__main__":
    main()
