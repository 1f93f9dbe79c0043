"""Readers of the table: filters taken, splits planned on the driver, and read in workers."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSourceReader, InputPartition

from kraftops.dump.report import Report
from kraftops.dump.scan.arrow import LEAST_MS, MOST_MS, arrow_batches, merged, scan_batches
from kraftops.dump.sources.names import Source
from kraftops.errors import UsageError
from kraftops.log.batch_search import resumed
from kraftops.log.ranges import ByteRange
from kraftops.memory import keep_freed_memory
from kraftops.query.conditions import syntax
from kraftops.query.conditions.parser import parse_condition
from kraftops.query.filters import Filter, normal_type
from kraftops.query.query import Query
from kraftops.query.where import value_range
from kraftops.spark.jobs.planning import Split, plan_splits
from kraftops.spark.jobs.range_process import range_batches, spooled
from kraftops.spark.jobs.topic_ids import topic_ids_here
from kraftops.spark.jobs.worker_crashes import crash_rows, is_last_try
from kraftops.spark.source.committed import Isolation, isolations
from kraftops.spark.source.options import SourceOptions
from kraftops.spark.source.partition_offsets import NO_LIMITS
from kraftops.spark.source.pruning import with_matching_rows
from kraftops.spark.source.replicas import newest_replicas
from kraftops.spark.source.schemas import arrow_columns
from kraftops.spark.source.segment_list import has_limits, without_listed
from kraftops.spark.source.shape import Shape
from kraftops.spark.source.table_columns import TRANSACTION_STATE

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.datasource import Filter as SparkFilter

HAS_PUSHDOWN = hasattr(DataSourceReader, "pushFilters")
"""Whether this release of Spark gives sources its filters: since 4.1."""


_OF_HEADERS = frozenset(
    {
        *("file", "position", "baseOffset", "topic", "partition", "offset", "timestampType"),
        *("crcValid", "leaderEpoch", "producerId", "producerEpoch", "sequence", "transactional"),
        *("control", "codec", "kind"),
    }
)
"""Columns for which the header of a batch mostly suffices."""
_OF_FRAMING = frozenset({"timestamp", "keySize", "valueSize"})
_HEADER_SPEED, _FRAMING_SPEED = 8, 4  # at least: of whole rows, values are most of the work
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SIGNS = {
    "EqualTo": "=",
    "GreaterThan": ">",
    "GreaterThanOrEqual": ">=",
    "LessThan": "<",
    "LessThanOrEqual": "<=",
}
_SIGNS_AMID_MS = {">=": ">", "<": "<="}
"""What compares whole ms with a time between two of them."""
_COLUMNS: dict[str, type] = {
    "file": str,
    "topic": str,
    "partition": int,
    "topicId": str,
    "partitionId": int,
    "brokerId": int,
}
"""Columns that a condition decides by the path of a file, or on the bytes of a record."""


def _speed(columns: Iterable[str]) -> int:
    """Return how many times as fast as whole rows these columns are read, at least."""
    asked = frozenset(columns)
    if asked <= _OF_HEADERS:
        return _HEADER_SPEED
    return _FRAMING_SPEED if asked <= _OF_HEADERS | _OF_FRAMING else 1


@dataclass(frozen=True)
class SplitPartition(InputPartition):
    """Partition of the table: a split, or None where there is nothing to read.

    *topic_ids* belong to the topics that are asked for: Spark copies the reader to its workers
    before it asks for partitions, so that they cannot stay in it. Records before *first_offset*,
    if there is one, are not rows. A resumed range begins with the first batch that was not whole
    when the bytes before it were read. *isolations* are those of the files, if only committed rows
    are asked for.
    """

    split: Split | None
    topic_ids: frozenset[str] = frozenset()
    first_offset: int | None = None
    isolations: Mapping[str, Isolation] = field(default_factory=dict)
    is_resumed: bool = False


def _say(text: str) -> None:
    """Write a line to the driver's log: Spark's plan has no place for it."""
    sys.stderr.write(f"kraftops: {text}\n")


def table_sources(options: SourceOptions) -> Sequence[Source]:
    """Return a table's sources: one copy of each partition, or all; errors as for `sources`."""
    sources = options.sources()
    if options.has_all_replicas:
        return sources
    replicas = newest_replicas(sources)
    if replicas.others:
        others = len(replicas.others)
        _say(f"one copy of each partition is read, and {others} others with replicas=all")
    return replicas.sources


