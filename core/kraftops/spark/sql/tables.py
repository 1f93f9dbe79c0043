"""Table `log`, with the columns that a statement names, for SQL and for Spark's own writers."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, astuple, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from kraftops.display.times import DAY_MS
from kraftops.dump.sources.names import Source
from kraftops.errors import UsageError
from kraftops.query.formats import CSV_SAFE, FORMATS, JSON
from kraftops.query.query import Query
from kraftops.query.row import COLUMNS, DAMAGE
from kraftops.query.row_lines import csv_line
from kraftops.records.meaning import BASE64
from kraftops.spark.dump.targets import Target
from kraftops.spark.jobs.run import check_workers
from kraftops.spark.session.failures import job_errors
from kraftops.spark.session.session import Session
from kraftops.spark.source.options import query_text
from kraftops.spark.source.segment_list import list_schema, read_list
from kraftops.uris import is_remote

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import DataType

VIEW, SEGMENTS_VIEW = "log", "kraftops_segments"
_PUSHDOWN = "spark.sql.python.filterPushdown.enabled"
_LINE_OPTIONS = {
    "csv": {"escape": '"'},
    "csv-safe": {"escape": '"'},
    "json": {"ignoreNullFields": "false"},
}
_PARTIAL = "bytes that are not a whole batch"  # at the end of a file, where Kafka's tool goes on
MOST_SHOWN = 1000
"""Limit of rows that are shown on a screen: all of them are collected before columns get widths."""
_COUNT = re.compile(r"\bcount\s*\(\s*\*\s*\)", re.IGNORECASE)
_UNNAMED = re.compile(r"[*|]|\b(?:natural|pivot|table|identifier)\b", re.IGNORECASE)
"""What reads columns that it does not name: a star, `NATURAL JOIN`, `TABLE log`, `|>` …"""
_LEAST = "crcValid"  # of a table that is only counted; headers of batches tell it


def log_table(
    session: Session, sources: Sequence[Source], query: Query, columns: Sequence[str] = ()
) -> DataFrame:
    """Return the rows of *query* as a table, and define the view `log` of it.

    It has all columns, or some.

    Raises:
        SparkError: Spark refuses it.
    """
    from kraftops.spark.datasource import HAS_PUSHDOWN, JobDataSource

    check_workers(session)
    session.jobs.describe(f"the table {VIEW}")
    spark = session.spark
    with job_errors():
        spark.dataSource.register(JobDataSource)
        reader = spark.read.format(JobDataSource.name())
        # A session that was started elsewhere refuses push-down unless this is set.
        pushdown = spark.conf.get(_PUSHDOWN, "false") if HAS_PUSHDOWN else "false"
        options = _options(session, sources, query) | {"pushdown": str(pushdown)}
        for name, value in options.items():
            reader = reader.option(name, value)
        table = reader.option("columns", ",".join(columns)).load()
        table.createOrReplaceTempView(VIEW)
    return table


def _options(session: Session, sources: Sequence[Source], query: Query) -> dict[str, str]:
    if not session.settings.is_local:  # workers may be in another directory
        sources = [
            source if is_remote(source.path) else replace(source, path=os.path.abspath(source.path))
            for source in sources
        ]
    return {
        "sources": json.dumps([astuple(source) for source in sources]),
        "query": query_text(query),
        "cores": str(session.cores),
        "tries": str(session.settings.tries),
        "replicas": "all",  # as without Spark
    }


def answer(session: Session, sources: Sequence[Source], query: Query, sql: str) -> DataFrame:
    """Return the result of an SQL statement about the table `log`.

    Only the columns that it names are read.

    Raises:
        SparkError: it is not SQL, or names an unknown table or column.
    """
    from pyspark.errors import AnalysisException

    spark = session.spark
    with job_errors():
        if SEGMENTS_VIEW in sql:
            _define_segments(spark, sources)
    log_table(session, sources, query, named_columns(sql, COLUMNS))
    with job_errors():
        try:
            return spark.sql(sql)
        except AnalysisException:  # a name that only Spark knows to be a column
            log_table(session, sources, query)
            return spark.sql(sql)


def _define_segments(spark: SparkSession, sources: Sequence[Source]) -> None:
    """Define the view of what `kraftops spark index` has listed in the log directories.

    Raises:
        UsageError: it has not.
    """
    import pyarrow as pa

    bases = dict.fromkeys(os.path.dirname(os.path.dirname(source.path)) for source in sources)
    rows = [asdict(segment) for base in bases for segment in read_list(base).values()]
    if not rows:
        directory = next(iter(bases), "DIRECTORY")
        raise UsageError(
            f"no segments are listed in {directory}", hint=f"kraftops spark index {directory}"
        )
    table: Any = pa.Table.from_pylist(rows, list_schema())
    spark.createDataFrame(table).createOrReplaceTempView(SEGMENTS_VIEW)


def rows_of(table: DataFrame, *, times_as_text: bool = False) -> Iterator[list[Any]]:
    """Yield the rows of a table, in order, as lists of plain values; nested ones are JSON.

    Times are in ms since the epoch, as in rows, unless *times_as_text* is set.

    Raises:
        SparkError: the job failed.
    """
    with job_errors():
        plain = _flat(_plain(table, times_as_text=times_as_text))
        for row in plain.toDF(*map(str, range(len(table.columns)))).toLocalIterator():
            yield list(row)


def json_lines(table: DataFrame) -> Iterator[str]:
    """Yield the rows of a table, in order, as the JSON that `write_table` writes.

    Raises:
        SparkError: the job failed.
    """
    with job_errors():
        for row in _plain(table).select(_line(table.columns, JSON.name)).toLocalIterator():
            yield row[0]


class RowCounts(NamedTuple):
    """Numbers of rows written: all, of batches with a wrong CRC or bytes that are none, of errors.

    A batch that is cut short at the end of a file counts only as an error.
    """

    records: int
    damaged: int
    errors: int


def write_log(table: DataFrame, target: Target, form: str, partition_by: str) -> RowCounts:
    """Have Spark write the table of a log into directories; return the numbers of rows.

    Raises:
        SparkError: the job failed.
    """
    with job_errors():
        counted, counts_seen = observed(table)
    write_table(counted, target, form, partition_by)
    counts = counts_seen()
    if not counts.records:  # without a row there is no directory, and no file has the columns
        with job_errors():
            nothing = with_partition(table, partition_by).limit(0)
        write_table(nothing, target, form)
    return counts


def observed(table: DataFrame) -> tuple[DataFrame, Callable[[], RowCounts]]:
    """Return the table of a log, and a function that tells the counts once it is written."""
    from pyspark.sql import Observation
    from pyspark.sql import functions as f

    is_end = f.col("error").endswith(_PARTIAL)
    is_damage = ((f.col("kind") == DAMAGE) & ~is_end) | ~f.col("crcValid")
    is_error = f.col("error").isNotNull() | ~f.col("crcValid")
    numbers = (
        f.count(f.lit(1)).alias("records"),
        f.count_if(is_damage).alias("damaged"),
        f.count_if(is_error).alias("errors"),
    )
    seen = Observation()

    def counts() -> RowCounts:
        metrics = seen.get
        if not metrics:  # Spark Connect 4.0 may leave it out of what it says of a write
            with job_errors():
                metrics = table.agg(*numbers).collect()[0].asDict()
        return RowCounts(**{name: int(value) for name, value in metrics.items()})

    return table.observe(seen, *numbers), counts


def write_table(
    table: DataFrame, target: Target, form: str, partition_by: str | None = None
) -> None:
    """Have Spark write a table as json, csv or parquet; workers write it to an object store.

    Raises:
        SparkError: the job failed.
    """
    with job_errors():
        if partition_by:
            table = with_partition(table, partition_by)
        if not FORMATS[form].is_columns:
            table = _plain(table)
        has_head = bool(FORMATS[form].head)
        if has_head:
            table = _flat(table)
        if form == CSV_SAFE.name:
            table = _safe(table)
        if target.is_remote:
            _write_parts(table, target, form, partition_by)
            return
        writer = (
            table.write.mode("append")
            .format("csv" if has_head else form)
            .options(**_LINE_OPTIONS.get(form, {}))
        )
        if has_head:
            writer = writer.option("header", "true")
        if partition_by:
            writer = writer.partitionBy(partition_by)
        writer.save(f"file://{target.place}")


def _write_parts(table: DataFrame, target: Target, form: str, partition_by: str | None) -> None:
    """Write a table with the same lines and directories as Spark's own writers."""
    from kraftops.spark.sql.parts_writer import NAME, PartsRequest, PartsSink

    names = [name for name in table.columns if name != partition_by]
    has_head = bool(FORMATS[form].head)
    head = csv_line(names) if has_head else ""
    if not FORMATS[form].is_columns:
        table = table.select(*([partition_by] if partition_by else []), _line(names, form))
    if partition_by:
        table = table.sortWithinPartitions(partition_by)
    table.sparkSession.dataSource.register(PartsSink)
    request = PartsRequest(target, form, head, partition_by or "")
    table.write.format(NAME).mode("append").options(**request.options()).save()


