"""Tables of Delta and Iceberg, which Spark's own writers make: all rows appear at once."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kraftops.fileio.output import ExistsError
from kraftops.spark.session.failures import SparkError, job_errors
from kraftops.spark.sql.tables import with_partition
from kraftops.uris import is_remote

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pyspark.sql import DataFrame


@dataclass(frozen=True, slots=True)
class Sink:
    """A kind of table: what Spark needs on its class path for it, by Maven's coordinates.

    *conf* is what Spark must be started with. A table *in_catalog* has a name.
    """

    package: str
    conf: Mapping[str, str] = field(default_factory=dict)
    in_catalog: bool = False


SINKS: dict[str, Sink] = {
    "delta": Sink(
        "io.delta:delta-spark_{spark}_2.13:VERSION",
        {
            "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
            "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        },
    ),
    "iceberg": Sink(
        "org.apache.iceberg:iceberg-spark-runtime-{spark}_2.13:VERSION", in_catalog=True
    ),
}
"""By the names that Spark gives them."""
_CATALOG = "kraftops"
_MISSING = ("DATA_SOURCE_NOT_FOUND", "PLUGIN_CLASS_NOT_FOUND", "Cannot find catalog plugin class")
_IS_THERE = ("PATH_EXISTS", "ALREADY_EXISTS", "already exists")


def is_table_name(sink: str, output: str) -> bool:
    """Tell whether an output is the name of a table in a catalog, and no path."""
    return SINKS[sink].in_catalog and "/" not in output


def write_sink(
    table: DataFrame, sink: str, output: str, *, overwrite: bool, partition_by: str | None
) -> None:
    """Have Spark write a table.

    Raises:
        ExistsError: the table is there already.
        SparkError: the job failed.
    """
    if not (is_remote(output) or is_table_name(sink, output)):
        output = f"file://{os.path.abspath(output)}"
    write = _create if SINKS[sink].in_catalog else _save
    try:
        with job_errors():
            if partition_by:
                table = with_partition(table, partition_by)
            write(table, sink, output, overwrite=overwrite, partition_by=partition_by)
    except SparkError as error:
        if not _says(error, _IS_THERE):
            raise
        raise ExistsError(output) from error


@contextmanager
def explained(sink: str) -> Iterator[None]:
    """Use a sink; an error says how Spark gets what is missing on its class path.

    Raises:
        SparkError: something is, or the job failed.
    """
    try:
        yield
    except SparkError as error:
        if not _says(error, _MISSING):
            raise
        import pyspark

        release = ".".join(pyspark.__version__.split(".")[:2])
        package = SINKS[sink].package.format(spark=release)
        raise SparkError(
            f"Spark {release} has no writer of {sink} on its class path",
            hint=f"--conf spark.jars.packages={package}, if there is one for this release",
        ) from error


def _says(error: SparkError, texts: Iterable[str]) -> bool:
    return any(map(error.message.__contains__, texts))


def _save(
    table: DataFrame, sink: str, output: str, *, overwrite: bool, partition_by: str | None
) -> None:
    writer: Any = table.write.format(sink).mode("overwrite" if overwrite else "error")
    if overwrite:
        writer = writer.option("overwriteSchema", "true")
    if partition_by:
        writer = writer.partitionBy(partition_by)
    writer.save(output)


def _create(
    table: DataFrame, sink: str, output: str, *, overwrite: bool, partition_by: str | None
) -> None:
    """Create a table by its name; a path is a table in a catalog of the directory above it."""
    from pyspark.sql import functions as f

    parent, slash, name = output.rpartition("/")
    if slash:
        prefix = f"spark.sql.catalog.{_CATALOG}"
        conf = table.sparkSession.conf
        conf.set(prefix, "org.apache.iceberg.spark.SparkCatalog")
        conf.set(f"{prefix}.type", "hadoop")
        conf.set(f"{prefix}.warehouse", parent)
        output = f"{_CATALOG}.`{name.replace('`', '``')}`"
    writer: Any = table.writeTo(output).using(sink)
    if partition_by:
        writer = writer.partitionedBy(f.col(partition_by))
    if overwrite:
        writer.createOrReplace()
    else:
        writer.create()
