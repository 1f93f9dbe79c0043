"""The rows of plain logs in tables of many, counted many at a time.

A summary of its own, with its sketches, takes 60 µs a log, and a broker may have 100,000.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

from kraftops.dump.summary.logs import Fields, Log, Reading
from kraftops.dump.summary.summary import row_of
from kraftops.engine.count_contract import CountRequest, LogCount
from kraftops.engine.counting import EngineCounter
from kraftops.errors import UsageError
from kraftops.log.files import FileKind, file_name
from kraftops.log.held_files import small_files
from kraftops.query.query import NO_LIMIT, Query


def plain_rows(files: Sequence[Reading], query_of: Callable[[str], Query]) -> dict[Log, Fields]:
    """Return the rows, as those of `Summary.row`, of logs whose files are small and plain.

    Those that are read with details are left out.
    """
    paths_by_log: dict[Log, list[str]] = defaultdict(list)
    for file in files:
        if not file.details:
            paths_by_log[file.log].append(file.path)
    paths_by_decoder: dict[str, list[str]] = defaultdict(list)
    for log, paths in paths_by_log.items():
        paths_by_decoder[log.decoder] += paths
    counts: dict[str, LogCount] = {}
    for paths in paths_by_decoder.values():
        query = query_of(paths[0])
        if query.max_bytes == NO_LIMIT and query.filter.is_empty:
            counts.update(_counts(paths, query))
    return {
        log: row_of([*dict.fromkeys(paths)], _joined([counts[path] for path in paths]))
        for log, paths in paths_by_log.items()
        if all(path in counts for path in paths)
    }


def _counts(paths: Iterable[str], query: Query) -> Iterator[tuple[str, LogCount]]:
    """Yield the counts of the small files that are plain; one ends at its base offset or later."""
    base_offsets = {path: offset for path in paths if (offset := _base_offset(path)) is not None}
    counter = EngineCounter(CountRequest("", query), query.budget.meter())
    for group in small_files(base_offsets):
        counts = counter.count_logs(group.content, group.stops)
        for path, count in zip(group.paths, counts, strict=True):
            if count:
                end = (
                    base_offsets[path] if count.end is None else max(base_offsets[path], count.end)
                )
                yield path, count._replace(end=end)


def _base_offset(path: str) -> int | None:
    """Return the offset in the name of a segment; None of what is not one, or is compressed."""
    file = file_name(path)
    if file is None or file.is_stdin or file.archive or file.kind is not FileKind.LOG:
        return None
    try:
        return file.base_offset
    except UsageError:
        return None


def _joined(counts: Sequence[LogCount]) -> LogCount:
    """Return the counts of the files of a log, in order, as one."""
    if len(counts) == 1:
        return counts[0]
    offsets = [count.offsets for count in counts if count.offsets]
    times = [count.times for count in counts if count.times]
    return LogCount(
        size=sum(count.size for count in counts),
        records=sum(count.records for count in counts),
        offsets=(offsets[0][0], offsets[-1][1]) if offsets else None,
        end=max(count.end for count in counts if count.end is not None),
        times=(min(first for first, _ in times), max(last for _, last in times)) if times else None,
    )
