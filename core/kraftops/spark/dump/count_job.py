"""Summarise logs on Spark: workers count splits, the driver merges the numbers."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kraftops.dump.summary.file_counter import Counting
from kraftops.dump.summary.logs import Log, add_summary, log_of
from kraftops.dump.summary.summarise import scope_of, summarise
from kraftops.dump.summary.summary import Summary
from kraftops.errors import SourceError
from kraftops.query.query import Query
from kraftops.spark.jobs.planning import LabelledRange, Split
from kraftops.spark.jobs.run import run_by_range
from kraftops.spark.jobs.worker_crashes import crash_text, is_last_try
from kraftops.spark.session.job_progress import Show
from kraftops.spark.session.session import Session


class Counted(NamedTuple):
    """Summaries by log, in order, and the reasons why files cannot be read."""

    summaries: dict[Log, Summary]
    refusals: list[str]


@dataclass(frozen=True, slots=True)
class CountWork:
    """Task that counts splits."""

    query: Query
    tries: int
    detailed: frozenset[Log]
    """The logs that are counted with their details."""

    def __call__(self, splits: Iterable[Split]) -> Iterator[Counted]:
        for split in splits:
            counted = Counted({}, [])
            for labelled in split.ranges:
                try:
                    log = _log(labelled, self.query)
                    add_summary(counted.summaries, log, self._count(labelled, log))
                except SourceError as error:
                    counted.refusals.append(error.message)
            yield counted

    def _count(self, labelled: LabelledRange, log: Log) -> Summary:
        part = labelled.range
        query = self.query.for_source(labelled.decoder, part.path)
        counting = Counting(log in self.detailed)
        if is_last_try(self.tries):
            summary = Summary(scope_of(query, counting))
            size = 0 if part.stop is None else part.size
            summary.add_damage(part.path, part.start, size, crash_text(part, self.tries - 1))
            return summary
        return summarise(
            part.path,
            query,
            start=part.start,
            stop=part.stop,
            counting=counting,
        )


def count(
    session: Session,
    splits: Sequence[Split],
    query: Query,
    detailed: frozenset[Log],
    show: Show | None = None,
) -> Counted:
    """Return the summaries of all logs, and a line for each file that cannot be read.

    The logs *detailed* are counted with their details.

    Raises:
        SparkError: the job failed.
    """
    total = Counted({}, [])
    work = CountWork(query, session.settings.tries, detailed)
    for counted in run_by_range(session, splits, work, show):
        for log, summary in counted.summaries.items():
            add_summary(total.summaries, log, summary)
        total.refusals.extend(reason for reason in counted.refusals if reason not in total.refusals)
    return total


def _log(labelled: LabelledRange, query: Query) -> Log:
    decoder = query.for_source(labelled.decoder).record_decoder.name
    return log_of(labelled.range.path, decoder, labelled.topic, labelled.partition)
