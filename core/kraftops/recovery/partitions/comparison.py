"""Copies of partitions on several disks: which is newest, and what each broker alone has."""

import sys
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from kraftops.display.sizes import many, named
from kraftops.dump.check.findings import offsets_text
from kraftops.findings.finding import Cure, Finding, Place, Severity, Stake
from kraftops.image.verify.directories import OTHER_NAME, UNKNOWN_TOPIC
from kraftops.recovery.partitions.content import (
    ContentDifference,
    ReadAllowance,
    first_difference,
    with_holes,
)
from kraftops.recovery.partitions.copies import (
    PartitionCopy,
    common_end,
    newest_by_broker,
    newest_of,
)
from kraftops.recovery.partitions.losses import (
    UNKNOWN_LEADERS,
    LossTotal,
    PartitionLoss,
    lost_if_gone,
    total_of,
)
from kraftops.recovery.partitions.start_order import (
    NO_ORDER,
    WHILE_STOPPED,
    replacement,
)

MISSING_END, CONTENT_DIFFERS = "missing-end", "content-differs"
PARTITION_TWICE = "partition-twice"
_OF_DIRECTORIES = frozenset(
    {"directory-id-twice", "not-formatted", "other-node-id", PARTITION_TWICE, "unreadable"}
)
_BY_ENDS = "By epochs and ends alone, no records of the given copies would be cut"


@dataclass(frozen=True, slots=True)
class ComparedCopy:
    """A copy of a partition, the newest copy, and the offset where its epochs part from that.

    *is_compared* tells whether checksums of batches before that offset were compared, and
    *difference* where these are not those of the newest copy. Where *is_disputed*, as many copies
    have other records than that: none is known to be right.
    """

    copy: PartitionCopy
    newest: PartitionCopy
    equal_up_to: int
    is_compared: bool = False
    difference: ContentDifference | None = None
    is_disputed: bool = False

    @property
    def content(self) -> str:
        """What was compared, in a word."""
        if self.is_disputed and not self.difference:
            return "disputed"
        if self.copy is self.newest:
            return "newest"
        same = "same" if self.is_compared else "not compared"
        return f"differs at {self.difference.offset}" if self.difference else same

    @property
    def is_newest(self) -> bool:
        """Whether no copy has a later epoch, or more records of it."""
        return self.copy.rank == self.newest.rank and not self.is_disputed

    @property
    def lacking(self) -> int:
        """How many offsets of the newest copy it lacks."""
        holes = sum(map(len, self.copy.lacks(self.newest)))
        return self.newest.end - self.equal_up_to + holes

    @property
    def own(self) -> int:
        """How many offsets it has that the newest copy lacks."""
        holes = sum(map(len, self.newest.lacks(self.copy)))
        return self.copy.end - self.equal_up_to + holes


@dataclass(frozen=True, slots=True)
class ComparedBroker:
    """A broker: how many copies it has, and what is lost if it is gone for good.

    *newest_alone* counts the partitions whose newest copy it alone has, *gone* are the records
    that are nowhere else.
    """

    broker: int
    copies: int
    newest_alone: int
    gone: LossTotal


