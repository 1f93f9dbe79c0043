"""Data sink of Spark for files in an object store, which its own writers cannot reach."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import TYPE_CHECKING, BinaryIO

# Spark calls subclasses of its own classes, so this module needs pyspark to load.
from pyspark.sql.datasource import DataSource, DataSourceArrowWriter, WriterCommitMessage

from kraftops.query.formats import FORMATS
from kraftops.spark.dump.targets import ENDINGS, Target, commit, part_name
from kraftops.spark.source.schemas import arrow_columns

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType

NAME = "kraftops-parts"
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
_ESCAPED = re.compile(r"[\x00-\x1f\x7f\"#%'*/:=?\\{\[\]^]")
"""Characters that Hive and Spark escape in the name of a directory."""


def folder_name(column: str, value: str | None) -> str:
    """Return a Hive partition's directory name, COLUMN=VALUE, escaped as Spark does."""
    escaped = _ESCAPED.sub(lambda match: f"%{ord(match[0]):02X}", value or "")
    return f"{column}={escaped or _NO_VALUE}"


@dataclass(frozen=True)
class TaskFiles(WriterCommitMessage):
    """Files that a task has written, by their present and final names in the target."""

    names: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class PartsRequest:
    """Output of a table: *head* begins each file; rows are sorted by *partition_by*, if it is set.

    Parquet has the table as it is; for other forms, its last column has the lines.
    """

    target: Target
    form: str
    head: str = ""
    partition_by: str = ""

    def options(self) -> dict[str, str]:
        return {"request": json.dumps(asdict(self))}


def request_of(options: Mapping[str, str]) -> PartsRequest:
    """Read back what `PartsRequest.options` wrote."""
    fields = json.loads(options["request"])
    return PartsRequest(Target(**fields.pop("target")), **fields)


class PartsSink(DataSource):
    """Data source that can only be written: tables become files of a target."""

    @classmethod
    def name(cls) -> str:
        return NAME

    def writer(self, schema: StructType, overwrite: bool) -> PartsWriter:  # noqa: ARG002, FBT001 - Spark's
        return PartsWriter(request_of(self.options), schema)


class PartsWriter(DataSourceArrowWriter):
    """Writer of one file a task, or of one for each partition; successful tasks count."""

    def __init__(self, request: PartsRequest, schema: StructType) -> None:
        self._request = request
        self._schema = schema

    def write(self, iterator: Iterator[pa.RecordBatch]) -> TaskFiles:
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        number, attempt = context.partitionId(), context.taskAttemptId()
        names = []
        folders = _by_folder(iterator, self._request.partition_by)
        for folder, some in groupby(folders, lambda pair: pair[0]):
            names.append(self._write(folder, number, attempt, (batch for _, batch in some)))
        return TaskFiles(tuple(names))

    def commit(self, messages: list[TaskFiles | None]) -> None:  # type: ignore[override]
        """Keep only the files of these tasks; write an empty one if there are no rows.

        Without a row there is no directory of a partition, either: nothing is kept.
        """
        names = [name for written in messages if written is not None for name in written.names]
        if not names and self._request.partition_by:
            return
        names = names or [self._write("", 0, 0, ())]
        commit(self._request.target, names, self._request.form)

    def _write(
        self, folder: str, number: int, attempt: int, batches: Iterable[pa.RecordBatch]
    ) -> tuple[str, str]:
        """Write a file, and return its present and final names."""
        request = self._request
        part = f"{folder}/{part_name(number)}" if folder else part_name(number)
        ending = ENDINGS[request.form]
        name = request.target.attempt_name(part, ending, attempt)
        with request.target.writing(name) as file:
            if FORMATS[request.form].is_columns:
                self._parquet(file, batches)
            else:
                file.write(request.head.encode())
                for batch in batches:
                    lines = batch.column(batch.num_columns - 1).to_pylist()
                    file.write("".join([f"{line}\n" for line in lines]).encode())
        return name, part + ending

    def _parquet(self, file: BinaryIO, batches: Iterable[pa.RecordBatch]) -> None:
        import pyarrow.parquet as pq

        first = next(iter(batches := iter(batches)), None)
        schema = arrow_columns(self._schema) if first is None else first.schema
        with pq.ParquetWriter(file, schema, compression="zstd") as writer:
            if first is not None:
                writer.write_batch(first)
            for batch in batches:
                writer.write_batch(batch)


def _by_folder(
    batches: Iterable[pa.RecordBatch], partition_by: str
) -> Iterator[tuple[str, pa.RecordBatch]]:
    """Split rows by directory, and drop the column that names it."""
    import pyarrow.compute as pc

    for batch in batches:
        if not partition_by:
            yield "", batch
            continue
        runs = pc.run_end_encode(batch.column(partition_by))
        rest, start = batch.drop_columns([partition_by]), 0
        for value, end in zip(runs.values.to_pylist(), runs.run_ends.to_pylist(), strict=True):
            yield folder_name(partition_by, value), rest.slice(start, end - start)
            start = end
