"""Copies of partitions on several disks: which is newest, and what each broker alone has."""

from __future__ import annotations

import os
import shlex
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from kraftops.display.sizes import first_names, many, named
from kraftops.dump.check.findings import offsets_text
from kraftops.engine.metadata_state import PartitionKey, PartitionState
from kraftops.findings.finding import (
    Cure,
    Evidence,
    Finding,
    Place,
    Severity,
    Stake,
    stop_finding,
    worst_first,
)
from kraftops.image.load.loading import load_node_log
from kraftops.image.state.image import MetadataImage
from kraftops.image.verify.assignments import missing_findings, replicas_on
from kraftops.image.verify.beside import agreed
from kraftops.image.verify.directories import (
    OTHER_BROKER,
    OTHER_NAME,
    is_misnamed,
)
from kraftops.recovery.log_copy import LogCopy, partition_folder, read_log
from kraftops.recovery.node_copies import LogSource
from kraftops.recovery.partitions.content import (
    BAD_BATCH,
    MISSING_OFFSETS,
    ContentDifference,
    Identity,
    first_difference,
    with_holes,
)
from kraftops.recovery.partitions.copies import (
    MISSING_START,
    PartitionCopy,
    common_end,
    more_complete,
    newest_by_broker,
    newest_of,
)
from kraftops.recovery.partitions.disk import BrokerDisk, misplaced_partitions, read_disk
from kraftops.recovery.partitions.losses import (
    UNKNOWN_LEADERS,
    Assignment,
    LossTotal,
    PartitionLoss,
    assignments,
    copies_to_be_led,
    losses,
    lost_if_gone,
    total_of,
)
from kraftops.recovery.partitions.start_order import (
    NO_ORDER,
    WHILE_STOPPED,
    best_copies,
    replacement,
    start_order,
)
from kraftops.recovery.refusal import RecoveryRefused
from kraftops.server.partition_files import deleted_segments, partition_files

