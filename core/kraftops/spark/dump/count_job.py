"""Summarise logs on Spark: workers count splits, the driver merges the numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kraftops.dump.summary.summarise import summarise
from kraftops.dump.summary.summary import Summary
from kraftops.errors import SourceError
from kraftops.query.query import Query
from kraftops.spark.jobs.planning import LabelledRange, Split
from kraftops.spark.jobs.run import run_by_range
from kraftops.spark.jobs.worker_crashes import crash_text, is_last_try
from kraftops.spark.session.session import Session
from kraftops.spark.session.status_tracker import Show

Log = tuple[str, str | None, int | None]
"""Decoder, topic and partition of a summary; the last two are None where no directory says them."""


class Counted(NamedTuple):
    """Summaries by log, in order, and the reasons why files cannot be read."""

    summaries: dict[Log, Summary]
    refusals: list[str]


@dataclass(frozen=True, slots=True)
class CountWork:
    """Task that counts splits."""

    query: Query
    tries: int

    def __call__(self, splits: Iterable[Split]) -> Iterator[Counted]:
        """Yield the counts of each split."""
        for split in splits:
            counted = Counted({}, [])
            for labelled in split.ranges:
                try:
                    _add(counted.summaries, _log(labelled, self.query), self._count(labelled))
                except SourceError as error:
                    counted.refusals.append(error.message)
            yield counted

    def _count(self, labelled: LabelledRange) -> Summary:
        part, query = labelled.range, self.query.for_source(labelled.decoder)
        if is_last_try(self.tries):
            summary = Summary(query.record_decoder.name)
            size = 0 if part.stop is None else part.size
            summary.add_damage(part.path, part.start, size, crash_text(part, self.tries - 1))
            return summary
        return summarise(
            part.path,
            query,
            start=part.start,
            stop=part.stop,
        )


def count(
    session: Session, splits: Sequence[Split], query: Query, show: Show | None = None
) -> Counted:
    """Return the summaries of all logs, and a line for each file that cannot be read.

    Raises:
        SparkError: the job failed.
    """
    total = Counted({}, [])
    work = CountWork(query, session.settings.tries)
    for counted in run_by_range(session, splits, work, show):
        for log, summary in counted.summaries.items():
            _add(total.summaries, log, summary)
        total.refusals.extend(reason for reason in counted.refusals if reason not in total.refusals)
    return total


def _add(summaries: dict[Log, Summary], log: Log, summary: Summary) -> None:
    known = summaries.setdefault(log, summary)
    if known is not summary:
        known.merge(summary)


def _log(labelled: LabelledRange, query: Query) -> Log:
    decoder = query.for_source(labelled.decoder).record_decoder.name
    return decoder, labelled.topic, labelled.partition
