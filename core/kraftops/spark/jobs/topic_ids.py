"""Look up the ids of topics that a query names, in this process or by a job."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from kraftops.dump.scan.topic_ids import with_topic_ids
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
                yield _found(split.ranges, self.query).topic_ids


def topic_ids(session: Session, splits: Sequence[Split], query: Query) -> Filter:
    """Return the filter of a query with the ids of its topics, looked up by a job.

    Raises:
        SparkError: the job failed.
    """
    if not query.filter.topics:
        return query.filter
    ids = run_by_range(session, splits, _LookUp(query, session.settings.tries))
    return replace(query.filter, topic_ids=query.filter.topic_ids.union(*ids))


def topic_ids_here(sources: Iterable[Source], query: Query) -> Filter:
    """Return the filter of a query with the ids of its topics, looked up by this process."""
    ranges = [LabelledRange(ByteRange(source.path), source.decoder) for source in sources]
    return _found(ranges, query)


def _found(ranges: Iterable[LabelledRange], query: Query) -> Filter:
    parts = [
        labelled.range
        for labelled in ranges
        if query.for_source(labelled.decoder).record_decoder.has_topics
    ]
    return with_topic_ids(query, parts).filter
