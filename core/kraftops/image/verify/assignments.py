"""Comparison of a node's log directories with the partitions that the metadata assigns to it.

The rules are those of Kafka's `LogManager.isStrayReplica` and of KIP-858: at its start a broker
renames strays, and creates missing partitions again. It keeps a partition in another directory than
the assigned one, and tells the controller.
"""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from types import MappingProxyType

from kraftops.display.sizes import NAMES_IN_LINE, first_names, many, named
from kraftops.engine.metadata_state import PartitionKey, PartitionState
from kraftops.errors import KraftopsError, SourceError
from kraftops.fileio.mounts import is_file
from kraftops.fileio.reading import is_forbidden, lost_target
from kraftops.findings.aside import aside_cure
from kraftops.findings.finding import Evidence, Finding, Place, Severity, Stake, note_finding
from kraftops.image.load.loading import load_node_log
from kraftops.image.state.findings import LATE_START
from kraftops.image.state.image import MetadataImage
from kraftops.image.verify.beside import (
    MISSING_PARTITION,
    PUT_BACK,
    renamed_directories,
    with_directory,
)
from kraftops.image.verify.directories import (
    NO_STRAYS,
    NO_TOPIC_ID,
    SET_ASIDE,
    UNKNOWN_PARTITION,
    UNKNOWN_TOPIC,
    DirectoryOwner,
    formatted_anew,
    misplaced_finding,
    misplacement,
    registered_ids,
    unread_findings,
    unread_ids,
)
from kraftops.log.files import METADATA_PARTITION
from kraftops.server.loader.load_plan import FolderKind
from kraftops.server.log_directory import LogDirectory, PartitionDirectory
from kraftops.server.partition_data import partition_data_of, segment_end
from kraftops.server.partition_files import TOPIC_ID, partition_files, topic_id_of
from kraftops.storage.logdirs.node import Node
from kraftops.storage.logdirs.proposals import write_command
from kraftops.storage.verify.formatting import UNLESS_NEWER, FormatEvidence, common_cluster_id
from kraftops.storage.verify.metadata_start import lone_log_findings
from kraftops.uuids import is_reserved, to_text

_OF_LATER_RECORDS = (UNKNOWN_TOPIC, UNKNOWN_PARTITION)


def newest_images(nodes: Sequence[Node]) -> dict[str | None, MetadataImage]:
    """Return the newest metadata of each cluster, by the cluster ids of the nodes.

    Logs that cannot be read, or begin late, are left out.
    """
    images: dict[str | None, MetadataImage] = {}
    for node in sorted(nodes, key=lambda node: node.content.rank, reverse=True):
        if node.cluster_id not in images and (image := image_of(node)):
            images[node.cluster_id] = image
    return images


def image_of(node: Node) -> MetadataImage | None:
    """Return the metadata in the log of a node; None if it has none that is whole."""
    return image_in(node.metadata.path) if node.log.is_used else None


def image_in(directory: str) -> MetadataImage | None:
    """Return the metadata in a log directory; None if it has none that is whole."""
    try:
        image = load_node_log(os.path.join(directory, METADATA_PARTITION))
    except KraftopsError:
        return None  # verify tells why from the log itself
    return image if is_whole(image) else None


def is_whole(image: MetadataImage) -> bool:
    """Tell whether a log begins at offset 0 or with a snapshot, so that no state is missing."""
    return all(finding.code != LATE_START for finding in image.log_findings)


def replicas_on(
    node_id: int, image: MetadataImage
) -> Iterator[tuple[PartitionKey, PartitionState]]:
    """Yield topic id, number and state of the partitions that have a replica on a broker.

    Raises:
        KraftopsError: a source of the image can no longer be read.
    """
    topics = image.fold.replica_counts().get(node_id, {})
    keys = [(topic_id, number) for topic_id in topics for number in image.fold.numbers(topic_id)]
    for key, state in zip(keys, image.fold.states(keys), strict=True):
        if state and node_id in state.replicas:
            yield key, state


