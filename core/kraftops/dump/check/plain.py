"""Checks of plain logs that were copied without what is beside them, many at a time.

There is nothing to say about them. To look at a partition by itself takes 80 µs, and a copy of a
broker may have 100,000.
"""

from __future__ import annotations

import os.path
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from kraftops.dump.check.findings import PartitionCheck
from kraftops.dump.check.records import Reading, scan_of
from kraftops.dump.check.tier import Surroundings
from kraftops.errors import UsageError
from kraftops.fileio.mounts import names_in
from kraftops.log.files import METADATA_TOPIC, FileKind, file_name, offset_in, partition_of
from kraftops.log.held_files import small_files
from kraftops.records.internal_topics import decoder_for_topic

if TYPE_CHECKING:
    from kraftops.dump.check.units import Unit

_UNITS = 4096  # at a time: some megabytes of paths
_BARE = (FileKind.LOG, "", "")
_NAME_LENGTH = len(f"{0:020}.log")  # one of a tiered segment is longer


class _LogEnd(NamedTuple):
    """The size of a log in bytes, and the offset after its last batch."""

    size: int
    offset: int


class _Copy(NamedTuple):
    """The logs of a partition, or one that is named alone, by their paths with base offsets."""

    unit: Unit
    base_offsets: Mapping[str, int]
    topic: str | None
    partition: int | None

    @property
    def decoder(self) -> str | None:
        by_topic = None if self.topic is None else decoder_for_topic(self.topic)
        return self.unit.decoder or by_topic

    def check(self, ends: Mapping[str, _LogEnd]) -> PartitionCheck | None:
        """Return the check, if each log is plain and begins where the one before ends."""
        first = offset = next(iter(self.base_offsets.values()))
        size = 0
        for path, base_offset in self.base_offsets.items():
            end = ends.get(path)
            if end is None or base_offset != offset:
                return None
            size, offset = size + end.size, end.offset
        return PartitionCheck(
            path=self.unit.path,
            topic=self.topic,
            partition=self.partition,
            segments=len(self.base_offsets),
            bytes=size,
            start=first,
            end=offset,
            is_file=self.unit.directory is None,
        )


def plain_checks(
    units: Sequence[Unit], surroundings: Surroundings
) -> Iterator[PartitionCheck | None]:
    """Yield the check of each unit that has only plain logs; None of one that needs a look."""
    for start in range(0, len(units), _UNITS):
        yield from _checks(units[start : start + _UNITS], surroundings)


def _checks(units: Sequence[Unit], surroundings: Surroundings) -> Iterator[PartitionCheck | None]:
    copies = [_copy_of(unit, surroundings) for unit in units]
    by_decoder: dict[str | None, dict[str, int]] = defaultdict(dict)
    for copy in filter(None, copies):
        by_decoder[copy.decoder].update(copy.base_offsets)
    ends: dict[str, _LogEnd] = {}
    for decoder, base_offsets in by_decoder.items():
        ends |= _ends(base_offsets, Reading(decoder, surroundings.budget))
    return (copy.check(ends) if copy else None for copy in copies)


def _ends(base_offsets: Mapping[str, int], reading: Reading) -> Iterator[tuple[str, _LogEnd]]:
    """Yield the ends of the small logs that are plain, by their paths."""
    with scan_of(reading.request("")) as scan:
        for group in small_files(base_offsets):
            firsts = [base_offsets[path] for path in group.paths]
            offsets = scan.engine.ends(group.content, group.stops, firsts)
            for path, size, offset in zip(group.paths, group.sizes, offsets, strict=True):
                if offset is not None:
                    yield path, _LogEnd(size, offset)


def _copy_of(unit: Unit, surroundings: Surroundings) -> _Copy | None:
    """Return a unit of logs alone, of which no other file that is read tells anything."""
    try:
        base_offsets = _of_files(unit.files) if unit.directory is None else _of_folder(unit.path)
    except (OSError, UsageError):
        return None
    if not base_offsets:
        return None
    topic, partition = partition_of(next(iter(base_offsets))) or (None, None)
    if directory := unit.directory:
        has_others = directory.offsets_of(topic, partition) or directory.plan.was_clean
        if has_others or topic == METADATA_TOPIC or surroundings.remote_of(topic, partition):
            return None
    return _Copy(unit, base_offsets, topic, partition)


def _of_files(paths: Sequence[str]) -> dict[str, int]:
    file = file_name(paths[0])
    is_log = len(paths) == 1 and file is not None and file.kind is FileKind.LOG
    return {paths[0]: file.base_offset} if is_log and file else {}


def _of_folder(path: str) -> dict[str, int]:
    """Return the logs in a directory; none if there is anything else.

    Raises:
        OSError: it cannot be listed.
    """
    base_offsets: dict[str, int] = {}
    prefix = os.path.join(path, "")
    for name in names_in(path):
        file = file_name(name)
        if file is None or file[1:] != _BARE or len(name) != _NAME_LENGTH:
            return {}
        base_offsets[prefix + name] = offset_in(name)
    return base_offsets
