"""Whether a log has records that a query chooses."""

from __future__ import annotations

from dataclasses import replace

from kraftops.dump.report import Report
from kraftops.dump.scan.part_rows import part_rows
from kraftops.errors import SourceError
from kraftops.log.ranges import ByteRange
from kraftops.query.query import NO_LIMIT, Query


def may_have_records(part: ByteRange, query: Query) -> bool:
    """Tell whether a byte range has records that a query chooses, whatever its limits.

    Damage leaves it open, and so does a file that cannot be read.

    Raises:
        UsageError: the file is not a log.
    """
    report = Report()
    query = replace(query, columns=frozenset({"offset"}), max_bytes=NO_LIMIT, check=False)
    try:
        has_rows = any(True for _ in part_rows(part, query, report))
    except SourceError:
        return True
    return has_rows or report.has_failed or report.has_damage
