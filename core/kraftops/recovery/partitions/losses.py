"""The table of losses: records on the disks of brokers that a leader by the metadata lacks."""

import os
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from kraftops.display.sizes import first_names, many, named
from kraftops.dump.check.findings import uncovered
from kraftops.engine.metadata_state import PartitionKey, PartitionState
from kraftops.image.state.image import MetadataImage
from kraftops.image.verify.assignments import possible_leaders
from kraftops.recovery.partitions.copies import (
    MISSING_START,
    PartitionCopy,
    acknowledged_records,
    common_end,
    newest_by_broker,
    newest_of,
)
from kraftops.recovery.partitions.disk import BrokerDisk
from kraftops.server.loader.load_plan import HIGH_WATERMARK, FolderKind

MEANINGS = {
    "__consumer_offsets": "consumer groups go back to older offsets, and read records again",
    "__transaction_state": "the outcomes of transactions are forgotten: they stay open, or end "
    "differently",
}
"""What the loss of records of an internal topic means."""


class Assignment(NamedTuple):
    """A partition as the metadata assign it."""

    topic: str
    number: int
    state: PartitionState


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionLoss:
    """Records of a copy that would be cut.

    Attributes:
        copy: the copy; its broker would cut them.
        offsets: their offsets, in the worst case.
        acknowledged: how many of them were certainly acknowledged; None: unknown, since no broker
            has noted a high watermark.
        leader: the broker that would have them cut, by leading.
        leaders: all brokers that may lead.
        also_on: the other brokers whose disks have all of them.
        is_certain: whether no other broker can lead, and the ends of both copies were read.
    """

    copy: PartitionCopy
    offsets: range
    acknowledged: int | None
    leader: int
    leaders: tuple[int, ...]
    also_on: tuple[int, ...]
    is_certain: bool

    @property
    def proven(self) -> range:
        """The offsets of those that were certainly acknowledged."""
        return self.offsets[: self.acknowledged or 0]

    @property
    def meaning(self) -> str | None:
        """What the loss means for users of an internal topic; None of another topic."""
        return MEANINGS.get(self.copy.topic)


def assignments(image: MetadataImage) -> dict[PartitionKey, Assignment]:
    """Return all partitions of an image.

    Raises:
        KraftopsError: a source of the image can no longer be read.
    """
    keys = {
        (topic_id, number): topic.name
        for topic_id, topic in image.topics.items()
        for number in image.fold.numbers(topic_id)
    }
    states = image.fold.states(list(keys))
    return {
        key: Assignment(name, key[1], state)
        for (key, name), state in zip(keys.items(), states, strict=True)
        if state
    }


def copies_by_partition(
    copies: Iterable[PartitionCopy],
) -> dict[PartitionKey, list[PartitionCopy]]:
    by_partition: dict[PartitionKey, list[PartitionCopy]] = {}
    for copy in copies:
        if copy.topic_id is not None:
            by_partition.setdefault((copy.topic_id, copy.number), []).append(copy)
    return by_partition


def copies_to_be_led(
    assigned: Mapping[PartitionKey, Assignment], disks: Sequence[BrokerDisk]
) -> list[PartitionCopy]:
    """Return the copies on disks, and an empty copy for each replica that its disk lacks.

    A broker creates an assigned replica that its log directory lacks again, empty
    (`ReplicaManager.getOrCreatePartition`); if it leads, the others are cut to nothing. A replica
    belongs to the directory whose id the metadata have for it (KIP-858). An archive without any
    partition was packed for its metadata log, and tells nothing. What has no id, or that of no
    topic, is set aside as a stray, and an empty copy takes its place (`LogManager.isStrayReplica`).
    Where no partition has an id, a copy has left these files out.
    """
    topic_ids = {topic_id for topic_id, _ in assigned}
    names = {(assignment.topic, assignment.number) for assignment in assigned.values()}
    copies = [
        copy
        for disk in disks
        for copy in disk.copies
        if copy.topic_id in topic_ids
        or (copy.topic, copy.number) not in names
        or not any(other.topic_id for other in disk.copies)
    ]
    present = {(copy.broker, copy.topic, copy.number) for copy in copies}
    by_directory: dict[tuple[int, bytes], BrokerDisk] = {}
    for disk in disks:
        meta = disk.directory.meta
        if meta and meta.directory_id and (disk.copies or not disk.is_packed):
            by_directory[disk.node_id, meta.directory_id] = disk
            present |= {
                (disk.node_id, folder.topic, folder.number)
                for folder in disk.directory.partitions()
                if folder.kind is FolderKind.FUTURE
            }
    return copies + [
        PartitionCopy(
            broker=broker,
            place=os.path.join(
                by_directory[broker, directory_id].directory.path, f"{topic}-{number}"
            ),
            topic=topic,
            topic_id=topic_id,
            number=number,
            high_watermark=by_directory[broker, directory_id].directory.offset(
                HIGH_WATERMARK, topic, number
            ),
            is_missing=True,
        )
        for (topic_id, number), (topic, _, state) in assigned.items()
        for broker, directory_id in zip(state.replicas, state.directories, strict=False)
        if (broker, directory_id) in by_directory and (broker, topic, number) not in present
    ]


