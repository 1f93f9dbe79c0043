"""Marks: how far a stream has read each log, as Spark keeps it in its checkpoint."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from kraftops.errors import UsageError
from kraftops.log.files import FileKind

_FIELDS = ("file", "position", "offset", "epoch", "batch", "crc")


@dataclass(frozen=True, slots=True)
class Mark:
    """A place in a log: a byte *position* in *file*, a segment or a snapshot of its directory.

    *offset* is that of the next record. *epoch*, *batch* and *crc* are the leader epoch, position
    and checksum of the batch that ends here, by which another history is seen; -1 if there is none.
    """

    file: str
    position: int
    offset: int
    epoch: int = -1
    batch: int = -1
    crc: int = -1

    @property
    def is_of_snapshot(self) -> bool:
        """Whether the file is a snapshot, which is read whole or not at all."""
        return self.file.endswith(FileKind.CHECKPOINT.value)

    @property
    def is_unread_snapshot(self) -> bool:
        """Whether a snapshot follows, with which a log of metadata begins."""
        return self.is_of_snapshot and not self.position

    def is_before(self, other: Mark) -> bool:
        """Tell whether there is something to read up to *other*, a mark of the same log."""
        return self.is_unread_snapshot or self.offset < other.offset


Marks = dict[str, Mark]
"""Marks by the names of logs: their directories."""


def moved(start: Marks, logs: Collection[str]) -> Marks:
    """Return marks in which logs that were moved, as from disk to disk, have their new names.

    A log is moved if its directory is gone and there is a new one of the same partition, among the
    names of *logs* that are there now.
    """
    gone = directories_by_partition(name for name in start if name not in logs)
    if not gone:
        return start
    new = directories_by_partition(name for name in logs if name not in start)
    names = {
        olds[0]: new[partition][0]
        for partition, olds in gone.items()
        if len(olds) == len(new.get(partition, ())) == 1
    }
    return {names.get(name, name): mark for name, mark in start.items()}


def directories_by_partition(names: Iterable[str]) -> dict[str, list[str]]:
    """Return directories of partitions by their last names, `TOPIC-PARTITION`."""
    by_name: dict[str, list[str]] = {}
    for name in names:
        by_name.setdefault(os.path.basename(name), []).append(name)
    return by_name


def marks_to_json(marks: Marks) -> dict[str, dict[str, Any]]:
    """Return marks as Spark's offset."""
    return {name: asdict(marks[name]) for name in sorted(marks)}


def marks_from_json(fields_by_log: Mapping[str, Any]) -> Marks:
    """Return the marks of an offset of Spark's.

    Raises:
        UsageError: another source has written it.
    """
    try:
        return {
            name: Mark(**{field: fields[field] for field in _FIELDS})
            for name, fields in fields_by_log.items()
        }
    except (TypeError, KeyError):
        raise UsageError(
            "the checkpoint of the stream has offsets of another source",
            hint="give this query a checkpointLocation of its own",
        ) from None