@dataclass(frozen=True, slots=True)
class Comparison:
    """Compared copies by partition and broker, and brokers in the order in which to start them.

    Without *has_order* none keeps all records: the best copies must replace others before.
    Of *partly_read* partitions there are replicas that were not read.
    *losses* are what a start with the metadata log *metadata_log* would cut, if one was given, and
    *findings* what a start of the brokers takes from their copies.
    """

    copies: tuple[ComparedCopy, ...]
    brokers: tuple[ComparedBroker, ...]
    metadata_log: str | None = None
    losses: Sequence[PartitionLoss] = ()
    findings: Sequence[Finding] = ()
    has_order: bool = True
    partly_read: int = 0

    @property
    def loss_total(self) -> LossTotal:
        """The numbers of the losses; unknown without a metadata log."""
        severe = [finding for finding in self.findings if finding.is_severe]
        if not self.metadata_log or self.losses or not severe:
            total = total_of(self.losses) if self.metadata_log else UNKNOWN_LEADERS
            is_read = self.losses or not (self.metadata_log and self.unread_count)
            return total if is_read else total._replace(reason=_BY_ENDS)
        gone = next((finding.text for finding in severe if finding.code == MISSING_END), None)
        first, count = severe[0], many(len(severe), "finding")
        if first.code in (CONTENT_DIFFERS, OTHER_NAME):
            return LossTotal(reason=f"What a start would cut is unknown: {first}")
        text = f"No copy would be cut to that of a leader, but the copies have {count}"
        return LossTotal(reason=f"Records are lost: {gone}" if gone else text)

    @property
    def replacements(self) -> list[Cure]:
        """The copies that must be replaced before the brokers start in any order."""
        if self.has_order:
            return []
        return [
            replacement(self.source(name), leaders, self.all_copies)
            for name, leaders in self.leaders.items()
        ]

    @property
    def leaders(self) -> Mapping[str, Sequence[int]]:
        """The brokers that may lead, by partition; of those whose copies would be cut."""
        return {loss.copy.name: loss.leaders for loss in self.losses}

    def source(self, name: str, damaged: Collection[int] = ()) -> PartitionCopy:
        """Return the copy of a partition that replaces others: all cures name this one.

        The copies of *damaged* brokers are not a source where others have the same records.
        """
        copies = [copy for copy in self.all_copies if copy.name == name]
        return newest_of(copies, self.leaders.get(name, ()), damaged)

    def keeping(self, name: str, damaged: Collection[int] = ()) -> Cure:
        """Return what keeps the records of the best copy of a partition.

        One that lacks its start must not lead at any time: Kafka elects preferred leaders by itself
        (`auto.leader.rebalance.enable`). Those of *damaged* brokers are replaced.
        """
        copies = self.all_copies
        best = self.source(name, damaged)
        may_lead = self.leaders.get(name, (best.broker,))
        incomplete = {copy.broker for copy in copies if copy.name == name and copy.lacks(best)}
        worse = () if best.broker in damaged else damaged  # else the best is damaged alike
        incomplete |= {*worse}
        if not best.is_loaded:
            return replacement(best, may_lead, copies)
        if not self.has_order or incomplete:
            targets = incomplete if self.has_order else {*incomplete, *may_lead}
            before = WHILE_STOPPED if self.has_order or name not in self.leaders else NO_ORDER
            cure = replacement(best, targets, copies, worse)
            return cure._replace(text=f"{before}, {cure.text}")
        others = [broker for broker in may_lead if broker != best.broker]
        before = f" before {named('broker', others)}" if others else ""
        return Cure(f"start broker {best.broker}{before}, and wait until it leads")

    @property
    def all_copies(self) -> list[PartitionCopy]:
        return [compared.copy for compared in self.copies]

    @property
    def differing(self) -> list[ComparedCopy]:
        """The copies of the partitions whose copies are not all equal."""
        newest = {
            copy.newest for copy in self.copies if copy.lacking or copy.own or copy.difference
        }
        return [copy for copy in self.copies if copy.newest in newest]

    @property
    def equal_count(self) -> int:
        """The number of the other copies."""
        return len(self.copies) - len(self.differing)

    @property
    def unread_count(self) -> int:
        """The number of those without logs, as in archives: only their ends are known."""
        differing = {compared.copy.name for compared in self.differing}
        unread = (copy for copy in self.all_copies if not copy.bases and copy.end)
        return sum(copy.name not in differing for copy in unread)

    @property
    def is_partial(self) -> bool:
        """Whether something that was named is not compared, or in doubt."""
        return any(finding.code in _OF_DIRECTORIES for finding in self.findings)

    @property
    def is_safe(self) -> bool:
        """Whether a start loses nothing, whoever leads."""
        is_equal = not (self.losses if self.metadata_log else self.differing)
        is_sound = not any(finding.is_severe for finding in self.findings)
        return is_equal and is_sound and not self.of_other_content

    @property
    def of_other_content(self) -> set[str]:
        """The names of partitions of which copies have other records at the same offsets."""
        return {copy.copy.name for copy in self.copies if copy.difference}


def compare(
    copies: Iterable[PartitionCopy],
    *,
    is_deep: bool = False,
    partly_read: Collection[tuple[str, int]] = (),
) -> Comparison:
    """Compare the copies of each partition; a broker's older copy in another directory is left out.

    A broker that alone has the newest copy of a partition should start before the others: the
    brokers are ordered by the number of such partitions. *partly_read* names partitions with
    replicas that were not read, which may have what seems to be nowhere else.
    """
    by_partition: dict[tuple[str, int, bytes], list[PartitionCopy]] = {}
    for copy in copies:
        key = (copy.topic, copy.number, copy.topic_id or b"")
        by_partition.setdefault(key, []).append(copy)
    allowance = ReadAllowance(sys.maxsize) if is_deep else ReadAllowance()
    partitions = [
        newest_by_broker(with_holes(by_partition[key], allowance, is_deep=is_deep))
        for key in sorted(by_partition)
    ]
    compared = [
        copy
        for partition in partitions
        for copy in _compared_partition([*partition.values()], is_deep=is_deep)
    ]
    ids = sorted({copy.copy.broker for copy in compared})
    foreign = {copy.copy for copy in compared if copy.difference or copy.is_disputed}
    own = [
        {broker: copy for broker, copy in partition.items() if copy not in foreign}
        for partition in partitions
    ]
    whole = [
        partition
        for partition in own
        if not any((copy.topic, copy.number) in partly_read for copy in partition.values())
    ]
    brokers = [_broker(broker, own, whole, compared) for broker in ids]
    brokers.sort(key=lambda broker: (-broker.newest_alone, broker.broker))
    return Comparison(tuple(compared), tuple(brokers), partly_read=len(partly_read))


