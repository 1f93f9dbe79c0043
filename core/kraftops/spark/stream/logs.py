"""Logs that a stream follows, as they are now: segments, labels, high watermarks."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

from kraftops.dump.small_files import small_file
from kraftops.dump.sources.names import Source
from kraftops.dump.sources.partition_directory import NoLogError
from kraftops.dump.sources.parts import source_sizes
from kraftops.errors import SourceError, UsageError
from kraftops.log.batch_search import NO_LIMIT
from kraftops.log.files import FileKind, FileName, file_name
from kraftops.log.remote import sizes_of
from kraftops.records.internal_topics import METADATA
from kraftops.server.loader.load_plan import HIGH_WATERMARK
from kraftops.spark.source.committed import Isolation
from kraftops.spark.source.options import SourceOptions
from kraftops.spark.source.replicas import broker_identity, directories_by_partition
from kraftops.spark.stream.marks import UNREAD, Mark, Marks
from kraftops.uris import is_remote

_PROPERTIES = "meta.properties"
_NEVER_MOVED = "__cluster_metadata-0"
_Offsets = dict[tuple[str | None, int | None], int]
"""Offsets by topic and partition."""


class Segment(NamedTuple):
    """A segment, or the snapshot before it, and its size in bytes when it was listed."""

    path: str
    base_offset: int
    size: int


@dataclass(frozen=True, slots=True)
class StreamLog:
    """A log by the *name* of its directory; its *segments* in order, at least one.

    *high_watermark* is the one that a broker has written beside it, or None.
    """

    name: str
    segments: tuple[Segment, ...]
    decoder: str | None
    topic: str | None
    partition: int | None
    high_watermark: int | None

    @property
    def beginning(self) -> Mark:
        """The mark before the first segment."""
        return Mark(self.segments[0].base_offset)

    @property
    def is_known_by_size(self) -> bool:
        """Whether its end is the size of its last object, which only workers read.

        A high watermark can be anywhere in an object, and a snapshot, too.
        """
        is_whole = self.high_watermark is None and self.decoder != METADATA
        return is_whole and is_remote(self.name)

    def up_to(self, withheld: Isolation) -> StreamLog:
        """Return the log with its end at the last stable offset, if that is before its end.

        Without an open transaction, objects are still read by offset: what is withheld of
        them was found out by reading.
        """
        limits = (self.high_watermark, withheld.last_stable_offset)
        until = min((limit for limit in limits if limit is not None), default=NO_LIMIT)
        return replace(self, high_watermark=until)

    def ends_at(self, mark: Mark, position: int) -> bool:
        """Tell whether nothing can be read after a mark and its position in the last segment."""
        if self.high_watermark is not None and mark.offset >= self.high_watermark:
            return True
        return position == self.segments[-1].size


def stream_logs(options: SourceOptions) -> dict[str, StreamLog]:
    """Return the logs that are there now; directories and patterns may no longer have any.

    Of a partition that a broker is just moving between its log directories, one is left out.

    Raises:
        UsageError: a file is not a segment that grows.
        SourceError: a directory cannot be read, or a file that is named does not exist.
    """
    sources = list(_sources(options))
    by_name: dict[str, dict[str, tuple[Source, int]]] = {}
    for source, size in zip(sources, source_sizes(sources), strict=True):
        by_name.setdefault(os.path.dirname(source.path), {})[source.path] = source, size
    for name in _moving(by_name):
        del by_name[name]
    parents = {name: _parent(name) for name in by_name}
    watermarks = _watermarks({*parents.values()})
    return {
        name: _log(name, [*sources_of_log.values()], watermarks[parents[name]])
        for name, sources_of_log in by_name.items()
    }


def snapshot_marks(options: SourceOptions) -> Marks:
    """Return the marks before the newest snapshots, with which logs of metadata begin.

    Raises:
        UsageError, SourceError: a path holds no log, and is not an empty log directory either.
    """
    marks: Marks = {}
    for source in _sources(options, from_start=options.from_start, may_be_gone=False):
        file = file_name(source.path)
        if file and file.kind is FileKind.CHECKPOINT:
            offset, epoch = file.snapshot_id
            marks[os.path.dirname(source.path)] = Mark(offset, epoch, snapshot=UNREAD)
    return marks


def _sources(
    options: SourceOptions, *, from_start: bool = True, may_be_gone: bool = True
) -> Iterable[Source]:
    """Yield the files that are there: logs may be deleted while the stream goes on."""
    for name in options.names:
        try:
            expanded = options.expanded([name], from_start=from_start)
        except NoLogError:
            if may_be_gone or os.path.exists(os.path.join(name, _PROPERTIES)):
                continue
            raise
        except SourceError as error:
            if not may_be_gone or error.code != "not-found":
                raise
            continue
        for source in expanded:
            if source.path == name and not (is_remote(name) or os.path.exists(name)):
                raise SourceError(f"cannot read {name}: No such file or directory")
            if not (is_remote(name) and source.path == name and file_name(name) is None):
                yield source  # else nothing in a store has this prefix yet


def _parent(name: str) -> str:
    return os.path.dirname(name if is_remote(name) else os.path.abspath(name))


def _moving(names: Iterable[str]) -> list[str]:
    """Return all but the first of the directories of the same partition of one broker.

    There are two only for a moment: one has just got its name, and the other is about to lose it.
    """
    brokers: dict[str, object] = {}
    duplicates = []
    for partition, several in directories_by_partition(sorted(names)).items():
        if len(several) == 1 or partition == _NEVER_MOVED:
            continue
        seen = set()
        for name in several:
            parent = _parent(name)
            if parent not in brokers:
                identity = (None,) if is_remote(parent) else broker_identity(parent)
                brokers[parent] = parent if None in identity else identity
            if brokers[parent] in seen:
                duplicates.append(name)
            seen.add(brokers[parent])
    return duplicates


def _log(name: str, sources: list[tuple[Source, int]], watermarks: _Offsets) -> StreamLog:
    segments = [
        Segment(source.path, _growing(source.path).base_offset, size) for source, size in sources
    ]
    first_source, _ = sources[0]
    return StreamLog(
        name=name,
        segments=tuple(sorted(segments, key=lambda segment: segment.base_offset)),
        decoder=first_source.decoder,
        topic=first_source.topic,
        partition=first_source.partition,
        high_watermark=watermarks.get((first_source.topic, first_source.partition)),
    )


def _growing(path: str) -> FileName:
    """Return the name of a segment.

    Raises:
        UsageError: it is not a segment, or an archive of one.
    """
    file = file_name(path)
    if file is None or file.kind is not FileKind.LOG or file.archive or file.is_stdin:
        raise UsageError(
            f"{path} is not a segment of a growing log",
            hint="a stream follows directories of partitions; spark.read reads all files",
        )
    return file


def _watermarks(directories: Iterable[str]) -> dict[str, _Offsets]:
    """Return the high watermarks that brokers have written into log directories, by directory.

    Raises:
        SourceError: a checkpoint cannot be read, or is damaged.
    """
    paths = {f"{directory}/{HIGH_WATERMARK}": directory for directory in directories}
    remote = [path for path in paths if is_remote(path)]
    there = {path for path, size in zip(remote, sizes_of(remote), strict=True) if size}
    return {
        directory: _offsets(path) if path in there or os.path.exists(path) else {}
        for path, directory in paths.items()
    }


def _offsets(path: str) -> _Offsets:
    content = small_file(path) or {}
    if "damage" in content:
        raise SourceError(
            f"{path}: {content['damage']}", hint="without this file, logs are read up to their ends"
        )
    entries = content["data"]["entries"]
    return {(line["topic"], line["partition"]): line["offset"] for line in entries}
