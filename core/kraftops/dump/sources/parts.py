"""Cut logs into byte ranges that are read on their own, and merge what is found in them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from kraftops.dump.report import Report
from kraftops.engine.choice import engine_name
from kraftops.errors import SourceError, UsageError
from kraftops.java.text import path_text
from kraftops.log.batch import int64
from kraftops.log.files import STANDARD_INPUT, FileKind, file_name
from kraftops.log.log_file import LogFile
from kraftops.log.ranges import ByteRange, cut_log, file_id
from kraftops.log.remote import sizes_of as sizes_of_uris
from kraftops.query.query import NO_LIMIT
from kraftops.uris import is_remote

PART_BYTES = 2 << 20
"""Of a part, about: a tenth of a second of work, so that none waits long for the last one."""

_WORTH_A_JOB = 4 << 20


class PartResult(NamedTuple):
    """The report about a byte range, or about some more of it.

    The offsets are the first and last of all its records so far; *size* is how many bytes more were
    read.
    """

    part: ByteRange
    report: Report
    first_offset: int | None
    last_offset: int | None
    size: int


def job_count(size: int) -> int:
    """Return how many threads should read *size* bytes of logs: at most one a core.

    More than one is no quicker where the reference reads them: it holds Python's lock.

    Raises:
        UsageError: see `kraftops.engine.choice.engine_name`.
    """
    if engine_name() == "reference":
        return 1
    affinity = getattr(os, "sched_getaffinity", None)  # not on every system
    cores = len(affinity(0)) if affinity else os.cpu_count() or 1
    return max(1, min(cores, size // _WORTH_A_JOB))


def total_size(paths: Iterable[str]) -> int:
    """Return the bytes of all files that are there."""
    return sum(sizes_of(paths))


def sizes_of(paths: Iterable[str]) -> list[int]:
    """Return the bytes of files, 0 where there is none: who reads it says so."""
    sizes: dict[str, int] = {}
    order = list(paths)
    remote = [path for path in order if is_remote(path)]
    if remote:
        try:
            sizes = {
                path: size or 0 for path, size in zip(remote, sizes_of_uris(remote), strict=True)
            }
        except (SourceError, UsageError):
            sizes = dict.fromkeys(remote, 0)
    for path in order:
        if path not in sizes:
            try:
                sizes[path] = os.stat(path).st_size
            except OSError:
                sizes[path] = 0
    return [sizes[path] for path in order]


def whole_files(paths: Iterable[str]) -> Iterator[ByteRange]:
    """Yield files as they are."""
    for path in paths:
        yield ByteRange(path_text(path))


def plan_parts(
    paths: Iterable[str],
    part_bytes: int = PART_BYTES,
    max_bytes: int = NO_LIMIT,
    *,
    cut_remote: bool = False,
) -> Iterator[ByteRange]:
    """Yield files, logs and snapshots in parts of about *part_bytes*, while they are asked for.

    *max_bytes* of a log are read, all with `NO_LIMIT`. What is on other machines must be read to be
    cut, and is only where *cut_remote* says so.
    """
    for path in map(path_text, paths):
        name = file_name(path)
        is_log = name is not None and name.kind in (FileKind.LOG, FileKind.CHECKPOINT)
        if name is None or not is_log or name.archive or path == STANDARD_INPUT:
            yield ByteRange(path)
            continue
        try:
            named = (
                None if cut_remote and is_remote(path) else file_id(path)
            )  # before it is opened, and by who reads it afterwards
            log = LogFile(path)
        except SourceError:
            yield ByteRange(path)  # who reads it says so
            continue
        with log:
            yield from cut_log(log, part_bytes, None if max_bytes == NO_LIMIT else max_bytes, named)


class ReportMerger:
    """Merges the reports about byte ranges into one, as if each file had been read at one go."""

    def __init__(self, report: Report) -> None:
        """Merge into *report*."""
        self._report = report
        self._part: ByteRange | None = None  # of which the first offset is known
        self._last_offset: int | None = None
        self._lines: list[str] = []

    def add(self, result: PartResult) -> list[str]:
        """Add the next result in the order of the ranges; return its lines for standard error."""
        part, report = result.part, result.report
        if result.first_offset is not None and part != self._part:
            last, self._part = self._last_offset, part
            if part.start and last is not None and result.first_offset != int64(last + 1):
                self._report.gap(part.path, last, result.first_offset)
        if result.last_offset is not None or not part.start:
            self._last_offset = result.last_offset
        if part.start:
            report.refused = 0  # not all of the file, or counted with its first part
        self._report.merge(report)
        lines = self._report.take_lines()
        if part.start and lines == self._lines:
            return []  # the file cannot be read, which was said
        self._lines = lines
        return lines
