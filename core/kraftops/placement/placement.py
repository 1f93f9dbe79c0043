"""Brokers of a cluster and the replicas of its partitions, from an image or from answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from kraftops.engine.metadata_state import PartitionState
from kraftops.image.state.image import MetadataImage

_SHOWN = 5  # names that fit into a line of an error


class TopicPartition(NamedTuple):
    """A partition by topic and number."""

    topic: str
    number: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.number}"


class BrokerPlace(NamedTuple):
    """A registered broker; new replicas go only to one that *takes_replicas*.

    One that *is_stopping* is in its controlled shutdown, and not fenced yet.
    """

    rack: str | None
    is_fenced: bool
    takes_replicas: bool
    is_stopping: bool = False


class Replicas(NamedTuple):
    """The replicas of a partition, the preferred leader first; *leader* is -1 without one.

    During a reassignment, *replicas* has the target, and after it the replicas to remove.
    """

    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    leader: int
    adding: tuple[int, ...] = ()
    removing: tuple[int, ...] = ()

    @property
    def is_moving(self) -> bool:
        """Whether a reassignment is in flight."""
        return bool(self.adding or self.removing)

    @property
    def target(self) -> tuple[int, ...]:
        """The replicas after the reassignment."""
        return tuple(broker for broker in self.replicas if broker not in self.removing)


@dataclass(frozen=True, slots=True)
class Placement:
    """The brokers by id, and the replicas of all partitions, by topic and number in order."""

    brokers: dict[int, BrokerPlace]
    partitions: dict[TopicPartition, Replicas]

    def on(self, brokers: frozenset[int]) -> Iterator[tuple[TopicPartition, Replicas]]:
        """Yield the partitions with a replica on one of these brokers, also one to remove."""
        for partition, replicas in self.partitions.items():
            if not brokers.isdisjoint(replicas.replicas):
                yield partition, replicas

    @property
    def running(self) -> list[int]:
        """The brokers that are registered and not fenced, in order."""
        return [broker for broker, place in self.brokers.items() if not place.is_fenced]

    def is_running(self, broker: int) -> bool:
        """Tell whether a broker is registered and not fenced."""
        place = self.brokers.get(broker)
        return place is not None and not place.is_fenced

    def part_of(self, brokers: Collection[int]) -> Placement:
        """Return these of the brokers, without partitions."""
        return Placement({b: place for b, place in self.brokers.items() if b in brokers}, {})

    @property
    def topics(self) -> list[str]:
        """The topics of the partitions, in order."""
        return sorted({partition.topic for partition in self.partitions})

    @property
    def moving(self) -> dict[TopicPartition, Replicas]:
        """The partitions with a reassignment in flight."""
        return {
            partition: replicas
            for partition, replicas in self.partitions.items()
            if replicas.is_moving
        }

    def replica_counts(self) -> Counter[int]:
        """Count replicas as if all reassignments were done; a broker without any has 0."""
        counts = Counter(dict.fromkeys(self.brokers, 0))
        for replicas in self.partitions.values():
            counts.update(replicas.target)
        return counts

    def leader_counts(self) -> Counter[int]:
        """Count partitions by preferred leader as if all reassignments were done."""
        return Counter(
            replicas.target[0] for replicas in self.partitions.values() if replicas.target
        )


def placement_of(image: MetadataImage) -> Placement:
    """Take brokers and partitions from an image; disks and cordons by broker are not in it.

    Raises:
        KraftopsError: a source can no longer be read.
    """
    brokers = {}
    for broker_id, entry in sorted(image.brokers.items()):
        state = image.broker_state(entry, whole=False)
        cordoned = state["cordonedLogDirs"]
        is_cordoned = bool(cordoned) and {*state["logDirs"]} <= {*(cordoned or ())}
        is_stopping = state["inControlledShutdown"]
        takes = not (state["fenced"] or is_stopping or is_cordoned)
        brokers[broker_id] = BrokerPlace(state["rack"], state["fenced"], takes, is_stopping)
    partitions = {}
    for topic, topic_id in sorted(image.topic_ids.items()):
        for number, partition in image.fold.partitions(topic_id):
            partitions[TopicPartition(topic, number)] = replicas_of(partition)
    return Placement(brokers, partitions)


def replicas_of(partition: PartitionState) -> Replicas:
    return Replicas(
        replicas=tuple(partition.replicas),
        isr=tuple(partition.isr),
        leader=partition.leader,
        adding=tuple(partition.adding_replicas),
        removing=tuple(partition.removing_replicas),
    )


def shown(partitions: Iterable[TopicPartition]) -> str:
    """Name the first of many partitions, and count them."""
    texts = names(partitions)
    if len(texts) <= _SHOWN:
        return ", ".join(texts)
    return f"{', '.join(texts[:_SHOWN])}, … ({len(texts)} partitions)"


def names(partitions: Iterable[TopicPartition]) -> list[str]:
    return [str(partition) for partition in sorted(partitions)]
