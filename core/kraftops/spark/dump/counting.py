"""Summaries on Spark: each worker counts splits, the driver puts the numbers together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kraftops.dump.summary.summarise import summarise
from kraftops.dump.summary.summary import Summary
from kraftops.errors import SourceError
from kraftops.query.query import Query
from kraftops.spark.jobs.jobs import run_narrowed
from kraftops.spark.jobs.lost import is_last_try, lost_detail
from kraftops.spark.jobs.planning import Piece, Split, query_of
from kraftops.spark.session.session import Session
from kraftops.spark.session.status_tracker import Show

Log = tuple[str, str | None, int | None]
"""A decoder, and topic and partition where a directory tells them: what has a summary."""


class Counted(NamedTuple):
    """What was counted: a summary for each log, in order, and files that cannot be read."""

    summaries: dict[Log, Summary]
    refusals: list[str]


@dataclass(frozen=True, slots=True)
class CountWork:
    """Counts splits in a worker."""

    query: Query
    tries: int

    def __call__(self, splits: Iterable[Split]) -> Iterator[Counted]:
        """Yield what was counted of each split."""
        for split in splits:
            found = Counted({}, [])
            for piece in split.pieces:
                try:
                    _add(found.summaries, _log(piece, self.query), self._count(piece))
                except SourceError as error:
                    found.refusals.append(error.message)
            yield found

    def _count(self, piece: Piece) -> Summary:
        part, query = piece.part, query_of(self.query, piece.decoder)
        if is_last_try(self.tries):
            summary = Summary(query.decoder or "user")
            size = 0 if part.stop is None else part.stop - part.start
            summary.add_damage(part.path, part.start, size, lost_detail(part, self.tries - 1))
            return summary
        return summarise(
            part.path,
            query.decoder,
            dialect=query.dialect,
            start=part.start,
            stop=part.stop,
            salvage=query.salvage,
            max_inflated_bytes=query.max_inflated_bytes,
        )


def count(
    session: Session, splits: Sequence[Split], query: Query, show: Show | None = None
) -> Counted:
    """Return the summaries of all logs; of a file that cannot be read, one line of why.

    Raises:
        SparkError: the job failed.
    """
    found = Counted({}, [])
    work = CountWork(query, session.settings.tries)
    for counted in run_narrowed(session, splits, work, show):
        for log, summary in counted.summaries.items():
            _add(found.summaries, log, summary)
        found.refusals.extend(one for one in counted.refusals if one not in found.refusals)
    return found


def _add(summaries: dict[Log, Summary], log: Log, summary: Summary) -> None:
    known = summaries.setdefault(log, summary)
    if known is not summary:
        known.merge(summary)


def _log(piece: Piece, query: Query) -> Log:
    decoder = query_of(query, piece.decoder).decoder or "user"
    return decoder, piece.topic, piece.partition
