"""The loss of brokers before it happens: partitions that go offline, or under their min ISR."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from kraftops.answers.fields import number, numbers, text
from kraftops.display.order import natural_key
from kraftops.engine.metadata_state import StateColumns
from kraftops.errors import UsageError
from kraftops.image.state.broker import broker_status
from kraftops.image.state.image import MetadataImage
from kraftops.image.state.min_isr import NamedMinIsr
from kraftops.placement.placement import Placement, Replicas, TopicPartition
from kraftops.placement.safety import Danger, MinIsr, dangers
from kraftops.views.columns import nearest_hint

NO_REPLICA, OFFLINE, LAST_IN_SYNC, UNDER_MIN_ISR = (
    *("no-replica", "offline", "last-in-sync", "under-min-isr"),
)
"""The results of a loss, the worst first.

Without a replica, the records of a partition are gone with the disks of the lost brokers. With the
last replica in sync lost, the partition goes offline, unless one of the ELR can lead, or it is
offline already.
"""
RESULTS = (NO_REPLICA, OFFLINE, LAST_IN_SYNC, UNDER_MIN_ISR)

TOPIC_COLUMNS = (
    text("topic", "name of the topic"),
    number("noReplica", "partitions without any replica", numeral="amount"),
    number("offline", "partitions without a leader", numeral="amount"),
    number("lastInSync", "partitions that lose their last replica in sync", numeral="amount"),
    number("underMinIsr", "partitions with an ISR below minIsr", numeral="amount"),
)
PARTITION_COLUMNS = (
    text("topic", "name of the topic"),
    number("partition", "number of the partition"),
    text("result", "the worst that happens", values=RESULTS),
    number("leader", "broker that leads now"),
    numbers("isr", "replicas in sync now"),
    numbers("left", "those that stay in sync"),
    numbers("replicas", "brokers with a replica"),
    number("minIsr", "min.insync.replicas, as far as the log tells"),
)


class Hit(NamedTuple):
    """A partition that a loss harms: the result, what it is now, and what stays in sync."""

    partition: TopicPartition
    result: str
    now: Replicas
    left: tuple[int, ...]
    min_isr: int

    @property
    def row(self) -> tuple[object, ...]:
        """The values of `PARTITION_COLUMNS`."""
        now = self.now
        return (
            *(*self.partition, self.result, now.leader),
            *(list(now.isr), list(self.left), list(now.replicas), self.min_isr),
        )


class Loss(NamedTuple):
    """The loss of *brokers*: the harmed partitions, the worst first within a topic.

    *moved* is the number of leaders that others take over, *partitions* that of all partitions.
    """

    brokers: tuple[int, ...]
    hits: list[Hit]
    moved: int
    partitions: int

    @property
    def topics(self) -> list[tuple[object, ...]]:
        """The harmed topics, with values of `TOPIC_COLUMNS`."""
        counts: dict[str, Counter[str]] = {}
        for hit in self.hits:
            results = counts.setdefault(hit.partition.topic, Counter())
            results.update(_counted(hit))
        return [
            (topic, *(results[result] for result in RESULTS))
            for topic, results in sorted(counts.items(), key=lambda pair: natural_key(pair[0]))
        ]

    def total(self, result: str) -> int:
        return sum(result in _counted(hit) for hit in self.hits)


def _counted(hit: Hit) -> set[str]:
    """Return the results that a hit counts for; a partition that is offline does not go offline."""
    results = {hit.result}
    if hit.result in (NO_REPLICA, OFFLINE):
        results |= {OFFLINE} if hit.now.leader >= 0 else set()
        results |= {LAST_IN_SYNC} if hit.now.isr else set()
    return results


def brokers_in(image: MetadataImage, racks: Iterable[str]) -> set[int]:
    """Return the registered brokers of some racks.

    Raises:
        UsageError: a rack has no broker.
    """
    by_rack: dict[str, set[int]] = {}
    for broker_id, entry in image.brokers.items():
        rack = image.broker_state(entry, whole=False)["rack"]
        if rack is not None:
            by_rack.setdefault(rack, set()).add(broker_id)
    brokers: set[int] = set()
    for rack in racks:
        if rack not in by_rack:
            raise UsageError(
                f"there is no rack {rack!r}", nearest_hint(rack, by_rack), code="not-found"
            )
        brokers |= by_rack[rack]
    return brokers


def fenced_brokers(image: MetadataImage) -> set[int]:
    """Return the registered brokers that are fenced: they lead nothing, and are not in sync."""
    return {
        broker_id
        for broker_id, entry in image.brokers.items()
        if broker_status(image.broker_state(entry, whole=False)) == "registered-fenced"
    }


def loss_of(image: MetadataImage, brokers: Collection[int]) -> Loss:
    """Return what the loss of all these brokers at once would do.

    Partitions that have none of them in sync are harmed only if no replica is left. The log tells
    min ISR of topics and of the whole cluster, else it is 1.

    Raises:
        KraftopsError: a source can no longer be read.
    """
    gone = frozenset(brokers)
    columns = image.fold.state_columns()
    touched, elr = _touched(image, columns, gone)
    placement = Placement({}, touched)
    min_isrs = NamedMinIsr(image)
    least = {partition.topic: MinIsr(min_isrs.of(partition.topic)) for partition in touched}
    danger_by_partition = {danger.partition: danger for danger in dangers(placement, gone, least)}
    alive = image.brokers.keys() - gone - fenced_brokers(image)
    hits = []
    for partition, now in touched.items():
        danger = danger_by_partition.get(partition)
        result = _result(danger, now, gone, has_other=not alive.isdisjoint(elr[partition]))
        if result is None:
            continue
        still_in_sync = tuple(broker for broker in now.isr if broker not in gone)
        hits.append(
            Hit(
                partition=partition,
                result=result,
                now=now,
                left=still_in_sync,
                min_isr=least[partition.topic].value,
            )
        )
    keys = {topic: natural_key(topic) for topic in {hit.partition.topic for hit in hits}}
    hits.sort(
        key=lambda hit: (
            *(keys[hit.partition.topic], RESULTS.index(hit.result)),
            hit.partition.number,
        )
    )
    offline = {hit.partition for hit in hits if hit.result in (NO_REPLICA, OFFLINE)}
    moved = sum(
        now.leader in gone and partition not in offline for partition, now in touched.items()
    )
    return Loss(tuple(sorted(gone)), hits, moved, len(columns.numbers))


def _result(
    danger: Danger | None, now: Replicas, gone: frozenset[int], *, has_other: bool
) -> str | None:
    if gone.issuperset(now.replicas):
        return NO_REPLICA
    if danger is None:
        return None
    if danger.left:
        return UNDER_MIN_ISR
    return LAST_IN_SYNC if has_other or now.leader < 0 else OFFLINE


def _touched(
    image: MetadataImage, columns: StateColumns, gone: frozenset[int]
) -> tuple[dict[TopicPartition, Replicas], Mapping[TopicPartition, list[int]]]:
    """Return the partitions that need one of these brokers, as leader or in sync, and their ELR.

    With them come those that have no replica elsewhere.
    """
    replicas_by_partition: dict[TopicPartition, Replicas] = {}
    elr: dict[TopicPartition, list[int]] = {}
    start = 0
    for topic_id, count in columns.topics:
        topic = image.fold.topic(topic_id)
        for index in range(start, start + count):
            replicas = columns.replicas.at(index)
            if topic is None or gone.isdisjoint(replicas):
                continue
            isr, leader = columns.isr.at(index), columns.leader[index]
            if gone.isdisjoint(isr) and leader not in gone and not gone.issuperset(replicas):
                continue
            partition = TopicPartition(topic.name, columns.numbers[index])
            replicas_by_partition[partition] = Replicas(
                replicas=tuple(replicas),
                isr=tuple(isr),
                leader=leader,
                adding=tuple(columns.adding_replicas.at(index)),
                removing=tuple(columns.removing_replicas.at(index)),
            )
            elr[partition] = columns.eligible_leader_replicas.at(index)
        start += count
    return replicas_by_partition, elr
