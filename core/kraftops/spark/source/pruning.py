"""Leave out the files in which no row can match, by their paths, names and time indexes."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import pairwise

from kraftops.dump.sources.names import Source
from kraftops.errors import SourceError, UsageError
from kraftops.log.files import FileKind, FileName, file_name
from kraftops.log.indexes import TimeIndex
from kraftops.log.log_file import LogFile
from kraftops.log.remote import asked_at_once
from kraftops.query.conditions.outcomes import Candidates
from kraftops.query.conditions.rows import row_condition
from kraftops.query.filters import Filter
from kraftops.query.query import Query
from kraftops.query.record_rows import origin_of
from kraftops.records.internal_topics import USER
from kraftops.spark.source.partition_offsets import NO_LIMITS, PartitionLimits


def with_matching_rows(
    sources: Sequence[Source], query: Query, limits: PartitionLimits = NO_LIMITS
) -> list[Source]:
    """Return the sources that may have rows of a query within limits; only time indexes are opened.

    Offsets are those of the names: a segment ends where the next one of its log begins
    (Kafka's `UnifiedLog.roll`). Times are read only where the query has a first one.
    """
    selection = query.filter
    kept = [
        (source, following)
        for source, following in _with_following(sources)
        if _fits_path(source, query)
        and _fits_offsets(
            source, following, limits.narrowed(selection, source.topic, source.partition)
        )
    ]
    if selection.since == Filter().since:
        return [source for source, _ in kept]
    times = asked_at_once(
        lambda pair: _newest_time(*pair), kept, [source.path for source, _ in kept]
    )
    return [
        source
        for (source, _), time in zip(kept, times, strict=True)
        if time is None or time >= selection.since
    ]


def _with_following(sources: Sequence[Source]) -> Iterator[tuple[Source, Source | None]]:
    """Yield each source with the one after it in the same log."""
    for source, following in pairwise([*sources, None]):
        assert source is not None
        is_same_log = following is not None and following.group == source.group
        yield source, following if is_same_log else None


def _fits_path(source: Source, query: Query) -> bool:
    """Tell by its path whether a file can have rows that match topic and partition."""
    origin = origin_of(source.path)
    topics = query.filter.topics
    is_of_user = query.decoders([source.decoder]) == {USER}
    if topics and is_of_user and origin.topic is not None and origin.topic not in topics:
        return False  # records of internal topics may be about any topic
    if not query.filter.where:
        return True
    by_column = origin._asdict()

    def find(names: tuple[str, ...]) -> Candidates:
        return (by_column[names[0]],) if len(names) == 1 and names[0] in by_column else None

    return row_condition(query.filter.where).may_hold(find)


def _fits_offsets(source: Source, following: Source | None, selection: Filter) -> bool:
    segment = _segment(source)
    if segment is None:
        return True
    after = _segment(following)
    return segment.base_offset <= selection.last_offset and (
        after is None or after.base_offset > selection.first_offset
    )


def _segment(source: Source | None) -> FileName | None:
    """Return the name of a segment; None of a snapshot, or of a file that no offset names."""
    name = None if source is None else file_name(source.path)
    if name is None or name.kind is not FileKind.LOG:
        return None
    with suppress(UsageError):
        return name if name.base_offset >= 0 else None
    return None


def _newest_time(source: Source, following: Source | None) -> int | None:
    """Return the largest timestamp in a segment by its time index, in ms; None if unknown.

    Kafka completes that index when it rolls a segment (`LogSegment.onBecomeInactiveSegment`), so
    that the one of the last segment does not tell, nor does one that is empty, torn or of other
    offsets.
    """
    segment, after = _segment(source), _segment(following)
    if segment is None or after is None or segment.is_tiered or segment.archive:
        return None
    try:
        with LogFile(segment.sibling(FileKind.TIME_INDEX)) as file:
            index = TimeIndex(file, segment.base_offset)
            newest = index.last() if len(index) and not index.left_over else None
    except SourceError:
        return None
    if newest is None or newest.timestamp <= 0:
        return None
    return newest.timestamp if segment.base_offset <= newest.offset < after.base_offset else None