def partly_read(
    assigned: Mapping[PartitionKey, Assignment],
    copies: Iterable[PartitionCopy],
    brokers: Container[int],
) -> set[tuple[str, int]]:
    """Return the partitions of which *brokers* may have copies that were not read."""
    read = {(copy.broker, copy.topic, copy.number) for copy in copies}
    return {
        (topic, number)
        for topic, number, state in assigned.values()
        if any(
            broker in brokers and (broker, topic, number) not in read for broker in state.replicas
        )
    }


def losses(
    assigned: Mapping[PartitionKey, Assignment], copies: Iterable[PartitionCopy]
) -> list[PartitionLoss]:
    """Return what would be cut after a start with this metadata, by partition and broker.

    Copies of brokers that are not among the replicas are left out: their brokers set them aside.
    """
    by_partition = copies_by_partition(copies)
    return [
        loss
        for key, assignment in sorted(assigned.items(), key=lambda item: item[1][:2])
        for loss in _losses_of(assignment.state, by_partition.get(key, ()))
    ]


def _losses_of(state: PartitionState, copies: Sequence[PartitionCopy]) -> Iterator[PartitionLoss]:
    newest = newest_by_broker(copy for copy in copies if copy.broker in state.replicas)
    leaders = possible_leaders(state)
    for broker, copy in sorted(newest.items()):
        # The end that an archive without logs tells is the lowest: one more record is possible.
        longer = copy if copy.is_end_exact else replace(copy, end=copy.end + 1)
        cuts = [
            (_cut(longer, newest.get(leader), state.leader_epoch), leader)
            for leader in leaders
            if leader != broker
        ]
        end, leader = min(cuts, default=(longer.end, broker))
        lost = [(range(end, copy.end), leader)] if end < longer.end else []
        lost += {
            offsets: leader
            for leader in leaders
            if leader in newest
            for offsets in newest[leader].lacks(copy, MISSING_START)
        }.items()
        for offsets, leader in lost:
            yield PartitionLoss(
                copy=copy,
                offsets=offsets,
                acknowledged=acknowledged_records(offsets, copy, newest.values()),
                leader=leader,
                leaders=leaders,
                also_on=tuple(
                    other
                    for other in sorted(newest.keys() - {broker})
                    if _has(newest[other], offsets)
                    and (offsets.stop < copy.end or common_end(longer, newest[other]) >= longer.end)
                ),
                is_certain=len(leaders) == 1
                and leader in newest
                and newest[leader].is_end_exact
                and copy.is_end_exact,
            )


def _has(copy: PartitionCopy, offsets: range) -> bool:
    holes = [hole.span for hole in copy.holes]
    is_whole = [*uncovered((offsets.start, offsets.stop - 1), holes)] == [
        (offsets.start, offsets.stop - 1)
    ]
    return copy.start <= offsets.start and offsets.stop <= copy.end and is_whole


def _cut(copy: PartitionCopy, leader: PartitionCopy | None, epoch: int) -> int:
    """Return the offset to which a copy would be cut.

    A leader whose copy was not read may lack all of the epochs that the metadata do not know.
    """
    if leader is not None:
        return common_end(copy, leader.as_leader(epoch))
    return min((start for later, start in copy.epochs if later > epoch), default=copy.end)


