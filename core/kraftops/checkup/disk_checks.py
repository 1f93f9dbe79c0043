"""Checks of what lies on disks: start, copies, metadata, room, retention, transactions."""

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

from kraftops.checkup.examination import SILENT_SECONDS, UNKNOWN_NODE, Examination, is_packed
from kraftops.checkup.identities import copy_finding, misnumbered, rival_servers
from kraftops.disk.retention import (
    Reason,
    RetentionState,
    open_transactions,
    read_retention,
    reasons,
)
from kraftops.disk.settings import TopicSettings, topic_settings
from kraftops.disk.usage import DirectoryUsage, Replica, told_usage
from kraftops.display.sizes import size_text
from kraftops.display.times import iso_time
from kraftops.dump.check.directories import CheckRequest, check_directories
from kraftops.errors import KraftopsError, SourceError
from kraftops.findings.catalogue import usual_finding, with_cure
from kraftops.findings.finding import BAD_ARCHIVE, Evidence, Finding, Place, Severity
from kraftops.image.state.image import MetadataImage
from kraftops.image.verify.assignments import assignment_findings, format_evidence, image_for
from kraftops.image.verify.identity import copied_file
from kraftops.image.verify.loading import (
    NOT_FORETOLD,
    Allowance,
    loading_findings,
    with_only_replicas,
)
from kraftops.image.verify.nodes import assumed_release
from kraftops.image.verify.nodes import release_findings as target_findings
from kraftops.image.verify.older_disks import older_disks
from kraftops.image.verify.verify import verify
from kraftops.log.files import METADATA_PARTITION
from kraftops.reassign.disks import disks_of
from kraftops.server.loader.load_plan import FolderKind
from kraftops.server.log_directory import SHOWS_NOTHING, LogDirectory
from kraftops.server.partition_files import partition_files
from kraftops.storage.bootstrap.releases import METADATA_VERSION, by_level
from kraftops.storage.logdirs import inspector
from kraftops.storage.logdirs.node import Node, directory_owners
from kraftops.storage.verify.cluster import verify_cluster
from kraftops.storage.verify.metadata_start import lone_log_findings, lost_by_all
from kraftops.storage.verify.quorum import quorum_state_findings
from kraftops.storage.verify.rival_quorums import rival_findings
from kraftops.storage.verify.start import verify_node, with_cluster_ids
from kraftops.storage.verify.voter_logs import voter_log_findings

LIGHT_BYTES = 40 << 20
"""Bytes of unflushed segments that a light examination reads; all of it may read 50 MB."""
_LEAST_FREE = 0.05
"""Of a volume: below that, a burst of writes or a reassignment fills it before anyone looks."""
_FULL = 0.01
"""Of a volume: a write fails at any moment."""
_DAYS_LEFT = 7.0
"""A week is what it takes to get disks, or to agree on less retention."""
_OVERDUE_MS = 3_600_000
"""Twelve checks of `log.retention.check.interval.ms`: then retention does not work."""
_NO_ADDRESS = ("", 0)
_LOWER_LOG = frozenset({"behind", "rival-history"})
_OWN_STATE = frozenset({"running"})
"""Findings of `verify` that are right for a server that is to start, and usual of one that runs."""


def configurations(examination: Examination) -> Iterator[Finding]:
    """Yield the configurations that Kafka refuses."""
    yield from examination.loaded[1]


def directories(examination: Examination) -> Iterator[Finding]:
    """Yield the log directories that do not answer, or copy another one.

    Raises:
        SourceError: a directory that is named is not a log directory, or an archive is damaged.
    """
    if examination.foreign:
        names = ", ".join(examination.foreign)
        are = (
            "is not a log directory" if len(examination.foreign) == 1 else "are not log directories"
        )
        raise SourceError(
            f"{names} {are}: {SHOWS_NOTHING}; kraftops dump-log check reads single partitions"
        )
    for path in examination.silent:
        text = f"it cannot be listed within {SILENT_SECONDS:.0f} seconds"
        place = Place(directory=path)
        yield usual_finding("directory-silent", f"{text}: nothing else is read of its node", place)
    for copy in examination.duplicates:
        meta = copy.directory.meta
        image = examination.images.get(meta.cluster_id if meta else None)
        yield copied_file(copy.directory, image) or copy_finding(copy)
    for archive in sorted(examination.damaged_archives):
        text = "the archive is damaged: what is in it need not be what is on the disks"
        yield with_cure(Finding(BAD_ARCHIVE, Severity.RISK, text, Place(file=archive)), "")
    if examination.damaged_archives:
        names = ", ".join(sorted(examination.damaged_archives))
        raise SourceError(f"{names}: the archive is damaged, and what it lacks is unknown")


