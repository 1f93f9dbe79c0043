"""The rows of logs, for programs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace

from kraftops.dump.report import Report
from kraftops.dump.scan.part_rows import part_rows
from kraftops.dump.sources.names import expand
from kraftops.log.ranges import ByteRange
from kraftops.query.filters import parse_types
from kraftops.query.query import Query
from kraftops.query.row import Row


def scan(
    source: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    query: Query | None = None,
) -> Iterator[Row]:
    """Yield the records of logs as rows; what is damaged is a row of kind `damage`.

    Args:
        source: a segment, a snapshot, a partition's directory, a log directory, a pattern, or
            several of these. Directories are read in offset order.
        query: which decoder and filters; without a decoder, a directory's topic chooses it.

    Raises:
        SourceError: a file cannot be read.
        UsageError: a name stands for no log.
    """
    given = [source] if isinstance(source, (str, os.PathLike)) else source
    asked = query or Query()
    types = parse_types(asked.filter.types)
    asked = replace(asked, form="json", filter=replace(asked.filter, types=types))
    for one in expand([os.fspath(name) for name in given]):
        decoder = asked.decoder or one.decoder
        wanted = replace(asked, decoder=decoder, deep_iteration=decoder is not None)
        yield from part_rows(ByteRange(one.path), wanted, Report())
