"""Plan splits, one a task, by the sizes of the files and the number of cores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from kraftops.dump.sources.names import Source
from kraftops.dump.sources.parts import plan_parts, source_sizes
from kraftops.log.files import file_name
from kraftops.log.ranges import ByteRange
from kraftops.log.remote import asked_at_once
from kraftops.query.query import NO_LIMIT
from kraftops.uris import is_remote

if TYPE_CHECKING:
    from kraftops.spark.session.session import Session

LEAST_BYTES = 16 << 20  # below it a task takes longer to begin than to read
MOST_BYTES = 256 << 20  # what a lost task reads again
_GOOD_BYTES = 64 << 20  # a task takes as long to begin as 8 MB to be read
_TASKS_A_CORE = 4  # at most, so that the last ones do not wait long for one
_ARCHIVE_FACTOR = 4  # how much more is in an archive than it takes, about
_FILE_BYTES = 64 << 10  # what it costs to open a file, in bytes that could be read in that time
_MOST_RANGES = 10_000  # each is named in the task, which Spark sends whole


class LabelledRange(NamedTuple):
    """A byte range, with the decoder, topic and partition that the directory of its file says."""

    range: ByteRange
    decoder: str | None = None
    topic: str | None = None
    partition: int | None = None


class Split(NamedTuple):
    """Byte ranges that one task reads, in order; *size* is about how many bytes they are."""

    number: int
    ranges: tuple[LabelledRange, ...]
    size: int


def split_bytes(total: int, cores: int) -> int:
    """Return how large splits should be: as many for each core, none too small or too large."""
    a_core = max(1, min(_TASKS_A_CORE, total // cores // _GOOD_BYTES))
    return max(LEAST_BYTES, min(MOST_BYTES, -(-total // (cores * a_core))))


def cut_file(path: str, target: int, max_bytes: int) -> list[ByteRange]:
    """Cut a file at batch boundaries: by its headers if it is local, else by probes and indexes."""
    return list(plan_parts([path], target, max_bytes, cut_remote=True))


def plan_splits(  # noqa: PLR0913 - all but two have defaults, and are given by name
    sources: Sequence[Source],
    cores: int,
    *,
    max_bytes: int = NO_LIMIT,
    size: int | None = None,
    speed: int = 1,
    cut: Callable[[str, int, int], list[ByteRange]] = cut_file,
) -> list[Split]:
    """Return the splits of sources, in order.

    A file is cut at the boundaries of its batches, small files are put together. Files far away are
    cut by their indexes, or where batches are found near the cuts; they stay whole where there are
    enough of them for all cores.
    Files that cannot be read have splits, too: the task reports them.

    Args:
        sources: what to read.
        cores: how many tasks run at a time.
        max_bytes: how much of each log is read.
        size: how large splits should be; by data, cores and *speed* if None.
        speed: how many times as fast as whole rows the bytes are read.
        cut: cuts a file into ranges, given their size and *max_bytes*.
    """
    sizes = source_sizes(sources)
    target = speed * split_bytes(sum(sizes) // speed, cores) if size is None else size
    large = [source.path for source, bytes_ in zip(sources, sizes, strict=True) if bytes_ > target]
    if size is None and sum(map(is_remote, large)) >= cores * _TASKS_A_CORE:
        large = [path for path in large if not is_remote(path)]
    ranges = asked_at_once(lambda path: cut(path, target, max_bytes), large, large)
    cuts = dict(zip(large, ranges, strict=True))
    return list(packed(_labelled(sources, sizes, cuts), target))


def planned(session: Session, sources: Sequence[Source], max_bytes: int) -> list[Split]:
    """Plan splits for the cores and the split size of a session."""
    size = session.settings.split_bytes
    return plan_splits(sources, session.cores, max_bytes=max_bytes, size=size)


def _labelled(
    sources: Iterable[Source], sizes: Iterable[int], cuts: Mapping[str, Sequence[ByteRange]]
) -> Iterator[tuple[LabelledRange, int]]:
    """Yield byte ranges and about how many bytes each is."""
    for source, size in zip(sources, sizes, strict=True):
        path, labels = source.path, (source.decoder, source.topic, source.partition)
        if path not in cuts:
            name = file_name(path)
            is_archive = name is not None and bool(name.archive)
            whole = LabelledRange(ByteRange(path), *labels)
            yield whole, size * _ARCHIVE_FACTOR if is_archive else size
            continue
        for cut in cuts[path]:
            # Numbers of devices and inodes are those of one machine.
            labelled = LabelledRange(cut._replace(file_id=None), *labels)
            yield labelled, size if cut.stop is None else cut.size


def packed(ranges: Iterable[tuple[LabelledRange, int]], target: int) -> Iterator[Split]:
    """Yield splits of about *target* bytes from ranges with their sizes."""
    number, size = 0, 0
    together: list[LabelledRange] = []
    for labelled, bytes_ in ranges:
        cost = bytes_ + _FILE_BYTES
        if together and (size + cost > target or len(together) >= _MOST_RANGES):
            yield Split(number, tuple(together), size)
            number, together, size = number + 1, [], 0
        together.append(labelled)
        size += cost
    if together:
        yield Split(number, tuple(together), size)
