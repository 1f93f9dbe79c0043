"""Present and former ids of topics, by the records of the metadata log."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace

from kraftops.dump.report import Report
from kraftops.dump.scan.part_rows import part_rows
from kraftops.errors import SourceError
from kraftops.log.ranges import ByteRange
from kraftops.query.filters import Filter
from kraftops.query.query import Query
from kraftops.records.internal_topics import METADATA


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