MISSING_END, CONTENT_DIFFERS = "missing-end", "content-differs"
PARTITION_TWICE = "partition-twice"
_OF_DIRECTORIES = frozenset(
    {"directory-id-twice", "not-formatted", "other-node-id", PARTITION_TWICE, "unreadable"}
)
_SHOWS_NOTHING = frozenset({"no-identity", "no-log", "not-found"})
"""Codes of refusals of what has no log directory with an identity."""
_CONSEQUENCES = {
    # `UnifiedLog.maybeIncrementLogStartOffset`, by the answers to a follower's fetches (4.3.1)
    MISSING_START: "if it leads, the others raise the start of their logs to its, and lose them",
    MISSING_OFFSETS: "if it leads, consumers pass over them without an error",
    BAD_BATCH: "if it leads, consumers and followers stop there",
}
_BY_ENDS = "By epochs and ends alone, no records of the given copies would be cut"
_ELR_FEATURE = "eligible.leader.replicas.version"


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
    *losses* are what a start with the metadata log *metadata_log* would cut, if one was given, and
    *findings* what a start of the brokers takes from their copies.
    """

    copies: tuple[ComparedCopy, ...]
    brokers: tuple[ComparedBroker, ...]
    metadata_log: str | None = None
    losses: Sequence[PartitionLoss] = ()
    findings: Sequence[Finding] = ()
    has_order: bool = True

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
        best = best_copies(self.losses)
        return [replacement(copy, leaders, self.all_copies) for copy, leaders in best]

    @property
    def leaders(self) -> Mapping[str, Sequence[int]]:
        """The brokers that may lead, by partition; of those whose copies would be cut."""
        return {loss.copy.name: loss.leaders for loss in self.losses}

    def keeping(self, best: PartitionCopy) -> Cure:
        """Return what keeps the records of the best copy of a partition.

        One that lacks its start must not lead at any time: Kafka elects preferred leaders by itself
        (`auto.leader.rebalance.enable`).
        """
        copies = self.all_copies
        may_lead = self.leaders.get(best.name, (best.broker,))
        incomplete = [copy.broker for copy in copies if copy.name == best.name and copy.lacks(best)]
        if not best.is_loaded:
            return replacement(best, may_lead, copies)
        if not self.has_order or incomplete:
            targets = incomplete if self.has_order else may_lead
            before = WHILE_STOPPED if self.has_order else NO_ORDER
            cure = replacement(best, targets, copies)
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


def compare(copies: Iterable[PartitionCopy], *, is_deep: bool = False) -> Comparison:
    """Compare the copies of each partition; a broker's older copy in another directory is left out.

    A broker that alone has the newest copy of a partition should start before the others: the
    brokers are ordered by the number of such partitions.
    """
    by_partition: dict[tuple[str, int, bytes], list[PartitionCopy]] = {}
    for copy in copies:
        key = (copy.topic, copy.number, copy.topic_id or b"")
        by_partition.setdefault(key, []).append(copy)
    partitions = [newest_by_broker(with_holes(by_partition[key])) for key in sorted(by_partition)]
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
    brokers = [_broker(broker, own, compared) for broker in ids]
    brokers.sort(key=lambda broker: (-broker.newest_alone, broker.broker))
    return Comparison(tuple(compared), tuple(brokers))


def _other_content(table: Comparison) -> Iterator[Finding]:
    """Yield the partitions whose copies have other records at the same offsets."""
    owners: dict[Identity, set[str]] = defaultdict(set)
    for compared in table.copies:
        if compared.difference:
            owners[compared.difference.mine].add(compared.copy.name)
            owners[compared.difference.theirs].add(compared.copy.name)
    for name in sorted(table.of_other_content):
        copies = [compared for compared in table.copies if compared.copy.name == name]
        other = [compared for compared in copies if compared.difference]
        like_newest = [compared for compared in copies if not compared.difference]
        difference = other[0].difference
        assert difference
        odd, usual = (
            named("broker", [compared.copy.broker for compared in side])
            for side in (other, like_newest)
        )
        text = f"{name}: the records of {odd} are not those of {usual} from offset "
        text += f"{difference.offset} on"
        if elsewhere := sorted(owners[difference.mine] - {name}):
            text += f", and may be those of {elsewhere[0]}"
        yield Finding(
            CONTENT_DIFFERS,
            Severity.LOSS,
            text,
            Place(topic=other[0].copy.topic, partition=other[0].copy.number),
            "copy neither over the other, and start none of these brokers before it is known which "
            "is right: if directories of partitions were exchanged, exchange them again",
            tuple(
                shlex.join(("kraftops", "dump-log", side[0].copy.place, "--limit", "3"))
                for side in (other, like_newest)
            ),
            tuple(Evidence(compared.copy.place, str(compared.copy)) for compared in copies),
            "whichever leads, consumers read its records, and followers keep their own",
        )


def _gone(copies: Iterable[ComparedCopy], missing: Sequence[Finding]) -> Iterator[Finding]:
    """Yield what was committed, by the high watermarks that brokers noted, and is in no copy.

    Of partitions that are *missing*, and lie elsewhere, what is to be put back is told.
    """
    put_back = {finding.place.partition_name for finding in missing if finding.commands}
    partitions: dict[str, list[PartitionCopy]] = defaultdict(list)
    for compared in copies:
        partitions[compared.copy.name].append(compared.copy)
    for name, of_partition in partitions.items():
        if name in put_back:
            continue
        end = max(copy.end for copy in of_partition)
        high_watermark = max(copy.high_watermark or 0 for copy in of_partition)
        if end < high_watermark and all(copy.is_end_exact for copy in of_partition):
            first = of_partition[0]
            offsets = offsets_text(end, high_watermark - 1)
            yield Finding(
                MISSING_END,
                Severity.LOSS,
                f"{name}: {offsets}, below its high watermark, would be in none of these copies",
                Place(topic=first.topic, partition=first.number),
                "copy all of them aside; give the disks of other replicas too, or restore one of "
                "them from a backup before any of these brokers starts",
                stake=Stake(high_watermark - end, 0),
            )


def _incomplete(table: Comparison) -> Iterator[Finding]:
    """Yield the copies that lack records before their end, with those that have them."""
    for copy in table.all_copies:
        others = more_complete(copy, table.all_copies)
        for code, offsets in copy.holes:
            span_text = offsets_text(offsets.start, offsets.stop - 1)
            lacks = "has a wrong checksum at" if code == BAD_BATCH else "lacks"
            text = f"{copy.name}: broker {copy.broker} {lacks} {span_text}"
            cure = Cure("leave its directory where it is, and restore it from a backup")
            if others:
                best = newest_of(others)
                cure = replacement(best, [copy.broker], [copy, best])
                brokers = named("broker", sorted(other.broker for other in others))
                text += f", which {brokers} {'has' if len(others) == 1 else 'have'}"
                cure = cure._replace(text=f"{WHILE_STOPPED}, {cure.text}")
            elif beside := deleted_segments(
                partition_files(copy.place), [(offsets.start, offsets.stop - 1)]
            ):
                cure = beside
            yield Finding(
                code,
                Severity.LOSS,
                text,
                Place(copy.broker, None, copy.topic, copy.number, copy.place),
                cure.text,
                cure.commands,
                consequence=_CONSEQUENCES[code] if others else "",
                stake=Stake(len(offsets), 0),
            )


def _each_once(disks: Iterable[BrokerDisk]) -> tuple[list[BrokerDisk], list[Finding]]:
    """Return each disk once, and the partitions that two disks of a broker have.

    Of two with one identity, as a disk and its backup, the second is left out. Others are those of
    a broker that does not start; of its copies the newest is compared.
    """
    kept, findings = list[BrokerDisk](), list[Finding]()
    for disk in disks:
        names = {copy.name for copy in disk.copies}
        shared = [
            (other, names & {copy.name for copy in other.copies})
            for other in kept
            if other.node_id == disk.node_id
        ]
        other, both = next(((other, both) for other, both in shared if both), (disk, set[str]()))
        if not both:
            kept.append(disk)
            continue
        place, first = disk.directory.path, other.directory.path
        text = f"node {disk.node_id} is given twice: {first_names(sorted(both))}"
        text += f" is in {first} and in {place}"
        if _has_other_id(disk, other):
            kept.append(disk)
            cure = "move one of them away, as verify says"
            findings.append(stop_finding(PARTITION_TWICE, text, Place(disk.node_id), cure))
        else:
            text += ", which is left out"
            cure = "name the directory that its broker starts with, and leave out the other"
            risk = Finding("directory-id-twice", Severity.RISK, text, Place(disk.node_id), cure)
            findings.append(risk)
    return kept, findings


def _has_other_id(disk: BrokerDisk, other: BrokerDisk) -> bool:
    ids = [meta.directory_id if (meta := one.directory.meta) else None for one in (disk, other)]
    return None not in ids and ids[0] != ids[1]


def left_out(refusal: RecoveryRefused, text: str = "") -> Finding:
    """Return that a directory or an archive is not compared with the others."""
    code, cure = "unreadable", "name its log directory, or an archive of that which can be read"
    if refusal.code in _SHOWS_NOTHING:
        code, cure = "not-formatted", "put its disk back, or name another copy of that"
    return stop_finding(code, f"{refusal.message}{text}", Place(), cure)


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
    compared: Sequence[ComparedCopy],
) -> ComparedBroker:
    gone = [
        loss
        for partition in partitions
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


def compare_disks(sources: Sequence[LogSource], *, is_deep: bool = False) -> Comparison:
    """Compare the copies on disks, and those that a start by the newest metadata log makes anew.

    With *is_deep* all headers of batches are compared.

    Those that cannot be read, or are given twice, are left out, and told.

    Raises:
        RecoveryRefused: they are of several clusters.
        RecoveryRefused: none has a copy of a partition, or can be read.
        KraftopsError: the newest metadata log cannot be read any more.
    """
    logs, all_disks, refusals = _readable(sources)
    disks, given_twice = _each_once(all_disks)
    clusters = {disk.cluster_id: disk.name for disk in disks if disk.cluster_id}
    if len(clusters) > 1:
        names = ", ".join(f"{name} of {cluster}" for cluster, name in sorted(clusters.items()))
        raise RecoveryRefused("other-cluster", f"the disks are of several clusters: {names}")
    if not any(disk.copies for disk in disks):
        if refusals:
            raise refusals[0]
        hint = "name log directories of brokers, with their meta.properties"
        raise RecoveryRefused("no-partitions", "none of the disks has a copy of a partition", hint)
    sound = [log for log in logs if not log.is_empty and not log.damage]
    newest = max(sound, key=lambda log: log.rank, default=None)
    image = load_node_log(newest.folder) if newest else MetadataImage()
    assigned = assignments(image)
    led = [
        copy
        for copy in copies_to_be_led(assigned, disks)
        if not is_misnamed(image, copy.topic, copy.topic_id)
    ]
    table = compare(led, is_deep=is_deep)
    lost = [
        loss
        for loss in losses(assigned, table.all_copies)
        if loss.copy.name not in table.of_other_content
    ]
    has_elr = image.features.get(_ELR_FEATURE, (0,))[0] > 0
    missing = [*_missing(disks, image), *_missing_alone(disks, image, assigned, led)]
    order = start_order([broker.broker for broker in table.brokers], lost, has_elr=has_elr)
    ranks = {broker: rank for rank, broker in enumerate(order or ())}
    return replace(
        table,
        brokers=tuple(sorted(table.brokers, key=lambda broker: ranks.get(broker.broker, 0))),
        has_order=order is not None,
        metadata_log=newest.name if newest else None,
        losses=lost,
        findings=worst_first(
            agreed(
                [
                    *(left_out(refusal, ": it is left out") for refusal in refusals),
                    *given_twice,
                    *(
                        finding
                        for finding in misplaced_partitions(disks, image)
                        if finding.code in (OTHER_NAME, OTHER_BROKER)
                    ),
                    *_other_content(table),
                    *_gone(table.copies, missing),
                    *_incomplete(table),
                    *missing,
                    *(finding for disk in disks for finding in disk.findings),
                ]
            )
        ),
    )


def _readable(
    sources: Iterable[LogSource],
) -> tuple[list[LogCopy], list[BrokerDisk], list[RecoveryRefused]]:
    """Return the metadata logs and disks of sources, and why others cannot be read."""
    logs, disks, refusals = list[LogCopy](), dict[str, BrokerDisk](), list[RecoveryRefused]()
    for source in sources:
        try:
            folder = partition_folder(source.folder, is_packed=source.is_packed)
            log, disk = read_log(source.name, folder), read_disk(source)
        except RecoveryRefused as refusal:
            refusals.append(refusal)
            continue
        logs.append(log)
        if disk:
            disks.setdefault(os.path.realpath(disk.directory.path), disk)
    return logs, [*disks.values()], refusals


def _missing_alone(
    disks: Sequence[BrokerDisk],
    image: MetadataImage,
    assigned: Mapping[PartitionKey, Assignment],
    copies: Sequence[PartitionCopy],
) -> Iterator[Finding]:
    """Yield the copies that are missing, and of which the given disks have no other."""
    missing: dict[int, dict[PartitionKey, PartitionState]] = defaultdict(dict)
    # A copy of a broker that is not a replica is set aside there.
    present = {
        (copy.topic_id, copy.number)
        for copy in copies
        if copy.topic_id
        and not copy.is_missing
        and (
            (key := (copy.topic_id, copy.number)) not in assigned
            or copy.broker in assigned[key].state.replicas
        )
    }
    for copy in copies:
        if copy.is_missing and copy.topic_id and (copy.topic_id, copy.number) not in present:
            key = copy.topic_id, copy.number
            missing[copy.broker][key] = assigned[key].state
    for broker, states in missing.items():
        directories = [disk.directory for disk in disks if disk.node_id == broker]
        findings = missing_findings(broker, directories, image, states)
        yield from (finding for finding in findings if finding.is_severe)


def _missing(disks: Sequence[BrokerDisk], image: MetadataImage) -> Iterator[Finding]:
    """Yield the partitions in sync on brokers whose given directories were all formatted anew.

    Directories that are registered may be a part of those of the broker, or exchanged.
    """
    by_node: defaultdict[int, list[BrokerDisk]] = defaultdict(list)
    for disk in disks:
        if not disk.is_packed:
            by_node[disk.node_id].append(disk)
    for node_id, of_node in by_node.items():
        broker = image.brokers.get(node_id)
        registered = image.broker_state(broker, whole=False)["logDirs"] if broker else ()
        metas = [disk.directory.meta for disk in of_node if disk.directory.meta]
        is_old = any(meta.directory_id in registered for meta in metas)
        if is_old or not 0 < len(registered) <= len(of_node):
            continue
        names = {copy.name for disk in of_node for copy in disk.copies}
        states = {
            (topic_id, number): state
            for (topic_id, number), state in replicas_on(node_id, image)
            if f"{image.topics[topic_id].name}-{number}" not in names
        }
        findings = missing_findings(node_id, (), image, states)
        yield from (finding for finding in findings if finding.is_severe)
