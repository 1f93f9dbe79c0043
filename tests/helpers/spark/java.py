"""Options that have the JVMs of Spark start quickly."""

import fcntl
import importlib.util
import os
import shutil
import subprocess
import sys
import zlib
from contextlib import suppress
from functools import cache
from pathlib import Path

from tests.helpers.kafka.jvm.jvm import OPTIONS, java_version

_SMALL_JOB = """
from pyspark.sql import SparkSession
builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
session = builder.config("spark.driver.memory", "512m").getOrCreate()
session.range(100).selectExpr("sum(id)").collect()
gateway = session.sparkContext._gateway
session.stop()
gateway.shutdown()
gateway.proc.stdin.close()
gateway.proc.wait()
"""


@cache
def java_options() -> str:
    """Return the options, with an archive of the classes that a small job loads (JEP 350).

    Start and end of a JVM take 5 s of processor time with it, 9 s without; to make it takes 28 s.
    Where it does not fit, as with another Java or release of Spark, a JVM starts without.
    """
    spark = importlib.util.find_spec("pyspark")
    if spark is None or spark.origin is None or shutil.which("java") is None:
        return " ".join(OPTIONS)
    place = f"{spark.origin} {os.stat(spark.origin).st_mtime_ns} {java_version()}"
    archive = Path(sys.prefix, f"spark-{zlib.crc32(place.encode()):08x}.jsa")
    with suppress(OSError), archive.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not archive.exists():
            _archive_classes(archive)
    if not archive.exists():
        return " ".join(OPTIONS)
    return " ".join([*OPTIONS, f"-XX:SharedArchiveFile={archive}", "-Xlog:disable"])


def _archive_classes(archive: Path) -> None:
    part = archive.with_suffix(".part")
    options = " ".join([*OPTIONS, f"-XX:ArchiveClassesAtExit={part}", "-Xlog:disable"])
    environment = os.environ | {"JDK_JAVA_OPTIONS": options, "SPARK_LOCAL_IP": "127.0.0.1"}
    command = [sys.executable, "-c", _SMALL_JOB]
    subprocess.run(command, env=environment, capture_output=True, check=False)
    if part.exists():  # not every JVM makes one
        part.rename(archive)