def lost_if_gone(newest: Mapping[int, PartitionCopy], broker: int) -> Iterator[PartitionLoss]:
    """Yield what is lost of a partition if a broker is gone for good.

    What only an older copy has would be cut with that broker, too.
    """
    copy = newest[broker]
    others = [other for other in newest.values() if other is not copy]
    lost = [] if others else [range(copy.start, copy.end)]
    if others and copy.rank > (other := newest_of(others)).rank:
        lost = [range(common_end(copy, other), copy.end), *other.lacks(copy)]
    for offsets in filter(None, lost):
        yield PartitionLoss(
            copy=copy,
            offsets=offsets,
            acknowledged=acknowledged_records(offsets, copy, newest.values()),
            leader=broker,
            leaders=(broker,),
            also_on=(),
            is_certain=True,
        )


class LossTotal(NamedTuple):
    """Numbers of records of a table, each counted once, and where they would be cut.

    Both numbers are None, with the *reason*, where they are unknown; the first alone where no
    broker has noted a high watermark. With *is_at_least* there may be more: the end of a copy that
    would be cut is unknown.
    """

    acknowledged: int | None = None
    possible: int | None = None
    partitions: tuple[str, ...] = ()
    certain_partitions: tuple[str, ...] = ()
    brokers: tuple[int, ...] = ()
    is_at_least: bool = False
    reason: str = "No records of the given copies would be cut"

    def __str__(self) -> str:
        if not self.partitions:
            return self.reason
        return self.clause[:1].upper() + self.clause[1:]

    @property
    def is_certain(self) -> bool:
        """Whether records of some of the partitions would be cut whoever leads."""
        return bool(self.certain_partitions) or not self.partitions

    @property
    def clause(self) -> str:
        """The loss as a part of a sentence."""
        counts = {
            "acknowledged record": self.acknowledged,
            "possibly acknowledged record": self.possible,
        }
        records = " and ".join(many(count, thing) for thing, count in counts.items() if count)
        if self.is_at_least:
            records = f"at least {records}" if records else "an unknown number of records"
        verb = "would" if self.certain_partitions == self.partitions else "may"
        names, brokers = first_names(self.partitions), named("broker", self.brokers)
        text = f"{records} of {names} {verb} be cut from {brokers}"
        if self.is_certain and verb == "may":
            text += f"; those of {first_names(self.certain_partitions)} would"
        return text


UNKNOWN_LEADERS = LossTotal(
    reason="No metadata log was given: which brokers may lead, and what a start would cut, is "
    "unknown",
)
NO_COPIES = LossTotal(reason="No partitions were given: what brokers would cut is unknown")
SHOWN_BEFORE = LossTotal(
    reason="This log was recovered for these voters before: what brokers cut was shown then",
)


def total_of(table: Sequence[PartitionLoss]) -> LossTotal:
    """Return the numbers of records of a table: an offset that several brokers cut is one."""
    by_partition: dict[str, list[PartitionLoss]] = {}
    for loss in table:
        by_partition.setdefault(loss.copy.name, []).append(loss)
    acknowledged_count = possible_count = 0
    for rows in by_partition.values():
        proven = _size_of_union(loss.proven for loss in rows)
        acknowledged_count += proven
        possible_count += _size_of_union(loss.offsets for loss in rows) - proven
    is_unknown = any(loss.acknowledged is None for loss in table)
    return LossTotal(
        acknowledged=acknowledged_count or (None if is_unknown else 0),
        possible=possible_count,
        partitions=tuple(by_partition),
        certain_partitions=tuple(
            name for name, rows in by_partition.items() if any(row.is_certain for row in rows)
        ),
        brokers=tuple(sorted({loss.copy.broker for loss in table})),
        is_at_least=any(not loss.copy.is_end_exact for loss in table),
    )


def _size_of_union(ranges: Iterable[range]) -> int:
    size = end = 0
    for offsets in sorted(ranges, key=lambda span: span.start):
        start = max(offsets.start, end)
        size += max(0, offsets.stop - start)
        end = max(end, offsets.stop)
    return size