def _line(names: Sequence[str], form: str) -> Column:
    """Return the line of a row with columns of these names, as Spark's own writers make it."""
    from pyspark.sql import functions as f

    record = f.struct(*["`" + name.replace("`", "``") + "`" for name in names])
    to_line = f.to_csv if FORMATS[form].head else f.to_json
    return to_line(record, _LINE_OPTIONS[form]).alias("line")


def with_partition(table: DataFrame, by: str) -> DataFrame:
    """Add the column that names directories: UTC date, type or kind, topic id or name."""
    from pyspark.sql import functions as f

    if by == "date":
        day = f.floor(f.unix_millis(f.col("timestamp")) / DAY_MS).cast("int")
        return table.withColumn("date", f.date_from_unix_date(day).cast("string"))  # in UTC
    if by == "topic":
        return table.withColumn("topic", f.coalesce(f.col("topicId"), f.col("topic")))
    return table.withColumn("type", f.coalesce(f.col("type"), f.col("kind")))


def _plain(table: DataFrame, *, times_as_text: bool = False) -> DataFrame:
    """Return a table for JSON, CSV and screens: times in ms, bytes and keys of maps as text.

    Bytes that are not text are in base64, as the column of their encoding says, if there is one.
    """
    from pyspark.sql import functions as f
    from pyspark.sql import types

    names = table.columns
    numbered = table.toDF(*map(str, range(len(names))))  # names may come twice
    is_bytes = {}
    columns = []
    for index, field in enumerate(table.schema.fields):
        column = f.col(str(index))
        if isinstance(field.dataType, types.TimestampType):
            column = column.cast("string") if times_as_text else f.unix_millis(column)
        elif isinstance(field.dataType, types.BinaryType):
            is_bytes[f"{field.name}Encoding"] = ~f.is_valid_utf8(column.cast("string"))
            column = _text_of_bytes(column)
        elif isinstance(field.dataType, types.MapType):
            column = f.transform_keys(column, partial(_key_text, field.dataType.keyType))
        elif field.name in is_bytes:  # it comes after its key or value
            column = f.when(is_bytes[field.name], BASE64).otherwise(column)
        columns.append(column.alias(str(index)))
    return numbered.select(*columns).toDF(*names)


