"""The copies of partitions on given disks: what a start makes of them, and what is left out."""

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from kraftops.display import quoting
from kraftops.display.sizes import first_names, named
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
from kraftops.image.verify.beside import without_contradictions
from kraftops.image.verify.directories import (
    NO_TOPIC_ID,
    OTHER_BROKER,
    OTHER_NAME,
    UNKNOWN_TOPIC,
    formatted_anew,
    is_misnamed,
    registered_ids,
    unread_findings,
    unread_ids,
)
from kraftops.recovery.log_copy import LogCopy, partition_folder, read_log
from kraftops.recovery.node_copies import LogSource
from kraftops.recovery.partitions.comparison import (
    CONTENT_DIFFERS,
    PARTITION_TWICE,
    Comparison,
    compare,
    missing_ends,
)
from kraftops.recovery.partitions.content import (
    BAD_BATCH,
    MISSING_OFFSETS,
    Identity,
)
from kraftops.recovery.partitions.copies import (
    MISSING_START,
    PartitionCopy,
    more_complete,
)
from kraftops.recovery.partitions.disk import (
    BrokerDisk,
    misplaced_partitions,
    read_disk,
    unread_directories,
)
from kraftops.recovery.partitions.losses import (
    Assignment,
    assignments,
    copies_to_be_led,
    losses,
    partly_read,
)
from kraftops.recovery.partitions.start_order import start_order
from kraftops.recovery.refusal import RecoveryRefused
from kraftops.server.log_directory import LogDirectory
from kraftops.server.partition_files import deleted_segments, partition_files

_SHOWS_NOTHING = frozenset({"no-identity", "no-log", "not-found"})
"""Codes of refusals of what has no log directory with an identity."""
_CONSEQUENCES = {
    # `UnifiedLog.maybeIncrementLogStartOffset`, by the answers to a follower's fetches (4.3.1)
    MISSING_START: "if it leads, the others raise the start of their logs to its, and lose them",
    MISSING_OFFSETS: "if it leads, consumers pass over them without an error",
    BAD_BATCH: "if it leads, consumers and followers stop there",
}
_ELR_FEATURE = "eligible.leader.replicas.version"


