"""Data source of Spark whose partitions are tasks of ours, and whose rows are what they yield.

Any session runs them as a table, also one of Spark Connect, which has no RDDs.
"""

from __future__ import annotations

import pickle
import zlib
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

# Spark calls subclasses of its own classes, so this module needs pyspark to load.
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from kraftops.memory import keep_freed_memory

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

NAME = "kraftops-tasks"
_MOST_ROWS, _MOST_BYTES = 1000, 4 << 20  # of a record batch


@dataclass(frozen=True)
class TaskPartition(InputPartition):
    """Partition of the table: a thing to work on, pickled."""

    thing: bytes


class TaskSource(DataSource):
    """Data source that runs work on things, a task each; both are in its options."""

    @classmethod
    def name(cls) -> str:
        """Return the name for `format`."""
        return NAME

    def schema(self) -> str:
        """Return the columns of what the work yields."""
        return self.options["columns"]

    def reader(self, schema: StructType) -> DataSourceReader:
        """Return a reader that runs the work."""
        return TaskReader(b64decode(self.options["work"]), self.options["things"], schema)


class TaskReader(DataSourceReader):
    """Reader that gives each thing a partition, and runs the work in workers."""

    def __init__(self, work: bytes, things: str, schema: StructType) -> None:
        """Run pickled work on packed things; *schema* has the columns of its rows."""
        self._work = work
        self._things = things
        self._schema = schema

    def partitions(self) -> Sequence[TaskPartition]:
        """Return the things."""
        things = pickle.loads(zlib.decompress(b64decode(self._things)))  # noqa: S301 - packed below
        return [TaskPartition(thing) for thing in things]

    def read(self, partition: TaskPartition) -> Iterator[pa.RecordBatch]:  # type: ignore[override]
        """Yield what the work makes of a thing, in record batches."""
        from pyspark.sql.pandas.types import to_arrow_schema

        keep_freed_memory()
        work = pickle.loads(self._work)  # noqa: S301 - as the code, it is the driver's
        yield from _batches(work([pickle.loads(partition.thing)]), to_arrow_schema(self._schema))  # noqa: S301


def task_table(
    spark: SparkSession,
    things: Iterable[object],
    work: Callable[[Iterable[Any]], Iterable[tuple[object, ...]]],
    columns: str,
) -> DataFrame:
    """Return a table of what *work* yields: rows of *columns*, a partition for each thing."""
    from pyspark.serializers import CloudPickleSerializer

    dumps: Any = CloudPickleSerializer().dumps  # type: ignore[no-untyped-call]
    packed = zlib.compress(pickle.dumps([dumps(thing) for thing in things]))
    options = {
        "work": b64encode(dumps(work)).decode(),
        "things": b64encode(packed).decode(),
        "columns": columns,
    }
    spark.dataSource.register(TaskSource)
    return spark.read.format(NAME).options(**options).load()


def _batches(rows: Iterable[tuple[object, ...]], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Yield rows in record batches of a limited size."""
    import pyarrow as pa

    def batch() -> pa.RecordBatch:
        columns = zip(*some, strict=True)
        arrays = list(map(pa.array, columns, schema.types))
        return pa.RecordBatch.from_arrays(arrays, schema=schema)

    some: list[tuple[object, ...]] = []
    size = 0
    for row in rows:
        some.append(row)
        size += sum(len(value) for value in row if isinstance(value, bytes))
        if len(some) >= _MOST_ROWS or size >= _MOST_BYTES:
            yield batch()
            some, size = [], 0
    if some:
        yield batch()
