"""Rows of logs, for Python programs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kraftops.dump.report import Report
from kraftops.dump.scan.part_rows import part_rows
from kraftops.dump.sources.names import expand
from kraftops.log.ranges import ByteRange
from kraftops.query.filters import parse_types
from kraftops.query.query import Query
from kraftops.query.row import Row
from kraftops.uris import Paths, path_texts


def scan(source: Paths, query: Query | None = None) -> Iterator[Row]:
    """Yield the records of logs as rows; damage is a row of kind `damage`.

    Args:
        source: a segment, a snapshot, a partition's directory, a log directory, a pattern, or
            several of these. Directories are read in offset order.
        query: decoder and filters; without a decoder, the topic of a directory chooses it.

    Raises:
        SourceError: a file cannot be read.
        UsageError: a name stands for no log.
    """
    query = query or Query()
    types = parse_types(query.filter.types)
    query = replace(query, form="json", filter=replace(query.filter, types=types))
    for file in expand(path_texts(source)):
        file_query = query.for_source(file.decoder, file.path)
        file_query = replace(file_query, deep_iteration=file_query.decoder is not None)
        yield from part_rows(ByteRange(file.path), file_query, Report())
