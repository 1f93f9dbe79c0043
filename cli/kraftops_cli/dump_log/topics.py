"""Topics and groups that a dump names, looked up before it; ids of topics also during it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from kraftops.dump.scan.mentions import may_have_records, with_topic_ids
from kraftops.dump.sources.names import Source
from kraftops.errors import DecodeError, KraftopsError, UsageError
from kraftops.fileio.mounts import is_file
from kraftops.log.files import STANDARD_INPUT, file_name
from kraftops.log.ranges import ByteRange
from kraftops.query.filters import Filter
from kraftops.query.query import Query
from kraftops.records.partitioning import partition_of
from kraftops.uris import is_remote
from kraftops.uuids import from_text
from kraftops_cli.dump_log.plan import Plan
from kraftops_cli.terminal.streams import Terminal


def with_known_topics(plan: Plan, terminal: Terminal, *, is_whole: bool = True) -> Plan:
    """Return the plan with the ids of its topics.

    *is_whole*: everything that was named is among the sources.

    Raises:
        UsageError: a name cannot be looked up in standard input.
        KraftopsError: no log knows the topics or groups that are asked for.
    """
    if not (plan.query.filter.topics or plan.groups):
        return plan
    plan = with_topics(plan)
    if is_whole and (unknown := unknown_names(plan)):
        unknown_error(unknown, plan, terminal)
    return plan


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


Asked = list[tuple[Source, Query]]
"""Logs, each with the query of what is asked of it."""


def _any_here(asked: Asked) -> bool:
    return any(may_have_records(ByteRange(source.path), query) for source, query in asked)


def unknown_names(plan: Plan, any_has: Callable[[Asked], bool] = _any_here) -> str | None:
    """Return the topics or groups that no log knows, in words; None if one does, or may.

    None, too, for what can be read only once, for damaged logs, and for object stores unless Spark
    reads them. The other filters do not count.

    Args:
        plan: the plan, with the ids of its topics.
        any_has: tells whether any log has records, or may; by default this process reads them.
    """
    is_here = any_has is _any_here
    topics = plan.query.filter.topics
    is_asked = (topics or plan.groups) and not plan.follow
    if not is_asked or not all(_is_log_file(path, is_here) for path in plan.paths):
        return None
    asked = [(source, plan.query_of(source.path)) for source in plan.sources]
    if topics and not _is_known_topic(plan.query.filter, asked, any_has):
        return topic_text(topics)
    if plan.groups and not _is_known_group(plan.groups, asked, any_has):
        return f"a group {', '.join(sorted(plan.groups))}"
    return None


def topic_text(topics: Iterable[str]) -> str:
    return f"a topic {', '.join(sorted(topics))}"


def _is_known_topic(filters: Filter, asked: Asked, any_has: Callable[[Asked], bool]) -> bool:
    is_own = any(
        source.topic in filters.topics or not query.filter.topics for source, query in asked
    )
    if is_own or filters.topic_ids:
        return True
    only = Filter(topics=filters.topics)
    return any_has(
        [
            (source, replace(query, filter=only))
            for source, query in asked
            if query.record_decoder.has_types
        ]
    )


def _is_known_group(groups: Sequence[str], asked: Asked, any_has: Callable[[Asked], bool]) -> bool:
    from kraftops.query.where import about_groups, group_fields

    likely = set(map(partition_of, groups))  # most clusters have the default number of them
    return any_has(
        [
            (source, replace(query, filter=Filter(where=about_groups(groups, [decoder]))))
            for source, query in sorted(asked, key=lambda pair: pair[0].partition not in likely)
            if group_fields(decoder := query.record_decoder)
        ]
    )


def knows_topic(part: ByteRange, query: Query) -> bool:
    """Tell whether a part of a metadata log knows the topics of a query, or may."""
    only = Filter(topics=query.filter.topics)
    return bool(query.filter.topic_ids) or may_have_records(part, replace(query, filter=only))


def unknown_error(names: str, plan: Plan, terminal: Terminal) -> None:
    """Refuse names that no log knows; under Kafka's name, and of a check, only note it.

    Raises:
        KraftopsError: it is refused.
    """
    message = f"none of these logs knows {names}"
    if not (terminal.has_kafkas_form or plan.query.check):
        raise KraftopsError(message, code="not-found")
    terminal.error(f"note: {message}")


def _is_log_file(path: str, is_here: bool) -> bool:  # noqa: FBT001 - a predicate
    name = file_name(path)
    is_readable = is_file(path) or (not is_here and is_remote(path))
    return name is not None and name.has_records and is_readable


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