def start(examination: Examination) -> Iterator[Finding]:
    """Yield what keeps nodes from starting with all their data."""
    running = tuple(
        f"{directory.java_path}/"
        for node in examination.nodes
        if examination.is_running(node)
        for directory in node.directories
    )
    for finding in (
        *lost_by_all(_logs(examination), examination.nodes),
        *_starts(examination),
    ):
        # What the commands of a shell change is a server's as long as it runs.
        is_in_use = f"{finding.place.path}/".startswith(running) and "stopped" not in finding.cure
        changes = any(not command.startswith("k") for command in finding.commands)
        cure = f"stop the server; then {finding.cure}"
        yield replace(finding, cure=cure) if is_in_use and changes else finding


def _logs(examination: Examination) -> Iterator[Finding]:
    """Yield what a start makes of metadata logs and of checkpoints and markers."""
    packed = [node for node in examination.configured if is_packed(node)]
    evidence = format_evidence(examination.nodes, examination.images)
    for node, cluster_id in with_cluster_ids(examination.configured):
        if node in packed:
            continue
        is_running = examination.is_running(node)
        start_findings = verify_node(node, cluster_id, evidence)
        for finding in examination.identities.without_effects(node, start_findings):
            if not is_running or finding.code not in {*_OWN_STATE, "not-writable"}:
                yield finding
    yield from examination.identities.findings
    for node in (*packed, *examination.copied):
        yield from quorum_state_findings(node)
        if node in examination.named:
            owners = directory_owners(examination.nodes)
            for finding in inspector.findings(node.config, node.directories, owners):
                # Of a refused configuration, the id may be what is wrong: that comes first.
                if node.config.is_whole or finding.code != inspector.OTHER_NODE_ID:
                    yield finding
        else:
            yield from misnumbered(node)
        if not (examination.is_running(node) or is_packed(node)):
            # An archive may be of a server that ran, and its files of several moments.
            yield from _metadata_start(node)


def _metadata_start(node: Node) -> Iterator[Finding]:
    """Yield what a start makes of the metadata log of a node without a configuration."""
    folder = os.path.join(node.metadata.path, METADATA_PARTITION)
    voters = {voter.node_id for voter in node.voters}
    is_observer = bool(voters) and node.config.node_id not in voters
    if not os.path.isdir(folder):
        return
    with suppress(OSError, SourceError):  # what cannot be read, other checks tell
        for finding in lone_log_findings(folder):
            placed = finding.moved(node=node.config.node_id, directory=node.metadata_path)
            if is_observer and finding.severity is Severity.RISK:
                placed = replace(placed, severity=Severity.NOTE, consequence="")
            yield placed


