"""Topics in a filter: their ids are looked up before a dump, or during it."""

from __future__ import annotations

from dataclasses import replace

from kraftops.dump.scan.topic_ids import with_topic_ids
from kraftops.errors import DecodeError, UsageError
from kraftops.log.files import STANDARD_INPUT
from kraftops.log.ranges import ByteRange
from kraftops.query.query import Query
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
