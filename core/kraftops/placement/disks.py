"""Log directories of brokers: what lies in them, how much room they have, where replicas will go.

Kafka places a whole partition in one directory, so room is a question of each directory.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from kraftops.display.sizes import size_text
from kraftops.placement.placement import TopicPartition
from kraftops.placement.plan import ANY, Move


class DiskReplica(NamedTuple):
    """The bytes of a replica, and the records that it is behind its leader or its original."""

    size: int
    lag: int = 0


@dataclass(frozen=True, slots=True)
class LogDirectory:
    """A log directory; *total* and *usable* bytes are those of its volume, None if not told.

    *coming* are future replicas: AlterReplicaLogDirs copies them from another directory.
    """

    path: str
    replicas: Mapping[TopicPartition, DiskReplica] = field(default_factory=dict)
    coming: Mapping[TopicPartition, DiskReplica] = field(default_factory=dict)
    total: int | None = None
    usable: int | None = None
    is_failed: bool = False
    is_cordoned: bool = False

    @property
    def size(self) -> int:
        """The bytes of all its replicas."""
        return sum(replica.size for replica in self.replicas.values())

    @property
    def volume(self) -> object:
        """A key of its volume: directories of one volume tell the same numbers."""
        return self.path if self.usable is None else (self.total, self.usable)


Disks = Mapping[int, Sequence[LogDirectory]]
"""The log directories by broker, of the brokers that have told them."""


def sizes_of(disks: Disks) -> dict[TopicPartition, int]:
    """Take the bytes of the largest replica: others may still be copying."""
    sizes: dict[TopicPartition, int] = {}
    for directories in disks.values():
        for directory in directories:
            for partition, replica in directory.replicas.items():
                sizes[partition] = max(sizes.get(partition, 0), replica.size)
    return sizes


class Shortage(NamedTuple):
    """A directory with too little room for the replicas that would come to it, in bytes."""

    broker: int
    path: str
    needed: int
    usable: int

    def __str__(self) -> str:
        return (
            f"broker {self.broker}: {self.path} would get {size_text(self.needed)}, and has room"
            f" for {size_text(self.usable)}"
        )


@dataclass(frozen=True, slots=True)
class PlacedMoves:
    """Moves with a named directory where Kafka's own choice would have too little room.

    *arrivals* are the partitions that come to directories, by broker and path.
    """

    moves: list[Move]
    arrivals: Mapping[tuple[int, str], Sequence[TopicPartition]]
    shortages: list[Shortage]


def with_directories(
    moves: Sequence[Move], disks: Disks, sizes: Mapping[TopicPartition, int]
) -> PlacedMoves:
    """Foresee the directory of each replica that is copied, and name it where that is needed."""
    arriving: dict[int, dict[TopicPartition, str]] = defaultdict(dict)
    for move in moves:
        for broker in move.added:
            arriving[broker][move.partition] = move.directory_on(broker)
    chosen: dict[int, dict[TopicPartition, str]] = {}
    arrivals: dict[tuple[int, str], list[TopicPartition]] = defaultdict(list)
    shortages = []
    for broker, partitions in sorted(arriving.items()):
        directories = _open_directories(disks.get(broker, ()))
        if not directories:
            continue
        paths = _chosen_by_kafka(partitions, directories, sizes)
        if _shortages(broker, paths, directories, sizes):
            # Kafka's choice depends on the order in which replicas come: all are named.
            paths = chosen[broker] = _chosen_by_room(partitions, directories, sizes)
            shortages += _shortages(broker, paths, directories, sizes)
        for partition, path in paths.items():
            arrivals[broker, path].append(partition)
    return PlacedMoves([_named(move, chosen) for move in moves], arrivals, shortages)


def plan_emptying(
    source: LogDirectory, targets: Sequence[LogDirectory]
) -> tuple[dict[TopicPartition, str], list[LogDirectory]]:
    """Plan to move all replicas of a directory into others of its broker, large ones first.

    Return also the directories that have too little room. On one volume, what is copied takes room
    until the original is deleted.
    """
    sizes = {name: replica.size for name, replica in source.replicas.items()}
    paths = _chosen_by_room(dict.fromkeys(sizes, ANY), targets, sizes)
    short = {shortage.path for shortage in _shortages(-1, paths, targets, sizes)}
    return paths, [directory for directory in targets if directory.path in short]


def _open_directories(directories: Iterable[LogDirectory]) -> list[LogDirectory]:
    """Leave out directories that get no new replicas (LogManager.nextLogDirs, 4.3.1)."""
    online = [directory for directory in directories if not directory.is_failed]
    # With all of them cordoned, Kafka takes one nevertheless.
    return [directory for directory in online if not directory.is_cordoned] or online


def _chosen_by_kafka(
    partitions: Mapping[TopicPartition, str],
    directories: Sequence[LogDirectory],
    sizes: Mapping[TopicPartition, int],
) -> dict[TopicPartition, str]:
    """Return Kafka's choice: the directory with the fewest partitions (LogManager.nextLogDirs).

    It says nothing of ties; the one with the least room is the worst case.
    """
    counts = {d.path: len(d.replicas) + len(d.coming) for d in directories}
    room = _Room(directories)
    paths = {}
    for partition, named in partitions.items():
        path = named
        if named == ANY:
            path = min(counts, key=lambda path: (counts[path], room.in_directory(path), path))
        counts[path] = counts.get(path, 0) + 1
        room.take(path, sizes.get(partition, 0))
        paths[partition] = path
    return paths


def _chosen_by_room(
    partitions: Mapping[TopicPartition, str],
    directories: Sequence[LogDirectory],
    sizes: Mapping[TopicPartition, int],
) -> dict[TopicPartition, str]:
    """Place large partitions first, each where the most room is left; named ones stay."""
    room = _Room(directories)
    paths = {}
    for partition, named in sorted(
        partitions.items(), key=lambda pair: (pair[1] == ANY, -sizes.get(pair[0], 0), pair[0])
    ):
        path = max(sorted(room.volumes), key=room.in_directory) if named == ANY else named
        room.take(path, sizes.get(partition, 0))
        paths[partition] = path
    return paths


def _shortages(
    broker: int,
    paths: Mapping[TopicPartition, str],
    directories: Sequence[LogDirectory],
    sizes: Mapping[TopicPartition, int],
) -> list[Shortage]:
    room, needed = _Room(directories), Counter[str]()
    for partition, path in paths.items():
        room.take(path, sizes.get(partition, 0))
        needed[path] += sizes.get(partition, 0)
    return [
        Shortage(broker, directory.path, needed[directory.path], directory.usable or 0)
        for directory in directories
        if needed[directory.path] and room.in_directory(directory.path) < 0
    ]


class _Room:
    """The usable bytes of directories; those on one volume share them."""

    def __init__(self, directories: Iterable[LogDirectory]) -> None:
        self.volumes: dict[str, object] = {}
        self._usable: dict[object, float] = {}
        for directory in directories:
            self.volumes[directory.path] = directory.volume
            usable = float("inf") if directory.usable is None else directory.usable
            self._usable[directory.volume] = usable

    def in_directory(self, path: str) -> float:
        return self._usable[self.volumes[path]] if path in self.volumes else float("inf")

    def take(self, path: str, size: int) -> None:
        if path in self.volumes:
            self._usable[self.volumes[path]] -= size


def _named(move: Move, chosen: Mapping[int, Mapping[TopicPartition, str]]) -> Move:
    paths = tuple(
        chosen.get(broker, {}).get(move.partition, move.directory_on(broker))
        for broker in move.after
    )
    return move if {*paths} == {ANY} else move._replace(directories=paths)
