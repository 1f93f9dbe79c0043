"""Marks: how far a stream has read each log, as Spark keeps it in its checkpoint."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kraftops.errors import UsageError
from kraftops.log.files import PARTITION_NAME, FileKind, file_name
from kraftops.spark.source.replicas import directories_by_partition

OnLoss = Callable[[str], None]
"""Takes the reason of a loss; it may raise."""
UNREAD, READ = "unread", "read"
"""What a stream has of a snapshot, with which a log of metadata begins."""
_FIELDS = ("offsets", "epochs", "sizes", "snapshots")


@dataclass(frozen=True, slots=True)
class Mark:
    """A place in a log: before the record *offset*, after a batch of the leader *epoch* (or -1).

    A log that was cut off and rewritten has another epoch there, as in KIP-320. Of objects only
    workers read the batches: with a *size*, *offset* is the base offset of a segment of which that
    many bytes were there, and were read up to the last whole batch. With *snapshot*, the place is
    before or after the snapshot of this offset and epoch.
    """

    offset: int
    epoch: int = -1
    size: int = 0
    snapshot: str = ""

    @property
    def is_unread_snapshot(self) -> bool:
        """Whether a snapshot follows, which is read whole or not at all."""
        return self.snapshot == UNREAD

    def is_before(self, other: Mark) -> bool:
        """Tell whether there is something to read up to *other*, a mark of the same log."""
        here, there = (self.offset, self.size), (other.offset, other.size)
        return self.is_unread_snapshot or here < there


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


def marks_to_json(marks: Marks) -> dict[str, dict[str, Any]]:
    """Return marks as JSON: by directory and topic, columns of partitions, offsets and others.

    Columns are texts with commas, or the only content of all rows: 10,000 logs take 200 KB at most.
    """
    rows_by_topic: dict[tuple[str, str], dict[int | None, Mark]] = {}
    for name, mark in marks.items():
        directory, last = os.path.split(name)
        match = PARTITION_NAME.fullmatch(last)
        is_plain = match is not None and f"{match[1]}-{int(match[2])}" == last
        topic, partition = (match[1], int(match[2])) if match and is_plain else (last, None)
        rows_by_topic.setdefault((directory, topic), {})[partition] = mark
    tree: dict[str, dict[str, Any]] = {}
    for (directory, topic), rows in sorted(rows_by_topic.items()):
        partitions = sorted(rows, key=lambda partition: (partition is not None, partition))
        ordered = [rows[partition] for partition in partitions]
        columns = ([getattr(mark, field[:-1]) for mark in ordered] for field in _FIELDS)
        fields: dict[str, Any] = {
            field: column[0] if len({*column}) == 1 else ",".join(map(str, column))
            for field, column in zip(_FIELDS, columns, strict=True)
            if any(column)
        }
        if partitions != [None]:
            is_counted = partitions == [*range(len(partitions))]
            fields["partitions"] = len(partitions) if is_counted else ",".join(map(str, partitions))
        tree.setdefault(directory, {})[topic] = fields
    return tree


def marks_from_json(tree: Mapping[str, Any]) -> Marks:
    """Return the marks of `marks_to_json`, or of an earlier release.

    Raises:
        UsageError: another source has written it.
    """
    marks: Marks = {}
    try:
        for directory, topics in tree.items():
            if "file" in topics:
                marks[directory] = _earlier_mark(topics)
                continue
            for topic, fields in topics.items():
                partitions = fields.get("partitions")
                names = [topic] if partitions is None else _partition_names(topic, partitions)
                columns = [_column(fields.get(field, 0), len(names)) for field in _FIELDS]
                for name, offset, epoch, size, snapshot in zip(names, *columns, strict=True):
                    mark = Mark(int(offset), int(epoch), int(size), snapshot or "")
                    marks[os.path.join(directory, name)] = mark
    except (TypeError, KeyError, AttributeError, ValueError):
        raise UsageError(
            "the checkpoint of the stream has offsets of another source",
            hint="give this query a checkpointLocation of its own",
        ) from None
    return marks


def _partition_names(topic: str, partitions: int | str) -> list[str]:
    numbers = range(partitions) if isinstance(partitions, int) else partitions.split(",")
    return [f"{topic}-{number}" for number in numbers]


def _column(content: Any, count: int) -> Sequence[Any]:
    return content.split(",") if isinstance(content, str) and count > 1 else [content] * count


def _earlier_mark(fields: Mapping[str, Any]) -> Mark:
    """Return a mark of 0.2, which has the name of the file and the position in it."""
    file = file_name(fields["file"])
    is_of_snapshot = file is not None and file.kind is FileKind.CHECKPOINT
    snapshot = (READ if fields["position"] else UNREAD) if is_of_snapshot else ""
    return Mark(fields["offset"], fields["epoch"], snapshot=snapshot)