def _text_of_bytes(column: Column) -> Column:
    from pyspark.sql import functions as f

    text = column.cast("string")
    return f.when(f.is_valid_utf8(text), text).otherwise(f.base64(column))


def _key_text(kind: DataType, key: Column, _: Column) -> Column:
    """Return a map's key as text: Spark writes days of dates into JSON, and addresses of bytes."""
    from pyspark.sql import types

    return _text_of_bytes(key) if isinstance(kind, types.BinaryType) else key.cast("string")


def _safe(table: DataFrame) -> DataFrame:
    """Return a table for CSV that is safe for spreadsheets, as `safe_field` makes fields."""
    from pyspark.sql import functions as f
    from pyspark.sql import types

    def safe(column: Column, kind: types.DataType) -> Column:
        if not isinstance(kind, types.StringType):
            return column
        is_formula = column.rlike(r"^[=+\-@\t\r]")
        return f.when(is_formula, f.concat(f.lit("'"), column)).otherwise(column)

    return _changed_columns(table, safe)


def _flat(table: DataFrame) -> DataFrame:
    """Return a table for CSV and screens: nested values as JSON."""
    from pyspark.sql import functions as f
    from pyspark.sql import types

    def flat(column: Column, kind: types.DataType) -> Column:
        if isinstance(kind, types.StructType):
            return f.to_json(column)
        if isinstance(kind, types.ArrayType | types.MapType):
            return f.when(f.size(column) > 0, f.to_json(column))
        return column

    return _changed_columns(table, flat)


def _changed_columns(table: DataFrame, change: Callable[[Column, DataType], Column]) -> DataFrame:
    """Return a table with each column changed by its type; names may come twice."""
    from pyspark.sql import functions as f

    kinds = {str(index): field.dataType for index, field in enumerate(table.schema.fields)}
    numbered = table.toDF(*kinds)
    columns = [change(f.col(name), kind).alias(name) for name, kind in kinds.items()]
    return numbered.select(*columns).toDF(*table.columns)


def named_columns(sql: str, names: Sequence[str]) -> tuple[str, ...]:
    """Return those of the columns *names* that a statement may read; () if these may be all.

    Each word counts, also one that is an alias or in a text: a column too many is only slower.
    """
    words = {word.lower() for word in re.findall(r"\w+", sql)}
    if "select" not in words or _UNNAMED.search(_COUNT.sub("", sql)):
        return ()
    return tuple(name for name in names if name.lower() in words) or (_LEAST,)
