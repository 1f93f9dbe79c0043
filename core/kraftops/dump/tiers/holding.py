"""Of tiered logs, the segments that hold some offsets, so that no others are read."""

import os
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby

from kraftops.dump.sources.names import OnUnreadable, Source
from kraftops.dump.tiers.remote_metadata import RemoteMetadata, RemotePartition
from kraftops.errors import SourceError
from kraftops.log.files import file_name, tiered_name

Span = tuple[int, int]


def is_tiered(source: Source) -> bool:
    return tiered_name(source.path) is not None


def holding(
    sources: Iterable[Source],
    span: Span,
    read_metadata: Callable[[], RemoteMetadata],
    on_missing: OnUnreadable,
) -> list[Source]:
    """Return the sources without tiered segments that hold no offsets of a span.

    Without remote log metadata a segment holds the offsets up to the next one. With them it holds
    those that they say, and of several segments with the only offset that of the newest leader is
    taken.

    Args:
        sources: the logs in order, tiered and others.
        span: the first and the last offset.
        read_metadata: returns the remote log metadata; called once at most.
        on_missing: takes the error of each segment that is not there.

    Raises:
        SourceError: no segment holds the offsets, and there is no other log.
    """
    holders: list[Source] = []
    empty: list[str] = []
    missing: list[SourceError] = []
    metadata: RemoteMetadata | None = None
    all_sources = list(sources)
    for _, group in groupby(all_sources, key=lambda source: source.group):
        log = list(group)
        if not is_tiered(log[0]):
            holders += log
            continue
        metadata = metadata or read_metadata()
        names = (tiered_name(source.path) for source in log)
        remote = metadata.of_segments(name.segment_id for name in names if name)
        kept = list(
            _by_metadata(log, span, remote, missing.append) if remote else _by_name(log, span)
        )
        holders += kept
        if not kept:
            empty.append(_reach(log, remote))
    for error in missing:
        on_missing(error)
    if not (holders or missing) and empty:
        first, last = span
        asked = f"offset {first}" if first == last else f"the offsets {first} to {last}"
        raise SourceError(f"no tiered segment holds {asked}: {'; '.join(empty)}", code="not-found")
    return holders


def _by_name(log: list[Source], span: Span) -> Iterator[Source]:
    """Yield the segments that may hold offsets, by the offsets in their names."""
    first, last = span
    bases = [name.base_offset if (name := file_name(source.path)) else 0 for source in log]
    for source, base in zip(log, bases, strict=True):
        following = min((other for other in bases if other > base), default=None)
        if base <= last and (following is None or following > first):
            yield source


def _by_metadata(
    log: list[Source], span: Span, remote: RemotePartition, on_missing: OnUnreadable
) -> Iterator[Source]:
    """Yield the segments that hold offsets, by the remote log metadata."""
    first, last = span
    if first == last:
        segment = remote.holding(first)
        segments = [segment] if segment else []
    else:
        segments = [part for part in remote.live if part.start <= last and part.end >= first]
    by_name = {os.path.basename(source.path): source for source in log}
    for segment in segments:
        source = by_name.get(segment.log_name)
        if source:
            yield source
        else:
            folder = os.path.dirname(log[0].path)
            path = os.path.join(folder, segment.log_name)
            on_missing(
                SourceError(
                    f"cannot read {path}, with the offsets {segment.start} to {segment.end}: "
                    "it is not in the tier",
                    code="not-found",
                    path=path,
                )
            )


def _reach(log: list[Source], remote: RemotePartition | None) -> str:
    folder = os.path.dirname(log[0].path)
    if remote and remote.live:
        last = max(segment.end for segment in remote.live)
        return f"those of {folder} hold {remote.live[0].start} to {last}"
    first = tiered_name(log[0].path)
    return f"those of {folder} begin at {first.base_offset if first else 0}"