def assignment_findings(
    node: Node, image: MetadataImage, nodes: Sequence[Node] = (), *, is_copy: bool = False
) -> Iterator[Finding]:
    """Yield the partitions of a broker that are not where the metadata has them.

    One of the other *nodes* may have a directory of it. Where the node *is_copy*, some of its
    directories may not have been given: a partition that may be in one of those is not missing, and
    a finding names them. If its own metadata log has lost its end, partitions of the lost records
    are not judged: the broker fetches those from the controllers before it loads partitions
    (`BrokerServer.startup`, 4.3.1).

    Raises:
        KraftopsError: a directory, or a source of the image, can no longer be read.
    """
    unread = unread_ids(image, node.config.node_id, node.directories) if is_copy else set[bytes]()
    yield from unread_findings({node.config.node_id: unread} if unread else {})
    findings = [*_assignment_findings(node, image, nodes, unread)]
    unknown = [finding for finding in findings if finding.code in _OF_LATER_RECORDS]
    if unknown and not node.is_controller and image.offset < (node.content.end_offset or 0):
        folder = os.path.join(node.metadata.path, METADATA_PARTITION)
        with suppress(OSError, SourceError):
            if cuts := [*lone_log_findings(folder)]:
                yield note_finding(
                    "metadata-log-lost",
                    f"{many(len(unknown), 'partition')} cannot be judged by its own metadata log,"
                    f" which ends at offset {image.offset + 1}: {cuts[0].text}",
                    node.metadata.place,
                    "name the configuration or the log of a controller, too; the broker fetches the"
                    " rest before it loads partitions",
                )
                findings = [finding for finding in findings if finding not in unknown]
    yield from findings


def _assignment_findings(
    node: Node, image: MetadataImage, nodes: Sequence[Node], unread: Collection[bytes]
) -> Iterator[Finding]:
    directories = node.data_directories
    present: set[PartitionKey] = set()
    remains: dict[tuple[str | None, int | None], PartitionDirectory] = {}
    names = {name for directory in directories for name in directory.folder.directories}
    for directory in directories:
        for partition in directory.partitions():
            # A directory without its topic id belongs to the topic of its name.
            noted_id = partition.topic_id
            topic_id = noted_id or image.topic_ids.get(partition.topic)
            owner = DirectoryOwner(
                node.config.node_id, directory.meta.directory_id if directory.meta else None
            )
            # Under another topic's name, a broker loads it, and makes an empty one beside it.
            topic = image.topics.get(topic_id) if topic_id else None
            is_lost = (
                topic is not None
                and topic.name != partition.topic
                and f"{topic.name}-{partition.number}" not in names
            )
            is_here = not partition.is_renamed or _is_taken(partition, image, owner)
            is_unnamed = noted_id is None and not partition.is_renamed
            if is_unnamed and not is_forbidden(partition.path) and is_short(partition, directory):
                remains[partition.topic, partition.number] = partition
                is_here = topic_id is None
            if topic_id and is_here and not is_lost:
                present.add((topic_id, partition.number))
            if noted_id is None and is_forbidden(os.path.join(partition.path, TOPIC_ID)):
                continue  # the loading tells it
            misplaced = misplacement(image, owner, partition)
            if misplaced is None or misplaced.code == SET_ASIDE:
                continue
            if not (partition.is_renamed and misplaced.code in NO_STRAYS):
                path = directory.java_path
                finding = misplaced_finding(node.config.node_id, path, partition, misplaced)
                if is_here:
                    yield with_known_id(finding, image, directory, directories)
    own_id = node.config.node_id
    missing = {
        key: state
        for key, state in replicas_on(own_id, image)
        if key not in present
        and not _may_be_in(unread, state.directories[state.replicas.index(own_id)])
    }
    elsewhere = _paths([directory for other in nodes for directory in other.directories])
    for finding in missing_findings(own_id, node.directories, image, missing, elsewhere):
        rest = remains.get((finding.place.topic, finding.place.partition))
        yield _with_remains(finding, rest) if rest else finding


