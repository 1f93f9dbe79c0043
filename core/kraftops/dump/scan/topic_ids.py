"""The ids that topics have had, looked up in the metadata log itself."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from kraftops.dump.report import Report
from kraftops.dump.scan.part_scan import scan
from kraftops.errors import SourceError
from kraftops.log.ranges import ByteRange
from kraftops.query.filters import Filter
from kraftops.query.query import Query


def with_topic_ids(asked: Filter, parts: Iterable[ByteRange], dialect: str) -> Filter:
    """Return the filter with the ids of its topics, as far as *parts* of metadata logs say them.

    A name that was deleted and created again has had several.
    """
    if not asked.topics:
        return asked
    named = Filter(types=frozenset({"topic"}), topics=asked.topics)
    query = Query(decoder="metadata", dialect=dialect, filter=named)
    found = set(asked.topic_ids)
    for part in parts:
        try:
            for row in scan(part, query, Report()):
                if row.topic_id and row.value and _name(row.value) in asked.topics:
                    found.add(row.topic_id)
        except SourceError:
            continue  # the dump itself says so
    return replace(asked, topic_ids=frozenset(found))


def _name(value: str) -> object:
    import json

    return json.loads(value).get("name")
