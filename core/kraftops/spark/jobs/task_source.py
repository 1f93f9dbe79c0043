"""Table of what work yields of things, a task each.

Any session runs it, also one of Spark Connect, which has no RDDs. A table function over a range
takes as much CPU, and streams its rows only as an Arrow one, which Spark has since 4.1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import uuid4

# Spark calls subclasses of its own classes, so this module needs pyspark to load.
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from kraftops.memory import keep_freed_memory

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

Work = Callable[[Iterable[Any]], Iterable[tuple[object, ...]]]


@dataclass(frozen=True)
class TaskPartition(InputPartition):
    """Partition of the table: a thing to work on."""

    thing: object


class TaskReader(DataSourceReader):
    """Reader that gives each thing a partition, and runs the work in workers."""

    def __init__(self, things: Sequence[object], work: Work, schema: StructType) -> None:
        """Work on things; *schema* has the columns of the rows that it yields."""
        self._things = things
        self._work = work
        self._schema = schema

    def __getstate__(self) -> dict[str, Any]:
        """Drop the things: each worker has its own in its partition."""
        return {**self.__dict__, "_things": ()}

    def partitions(self) -> Sequence[TaskPartition]:
        return [TaskPartition(thing) for thing in self._things]

    def read(self, partition: TaskPartition) -> Iterator[pa.RecordBatch]:  # type: ignore[override]
        """Yield the rows of the work on a thing one by one: a text has rows of a megabyte."""
        import pyarrow as pa
        from pyspark.sql.pandas.types import to_arrow_schema

        keep_freed_memory()
        schema = to_arrow_schema(self._schema)
        for row in self._work([partition.thing]):
            columns = [
                pa.array([field], kind) for field, kind in zip(row, schema.types, strict=True)
            ]
            yield pa.RecordBatch.from_arrays(columns, schema=schema)


def task_table(
    spark: SparkSession, things: Sequence[object], work: Work, columns: str
) -> DataFrame:
    """Return a table of *columns*, a DDL schema: the rows of *work*, a partition for each thing."""
    # Threads share a session, and Spark Connect looks for the class when the table is read.
    unique_name = f"kraftops-tasks-{uuid4().hex}"

    class TaskSource(DataSource):
        """Data source that Spark copies with all that it is made of, as it has no other name."""

        @classmethod
        def name(cls) -> str:
            return unique_name

        def schema(self) -> str:
            return columns

        def reader(self, schema: StructType) -> DataSourceReader:
            return TaskReader(things, work, schema)

    spark.dataSource.register(TaskSource)
    return spark.read.format(TaskSource.name()).load()