def _compared_partition(copies: Sequence[PartitionCopy], *, is_deep: bool) -> list[ComparedCopy]:
    """Compare with the newest copy; with that of the others where most have other records."""
    newest = newest_of(copies)
    ordered = sorted(copies, key=lambda copy: copy.broker)
    compared = [_compared(copy, newest, is_deep=is_deep) for copy in ordered]
    others = [copy.copy for copy in compared if copy.difference]
    if 2 * len(others) <= len(copies):
        is_disputed = 2 * len(others) == len(copies)
        return [replace(copy, is_disputed=is_disputed) for copy in compared]
    newest = newest_of(others)
    return [_compared(copy, newest, is_deep=is_deep) for copy in ordered]


def _compared(copy: PartitionCopy, newest: PartitionCopy, *, is_deep: bool) -> ComparedCopy:
    end = common_end(copy, newest)
    if copy is newest:
        return ComparedCopy(copy, newest, end)
    is_compared, difference = first_difference(copy, newest, end, is_deep=is_deep)
    equal_up_to = difference.offset if difference else end
    return ComparedCopy(copy, newest, equal_up_to, is_compared, difference)


def _broker(
    broker: int,
    partitions: Sequence[dict[int, PartitionCopy]],
    whole: Sequence[dict[int, PartitionCopy]],
    compared: Sequence[ComparedCopy],
) -> ComparedBroker:
    gone = [
        loss
        for partition in whole
        if broker in partition
        for loss in lost_if_gone(partition, broker)
    ]
    own = [copy for copy in compared if copy.copy.broker == broker]
    return ComparedBroker(
        broker,
        len(own),
        sum(_is_alone(partition, broker) for partition in partitions),
        total_of(gone),
    )


def _is_alone(partition: dict[int, PartitionCopy], broker: int) -> bool:
    """Tell whether a broker alone has the newest copy of a partition that others have too."""
    copy = partition.get(broker)
    others = [other.rank for other in partition.values() if other.broker != broker]
    return copy is not None and bool(others) and copy.rank > max(others)


def missing_ends(
    copies: Iterable[PartitionCopy],
    findings: Iterable[Finding],
    partly_read: Collection[tuple[str, int]] = (),
) -> Iterator[Finding]:
    """Yield what brokers had, by high watermarks and snapshots that they noted, and no copy has.

    Of partitions that are elsewhere, or have another topic id, *findings* tell that; those that are
    *partly_read* may have it in what was not given.
    """
    put_back = {
        finding.place.partition_name
        for finding in findings
        if finding.commands or finding.code == UNKNOWN_TOPIC
    }
    partitions: dict[str, list[PartitionCopy]] = defaultdict(list)
    for copy in copies:
        if (copy.topic, copy.number) not in partly_read and copy.name not in put_back:
            partitions[copy.name].append(copy)
    for name, of_partition in partitions.items():
        end = max(copy.end for copy in of_partition)
        high_watermark = max(copy.high_watermark or 0 for copy in of_partition)
        noted_end = max([high_watermark, *(copy.snapshot_end for copy in of_partition)])
        if end < noted_end and all(copy.is_end_exact for copy in of_partition):
            first = of_partition[0]
            offsets = offsets_text(end, noted_end - 1)
            source = "its high watermark" if high_watermark == noted_end else "a producer snapshot"
            yield Finding(
                MISSING_END,
                Severity.LOSS,
                f"{name}: {offsets}, below {source}, would be in none of these copies",
                Place(topic=first.topic, partition=first.number),
                "copy all of them aside; give the disks of other replicas too, or restore one of "
                "them from a backup before any of these brokers starts",
                stake=Stake(noted_end - end, 0),
            )