def _may_be_in(unread: Collection[bytes], assigned: bytes) -> bool:
    return assigned in unread or (bool(unread) and is_reserved(assigned))


def _is_taken(partition: PartitionDirectory, image: MetadataImage, owner: DirectoryOwner) -> bool:
    """Tell whether a broker takes the copy of a move that was not finished as the partition's own.

    It does so in the directory that the metadata has for it (`recoverAbandonedFutureLogs` of
    `LogManager`, seen with 4.3.1), whether the other copy is there or not.
    """
    is_future = partition.kind is FolderKind.FUTURE
    return is_future and misplacement(image, owner, partition) is None


def missing_findings(
    node_id: int,
    directories: Sequence[LogDirectory],
    image: MetadataImage,
    missing: Mapping[PartitionKey, PartitionState],
    elsewhere: Mapping[bytes, str] = MappingProxyType({}),
) -> Iterator[Finding]:
    """Yield findings about partitions that a broker lacks; of those in sync, with their directory.

    *directories* are those of the broker, *elsewhere* has the paths of those of all nodes by id.
    """
    readable = [directory for directory in directories if directory.is_readable]
    failed = [
        directory.java_path
        for directory in directories
        if not directory.is_metadata and directory.exists and not directory.is_readable
    ]
    own = _paths(readable)
    reformatted = [
        directory.java_path
        for directory in formatted_anew(image, node_id, readable)
        if directory.meta and registered_ids(image, node_id)
    ]
    beside = renamed_directories(readable, image, missing)
    for (topic_id, number), state in missing.items():
        assigned = state.directories[state.replicas.index(node_id)]
        path, topic = own.get(assigned, ""), image.topics[topic_id].name
        place = Place(
            node=node_id,
            directory=path or None,
            topic=topic,
            partition=number,
            file=os.path.join(path, f"{topic}-{number}"),
        )
        other = "" if path else elsewhere.get(assigned, "")
        finding = _missing_partition(place, _where(assigned, path, other, reformatted), state)
        if path and topic_id_of(os.path.join(path, f"{topic}-{number}")):
            reason = "it is missing: what is there has another topic id"
            finding = replace(finding, text=finding.text.replace("it is missing", reason, 1))
        if other:
            finding = replace(finding, cure=f"put {other} into log.dirs of broker {node_id} again")
        finding = _with_obstacle(_with_failed_directories(finding, failed, state))
        yield with_directory(finding, beside.get((topic_id, number)))


def _paths(directories: Iterable[LogDirectory]) -> dict[bytes, str]:
    return {
        directory.meta.directory_id: directory.java_path
        for directory in directories
        if directory.meta and directory.meta.directory_id
    }


def is_short(partition: PartitionDirectory, directory: LogDirectory) -> bool:
    """Tell whether the directory of a partition was not copied whole, or has lost segments."""
    files = partition_files(partition.path)
    if not (directory.has_segments and files.segments):
        return directory.has_segments
    return segment_end(files, files.segments[-1]) < directory.noted_end(files)


def _with_remains(finding: Finding, partition: PartitionDirectory) -> Finding:
    """Add that a missing partition still has a directory, which must not be used as it is.

    With a topic id a broker would take it for the replica in sync, and others be cut to it.
    """
    data = partition_data_of(partition.path)
    rest = f"{partition.path} has no topic id, and not all that it had ({data})"
    return replace(finding, text=f"{finding.text}; {rest}: it is set aside as a stray")


