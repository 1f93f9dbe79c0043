"""Check logs on Spark (`--check`): whole partitions, or a row for each damage in what is dumped."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kraftops.dump.check.findings import PartitionCheck
from kraftops.dump.check.tier import Surroundings
from kraftops.dump.check.units import Unit, check_unit
from kraftops.dump.report import Report, TimeProblem
from kraftops.dump.scan.part_printer import PartPrinter
from kraftops.errors import KraftopsError
from kraftops.query.query import Query
from kraftops.query.record_rows import damage_row
from kraftops.query.row import Row
from kraftops.spark.jobs.planning import Split
from kraftops.spark.jobs.run import run, run_by_range
from kraftops.spark.jobs.worker_crashes import crash_rows, is_last_try
from kraftops.spark.session.job_progress import Show
from kraftops.spark.session.session import Session

MOST_ROWS = 10_000
"""Limit of rows of damage a split, all of which go to the driver; further ones are only counted."""


class Checked(NamedTuple):
    """Rows of damage, the number of further ones, and the reasons why files cannot be read."""

    rows: list[Row]
    more: int
    refusals: list[str]


class DamageReport(Report):
    """Report that keeps only damage, as rows."""

    def __init__(self) -> None:
        """Begin without damage."""
        super().__init__()
        self.rows: list[Row] = []
        self.more = 0
        self.refusals: list[str] = []
        self._path = ""

    def begin(self, path: str) -> None:
        """Go on with another file."""
        self._path = path

    def add(self, path: str, position: int, reason: str) -> None:
        """Keep damage at a byte of a file."""
        if len(self.rows) >= MOST_ROWS:
            self.more += 1
            return
        error = f"position {position}: {reason}"
        self.rows.append(damage_row(path, position, error))

    def failure(self, path: str, position: int, reason: str, *, is_damage: bool = True) -> None:
        """Keep damage."""
        if is_damage:
            self.add(path, position, reason)

    def finding(self, path: str, position: int, reason: str) -> None:
        """Keep damage that hides nothing."""
        self.add(path, position, reason)

    def refusal(self, error: KraftopsError) -> None:
        """Keep why a file cannot be read."""
        self.refusals.append(error.message)

    def note(self, path: str, position: int, reason: str) -> None:
        """Ignore oddities that are not damage."""

    def remark(self, line: str, *, is_damage: bool = False) -> None:
        """Keep damage without a position."""
        if is_damage:
            self.add(self._path, 0, line)

    def index_mismatch(self, path: str, offset: int, end: int) -> None:
        """Keep an entry of an offset index that names a wrong batch."""
        self.add(path, 0, f"the batch of offset {offset} ends at {end}")

    def time_problem(self, problem: TimeProblem, path: str, indexed: int, present: int) -> None:
        """Keep an entry of a time index that is wrong."""
        self.add(path, 0, problem.reason % (indexed, present))

    def gaps(self, path: str, pairs: bytes) -> None:
        """Ignore missing offsets: a compacted log has many."""


@dataclass(frozen=True, slots=True)
class CheckWork:
    """Task that checks splits."""

    query: Query
    tries: int

    def __call__(self, splits: Iterable[Split]) -> Iterator[Checked]:
        for split in splits:
            report = DamageReport()
            for part, decoder, *_ in split.ranges:
                query = self.query.for_source(decoder, part.path)
                report.begin(part.path)
                if is_last_try(self.tries):
                    deque(crash_rows(part, query, report, self.tries - 1), 0)
                    continue
                # Making the text of a byte range looks at all of it.
                deque(PartPrinter(query).chunks(part, report), 0)
            yield Checked(report.rows, report.more, report.refusals)


def check(
    session: Session, waves: Iterable[Sequence[Split]], query: Query, show: Show | None = None
) -> Checked:
    """Return the damage of all splits, in order; each of the *waves* is a job.

    Raises:
        SparkError: the job failed.
    """
    work = CheckWork(query, session.settings.tries)
    checks = [check for splits in waves for check in run_by_range(session, splits, work, show)]
    return Checked(
        [row for checked in checks for row in checked.rows],
        sum(checked.more for checked in checks),
        list(dict.fromkeys(reason for checked in checks for reason in checked.refusals)),
    )


@dataclass(frozen=True, slots=True)
class UnitWork:
    """Task that checks partitions and files as a whole."""

    surroundings: Surroundings

    def __call__(self, units: Iterable[Unit]) -> Iterator[PartitionCheck]:
        for unit in units:
            yield check_unit(unit, self.surroundings)


def check_units(
    session: Session, units: Sequence[Unit], surroundings: Surroundings, show: Show | None = None
) -> list[PartitionCheck]:
    """Return the outcomes of units in order; each is a task.

    Raises:
        SparkError: the job failed.
    """
    return run(session, units, UnitWork(surroundings), show)
