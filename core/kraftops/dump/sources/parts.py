"""Cut logs into byte ranges that are read separately, and merge the reports about them."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from kraftops.dump.report import Report
from kraftops.dump.sources.names import Source
from kraftops.engine.choice import engine_name
from kraftops.errors import SourceError, UsageError
from kraftops.fileio.mounts import archive_of, status_of
from kraftops.java.text import path_text
from kraftops.log.batch import int64
from kraftops.log.batch_search import cut_by_size
from kraftops.log.files import STANDARD_INPUT, FileKind, FileName, file_name
from kraftops.log.indexes import OffsetIndex
from kraftops.log.log_file import LogFile
from kraftops.log.ranges import ByteRange, cut_by_index, cut_log, file_id
from kraftops.log.remote import sizes_of as sizes_of_uris
from kraftops.log.streams import open_log
from kraftops.parallel.ordered import core_count
from kraftops.query.query import NO_LIMIT
from kraftops.uris import is_remote

PART_BYTES = 2 << 20
"""The approximate size of a part: a tenth of a second of work, so that all threads end together."""

_WORTH_A_JOB = 4 << 20  # bytes that take longer to read than a thread takes to start


class PartResult(NamedTuple):
    """A report about a byte range, or about the bytes since the last report.

    The offsets are the first and last of all records in the range so far; *size* is the number of
    bytes read since the last report.
    """

    part: ByteRange
    report: Report
    first_offset: int | None
    last_offset: int | None
    size: int

    @property
    def is_quiet(self) -> bool:
        """Whether it has no line beside the output: to write that of each small file takes long."""
        return not self.report.has_lines


def job_count(size: int) -> int:
    """Return the number of threads for *size* bytes of logs: at most one a core.

    The reference engine gets one: it holds Python's lock.

    Raises:
        UsageError: see `kraftops.engine.choice.engine_name`.
    """
    if engine_name() == "reference":
        return 1
    return max(1, min(core_count(), size // _WORTH_A_JOB))


def total_size(paths: Iterable[str]) -> int:
    """Add up bytes; files that are gone by now count as nothing."""
    return sum(sizes_of(paths))


def source_sizes(sources: Sequence[Source]) -> list[int]:
    """Return the bytes of sources, 0 where there is no file; listed ones are not asked for."""
    asked = iter(sizes_of(source.path for source in sources if source.size is None))
    return [next(asked) if source.size is None else source.size for source in sources]


def size_of(path: str) -> int:
    """Return the bytes of a file; 0 if it is gone: who reads it says so."""
    if is_remote(path):
        return sizes_of([path])[0]
    try:
        return status_of(path).size
    except OSError:
        return 0


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
    return [sizes[path] if path in sizes else size_of(path) for path in order]


def whole_files(paths: Iterable[str]) -> Iterator[ByteRange]:
    for path in paths:
        yield ByteRange(path_text(path))


def plan_parts(
    paths: Iterable[str],
    part_bytes: int = PART_BYTES,
    max_bytes: int = NO_LIMIT,
    *,
    cut_remote: bool = False,
) -> Iterator[ByteRange]:
    """Yield the parts of files: logs and snapshots are cut into about *part_bytes*.

    *max_bytes* of each log are read. A remote log is cut only if *cut_remote* is set: by the index
    beside it, or by its size into larger parts.
    """
    for path in map(path_text, paths):
        name = file_name(path)
        is_log = name is not None and name.kind in (FileKind.LOG, FileKind.CHECKPOINT)
        if name is None or not is_log or name.archive or path == STANDARD_INPUT:
            yield ByteRange(path)
            continue
        try:
            # The reader of a part compares it, to notice another file of the same name.
            is_file = not (archive_of(path) or (cut_remote and is_remote(path)))
            identity = file_id(path) if is_file else None
            log = open_log(path)
        except SourceError:
            yield ByteRange(path)  # its reader reports the error
            continue
        assert isinstance(log, LogFile)
        with log:
            limit = None if max_bytes == NO_LIMIT else max_bytes
            if is_remote(path):
                yield from _cut_remote(log, name, part_bytes, limit)
            else:
                yield from cut_log(log, part_bytes, limit, identity)


def _cut_remote(
    log: LogFile, name: FileName, part_bytes: int, limit: int | None
) -> list[ByteRange]:
    try:
        by_index = _cut_by_index(log, name, part_bytes, limit)
        return by_index or cut_by_size(log, part_bytes, limit)
    except SourceError:
        return [ByteRange(log.path)]  # its reader reports the error


def _cut_by_index(
    log: LogFile, name: FileName, part_bytes: int, limit: int | None
) -> list[ByteRange] | None:
    """Return the parts of a segment by the index beside it; None without one that fits."""
    if name.kind is not FileKind.LOG or name.is_tiered:
        return None
    try:
        with LogFile(name.sibling(FileKind.INDEX)) as file:
            entries = OffsetIndex(file, name.base_offset)
            return None if entries.left_over else cut_by_index(log, entries, part_bytes, limit)
    except (SourceError, UsageError):
        return None  # it is not there, or no offset names the segment


class ReportMerger:
    """Merges the reports about byte ranges into one, as if each file had been read in one part."""

    def __init__(self, report: Report) -> None:
        """Merge into *report*."""
        self._report = report
        self._part: ByteRange | None = None  # its first offset is known
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
            report.refused = 0  # only the first part counts a file that cannot be read
        self._report.merge(report)
        lines = self._report.take_lines()
        if part.start and lines == self._lines:
            return []  # the same error was reported for the part before
        self._lines = lines
        return lines
