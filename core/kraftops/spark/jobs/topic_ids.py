"""The ids of topics that are asked for by name, looked up before a job or as one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from kraftops.dump.scan.topic_ids import with_topic_ids
from kraftops.dump.sources.names import Source
from kraftops.log.ranges import ByteRange
from kraftops.query.filters import Filter
from kraftops.query.query import Query
from kraftops.spark.jobs.jobs import run_narrowed
from kraftops.spark.jobs.lost import is_last_try
from kraftops.spark.jobs.planning import Piece, Split, query_of
from kraftops.spark.session.session import Session


@dataclass(frozen=True, slots=True)
class _LookUp:
    """Looks the ids up in splits, in a worker."""

    query: Query
    tries: int

    def __call__(self, splits: Iterable[Split]) -> Iterator[frozenset[str]]:
        for split in splits:
            if is_last_try(self.tries):  # whoever dumps it has the same fate, and says so
                yield frozenset()
            else:
                yield _found(split.pieces, self.query).topic_ids


def topic_ids(session: Session, splits: Sequence[Split], query: Query) -> Filter:
    """Return the filter of a query with the ids of its topics, looked up by a job.

    Raises:
        SparkError: the job failed.
    """
    if not query.filter.topics:
        return query.filter
    found = run_narrowed(session, splits, _LookUp(query, session.settings.tries))
    return replace(query.filter, topic_ids=query.filter.topic_ids.union(*found))


def topic_ids_here(sources: Iterable[Source], query: Query) -> Filter:
    """Return the same, looked up by this process."""
    pieces = [Piece(ByteRange(source.path), source.decoder) for source in sources]
    return _found(pieces, query)


def _found(pieces: Iterable[Piece], query: Query) -> Filter:
    parts = [piece.part for piece in pieces if query_of(query, piece.decoder).decoder == "metadata"]
    return with_topic_ids(query.filter, parts, query.dialect)
