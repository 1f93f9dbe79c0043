"""What the names on a command line stand for: files, directories, patterns, standard input."""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from kraftops.errors import DecodeError, SourceError, UsageError
from kraftops.log.files import STANDARD_INPUT, FileKind, FileName, file_name
from kraftops.uris import is_remote, local_path

METADATA_TOPIC = "__cluster_metadata"
DECODERS = {
    METADATA_TOPIC: "metadata",
    "__consumer_offsets": "offsets",
    "__transaction_state": "transaction",
    "__remote_log_metadata": "remote",
    "__share_group_state": "share",
}
"""By topic; the records of all others are those of users."""

PARTITION_NAME = re.compile(r"(.+)-([0-9]{1,10})(\.[0-9a-f]{32}-(?:delete|future|stray))?")
"""Of a directory: topic, partition, and what becomes of it."""
_SNAPSHOT_FOOTER = 4  # the type of the control record that a snapshot ends with
WILD = re.compile(r"[*?[]")
"""What a pattern has and few names do."""


@dataclass(frozen=True, slots=True)
class Source:
    """A file to be read, or `-`, standard input.

    *decoder*, *topic* and *partition* are None where no directory tells them. Sources of the same
    *group* are pieces of one log, one behind the other.
    """

    path: str
    decoder: str | None
    topic: str | None
    partition: int | None
    group: int


class Log(NamedTuple):
    """The files of one log, in order."""

    paths: list[str]
    topic: str | None = None
    partition: int | None = None


def expand(names: Iterable[str], *, from_start: bool = False, raw: bool = False) -> list[Source]:
    """Return the sources that *names* stand for, in their order.

    The directory of a partition stands for its segments; that of the metadata log for its newest
    snapshot and the segments that hold what came after it. A log directory stands for all its
    partitions. A name that nothing has is a pattern, if it looks like one.

    Args:
        names: of files, which need not exist, and directories; patterns with `*`, `?`, `[…]` and
            `**`; URIs of all these; or `-`.
        from_start: of a metadata log, take all segments and no snapshot.
        raw: choose no decoder.

    Raises:
        UsageError: a directory holds no log, or a pattern matches none.
        SourceError: a directory cannot be read.
    """
    logs = [log for name in names for log in _logs(name, from_start=from_start)]
    return [
        Source(
            path,
            None if raw or log.topic is None else DECODERS.get(log.topic, "user"),
            log.topic,
            log.partition,
            group,
        )
        for group, log in enumerate(logs)
        for path in log.paths
    ]


def _logs(name: str, *, from_start: bool) -> list[Log]:
    if name == STANDARD_INPUT:
        return [Log([name])]
    if "://" in name:
        name = local_path(name)
        if is_remote(name):
            from kraftops.dump.sources.remote import remote_logs

            return remote_logs(name, from_start=from_start)
    if os.path.isdir(name):
        found = _in_directory(name, _names(name), from_start=from_start)
        if not found and file_name(name):
            return [Log([name])]  # refused like any file that cannot be read
        if not found:
            raise UsageError(
                f"{name} holds no log", "name the directory of a partition, or a log directory"
            )
        return found
    if os.path.lexists(name) or not WILD.search(name):
        return [Log([name])]
    found = list(_matching(name, from_start=from_start))
    if not found:
        raise UsageError(f"nothing matches {name}")
    return found


def _matching(pattern: str, *, from_start: bool) -> Iterator[Log]:
    """Yield what a pattern matches: directories with what they stand for, other files as they are.

    `**` matches a directory and then all that is in it, which its log stands for already.
    """
    from glob import iglob

    done: set[str] = set()
    for path in sorted(iglob(pattern, recursive=True)):
        place = os.path.normpath(path)
        if not done.isdisjoint(_with_parents(place)):
            continue
        if not os.path.isdir(path):
            yield Log([path])
        elif logs := _in_directory(path, _names_if_ours(path), from_start=from_start):
            done.add(place)
            yield from logs