def compare_disks(sources: Sequence[LogSource], *, is_deep: bool = False) -> Comparison:
    """Compare the copies on disks, and those that a start by the newest metadata log creates again.

    With *is_deep* all headers of batches are compared.

    Those that cannot be read, or are given twice, are left out, and told.

    Raises:
        RecoveryRefused: they are of several clusters.
        RecoveryRefused: none has a copy of a partition, or can be read.
        KraftopsError: the newest metadata log can no longer be read.
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
    unread = unread_directories(image, disks)
    partly = partly_read(assigned, led, unread)
    table = compare(led, is_deep=is_deep, partly_read=partly)
    lost = [
        loss
        for loss in losses(assigned, table.all_copies)
        if loss.copy.name not in table.of_other_content
    ]
    has_elr = image.features.get(_ELR_FEATURE, (0,))[0] > 0
    misplaced = [*misplaced_partitions(disks, image)]
    missing = [
        finding
        for finding in _missing(disks, image, assigned, led)
        if not any(_gets_id(stray, finding.place) for stray in misplaced)
    ]
    order = start_order([broker.broker for broker in table.brokers], lost, has_elr=has_elr)
    ranks = {broker: rank for rank, broker in enumerate(order or ())}
    table = replace(
        table,
        brokers=tuple(sorted(table.brokers, key=lambda broker: ranks.get(broker.broker, 0))),
        has_order=order is not None,
        metadata_log=newest.name if newest else None,
        losses=lost,
    )
    return replace(
        table,
        findings=worst_first(
            without_contradictions(
                [
                    *(left_out(refusal, ": it is left out") for refusal in refusals),
                    *given_twice,
                    *unread_findings(unread),
                    *(
                        finding
                        for finding in misplaced
                        if finding.code in (OTHER_NAME, OTHER_BROKER)
                        or (
                            finding.code in (UNKNOWN_TOPIC, NO_TOPIC_ID)
                            and finding.place.topic in image.topic_ids
                        )
                    ),
                    *_other_content(table),
                    *missing_ends(table.all_copies, [*missing, *misplaced], partly),
                    *_incomplete(table),
                    *missing,
                    *(finding for disk in disks for finding in disk.findings),
                ]
            )
        ),
    )


def _gets_id(stray: Finding, place: Place) -> bool:
    """Tell whether a stray only lacks its topic id, which a command writes."""
    is_same = stray.place.node == place.node and stray.place.partition_name == place.partition_name
    return is_same and stray.code == NO_TOPIC_ID and bool(stray.commands)


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
                quoting.join(("kraftops", "dump-log", side[0].copy.place, "--limit", "3"))
                for side in (other, like_newest)
            ),
            tuple(Evidence(compared.copy.place, str(compared.copy)) for compared in copies),
            "whichever leads, consumers read its records, and followers keep their own",
        )


def _incomplete(table: Comparison) -> Iterator[Finding]:
    """Yield findings about copies that lack records before their end, and who has these."""
    for copy in table.all_copies:
        others = more_complete(copy, table.all_copies)
        for code, offsets in copy.holes:
            span_text = offsets_text(offsets.start, offsets.stop - 1)
            lacks = "has a wrong checksum at" if code == BAD_BATCH else "lacks"
            text = f"{copy.name}: broker {copy.broker} {lacks} {span_text}"
            cure = Cure("leave its directory where it is, and restore it from a backup")
            if others:
                cure = table.keeping(copy.name)
                brokers = named("broker", sorted(other.broker for other in others))
                text += f", which {brokers} {'has' if len(others) == 1 else 'have'}"
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
    """Return a finding: a directory or an archive is not compared with the others."""
    code, cure = "unreadable", "name its log directory, or an archive of that which can be read"
    if refusal.code in _SHOWS_NOTHING:
        code, cure = "not-formatted", "put its disk back, or name another copy of that"
    return stop_finding(code, f"{refusal.message}{text}", Place(), cure)


def _missing(
    disks: Sequence[BrokerDisk],
    image: MetadataImage,
    assigned: Mapping[PartitionKey, Assignment],
    copies: Sequence[PartitionCopy],
) -> Iterator[Finding]:
    """Yield the copies that are missing, and of which no disk of a replica has another.

    Of brokers with directories that were formatted again, these are all that are in sync.
    """
    copy_keys = [(copy, (copy.topic_id, copy.number)) for copy in copies if copy.topic_id]
    present = {
        key
        for copy, key in copy_keys
        if not copy.is_missing
        and (key not in assigned or copy.broker in assigned[key].state.replicas)
    }
    lacking: dict[int, dict[PartitionKey, PartitionState]] = defaultdict(dict)
    for copy, key in copy_keys:
        if copy.is_missing and key not in present:
            lacking[copy.broker][key] = assigned[key].state
    for node_id in _formatted_anew(disks, image):
        own = {key for copy, key in copy_keys if copy.broker == node_id and not copy.is_missing}
        lacking[node_id] |= {
            key: state for key, state in replicas_on(node_id, image) if key not in own
        }
    for node_id, states in lacking.items():
        directories = [disk.directory for disk in disks if disk.node_id == node_id]
        findings = missing_findings(node_id, directories, image, states)
        yield from (finding for finding in findings if finding.is_severe)


def _formatted_anew(disks: Iterable[BrokerDisk], image: MetadataImage) -> Iterator[int]:
    """Yield the brokers of which a directory was formatted again, and all are given."""
    by_node: defaultdict[int, list[LogDirectory]] = defaultdict(list)
    for disk in disks:
        if not disk.is_packed:
            by_node[disk.node_id].append(disk.directory)
    for node_id, directories in by_node.items():
        is_known = registered_ids(image, node_id) and formatted_anew(image, node_id, directories)
        if is_known and not unread_ids(image, node_id, directories):
            yield node_id
