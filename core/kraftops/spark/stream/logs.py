"""Logs that a stream follows, as they are now: segments, labels, high watermarks."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from kraftops.dump.check.log_directory import HIGH_WATERMARK
from kraftops.dump.small_files import small_file
from kraftops.dump.sources.names import Source, expand
from kraftops.dump.sources.partition_directory import NoLogError
from kraftops.dump.sources.parts import source_sizes
from kraftops.errors import SourceError, UsageError
from kraftops.log.files import FileKind, FileName, file_name
from kraftops.spark.source.options import SourceOptions
from kraftops.spark.stream.marks import Mark, Marks
from kraftops.uris import is_remote


class Segment(NamedTuple):
    """A segment, or the snapshot before it, and its size in bytes when it was listed."""

    path: str
    base_offset: int
    size: int

    @property
    def name(self) -> str:
        """The name in its directory."""
        return os.path.basename(self.path)


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
        return Mark(self.segments[0].name, 0, self.segments[0].base_offset)


def stream_logs(options: SourceOptions) -> dict[str, StreamLog]:
    """Return the logs that are there now; directories and patterns may have none yet.

    Raises:
        UsageError: a file is no segment that grows.
        SourceError: a directory cannot be read, or a file that is named does not exist.
    """
    sources = list(_sources(options, from_start=True))
    by_name: dict[str, dict[str, tuple[Source, int]]] = {}
    for source, size in zip(sources, source_sizes(sources), strict=True):
        by_name.setdefault(os.path.dirname(source.path), {})[source.path] = source, size
    watermarks = _Watermarks()
    return {name: _log(name, [*found.values()], watermarks) for name, found in by_name.items()}


def snapshot_marks(options: SourceOptions) -> Marks:
    """Return the marks before the newest snapshots, with which logs of metadata begin."""
    found: Marks = {}
    for source in _sources(options, from_start=options.from_start):
        file = file_name(source.path)
        if file and file.kind is FileKind.CHECKPOINT:
            directory, name = os.path.split(source.path)
            found[directory] = Mark(name, 0, *file.snapshot_id)
    return found


def _sources(options: SourceOptions, *, from_start: bool) -> Iterable[Source]:
    for name in options.names:
        try:
            found = expand([name], from_start=from_start, raw=options.raw)
        except NoLogError:
            continue
        except SourceError as error:
            if error.code != "not-found":
                raise
            continue
        for source in found:
            if source.path == name and not (is_remote(name) or os.path.exists(name)):
                raise SourceError(f"cannot read {name}: No such file or directory")
            if not (is_remote(name) and source.path == name and file_name(name) is None):
                yield source  # else nothing in a store has this prefix yet


def _log(name: str, sources: list[tuple[Source, int]], watermarks: _Watermarks) -> StreamLog:
    segments = [
        Segment(source.path, _growing(source.path).base_offset, size) for source, size in sources
    ]
    one, _ = sources[0]
    return StreamLog(
        name,
        tuple(sorted(segments, key=lambda segment: segment.base_offset)),
        one.decoder,
        one.topic,
        one.partition,
        watermarks.of(name, one.topic, one.partition),
    )


def _growing(path: str) -> FileName:
    """Return the name of a segment.

    Raises:
        UsageError: it is none, or an archive of one.
    """
    found = file_name(path)
    if found is None or found.kind is not FileKind.LOG or found.archive or found.is_stdin:
        raise UsageError(
            f"{path} is no segment of a log that grows",
            hint="a stream follows directories of partitions; spark.read reads all files",
        )
    return found


class _Watermarks:
    """High watermarks in the checkpoints of log directories, each of which is read once."""

    def __init__(self) -> None:
        self._known: dict[str, dict[tuple[object, object], int]] = {}

    def of(self, name: str, topic: str | None, partition: int | None) -> int | None:
        """Return that of the log in a directory; None if no broker has written one."""
        if is_remote(name) or topic is None:
            return None
        parent = os.path.dirname(os.path.abspath(name))
        if parent not in self._known:
            self._known[parent] = _watermarks(os.path.join(parent, HIGH_WATERMARK))
        return self._known[parent].get((topic, partition))


def _watermarks(path: str) -> dict[tuple[object, object], int]:
    if not os.path.exists(path):
        return {}
    entries = (small_file(path) or {})["data"].get("entries", ())
    return {(one["topic"], one["partition"]): one["offset"] for one in entries}
