"""Rows of logs, for Python programs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from kraftops.dump.report import Report
from kraftops.dump.scan.part_rows import part_rows
from kraftops.dump.sources.names import Source, expand
from kraftops.errors import UsageError
from kraftops.log.ranges import ByteRange
from kraftops.query.filters import parse_types
from kraftops.query.query import Query
from kraftops.query.row import Row
from kraftops.uris import Paths, path_texts

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass
class Rows(Iterator[Row]):
    """The rows of a scan, read as they are asked for: millions take no memory."""

    rows: Iterator[Row]
    decoders: frozenset[str]

    def __next__(self) -> Row:
        return next(self.rows)

    def __repr__(self) -> str:
        return f"Rows of {', '.join(sorted(self.decoders))}"

    def to_arrow(self) -> pa.Table:
        """Return the remaining rows as a table of Arrow.

        Raises:
            UsageError: pyarrow is not installed.
        """
        from kraftops.dump.scan.arrow import table_of_rows

        return table_of_rows(self.rows, self.decoders)

    def to_pandas(self) -> Any:
        """Return the remaining rows as a DataFrame of pandas, which must be installed."""
        return self.to_arrow().to_pandas()


def scan(source: Paths, query: Query | None = None) -> Rows:
    """Return the records of logs as rows; damage is a row of kind `damage`.

    >>> import kraftops
    >>> topics = kraftops.Query(filter=kraftops.Filter(types=["topic"], last_offset=100))
    >>> rows = kraftops.scan("tests/data/dump-4.3.1/in/meta", topics)
    >>> sorted({row.type for row in rows})
    ['TOPIC_RECORD']

    Args:
        source: a segment, a snapshot, a partition's directory, a log directory, a pattern, or
            several of these. Directories are read in offset order.
        query: decoder and filters; without a decoder, the topic of a directory chooses it.

    Raises:
        SourceError: a file cannot be read.
        UsageError: a name stands for no log.
    """
    if not isinstance(query, Query | None):
        raise UsageError(f"{query!r} is not a Query", "as kraftops.Query(decoder='metadata')")
    query = query or Query()
    types = parse_types(query.filter.types)
    query = replace(query, form="json", filter=replace(query.filter, types=types))
    sources = expand(path_texts(source))
    decoders = query.decoders(file.decoder for file in sources)
    return Rows(_rows(sources, query), decoders)


def _rows(sources: Iterable[Source], query: Query) -> Iterator[Row]:
    for source in sources:
        source_query = query.for_source(source.decoder, source.path)
        source_query = replace(source_query, deep_iteration=source_query.decoder is not None)
        yield from part_rows(ByteRange(source.path), source_query, Report())
