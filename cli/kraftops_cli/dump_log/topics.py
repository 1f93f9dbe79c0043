"""Topics in a filter: their ids are looked up before a dump, or during it."""

from __future__ import annotations

import os
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


def lacks_topics(plan: Plan) -> bool:
    """Tell whether no log has records about the topics in the filter, as far as that was looked up.

    Logs of coordinators name topics in any record, and are not looked up; nor are ids.
    """
    topics = plan.query.filter.topics
    if plan.follow or plan.query.filter.topic_ids or any(map(_is_id, topics)):
        return False
    decoders = [plan.query_of(path).record_decoder for path in plan.paths]
    is_certain = all(decoder.has_topics or not decoder.has_types for decoder in decoders)
    is_own = any(source.topic in topics for source in plan.sources)
    return is_certain and not is_own and all(map(os.path.isfile, plan.paths))


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