class Reader(DataSourceReader):
    """Reader that plans splits on the driver and reads them in workers."""

    def __init__(
        self,
        options: SourceOptions,
        table: Shape,
        sources: Sequence[Source] = (),
        *,
        is_lenient: bool = True,
    ) -> None:
        """Read the columns of *table* from *sources*, those of *options*.

        If it is lenient, a file that cannot be read is a row, and no error.
        """
        self._options = options
        self._sources = sources
        self._read_range = range_batches if is_lenient else scan_batches
        self._table = table
        names = frozenset(table.scanned.names)
        self.query: Query = replace(options.query, columns=names)

    def __getstate__(self) -> dict[str, Any]:
        """Drop the sources, which the partitions have: workers need no others."""
        return {**self.__dict__, "_sources": ()}

    def with_matching_rows(self, sources: Sequence[Source]) -> Sequence[Source]:
        """Leave out sources without a matching row, by names, time indexes and segment lists."""
        if self.query.filter == Filter() and self._options.limits == NO_LIMITS:
            return sources
        sources = with_matching_rows(sources, self.query, self._options.limits)
        if sources and has_limits(self.query.filter):
            return without_listed(self._options.names, sources, self.query.filter)
        return sources

    def partitions(self) -> list[SplitPartition]:
        """Plan the splits, without files in which no row can match."""
        options, listed = self._options, self._sources
        sources = self.with_matching_rows(listed)
        if len(sources) < len(listed):
            _say(f"{len(listed)} files, {len(sources)} read")
        selection = self.query.filter
        if selection.topics:
            selection = topic_ids_here(listed, self.query)
        splits = plan_splits(
            sources,
            options.cores,
            max_bytes=self.query.max_bytes,
            size=options.split_bytes,
            speed=_speed(self._table.scanned.names),
        )
        has_isolation = options.is_committed or TRANSACTION_STATE in self._table.asked.names
        # Of files that are left out, too: a marker that aborts may be in a later segment.
        by_path = isolations(listed, self.query.budget) if has_isolation else {}
        return [
            SplitPartition(split, selection.topic_ids, isolations=of_split(split, by_path))
            for split in splits
        ] or [SplitPartition(None)]

    def read(self, partition: SplitPartition) -> Iterator[pa.RecordBatch]:  # type: ignore[override]
        """Yield the rows of a split in record batches.

        Raises:
            DecodeError: the mode is FAILFAST, and a row is malformed.
        """
        keep_freed_memory()
        yield from merged(self._batches(partition), arrow_columns(self._table.asked))

    def _batches(self, partition: SplitPartition) -> Iterator[pa.RecordBatch]:
        split, tries = partition.split, self._options.tries
        if split is None:
            return
        schema = arrow_columns(self._table.scanned)
        asked = replace(self.query.filter, topic_ids=partition.topic_ids)
        if partition.first_offset is not None:
            asked = replace(asked, first_offset=max(asked.first_offset, partition.first_offset))
        for labelled in split.ranges:
            limited = self._options.limits.narrowed(asked, labelled.topic, labelled.partition)
            query = replace(self.query, filter=limited)
            part = resumed(labelled.range) if partition.is_resumed else labelled.range
            query_here = query.for_source(labelled.decoder, part.path)
            if is_last_try(tries):
                rows = self._in_process(part, query_here, schema)
            else:
                rows = self._read_range(part, query_here, self._table.report(), schema)
            yield from self._table.batches(rows, part.path, partition.isolations.get(part.path))

    def _in_process(
        self, part: ByteRange, query: Query, schema: pa.Schema
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a byte range, read by another process, or the row about its crash.

        Earlier tries may have failed after the reader, where rows are sorted or written.

        Raises:
            SourceError: the process says why it cannot read the range, or keep its rows.
        """
        import pyarrow as pa

        file = spooled(part, query, self._table.report(), schema, self._read_range)
        if file is None:
            crashed = crash_rows(part, query, Report(), self._options.tries - 1)
            yield from arrow_batches(crashed, schema)
            return
        with file, pa.ipc.open_stream(file) as stream:
            yield from stream


def of_split(split: Split | None, isolations: Mapping[str, Isolation]) -> Mapping[str, Isolation]:
    paths = {labelled.range.path for labelled in split.ranges} if split else set()
    return {path: isolations[path] for path in paths & isolations.keys()}


def pushing_reader(options: SourceOptions, table: Shape, sources: Sequence[Source]) -> Reader:
    """Return a reader that takes over filters of Spark's.

    Raises:
        UsageError: this release of Spark has none for it.
    """
    if not HAS_PUSHDOWN:
        import pyspark

        raise UsageError(
            f"pushdown needs pyspark 4.1 or later, and this is {pyspark.__version__}",
            hint="the option where is evaluated while reading on every release",
        )
    return PushingReader(options, table, sources)


class PushingReader(Reader):
    """Reader that takes over filters of Spark's."""

    def pushFilters(self, filters: list[SparkFilter]) -> Iterable[SparkFilter]:  # noqa: N802 - Spark's
        """Take the filters that the scan can answer; return the others to Spark."""
        kept: list[Any] = []
        taken: list[Any] = []
        for condition in filters:
            narrower, is_exact = pushed(self.query.filter, condition)
            taken += [condition] if is_exact or narrower != self.query.filter else []
            kept += [] if is_exact else [condition]
            self.query = replace(self.query, filter=narrower)
        _say(_pushed_text(taken, kept))
        return kept


def pushed(narrowed: Filter, condition: SparkFilter) -> tuple[Filter, bool]:
    """Return *narrowed* narrowed by *condition*, and whether the result is exact.

    If it is not, it lets more rows pass, and Spark must filter them again. Offsets, timestamps,
    types, files, topics, partitions and ids are taken over; types are not exact, since the scan
    compares them without case, and neither are conditions.
    """
    name, column = type(condition).__name__, ".".join(getattr(condition, "attribute", ()))
    value: Any = getattr(condition, "value", None)
    if column == "type" and name in ("EqualTo", "In"):
        names = {value} if name == "EqualTo" else set(value)
        types = frozenset(normal_type(text) for text in names if isinstance(text, str))
        if not types:
            return narrowed, False
        both = types & narrowed.types if narrowed.types else types
        return (replace(narrowed, types=both), False) if both else (narrowed, False)
    if column in _COLUMNS:
        return _with_condition(narrowed, column, name, value), False
    sign = _SIGNS.get(name)
    if column == "timestamp" and sign and isinstance(value, datetime):
        return _with_time(narrowed, sign, value), True
    if column != "offset" or not sign or not isinstance(value, int):
        return narrowed, False
    first, last = value_range(sign, value)
    low, high = max(narrowed.first_offset, first), min(narrowed.last_offset, last)
    return replace(narrowed, first_offset=low, last_offset=high), True


def _with_condition(narrowed: Filter, column: str, name: str, value: Any) -> Filter:
    path, kind = syntax.Path((column,)), _COLUMNS[column]
    values = value if name == "In" else (value,)
    if not all(type(operand) is kind for operand in values):
        return narrowed
    added: syntax.Condition
    if name == "In" and values:
        added = syntax.OneOf(path, tuple(map(syntax.Literal, values)))
    elif name == "EqualTo" or (name in _SIGNS and kind is int):
        added = syntax.Compare(path, _SIGNS[name], syntax.Literal(value))
    else:
        return narrowed
    if narrowed.where:
        added = syntax.And((*syntax.conjuncts(parse_condition(narrowed.where)), added))
    return replace(narrowed, where=syntax.text_of(added))


def _pushed_text(taken: Iterable[SparkFilter], evaluated: Iterable[SparkFilter]) -> str:
    """Return a line about the filters that the scan has taken, and those that Spark evaluates."""

    def listed(some: Iterable[SparkFilter]) -> str:
        return ", ".join(map(repr, some)) or "none"  # Spark's names; texts are escaped

    return f"filters in the scan: {listed(taken)}; in Spark: {listed(evaluated)}"


def _with_time(narrowed: Filter, sign: str, value: datetime) -> Filter:
    """Return *narrowed* narrowed by a condition on the time; Spark's times have microseconds.

    Times beyond Spark's range are null there, which no condition matches.
    """
    moment = value if value.tzinfo else value.replace(tzinfo=UTC)
    ms, rest = divmod((moment - _EPOCH) // timedelta(microseconds=1), 1000)
    first, last = value_range(_SIGNS_AMID_MS.get(sign, sign) if rest else sign, ms)
    if rest and sign == "=":
        first = ms + 1  # no record has this time
    since = max(narrowed.since, first, LEAST_MS)
    return replace(narrowed, since=since, until=min(narrowed.until, min(last, MOST_MS) + 1))