def with_known_id(
    finding: Finding,
    image: MetadataImage,
    directory: LogDirectory,
    directories: Sequence[LogDirectory],
) -> Finding:
    """Return a finding, of a partition without topic id with the one that its name should have.

    One that is short gets none. Where another directory has the partition, too, the broker would
    not start with both: that with more records is kept, of equal ones that with a topic id.
    """
    place = finding.place
    topic_id = image.topic_ids.get(place.topic or "")
    if finding.code != NO_TOPIC_ID or topic_id is None or place.partition is None:
        return finding
    state = image.partition(topic_id, place.partition)
    if state is None or place.node not in state.replicas:
        return finding
    partition = PartitionDirectory(
        place.path, place.topic or "", place.partition, FolderKind.CURRENT
    )
    if is_short(partition, directory):
        text = f"{finding.text}, and it no longer has all that it had"
        return replace(finding, text=text, cure=f"leave it, and {PUT_BACK}")
    lines = "version: 0", f"topic_id: {to_text(topic_id)}"
    cure = f"write its partition.metadata of two lines: {' and '.join(lines)}"
    command = write_command(os.path.join(place.path, TOPIC_ID), lines)
    copies = [
        (partition_data_of(partition.path).records or 0, bool(partition.topic_id), other)
        for other in directories
        for partition in other.partitions()
        if (partition.topic, partition.number) == (place.topic, place.partition)
        and not partition.is_renamed
        and partition.topic_id in (None, topic_id)
    ]
    best = max(copies, key=lambda copy: copy[:2])[2]  # the first of equal ones
    if best is not directory:
        text = (
            f"leave it: the broker sets it aside, and {best.java_path} has no fewer records of it"
        )
        return replace(finding, severity=Severity.NOTE, cure=text)
    others = [other.java_path for *_, other in copies if other is not directory]
    asides = [aside_cure("", other, place.partition_name) for other in others]
    if others:
        reasons = "".join(aside.text for aside in asides)
        cure = f"move its other directory away, which has no more records, and {cure}{reasons}"
    commands = [command for aside in asides for command in aside.commands]
    return replace(
        finding,
        cure=cure,
        commands=(" && ".join([*commands, command]),) if len(commands) == len(others) else (),
        evidence=tuple(
            Evidence(os.path.join(other, place.partition_name), "it has no more records")
            for other in others
        ),
    )


def _where(assigned: bytes, path: str, other: str, reformatted: Sequence[str]) -> str:
    """Return where the metadata has a partition: in *path*, or in the directory of an *other*.

    A *reformatted* directory may be on the disk that had the assigned one.
    """
    if is_reserved(assigned):
        return "on this node"
    if path:
        return "here"
    what = other or "none of this node's"
    if reformatted and not other:
        be = "was" if len(reformatted) == 1 else "were"
        what += f" ({' and '.join(reformatted)} {be} reformatted)"
    return f"in directory {to_text(assigned)}, which is {what}"


def _missing_partition(place: Place, where: str, partition: PartitionState) -> Finding:
    problem = f"it is missing, and the metadata has it {where}"
    holders = _holders(partition)
    if place.node not in holders:
        problem += f"; the broker fetches it from {named('broker', holders)}"
        return note_finding(MISSING_PARTITION, problem, place, "leave it")
    others = _other_holders(partition, place.node)
    problem += ", in sync" if place.node in partition.isr else ", eligible to lead"
    problem += ": the broker makes an empty one"
    cure = PUT_BACK
    if others:
        problem += f", and may lead the copies on {named('broker', others)}"
        cure += f"; or start {named('broker', others)} first{UNLESS_NEWER} and wait until it leads"
    return Finding(MISSING_PARTITION, Severity.LOSS, problem, place, cure)


def _with_failed_directories(
    finding: Finding, failed: Sequence[str], partition: PartitionState
) -> Finding:
    """Return a finding about a missing partition of a broker that starts without some directories.

    Beside a directory that is offline, no log is made but of a new partition: it may be in there
    (`LogManager.getOrCreateLog`, 4.3.1).
    """
    if not failed:
        return finding
    others = _other_holders(partition, finding.place.node)
    leads = f"{named('broker', others)} can lead it" if others else "it has no leader until then"
    severity = Severity.RISK if others else Severity.STOPS
    return replace(
        finding,
        severity=finding.severity if finding.severity is Severity.NOTE else severity,
        text=f"it is missing, and may be in {' or '.join(failed)}, without which the broker starts:"
        f" it makes no empty one, and {leads}",
        cure="restore that directory",
    )


