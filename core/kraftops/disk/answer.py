"""What `kraftops disk` answers: bytes by topic, partition, directory and broker."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, Protocol

from kraftops.answers.fields import Answer, Field, boolean, number, parts, text
from kraftops.disk.growth import Growth
from kraftops.disk.space import Space
from kraftops.disk.totals import DiskUsage, Total
from kraftops.disk.usage import DirectoryUsage
from kraftops.disk.why import REPLICA
from kraftops.display.columns import Column, folded
from kraftops.display.columns import number as number_column
from kraftops.server.loader.load_plan import FolderKind

STATES = {
    FolderKind.CURRENT: "current",
    FolderKind.DELETED: "deleted",
    FolderKind.FUTURE: "future",
    FolderKind.STRAY: "stray",
}
"""What a partition's directory is; `future` is a copy that moves here from another directory."""


class Sized(Protocol):
    """A row of any table."""

    @property
    def space(self) -> Space:
        """The sum of all bytes."""


class _Row(NamedTuple):
    """A broker, or a directory, with its sums."""

    total: Total
    broker: int | None
    directory: DirectoryUsage | None = None
    elsewhere: int | None = None

    @property
    def space(self) -> Space:
        """The sum of all bytes."""
        return self.total.space

    @property
    def growth(self) -> Growth | None:
        """The sum of the rates."""
        return self.total.growth


def _part(name: str, help_text: str, title: str, priority: int) -> Field:
    attribute = {
        "logBytes": "log",
        "indexBytes": "index",
        "pendingDeletionBytes": "pending_deletion",
        "strayBytes": "stray",
        "tierCacheBytes": "tier_cache",
        "otherBytes": "other",
        "allocatedBytes": "allocated",
    }[name]
    return number(
        name,
        help_text,
        numeral="size",
        may_be_null=True,
        column=number_column(title, priority),
        get=lambda total: getattr(total.space, attribute),
    )


_SPACE: tuple[Field, ...] = (
    number(
        "bytes", "all of the following sizes that are known", numeral="size",
        column=number_column("BYTES"), get=lambda total: total.space.total,
    ),
    replace(_part("logBytes", "segments in use, and snapshots of metadata", "LOG", 2),
            may_be_null=False),
    _part("indexBytes", "their indexes", "INDEXES", 3),
    _part("pendingDeletionBytes", "what was renamed, and is deleted soon", "DELETED", 1),
    _part("strayBytes", "partitions that the cluster does not know, or not here", "STRAY", 6),
    _part("tierCacheBytes", "indexes of tiered segments, fetched by readers", "TIER CACHE", 8),
    _part("otherBytes", "all other files", "OTHER", 7),
    _part("allocatedBytes", "what the file system gave: less where files are sparse", "ON DISK", 1),
    number(
        "segments", "segments in use", numeral="amount", may_be_null=True,
        column=number_column("SEGMENTS", 5), get=lambda total: total.space.segments,
    ),
    number(
        "writtenBytesPerDay", "what came on the last day, by the times of segments",
        numeral="size", may_be_null=True, column=number_column("WRITTEN/DAY", 4),
        get=lambda total: total.growth and total.growth.written,
    ),
    number(
        "growthBytesPerDay", "what remains of that after retention", numeral="size",
        may_be_null=True, column=number_column("GROWTH/DAY", 2),
        get=lambda total: total.growth and total.growth.net,
    ),
)  # fmt: skip


