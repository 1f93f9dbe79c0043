"""Prescan of a metadata log on workers: each byte range by itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kraftops.errors import SourceError
from kraftops.image.load.prescan import ScannedPart, scan_part
from kraftops.image.load.sources import SourceFile, files_of, read_plans
from kraftops.log.files import ARCHIVES, STANDARD_INPUT
from kraftops.log.ranges import ByteRange, cut_file
from kraftops.spark.find.scan_job import PrescannedRanges, SearchedLog
from kraftops.spark.jobs.run import reading_whole_log, run, runs_here
from kraftops.spark.session.job_progress import Show
from kraftops.spark.session.session import Session

_RANGE_BYTES = 32 << 20


@dataclass(frozen=True)
class CutWork:
    """Task that cuts files into byte ranges."""

    size: int

    def __call__(self, files: Iterable[SourceFile]) -> Iterator[list[ByteRange]]:
        """Yield the ranges of each file, none of a file that cannot be cut."""
        for file in files:
            if file.path == STANDARD_INPUT or file.path.endswith(ARCHIVES):
                yield []
                continue
            try:
                yield cut_file(file.path, self.size)
            except SourceError:
                yield []  # the scan reports it


@dataclass(frozen=True)
class PrescanWork:
    """Task that prescans byte ranges of a metadata log."""

    dialect: str

    def __call__(self, ranges: Iterable[tuple[ByteRange, bool]]) -> Iterator[ScannedPart | None]:
        """Yield the result of each range, given whether it is of a snapshot."""
        for part, is_snapshot in ranges:
            yield scan_part(part, self.dialect, is_snapshot=is_snapshot)


def prescanned(session: Session, log: SearchedLog, show: Show | None) -> PrescannedRanges:
    """Return the results of the prescan; none of a log that is a single range.

    Raises:
        SourceError: a directory cannot be read, or none of them holds a metadata log.
        UsageError: the log does not reach back to the limits.
        SparkError: a job failed.
    """
    files, _ = next(read_plans(files_of(log.names), log.limits), ([], []))
    cut = CutWork(session.settings.split_bytes or _RANGE_BYTES)
    with reading_whole_log(session, log.names):
        is_here = runs_here(session, (file.path for file in files))
        ranges_by_file = list(cut(files)) if is_here else run(session, files, cut)
    cuts = {file: ranges for file, ranges in zip(files, ranges_by_file, strict=True) if ranges}
    tasks = [(part, file.is_snapshot) for file, ranges in cuts.items() for part in ranges]
    if len(tasks) < 2:
        return {}
    with reading_whole_log(session, log.names):
        scanned = iter(run(session, tasks, PrescanWork(log.dialect), show))
    return {file.path: [(part, next(scanned)) for part in ranges] for file, ranges in cuts.items()}
