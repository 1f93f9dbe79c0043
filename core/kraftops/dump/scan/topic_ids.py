"""The ids that topics have had, looked up in the metadata log itself."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from kraftops.dump.report import Report
from kraftops.dump.scan.part_rows import part_rows
from kraftops.errors import SourceError
from kraftops.log.ranges import ByteRange
from kraftops.query.filters import Filter
from kraftops.query.query import Query
from kraftops.records.kinds import METADATA


def with_topic_ids(query: Query, parts: Iterable[ByteRange]) -> Query:
    """Return a query with the ids of the topics that it asks for, as *parts* tell them.

    Parts are those of metadata logs. A name that was deleted and created again has had several ids.
    """
    asked = query.filter
    if not asked.topics:
        return query
    named = Filter(types=frozenset({"topic"}), topics=asked.topics)
    lookup = Query(decoder=METADATA, dialect=query.dialect, filter=named)
    found = set(asked.topic_ids)
    for part in parts:
        try:
            for row in part_rows(part, lookup, Report()):
                if row.topic_id and row.value and _name(row.value) in asked.topics:
                    found.add(row.topic_id)
        except SourceError:
            continue  # the dump itself says so
    return replace(query, filter=replace(asked, topic_ids=frozenset(found)))


def _name(value: str) -> object:
    import json

    return json.loads(value).get("name")
