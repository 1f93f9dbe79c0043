"""`--check` over an archive: one row for each damage, and nothing else."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kraftops.dump.report import Report
from kraftops.log.ranges import ByteRange
from kraftops.query.query import Query
from kraftops.query.row import Row, damage_row, file_text
from kraftops.spark.jobs.jobs import run_narrowed
from kraftops.spark.jobs.lost import is_last_try, lost_rows
from kraftops.spark.jobs.planning import Split, query_of
from kraftops.spark.session.session import Session
from kraftops.spark.session.status_tracker import Show

MOST_ROWS = 10_000
"""Rows of damage of one split; beyond them they are only counted."""


class Checked(NamedTuple):
    """What is damaged: rows, how many more there are, and files that cannot be read."""

    rows: list[Row]
    more: int
    refusals: list[str]


class DamageReport(Report):
    """A report that keeps damage as rows, and of all else nothing."""

    def __init__(self) -> None:
        """Begin with nothing found."""
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
        self.rows.append(damage_row(file_text(path), position, None, error))

    def failure(self, path: str, position: int, reason: str, *, is_damage: bool = True) -> None:
        """Keep what is damage."""
        if is_damage:
            self.add(path, position, reason)

    def finding(self, path: str, position: int, reason: str) -> None:
        """Keep it."""
        self.add(path, position, reason)

    def refusal(self, reason: str) -> None:
        """Keep why a file cannot be read."""
        self.refusals.append(reason)

    def note(self, path: str, position: int, reason: str) -> None:
        """Pass over what is odd, but no damage."""

    def remark(self, line: str, *, is_damage: bool = False) -> None:
        """Keep what is damage, which has no position."""
        if is_damage:
            self.add(self._path, 0, line)

    def index_mismatch(self, path: str, offset: int, found: int) -> None:
        """Keep it."""
        self.add(path, 0, f"the batch of offset {offset} ends at {found}")

    def time_mismatch(self, path: str, timestamp: int, found: int) -> None:
        """Keep it."""
        self.add(path, 0, f"the batch of timestamp {timestamp} has {found}")

    def time_disorder(self, path: str, timestamp: int, previous: int) -> None:
        """Keep it."""
        self.add(path, 0, f"timestamp {timestamp} comes after {previous}")

    def time_not_found(self, path: str, offset: int, found: int) -> None:
        """Keep it."""
        self.add(path, 0, f"offset {offset} ends no batch, the next is {found}")

    def gaps(self, path: str, pairs: bytes) -> None:
        """Pass over missing offsets: a compacted log has many."""


@dataclass(frozen=True, slots=True)
class CheckWork:
    """Checks splits in a worker."""

    query: Query
    tries: int

    def __call__(self, splits: Iterable[Split]) -> Iterator[Checked]:
        """Yield what is damaged in each split."""
        for split in splits:
            report = DamageReport()
            for part, decoder, *_ in split.pieces:
                query = query_of(self.query, decoder)
                report.begin(part.path)
                if is_last_try(self.tries):
                    deque(lost_rows(part, query, report, self.tries - 1), 0)
                    continue
                deque(_looked_at(part, query, report), 0)
            yield Checked(report.rows, report.more, report.refusals)


def _looked_at(part: ByteRange, query: Query, report: Report) -> Iterator[object]:
    """Read a part as the text of it is made, for that is where all of it is looked at."""
    from kraftops.dump.scan.part_scan import PartMaker

    yield from PartMaker(query).chunks(part, report)


def check(
    session: Session, splits: Sequence[Split], query: Query, show: Show | None = None
) -> Checked:
    """Return what is damaged in all splits, in order.

    Raises:
        SparkError: the job failed.
    """
    made = run_narrowed(session, splits, CheckWork(query, session.settings.tries), show)
    return Checked(
        [row for one in made for row in one.rows],
        sum(one.more for one in made),
        list(dict.fromkeys(reason for one in made for reason in one.refusals)),
    )
