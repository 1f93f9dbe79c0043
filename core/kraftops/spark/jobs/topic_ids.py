"""Look up topics and groups that a query names: their ids, and whether a log knows them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from kraftops.dump.scan.mentions import may_have_records, with_topic_ids
from kraftops.dump.sources.names import Source
from kraftops.log.ranges import ByteRange
from kraftops.query.filters import Filter
from kraftops.query.query import Query
from kraftops.spark.jobs.planning import LabelledRange, Split
from kraftops.spark.jobs.run import run_by_range
from kraftops.spark.jobs.worker_crashes import is_last_try
from kraftops.spark.session.session import Session


@dataclass(frozen=True, slots=True)
class _LookUp:
    """Task that looks the ids up in splits."""

    query: Query
    tries: int

    def __call__(self, splits: Iterable[Split]) -> Iterator[frozenset[str]]:
        for split in splits:
            if is_last_try(self.tries):  # dumping it crashes too, and reports it
                yield frozenset()
            else:
                yield _with_topic_ids(split.ranges, self.query).topic_ids


def topic_ids(session: Session, splits: Sequence[Split], query: Query) -> Filter:
    """Return the filter of a query with the ids of its topics, looked up by a job.

    Raises:
        SparkError: the job failed.
    """
    if not query.filter.topics:
        return query.filter
    ids = run_by_range(session, splits, _LookUp(query, session.settings.tries))
    return replace(query.filter, topic_ids=query.filter.topic_ids.union(*ids))


@dataclass(frozen=True, slots=True)
class _Mentions:
    """Task that looks in splits for records of queries, by path."""

    queries: Mapping[str, Query]
    tries: int

    def __call__(self, splits: Iterable[Split]) -> Iterator[bool]:
        for split in splits:
            yield is_last_try(self.tries) or any(
                may_have_records(labelled.range, self.queries[labelled.range.path])
                for labelled in split.ranges
                if labelled.range.path in self.queries
            )


def any_has_records(
    session: Session, splits: Sequence[Split], queries: Mapping[str, Query]
) -> bool:
    """Tell whether any file has records that its query, by the path, chooses, or may have.

    Raises:
        SparkError: the job failed.
    """
    queried = [
        split for split in splits if any(part.range.path in queries for part in split.ranges)
    ]
    work = _Mentions(queries, session.settings.tries)
    return any(run_by_range(session, queried, work))


def topic_ids_here(sources: Iterable[Source], query: Query) -> Filter:
    """Return the filter of a query with its topics' ids, looked up here instead of by a job."""
    ranges = [LabelledRange(ByteRange(source.path), source.decoder) for source in sources]
    return _with_topic_ids(ranges, query)


def _with_topic_ids(ranges: Iterable[LabelledRange], query: Query) -> Filter:
    parts = [
        labelled.range
        for labelled in ranges
        if query.for_source(labelled.decoder).record_decoder.has_topics
    ]
    return with_topic_ids(query, parts).filter
