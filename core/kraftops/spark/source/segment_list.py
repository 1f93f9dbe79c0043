"""The list that `kraftops spark index` writes beside logs: offsets, times and counts of segments.

It is a file, since a broker does not start with an unknown directory among its partitions
(`LogManager.loadLogs`), and Parquet, so that any session has it as a table.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from kraftops.dump.sources.names import Source
from kraftops.errors import SourceError
from kraftops.log.log_file import LogFile
from kraftops.log.remote import filesystem, reading
from kraftops.query.filters import Filter
from kraftops.uris import is_remote, local_path

if TYPE_CHECKING:
    import pyarrow as pa

LIST_NAME = "_kraftops-segments.parquet"
_TAIL_BYTES = 4096  # a page of the disk: to read less costs as much
_LIMITS = ("first_offset", "last_offset", "since", "until")


@dataclass(frozen=True, slots=True)
class ListedSegment:
    """A file below the directory of the list, what it was, and what was in it.

    *size*, *modified* (ns) and *tailCrc*, of its last 4 KiB, tell whether it is still the same: a
    cleaner may write a segment of the same size. Times are in ms.
    """

    file: str
    topic: str | None
    partition: int | None
    size: int
    modified: int
    tailCrc: int  # noqa: N815 - columns are named as those of the table `log`
    firstOffset: int | None  # noqa: N815
    lastOffset: int | None  # noqa: N815
    minTimestamp: int | None  # noqa: N815
    maxTimestamp: int | None  # noqa: N815
    batches: int
    records: int
    damagedBytes: int  # noqa: N815

    def may_match(self, selection: Filter) -> bool:
        """Tell whether a record can be in a range of offsets and times; damage can be anywhere."""
        if self.damagedBytes or self.lastOffset is None or self.firstOffset is None:
            return True
        if self.minTimestamp is None or self.maxTimestamp is None:
            return True
        is_in_time = self.minTimestamp < selection.until and self.maxTimestamp >= selection.since
        is_after = self.lastOffset >= selection.first_offset
        return is_in_time and is_after and self.firstOffset <= selection.last_offset


def has_limits(selection: Filter) -> bool:
    """Tell whether a filter has limits that a list can answer."""
    every = Filter()
    return any(getattr(selection, name) != getattr(every, name) for name in _LIMITS)


def read_list(base: str) -> Mapping[str, ListedSegment]:
    """Return the segments of the list in a directory, by path; none without a list."""
    try:
        with LogFile(path_of_list(base)) as file:
            content = file.read_at(0, file.size)
    except SourceError:
        return {}
    import pyarrow as pa
    from pyarrow import parquet

    try:
        rows = parquet.read_table(pa.BufferReader(content)).to_pylist()
        segments = [ListedSegment(**row) for row in rows]
    except (pa.ArrowException, TypeError):
        return {}  # of another release, or cut off: the next `kraftops spark index` writes it again
    return {f"{directory_of(base)}/{segment.file}": segment for segment in segments}


def list_schema() -> pa.Schema:
    import pyarrow as pa

    texts = {"file", "topic"}
    kinds = {"partition": pa.int32()} | dict.fromkeys(texts, pa.string())
    names = (field.name for field in fields(ListedSegment))
    return pa.schema([(name, kinds.get(name, pa.int64())) for name in names])


def without_listed(
    names: Iterable[str], sources: Sequence[Source], selection: Filter
) -> list[Source]:
    """Return the sources without those in which lists in directories say that no row can match.

    A file that has changed since is kept.
    """
    listed = {path: segment for name in names for path, segment in read_list(name).items()}
    paths = {source.path for source in sources} & listed.keys()
    dropped = {path: listed[path] for path in paths if not listed[path].may_match(selection)}
    kept_paths = (paths - dropped.keys()) | changed_files(dropped)
    return [s for s in sources if s.path in kept_paths or s.path not in paths]


def changed_files(listed: Mapping[str, ListedSegment | None]) -> set[str]:
    """Return the paths of files that are not as they were when they were listed."""
    current = identities([path for path, segment in listed.items() if segment])
    return {
        path
        for path, identity in current.items()
        if (segment := listed[path])
        and (identity != (segment.size, segment.modified) or segment.tailCrc != tail_crc(path))
    }


def identities(paths: Sequence[str]) -> dict[str, tuple[int, int] | None]:
    """Return size and time of files; None of one that is gone."""
    by_path: dict[str, tuple[int, int] | None] = dict.fromkeys(paths)
    remote = [path for path in paths if is_remote(path)]
    if remote:
        with reading(remote[0]):
            system = filesystem(remote[0])[0]
            infos = system.get_file_info([filesystem(path)[1] for path in remote])
        by_path |= {
            path: (info.size, info.mtime_ns) if info.is_file else None
            for path, info in zip(remote, infos, strict=True)
        }
    for path in by_path.keys() - remote:
        with suppress(OSError):
            status = os.stat(path)
            by_path[path] = status.st_size, status.st_mtime_ns
    return by_path


def tail_crc(path: str) -> int | None:
    """Return the CRC of the last 4 KiB of a file; None if it cannot be read."""
    with suppress(SourceError), LogFile(path) as file:
        return zlib.crc32(file.read_at(max(0, file.size - _TAIL_BYTES), _TAIL_BYTES))
    return None


def directory_of(base: str) -> str:
    """Return a directory without `file://` and without a slash at its end."""
    return (base if is_remote(base) else local_path(base) if "://" in base else base).rstrip("/")


def path_of_list(base: str) -> str:
    return f"{directory_of(base)}/{LIST_NAME}"