TOPIC: tuple[Field, ...] = (
    text("topic", "the topic", column=folded("TOPIC", style="name"),
         get=lambda total: total.first.topic),
    number(
        "replicas", "directories of its partitions", numeral="amount",
        column=number_column("REPLICAS", 3), get=lambda total: len(total.replicas),
    ),
    boolean(
        "isTiered", "whether segments go to a tier; null if that is not known", may_be_null=True,
        column=Column("TIERED", 9), get=lambda total: total.first.is_tiered,
    ),
    *_SPACE,
)  # fmt: skip
PARTITION: tuple[Field, ...] = (
    text("topic", "the topic", column=folded("TOPIC", style="name"),
         get=lambda total: total.first.topic),
    number("partition", "the partition", column=number_column("PARTITION"),
           get=lambda total: total.first.partition),
    number("broker", "broker that has it", may_be_null=True, column=number_column("BROKER", 3),
           get=lambda total: total.first.broker),
    text("directory", "log directory that it is in", column=folded("DIRECTORY", 4),
         get=lambda total: total.first.directory),
    text(
        "state", "what the directory is; future: a copy that moves here", values=STATES.values(),
        column=Column("STATE", 2), get=lambda total: STATES[total.first.kind],
    ),
    *_SPACE,
)  # fmt: skip
_BROKER = number("broker", "the broker; null without meta.properties", may_be_null=True,
                 column=number_column("BROKER"), get=lambda row: row.broker)  # fmt: skip
BROKER: tuple[Field, ...] = (
    _BROKER,
    number("directories", "log directories", numeral="amount",
           column=number_column("DIRECTORIES", 3), get=lambda row: len(row.total.directories)),
    *_SPACE,
)  # fmt: skip
DIRECTORY: tuple[Field, ...] = (
    text("directory", "path of the log directory", column=folded("DIRECTORY", style="name"),
         get=lambda row: row.directory.path),
    _BROKER,
    number(
        "freeBytes", "free space of its file system", numeral="size", may_be_null=True,
        column=number_column("FREE"), get=lambda row: row.directory.free,
    ),
    number(
        "sizeBytes", "size of its file system", numeral="size", may_be_null=True,
        column=number_column("SIZE", 1), get=lambda row: row.directory.size,
    ),
    number(
        "elsewhereBytes", "what takes room there outside of these log directories",
        numeral="size", may_be_null=True, column=number_column("ELSEWHERE", 2),
        get=lambda row: row.elsewhere,
    ),
    number(
        "daysLeft", "days until it is full at the present rate; null if it does not grow",
        numeral="decimal", may_be_null=True, column=number_column("DAYS LEFT"),
        get=lambda row: row.directory.days_left,
        cell=lambda row: None if row.directory.days_left is None
        else f"{row.directory.days_left:.1f}",
    ),
    *_SPACE,
)  # fmt: skip


def topics(usage: DiskUsage) -> list[Total]:
    """Return the rows of `TOPIC`."""
    return usage.topics


def partitions(usage: DiskUsage) -> list[Total]:
    """Return the rows of `PARTITION`."""
    return [Total([replica]) for replica in usage.replicas]


def brokers(usage: DiskUsage) -> list[_Row]:
    """Return the rows of `BROKER`."""
    return [_Row(total, broker) for broker, total in usage.brokers]


def directories(usage: DiskUsage) -> list[_Row]:
    """Return the rows of `DIRECTORY`."""
    return [
        _Row(
            Total(directory.replicas, [directory]),
            directory.broker,
            directory,
            usage.elsewhere.get(directory.path),
        )
        for directory in usage.directories
    ]


GROUPS: Mapping[str, tuple[tuple[Field, ...], Callable[[DiskUsage], Sequence[Sized]]]] = {
    "topic": (TOPIC, topics),
    "partition": (PARTITION, partitions),
    "broker": (BROKER, brokers),
}
"""The tables that `--group-by` chooses from: fields, and the function that returns the rows."""


def _list(name: str, help_text: str, fields: tuple[Field, ...], get: object) -> Field:
    field = parts(name, help_text, fields, get=get)  # type: ignore[arg-type]
    return replace(field, may_be_missing=True)


DISK = Answer(
    (
        _list("directories", "the log directories", DIRECTORY, directories),
        _list("brokers", "the brokers", BROKER, brokers),
        _list("topics", "the topics, the largest first", TOPIC, topics),
        _list("partitions", "their replicas, the largest first", PARTITION, partitions),
        _list("replicas", "with --why, instead of all others", REPLICA, lambda whys: whys),
    ),
    "Sizes are bytes by the names of files; with --bootstrap-server, only those of logs are known.",
)
