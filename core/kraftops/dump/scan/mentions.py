"""What a dump asks of logs before it: records that a query chooses, ids of topics, a decoder."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice

from kraftops.dump.report import Report
from kraftops.dump.scan.part_rows import part_rows
from kraftops.dump.sources.names import Source
from kraftops.errors import KraftopsError, SourceError
from kraftops.log.ranges import ByteRange
from kraftops.memory import Budget
from kraftops.query.filters import Filter
from kraftops.query.query import NO_LIMIT, Query
from kraftops.records.internal_topics import METADATA


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


_RECORDS = 5
"""Keys of users hardly begin with a version, a length and a name of that length; five never do."""


def looks_like_offsets(sources: Sequence[Source], budget: Budget) -> bool:
    """Tell whether the first records of the first source have keys of `__consumer_offsets`.

    Of a source in a directory that tells the topic nothing is read.
    """
    first = sources[0]
    if first.topic is not None or not first.path.endswith(".log"):
        return False
    try:
        query = Query(decoder="offsets", budget=budget)
        rows = part_rows(ByteRange(first.path), query, Report())
        keys = [row.key for row in islice(rows, _RECORDS) if row.type and not row.error]
        return len(keys) > 0 and all(key and key.startswith('{"group":"') for key in keys)
    except (KraftopsError, OSError):
        return False  # the dump tells why


def with_topic_ids(query: Query, parts: Iterable[ByteRange]) -> Query:
    """Return a query with the ids of the topics in its filter, by the metadata logs in *parts*.

    A topic that was deleted and created again has several ids.
    """
    topics = query.filter.topics
    if not topics:
        return query
    topic_records = Filter(types=frozenset({"topic"}), topics=topics)
    dialect, budget = query.dialect, query.budget
    lookup = Query(decoder=METADATA, dialect=dialect, budget=budget, filter=topic_records)
    ids = set(query.filter.topic_ids)
    for part in parts:
        with suppress(SourceError):  # the dump reports the error
            for row in part_rows(part, lookup, Report()):
                if row.topic_id and row.value and _name(row.value) in topics:
                    ids.add(row.topic_id)
    return replace(query, filter=replace(query.filter, topic_ids=frozenset(ids)))


def _name(value: str) -> object:
    import json

    return json.loads(value).get("name")