def _starts(examination: Examination) -> Iterator[Finding]:
    left_bytes = LIGHT_BYTES
    # Those that were stopped cleanly hardly read anything, and leave it to the others.
    sharing = [node.is_broker and not _was_clean(node) for node in examination.nodes]
    for index, node in enumerate(examination.nodes):
        share = Allowance(left_bytes // max(sum(sharing[index:]), 1))
        left_bytes -= share.bytes
        for finding in _start_of(node, examination, share):
            # A server that runs has started, and after a clean stop the next start reads nothing.
            if finding.code != NOT_FORETOLD or not examination.is_running(node):
                yield finding
        left_bytes += share.bytes


def _start_of(node: Node, examination: Examination, allowance: Allowance) -> Iterator[Finding]:
    is_whole = node in examination.whole_nodes
    image = image_for(node, examination.images, examination.nodes)
    if node.config.node_id == UNKNOWN_NODE:
        image = None  # which partitions belong to it cannot be told
        if is_whole:
            yield _unidentified(node)
    assumed = assumed_release(node, image, examination.target)
    if node in examination.configured:
        yield from target_findings(node, assumed)
    if not (node.is_broker and examination.identities.is_sound(node)):
        return
    # Archives of a cluster that runs are of several moments.
    is_at_rest = not is_packed(node) or _was_clean(node)
    if image and is_at_rest and (is_whole or is_packed(node)):
        yield from older_disks(node, image)
    if is_whole and image:
        is_copy = examination.is_copy(node)
        yield from assignment_findings(node, image, examination.nodes, is_copy=is_copy)
    if not (is_whole and examination.is_deep):
        release = assumed.newest.release.name
        yield from loading_findings(node, image, release, allowance, is_whole=is_whole)


def _was_clean(node: Node) -> bool:
    return all(directory.plan.was_clean for directory in node.data_directories)


def _unidentified(node: Node) -> Finding:
    return Finding(
        "not-formatted",
        Severity.NOTE if is_packed(node) else Severity.STOPS,
        "it has no meta.properties: its partitions are not compared with the metadata",
        Place(directory=node.config.path),
        "name the configuration of its node, or restore its meta.properties",
        ("kraftops doctor -c server.properties",),
    )


def partitions(examination: Examination) -> Iterator[Finding]:
    """Yield what is wrong with partitions; every byte is read (`--deep`)."""
    for node, directory in examination.directories:
        with suppress(KraftopsError):  # a directory without partitions
            request = CheckRequest([directory.path], budget=examination.budget)
            checks, common = check_directories(request)
            yield from common
            image = examination.images.get(node.cluster_id)
            for check in checks:
                yield from with_only_replicas(check.findings, image)


def one_cluster(examination: Examination) -> Iterator[Finding]:
    """Yield conflicts between nodes of one cluster, and metadata logs that diverge.

    Nodes of several clusters are each compared with those of their own.
    """
    for nodes in examination.clusters:
        configured = [node for node in examination.configured if node in nodes]
        if len(unexplained := examination.identities.unexplained(configured)) > 1:
            yield from verify_cluster(unexplained)
        if copied := [node for node in examination.copied if node in nodes]:
            yield from rival_servers(copied, configured)
            yield from rival_findings(nodes)
            stopped = [node for node in nodes if not examination.is_running(node)]
            yield from _lower_copies(copied, stopped)


def _lower_copies(copied: Sequence[Node], stopped: Sequence[Node]) -> Iterator[Finding]:
    """Yield the voters without a configuration whose logs lack committed records of others."""
    places = {node.metadata.place for node in copied}
    for finding in voter_log_findings([*map(_as_voter, stopped)]):
        if finding.code in _LOWER_LOG and finding.place in places:
            yield replace(finding, commands=())  # which need configurations


def _as_voter(node: Node) -> Node:
    """Give a node without a configuration the voters of its log, and its role by them."""
    config, ids = node.config, frozenset(voter.node_id for voter in node.voters)
    if not ids and not config.voters and node.log.is_used:
        ids = node.static_voters
        config = replace(config, voters=dict.fromkeys(ids, _NO_ADDRESS))
    if config.node_id in ids:
        config = replace(config, roles=config.roles | {"controller"})
    return replace(node, config=config)


def metadata(examination: Examination) -> Iterator[Finding]:
    """Yield what is wrong with the metadata, and features that are behind the release."""
    for image in examination.images.values():
        yield from verify(image)
    for node in examination.configured:
        newest = examination.images.get(node.cluster_id)
        if newest and newest.metadata_version:
            yield from _features_behind(examination, node, newest)


def _features_behind(
    examination: Examination, node: Node, image: MetadataImage
) -> Iterator[Finding]:
    assert image.metadata_version
    release = assumed_release(node, image, examination.target).newest.release
    _, newest = release.features[METADATA_VERSION]
    level, _ = image.metadata_version
    name = release.name
    if level < newest:
        names = [
            (known.name if (known := by_level(number)) else number) for number in (level, newest)
        ]
        yield usual_finding(
            "feature-behind",
            f"metadata.version is {names[0]}, and Kafka {name} has {names[1]}",
            Place(node=node.config.node_id),
            release=name,
        )


def room(examination: Examination) -> Iterator[Finding]:
    """Yield the disks that are nearly full, or will be."""
    for node, directory in examination.directories:
        if usage := examination.usage(node, directory):
            yield from _disk_full_soon(node.config.node_id, usage, (usage.path,))
    access = examination.answers
    if access and access.brokers:
        for broker, directories in disks_of(access, access.placement()).items():
            for usage in map(partial(told_usage, broker), directories):
                yield from _disk_full_soon(broker, usage, ("-b", "HOST:PORT"))


def _disk_full_soon(
    node_id: int, usage: DirectoryUsage, source: tuple[str, ...]
) -> Iterator[Finding]:
    """Yield the finding of a disk if it has too little room; `disk` takes its *source*."""
    volume, days = usage.volume, usage.days_left
    if volume.free is None or not volume.size:
        return
    share = volume.free / volume.size
    if share >= _LEAST_FREE and (days is None or days >= _DAYS_LEFT):
        return
    when = f": it is full in {days:.1f} days at the present rate" if days is not None else ""
    largest = max(usage.replicas, key=lambda replica: replica.space.total, default=None)
    evidence = [Evidence("log directory", f"{size_text(usage.space.total)} are in it")]
    if largest:
        evidence.append(
            Evidence(largest.path, f"the largest partition has {size_text(largest.space.total)}")
        )
    full = usual_finding(
        "disk-full-soon",
        f"{size_text(volume.free)} of {size_text(volume.size)} are free{when}",
        Place(node=node_id, directory=usage.path),
        source=source,
    )
    severity = Severity.STOPS if share < _FULL else full.severity
    yield replace(full, severity=severity, evidence=tuple(evidence))


def retention(examination: Examination) -> Iterator[Finding]:
    """Yield the partitions whose oldest segment should have gone long ago, by topic and reason."""
    for node, replica, directory, settings in _replicas(examination):
        if len(replica.segments) < 2 or "delete" not in settings.policies:
            continue
        limit = settings.retention_ms
        oldest = replica.segments[0]
        end = _end(examination, node, replica)
        if limit < 0 or end - oldest.modified <= limit + _OVERDUE_MS:
            continue
        with suppress(KraftopsError):
            state = read_retention(directory, replica.topic, replica.partition, settings, end)
            name = f"{replica.topic}-{replica.partition}"
            if stuck := _stuck(state):
                finding = usual_finding(
                    "retention-stuck",
                    f"{name}: {stuck.text}",
                    _place(node, replica),
                    directory=directory.path,
                    partition=name,
                )
                yield replace(finding, cure=stuck.cure or finding.cure)


def kept_from_retention(examination: Examination, finding: Finding) -> Finding:
    """Return a finding about records to keep; if retention deletes them, its cure says so."""
    place = finding.place
    for _, replica, directory, settings in _replicas(examination):
        if (replica.topic, replica.partition) != (place.topic, place.partition) or directory.holder:
            continue
        with suppress(KraftopsError):
            state = read_retention(
                directory, replica.topic, replica.partition, settings, examination.now
            )
            due = next((reason for reason in reasons(state) if reason.kind == "due"), None)
            if due:
                cure = (
                    f"{finding.cure}; before a start raise retention.ms of {place.topic}, or copy"
                    " its directories: a broker soon deletes what is due"
                )
                evidence = Evidence("retention", f"{place.partition_name}: {due.text}")
                return replace(finding, cure=cure, evidence=(*finding.evidence, evidence))
    return finding


def _place(node: Node, replica: Replica) -> Place:
    node_id, partition = node.config.node_id, replica.partition
    return Place(node_id, replica.directory, replica.topic, partition, replica.path)


def _stuck(state: RetentionState) -> Reason | None:
    """Return why segments stay that should have gone an hour ago; None if they need not."""
    oldest = state.segments[0]
    stated = {reason.kind: reason for reason in reasons(state)}
    for kind in ("future-timestamp", "high-watermark", "not-in-tier"):
        if kind in stated:
            return stated[kind]
    is_due = oldest.goes_at is not None and state.now - oldest.goes_at > _OVERDUE_MS
    return stated.get("due") if is_due and state.directory.holder else None


def transactions(examination: Examination) -> Iterator[Finding]:
    """Yield the transactions that are open for longer than any may be."""
    for node, replica, _, _ in _replicas(examination):
        end = _end(examination, node, replica)
        with suppress(KraftopsError):
            for transaction in open_transactions(partition_files(replica.path)):
                if not transaction.hangs(end):
                    continue
                yield usual_finding(
                    "hanging-transaction",
                    f"{replica.topic}-{replica.partition}: a transaction of producer"
                    f" {transaction.producer_id} has been open since {iso_time(transaction.time)}",
                    replace(_place(node, replica), offset=transaction.first_offset),
                    topic=replica.topic,
                    partition=replica.partition,
                    offset=transaction.first_offset,
                )


def _replicas(
    examination: Examination,
) -> Iterator[tuple[Node, Replica, LogDirectory, TopicSettings]]:
    """Yield partitions (neither stray nor moving, nor the metadata log) with their settings."""
    for node, directory in examination.directories:
        usage = examination.usage(node, directory)
        image = examination.images.get(node.cluster_id)
        config = node.config if node.config.given else None
        settings: dict[str, TopicSettings] = {}
        for replica in usage.replicas if usage else ():
            if replica.kind is not FolderKind.CURRENT or replica.topic.startswith("__cluster_"):
                continue
            if replica.topic not in settings:
                settings[replica.topic] = topic_settings(
                    replica.topic, node.config.node_id, image, config
                )
            yield node, replica, directory, settings[replica.topic]


def _end(examination: Examination, node: Node, replica: Replica) -> int:
    """Return the ms at which a replica is judged: now, or a stopped server's last write."""
    if examination.is_running(node) or not replica.segments:
        return examination.now
    return max(segment.modified for segment in replica.segments)