def _with_parents(path: str) -> Iterator[str]:
    while path:
        yield path
        parent = os.path.dirname(path)
        path = parent if parent != path else ""


def _in_directory(path: str, names: list[str], *, from_start: bool) -> list[Log]:
    """Return the log of a partition's directory, or those of a log directory, or none."""
    log = partition_log(path, names, from_start=from_start)
    if log:
        return [log]
    found = []
    for name in names:
        directory = os.path.join(path, name)
        match = PARTITION_NAME.fullmatch(name)
        if (match and match[3]) or not os.path.isdir(directory):
            continue
        log = partition_log(directory, _names_if_ours(directory), from_start=from_start)
        if log:
            found.append((log.topic or name, log.partition or 0, log))
    found.sort(key=lambda entry: entry[:2])
    return [log for _, _, log in found]


def partition_log(path: str, names: list[str], *, from_start: bool) -> Log | None:
    """Return the log in the directory of a partition; None if it holds none."""
    match = PARTITION_NAME.fullmatch(os.path.basename(os.path.abspath(path)))
    topic, partition = (match[1], int(match[2])) if match else (None, None)
    files = [
        file for name in names if (file := file_name(os.path.join(path, name))) and not file.renamed
    ]
    chosen = segments = _segments(files)
    snapshots = _snapshots(files)
    if snapshots and topic != METADATA_TOPIC:  # it is the only log that has them
        topic, partition = METADATA_TOPIC, None
    if not from_start:
        chosen = _after_snapshot(snapshots, segments)
    return Log([file.path for file in chosen], topic, partition) if chosen else None


def _segments(files: list[FileName]) -> list[FileName]:
    """Return the segments by offset; one that is there and in an archive, only once."""
    found: dict[str, FileName] = {}
    for file in sorted(files, key=lambda file: file.archive):
        if file.kind is FileKind.LOG and _has(file, "base_offset"):
            found.setdefault(file.proper_name, file)
    return sorted(found.values(), key=lambda file: file.base_offset)


def _snapshots(files: list[FileName]) -> list[FileName]:
    """Return the snapshots, the newest first."""
    found = [
        file
        for file in files
        if file.kind is FileKind.CHECKPOINT and not file.is_bootstrap and _has(file, "snapshot_id")
    ]
    return sorted(found, key=lambda file: file.snapshot_id, reverse=True)


def _has(file: FileName, attribute: str) -> bool:
    try:
        getattr(file, attribute)
    except UsageError:
        return False
    return True


def _after_snapshot(snapshots: list[FileName], segments: list[FileName]) -> list[FileName]:
    """Return the newest whole snapshot and the segments that may hold offsets after it."""
    newest = next(filter(_is_whole, snapshots), None)
    if not newest:
        return segments
    end, _ = newest.snapshot_id
    kept = [segment for segment, following in pairwise(segments) if following.base_offset > end]
    return [newest, *kept, *segments[-1:]]


def _is_whole(snapshot: FileName) -> bool:
    """Tell whether a snapshot ends in a footer; also where it cannot be read, which will show."""
    from kraftops.log.batch import is_valid, records
    from kraftops.log.reader import EndReason
    from kraftops.log.streams import open_log
    from kraftops.records.control import control_type

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


def _names(directory: str) -> list[str]:
    try:
        return sorted(os.listdir(directory))
    except OSError as error:
        raise SourceError(f"cannot read {directory}: {error.strerror}") from None


def _names_if_ours(directory: str) -> list[str]:
    """Return the names in a directory that nobody has named.

    There are none in one that a server has deleted meanwhile, or that belongs to somebody else, as
    `lost+found` does.
    """
    try:
        return _names(directory)
    except SourceError:
        name = os.path.basename(os.path.normpath(directory))
        if PARTITION_NAME.fullmatch(name) and os.path.isdir(directory):
            raise
        return []