def _with_obstacle(finding: Finding) -> Finding:
    """Return a finding about a missing partition, with what is in place of its directory.

    A broker that cannot make it there takes the log directory offline
    (`LogManager.createLogDirectory`, 4.3.1).
    """
    path = finding.place.path
    if not finding.place.directory or not finding.is_severe:
        return finding
    if target := lost_target(path):
        return replace(
            finding,
            severity=Severity.STOPS,
            text=f"it is a symbolic link to {target}, where nothing is: the log directory goes"
            " offline when the broker makes the partition",
            cure="mount the disk of its directory; without the link, the broker makes an empty one",
        )
    if is_file(path):
        text = f"{finding.text} once the file in its place is gone"
        return replace(finding, text=text)
    return finding


def _other_holders(partition: PartitionState, own: int | None) -> list[int]:
    return [broker for broker in _holders(partition) if broker != own]


def _holders(partition: PartitionState) -> Sequence[int]:
    """Return the brokers that may lead a partition; where there is none, all replicas."""
    return possible_leaders(partition) or partition.replicas


def possible_leaders(state: PartitionState) -> tuple[int, ...]:
    """Return the brokers that may lead a partition after all of them were started.

    Which member of an ISR leads depends on the order in which they are fenced and start, and a
    member of the ELR leads where those of the ISR were fenced or stopped uncleanly (KIP-966,
    `PartitionChangeBuilder`).
    """
    return tuple(
        dict.fromkeys((*state.isr, *state.eligible_leader_replicas) or state.last_known_elr)
    )


def format_evidence(
    nodes: Sequence[Node], images: Mapping[str | None, MetadataImage]
) -> FormatEvidence:
    """Return what the given nodes, and the newest metadata, tell about those without a format.

    Raises:
        KraftopsError: a directory, or a source of an image, can no longer be read.
    """
    in_sync: dict[int, dict[str, list[int]]] = {}
    for node in nodes:
        image = image_for(node, images, nodes)
        if node.is_broker and image and not all(directory.meta for directory in node.directories):
            lost = in_sync.setdefault(node.config.node_id, {})
            for finding in assignment_findings(node, image, nodes):
                if finding.code == MISSING_PARTITION and finding.severity is not Severity.NOTE:
                    place = finding.place
                    lost[place.partition_name] = _others_in_sync(image, place)
    return FormatEvidence(nodes, in_sync)


def _others_in_sync(image: MetadataImage, place: Place) -> list[int]:
    assert place.topic is not None
    assert place.partition is not None
    state = image.partition(image.topic_ids[place.topic], place.partition)
    return _other_holders(state, place.node) if state else []


def image_for(
    node: Node, images: Mapping[str | None, MetadataImage], nodes: Sequence[Node]
) -> MetadataImage | None:
    """Return the newest metadata of a node's cluster.

    That of most nodes, if it has no id, and no other directory is given as that of the node.
    """
    own_id, cluster_id = node.config.node_id, node.cluster_id
    if cluster_id is None and all(
        other.config.node_id != own_id for other in nodes if other.cluster_id
    ):
        cluster_id = common_cluster_id(nodes)
    return images.get(cluster_id)


def lost_text(findings: Sequence[Finding]) -> str:
    names = [finding.place.partition_name for finding in findings]
    stakes = [finding.stake for finding in findings if finding.stake]
    lost = Stake(sum(stake.records or 0 for stake in stakes), sum(stake.bytes for stake in stakes))
    return f"{first_names(names, NAMES_IN_LINE)} ({lost})"
