"""Directories of partitions: their names, and the files of the log in them."""

import os
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import pairwise
from operator import itemgetter
from typing import NamedTuple

from kraftops.errors import DecodeError, SourceError, UsageError
from kraftops.log.batch import is_valid, records
from kraftops.log.files import (
    METADATA_TOPIC,
    PARTITION_NAME,
    TIERED_TOPIC,
    FileKind,
    FileName,
    file_name,
    partition_of,
)
from kraftops.log.log_file import LogFile
from kraftops.log.reader import EndReason
from kraftops.log.streams import open_log

MANIFEST = ".rsm-manifest"
"""End of the name of what Aiven's plugin says about a segment."""
_MOST_MANIFEST_BYTES = 16 << 20  # a manifest has some bytes for each chunk of a segment, of 4 MiB
_SNAPSHOT_FOOTER = 4  # the type of the control record that a snapshot ends with


class Log(NamedTuple):
    """The files of one log, in order; *sizes* are theirs in bytes, where a listing told them."""

    paths: list[str]
    topic: str | None = None
    partition: int | None = None
    sizes: tuple[int, ...] = ()


NamesInside = Callable[[str], list[str] | None]
"""Returns the names in a directory; None for what is not one."""


def logs_in(
    path: str, names: list[str], names_inside: NamesInside, *, from_start: bool
) -> list[Log]:
    log = partition_log(path, names, from_start=from_start)
    if log:
        return [log]
    placed_logs = []
    for name in names:
        match, directory = PARTITION_NAME.fullmatch(name), os.path.join(path, name)
        inner = None if match and match[3] else names_inside(directory)
        if inner is None:
            continue
        if TIERED_TOPIC.fullmatch(name) and not any(map(file_name, inner)):
            logs = logs_in(directory, inner, names_inside, from_start=from_start)
        else:
            log = partition_log(directory, inner, from_start=from_start)
            logs = [log] if log else []
        placed_logs += [(_place_among_logs(name, log), log) for log in logs]
    placed_logs.sort(key=itemgetter(0))
    return [log for _, log in placed_logs]


def partition_log(path: str, names: list[str], *, from_start: bool) -> Log | None:
    begin = os.path.join(path, "")
    files = [file for name in names if (file := file_name(begin + name)) and not file.renamed]
    chosen = segments = _segments(files)
    if any(name.endswith(MANIFEST) for name in names):
        _refuse_transformed(segments, frozenset(names))
    first = segments[0].path if segments else os.path.join(path, "")
    topic, partition = partition_of(first) or (None, None)
    snapshots = _snapshots(files)
    if snapshots and topic != METADATA_TOPIC:  # no other log has snapshots
        topic, partition = METADATA_TOPIC, None
    if not from_start:
        chosen = _after_snapshot(snapshots, segments)
    return Log([file.path for file in chosen], topic, partition) if chosen else None


def _place_among_logs(directory: str, log: Log) -> tuple[str, int]:
    """Return the sort key of the logs in a log directory.

    It is the name of their directory, but for partitions of a topic, which come by their numbers.
    """
    is_numbered = directory.startswith(f"{log.topic}-{log.partition}")
    return f"{log.topic}-" if is_numbered else f"{directory}/", log.partition or 0


class NoLogError(UsageError):
    """A directory that holds no log, or not yet."""


def no_log(path: str, names: Iterable[str]) -> NoLogError:
    other = next((name for name in names if name.endswith(".log")), None)
    if other is None:
        hint = "name the directory of a partition, or a log directory"
        return NoLogError(f"{path} holds no log", hint)
    return NoLogError(
        f"{path} holds no log: {other} is not a name of a segment",
        "tiered segments are read as LocalTieredStorage or Aiven's plugin name them",
    )


def _refuse_transformed(segments: list[FileName], names: frozenset[str]) -> None:
    """Refuse segments that Aiven's plugin has compressed or encrypted, by its manifests.

    The first and the last segment stand for all, which one configuration has made.

    Raises:
        UsageError: they are.
        SourceError: a manifest cannot be read.
    """
    import json

    for segment in dict.fromkeys([*segments[:1], *segments[-1:]]):
        manifest = os.path.splitext(segment.path)[0] + MANIFEST
        if not segment.is_tiered or os.path.basename(manifest) not in names:
            continue
        with LogFile(manifest) as file:
            try:
                content = json.loads(file.read_at(0, _MOST_MANIFEST_BYTES))
            except ValueError:
                raise SourceError(f"cannot read {manifest}: it is not JSON") from None
        is_object = isinstance(content, dict)
        if is_object and (content.get("compression") or content.get("encryption")):
            way = "encrypted" if content.get("encryption") else "compressed in chunks"
            raise UsageError(f"{segment.path} is {way} by the plugin, as {manifest} says")


def _segments(files: list[FileName]) -> list[FileName]:
    """Return the segments by offset; a segment with an archived copy comes once."""
    by_name: dict[str, tuple[int, FileName]] = {}
    for file in sorted(files, key=lambda file: file.archive):
        if file.kind is FileKind.LOG:
            with suppress(UsageError):
                by_name.setdefault(file.proper_name, (file.base_offset, file))
    return [file for _, file in sorted(by_name.values(), key=itemgetter(0))]


def _snapshots(files: list[FileName]) -> list[FileName]:
    """Return the snapshots, the newest first."""
    snapshots = []
    for file in files:
        if file.kind is FileKind.CHECKPOINT and not file.is_bootstrap:
            with suppress(UsageError):
                snapshots.append((file.snapshot_id, file))
    return [file for _, file in sorted(snapshots, key=itemgetter(0), reverse=True)]


def _after_snapshot(snapshots: list[FileName], segments: list[FileName]) -> list[FileName]:
    """Return the newest whole snapshot and the segments that may hold offsets after it."""
    newest = next(filter(is_whole, snapshots), None)
    if not newest:
        return segments
    end, _ = newest.snapshot_id
    kept = [segment for segment, following in pairwise(segments) if following.base_offset > end]
    return [newest, *kept, *segments[-1:]]


def is_whole(snapshot: FileName) -> bool:
    """Tell whether a snapshot ends with a footer; true for an unreadable file: its dump fails."""
    from kraftops.records.control import control_type  # loads a message table

    try:
        with open_log(snapshot.path) as log:
            batches = log.batches()
            last = next(iter(deque(batches, 1)), None)
    except SourceError:
        return True
    if not last or last.is_legacy or not batches.end or batches.end.reason is not EndReason.END:
        return False
    try:
        header = last.header
        if not header.is_control or not is_valid(last, header.crc):
            return False
        return [control_type(record.key) for record in records(last)][-1:] == [_SNAPSHOT_FOOTER]
    except DecodeError:
        return False
