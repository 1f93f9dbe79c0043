"""Growing logs, and streams of them as Spark drives them: batch by batch, with a checkpoint."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kraftops.log.batch import Record
from tests.helpers.logs.written import batch_bytes

LATE = "Python worker failed to connect back"
"""A query's error: Spark gives a worker 10 s to start, too few on a busy machine."""


@dataclass
class GrowingLog:
    """A partition's directory, and the offset of its next record."""

    folder: Path
    next: int = 0
    epoch: int = 1
    segment: int = 0
    name: str = ".log"

    def __post_init__(self) -> None:
        """Make the directory and the first segment."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.roll()

    @property
    def path(self) -> Path:
        """The last segment."""
        return self.folder / f"{self.segment:020}.log"

    def roll(self) -> None:
        """Begin a segment."""
        self.segment = self.next
        self.path.touch()

    def append(self, count: int = 1, value: bytes = b"v") -> bytes:
        """Append a batch of records, and return its bytes."""
        records = [
            Record(self.next + at, 1_700_000_000_000 + at, None, value + b"%d" % (self.next + at))
            for at in range(count)
        ]
        data = batch_bytes(records, leader_epoch=self.epoch)
        with self.path.open("ab") as file:
            file.write(data)
        self.next += count
        return data


def write_new(stream: Any, target: Path) -> Any:
    """Write what has come since the last run into `target/table`, and return the query."""
    writer = stream.writeStream.option("checkpointLocation", str(target / "checkpoint"))
    while True:
        query = writer.trigger(availableNow=True).start(str(target / "table"))
        try:
            query.awaitTermination()
        except Exception as error:
            if LATE not in str(error):  # pyspark's own class, which not every environment has
                raise
        else:
            return query


@dataclass
class Stream:
    """A stream without a JVM: *rows* are those of all batches so far.

    With *is_old* it is asked as Spark before 4.2 does, which gives no start and no limit.
    """

    path: str | None
    options: dict[str, str] = field(default_factory=dict)
    is_old: bool = False
    rows: list[dict[str, Any]] = field(default_factory=list)
    offset: dict[str, Any] | None = None

    def reader(self) -> Any:
        """Return a reader, as each start of the query makes one; workers get a copy of it."""
        path = {} if self.path is None else {"path": self.path}
        source = _source({**path, **self.options})
        return source.streamReader(source.schema())

    def step(self, reader: Any = None) -> list[dict[str, Any]]:
        """Run one batch, and return its rows."""
        if reader is None:
            reader = self.reader()
            try:
                return self.step(reader)
            finally:
                reader.stop()
        if self.offset is None:
            self.offset = json.loads(json.dumps(reader.initialOffset()))
        if self.is_old:
            from kraftops.spark.stream.reader import StreamReader

            end = StreamReader.latestOffset(reader)
        else:
            end = reader.latestOffset(self.offset, reader.getDefaultReadLimit())
        end = json.loads(json.dumps(end))
        if end == self.offset:
            return []
        rows = list(self._rows(reader, end))
        self.rows += rows
        self.offset = end
        return rows

    def begin_again(self, end: dict[str, Any]) -> list[dict[str, Any]]:
        """Run the first batch up to an end that was found before, as a query that died in it."""
        reader = self.reader()
        try:
            self.offset = json.loads(json.dumps(reader.initialOffset()))
            self.rows = list(self._rows(reader, end))
        finally:
            reader.stop()
        self.offset = end
        return self.rows

    def _rows(self, reader: Any, end: dict[str, Any]) -> Iterator[dict[str, Any]]:
        from pyspark import cloudpickle

        for partition in reader.partitions(self.offset, end):
            worker = cloudpickle.loads(cloudpickle.dumps(self.reader()))
            for batch in worker.read(cloudpickle.loads(cloudpickle.dumps(partition))):
                yield from batch.to_pylist()

    def offsets(self) -> list[int]:
        """Run one batch, and return the offsets of its records."""
        return [row["offset"] for row in self.step()]


def table(path: str, **options: str) -> list[dict[str, Any]]:
    """Return the rows of the table of the same logs."""
    source = _source({"path": path, **options})
    reader = source.reader(source.schema())
    return [
        row
        for partition in reader.partitions()
        for batch in reader.read(partition)
        for row in batch.to_pylist()
    ]


def _source(options: dict[str, str]) -> Any:
    """Return the data source; it needs pyspark, which not every test has."""
    from kraftops.spark.datasource import KraftopsDataSource

    return KraftopsDataSource(options)
