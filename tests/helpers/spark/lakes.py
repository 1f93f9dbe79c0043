"""Tables of Delta and Iceberg: the newest PySpark that each supports, and its jars by Maven."""

from pathlib import Path
from typing import NamedTuple

from kraftops.spark.sql.sinks import SINKS
from tests.helpers.kafka.jvm.jars import copied_jars

POM = Path(__file__).with_name("lake-pom.xml")
CATALOG = "lake"
"""Iceberg's catalog of a directory."""


class Lake(NamedTuple):
    """A release of PySpark, and of what it needs, by Maven's coordinates."""

    release: str
    group: str
    artifact: str
    version: str


LAKES = {
    "delta": Lake("4.2.1", "io.delta", "delta-spark_4.2_2.13", "4.4.0"),
    "iceberg": Lake("4.1.4", "org.apache.iceberg", "iceberg-spark-runtime-4.1_2.13", "1.12.0"),
}


def lake_conf(kind: str, directory: Path) -> dict[str, str]:
    """Return the configuration of Spark for tables in a directory.

    Raises:
        MissingJarsError: Java, Maven or the network is missing.
    """
    lake = LAKES[kind]
    coordinates = {f"lake.{name}": text for name, text in lake._asdict().items()}
    jars = copied_jars(f"{lake.artifact}-{lake.version}", POM, coordinates)
    found = {"spark.jars": ",".join(map(str, sorted(jars.glob("*.jar")))), **SINKS[kind].conf}
    if kind == "delta":
        found["spark.databricks.delta.snapshotPartitions"] = "1"  # 50 tasks for a few lines
    else:
        catalog = f"spark.sql.catalog.{CATALOG}"
        found |= {
            catalog: "org.apache.iceberg.spark.SparkCatalog",
            f"{catalog}.type": "hadoop",
            f"{catalog}.warehouse": str(directory),
            # To read, Iceberg asks for the scheme, which the raw file system of our jobs lacks.
            "spark.hadoop.fs.file.impl": "org.apache.hadoop.fs.LocalFileSystem",
        }
    return found
