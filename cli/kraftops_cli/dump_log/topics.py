"""Topics and groups that a dump names, looked up before it; ids of topics also during it."""

from __future__ import annotations

import os
from dataclasses import replace

from kraftops.dump.scan.mentions import may_have_records
from kraftops.dump.scan.topic_ids import with_topic_ids
from kraftops.errors import DecodeError, UsageError
from kraftops.log.files import STANDARD_INPUT, file_name
from kraftops.log.ranges import ByteRange
from kraftops.log.streams import PackedName
from kraftops.query.filters import Filter
from kraftops.query.query import Query
from kraftops.records.partitioning import partition_of
from kraftops.uuids import from_text
from kraftops_cli.dump_log.plan import Plan


def with_topics(plan: Plan) -> Plan:
    """Return the plan with the ids of the topics in its filter.

    Raises:
        UsageError: a name cannot be looked up in standard input.
    """
    paths = [path for path in plan.paths if plan.query_of(path).record_decoder.has_topics]
    if STANDARD_INPUT in paths and not all(map(_is_id, plan.query.filter.topics)):
        raise UsageError(
            "topics cannot be looked up in standard input, which is read only once",
            hint="name them by their ids, or give a file",
        )
    files = [ByteRange(path) for path in paths if path != STANDARD_INPUT]
    return replace(plan, query=with_topic_ids(plan.query, files))


def unknown_names(plan: Plan) -> str | None:
    """Return the topics or groups that no log knows, in words; None if one does, or may.

    It is open for what is read only once, and for damaged logs. The other filters do not count.
    """
    is_complete = not plan.follow and all(map(_is_log_file, plan.paths))
    topics = plan.query.filter.topics
    if topics and is_complete and not _is_known_topic(plan):
        return f"a topic {', '.join(sorted(topics))}"
    if plan.groups and is_complete and not _is_known_group(plan):
        return f"a group {', '.join(sorted(plan.groups))}"
    return None


def _is_known_topic(plan: Plan) -> bool:
    asked = plan.query.filter
    queries = {path: plan.query_of(path) for path in plan.paths}
    is_own = any(source.topic in asked.topics for source in plan.sources) or not all(
        query.filter.topics for query in queries.values()
    )
    if is_own or asked.topic_ids:
        return True
    return any(
        query.record_decoder.has_types
        and may_have_records(ByteRange(path), replace(query, filter=Filter(topics=asked.topics)))
        for path, query in queries.items()
    )


def _is_known_group(plan: Plan) -> bool:
    from kraftops.query.where import about_groups, group_fields

    likely = set(map(partition_of, plan.groups))  # most clusters have the default number of them
    for source in sorted(plan.sources, key=lambda one: one.partition not in likely):
        query = plan.query_of(source.path)
        decoder = query.record_decoder
        if group_fields(decoder):
            asked = Filter(where=about_groups(plan.groups, [decoder]))
            if may_have_records(ByteRange(source.path), replace(query, filter=asked)):
                return True
    return False


def _is_log_file(path: str) -> bool:
    name = file_name(path)
    is_file = isinstance(path, PackedName) or os.path.isfile(path)
    return name is not None and name.has_records and is_file


def with_topics_of(part: ByteRange, query: Query) -> Query:
    """Return the query with the ids of topics that were created in a byte range."""
    if not query.filter.topics or not query.record_decoder.has_topics:
        return query
    return with_topic_ids(query, [part])


def _is_id(topic: str) -> bool:
    try:
        from_text(topic)
    except DecodeError:
        return False
    return True
