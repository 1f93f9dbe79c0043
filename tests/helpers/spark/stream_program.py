"""Driver of a stream, which tests kill: follow logs into a table until a file asks for the end.

    python -m tests.helpers.spark.stream_program LOGS TARGET FORMAT MAX_BYTES

A query that ends, since its workers are killed, is started again. `TARGET/end` ends it: what is
there by then is written at once, compared with the table that `spark.read` shows of the same logs,
and counted on standard output.
"""

import json
import sys
import time
from pathlib import Path
from typing import Any

from kraftops.spark.stream.options import HAS_LIMITS
from tests.helpers.spark.lakes import CATALOG, LAKES, lake_conf

COLUMNS = ("file", "position", "topic", "partition", "offset", "timestamp", "leaderEpoch", "value")
MOST_STARTS = 50
_ICEBERG = f"{CATALOG}.table"


def session(form: str, target: Path) -> Any:
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
    if form in LAKES:
        conf |= lake_conf(form, target)
    for name, value in conf.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def start(spark: Any, logs: str, target: Path, form: str, most: str) -> Any:
    """Start the query; about *most* bytes a batch, if this release can limit it."""
    stream = spark.readStream.format("kraftops").option("decoder", "user")
    if HAS_LIMITS:
        stream = stream.option("maxBytesPerTrigger", most)
    writer = stream.option("columns", ",".join(COLUMNS)).load(logs).writeStream.format(form)
    writer = writer.option("checkpointLocation", str(target / "checkpoint"))
    writer = writer.trigger(processingTime="50 milliseconds")
    if form == "iceberg":
        return writer.toTable(_ICEBERG)
    return writer.start(str(target / "table"))


def compared(spark: Any, logs: str, target: Path, form: str) -> dict[str, int]:
    """Return how many rows the target has, lacks, and has too many."""
    whole = spark.read.format("kraftops").option("decoder", "user")
    whole = whole.option("columns", ",".join(COLUMNS)).load(logs)
    place = _ICEBERG if form == "iceberg" else str(target / "table")
    written = spark.read.format(form).load(place).select(*COLUMNS)
    return {
        "rows": written.count(),
        "lost": whole.exceptAll(written).count(),
        "surplus": written.exceptAll(whole).count(),
    }


def main() -> None:
    """Run the program."""
    logs, folder, form, most = sys.argv[1:]
    target = Path(folder)
    spark = session(form, target)
    ended = 0
    query = start(spark, logs, target, form, most)
    while not (target / "end").exists():
        if not query.isActive:
            ended += 1
            if ended > MOST_STARTS:
                sys.exit(f"the query ended: {query.exception()}")
            query = start(spark, logs, target, form, most)
        time.sleep(0.05)
    query.stop()
    query = start(spark, logs, target, form, "1g")
    query.processAllAvailable()
    query.stop()
    sys.stdout.write(json.dumps(compared(spark, logs, target, form)))
    spark.stop()


if __name__ == "__main__":
    main()
