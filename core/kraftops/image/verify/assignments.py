"""Comparison of a node's log directories with the partitions that the metadata assigns to it.

The rules are those of Kafka's `LogManager.isStrayReplica` and of KIP-858: at its start a broker
renames strays, and makes missing partitions anew. It keeps a partition in another directory than
the assigned one, and tells the controller.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from kraftops.engine.metadata_state import PartitionState
from kraftops.errors import KraftopsError
from kraftops.findings.finding import Finding, Place, Severity
from kraftops.image.load.loading import load
from kraftops.image.state.findings import LATE_START
from kraftops.image.state.image import MetadataImage
from kraftops.image.verify.directories import (
    NO_STRAYS,
    OTHER_BROKER,
    OTHER_DIRECTORY,
    OTHER_NAME,
    SET_ASIDE,
    DirectoryOwner,
    Misplacement,
    misplacement,
)
from kraftops.log.files import METADATA_PARTITION
from kraftops.server.log_directory import PartitionDirectory
from kraftops.server.partition_data import partition_data_of
from kraftops.storage.logdirs.inspector import OTHER_NODE_ID, DirectoryState
from kraftops.storage.logdirs.node import Node
from kraftops.uuids import is_reserved, to_text

MISSING = "missing-partition"


def newest_images(nodes: Sequence[Node]) -> dict[str | None, MetadataImage]:
    """Return the newest metadata of each cluster, by the cluster ids of the nodes.

    Logs that cannot be read, or begin late, are left out.
    """
    images: dict[str | None, MetadataImage] = {}
    for node in sorted(nodes, key=lambda each: each.content.rank, reverse=True):
        if node.cluster_id not in images and (image := image_of(node)):
            images[node.cluster_id] = image
    return images


def image_of(node: Node) -> MetadataImage | None:
    """Return the metadata in the log of a node; None if it has none that is whole."""
    if not node.log.is_used:
        return None
    try:
        image = load(os.path.join(node.metadata.directory.path, METADATA_PARTITION))
    except KraftopsError:
        return None  # verify tells why from the log itself
    begins_late = any(each.code == LATE_START for each in image.log_findings)
    return None if begins_late else image


def assignment_findings(node: Node, image: MetadataImage) -> Iterator[Finding]:
    """Yield the partitions of a broker that are not where the metadata has them.

    Raises:
        KraftopsError: a directory, or a source of the image, cannot be read any more.
    """
    states = [state for state in node.states if state.status and not state.problem]
    states = [state for state in states if state.directory.path in node.config.log_dirs]
    present: set[tuple[bytes, int]] = set()
    for state in states:
        for partition in state.directory.partitions():
            topic_id = partition.topic_id
            if topic_id and not partition.is_renamed:
                present.add((topic_id, partition.number))
            owner = DirectoryOwner(
                node.config.node_id, state.meta.directory_id if state.meta else None
            )
            found = misplacement(image, owner, partition)
            if found is None or found.code == SET_ASIDE:
                continue
            if not (partition.is_renamed and found.code in NO_STRAYS):
                yield misplaced_finding(node.config.node_id, state.path, partition, found)
    yield from _missing(node, image, states, present)


def misplaced_finding(
    node_id: int, directory: str, partition: PartitionDirectory, found: Misplacement
) -> Finding:
    """Return that a partition does not belong into a log directory, with what is at stake."""
    data = partition_data_of(partition.path)
    problem = f"{found.reason} ({data})"
    if found.code == OTHER_DIRECTORY:
        cure = "leave it: the broker tells the controller where it is"
    elif found.code == OTHER_NAME:
        cure = "give it its name again, if no other directory has it; no broker uses this one"
    else:
        problem += "; a broker sets it aside as a stray"
        cure = "copy it, if the records are wanted"
        if found.code == OTHER_BROKER:
            cure = "move it to a replica, with the broker stopped, or copy it"
    stops = found.code != OTHER_DIRECTORY and bool(data.bytes or data.records is None)
    return Finding(
        found.code,
        Severity.LOSS if stops else Severity.NOTE,
        problem,
        Place(
            node=node_id,
            directory=directory,
            topic=partition.topic,
            partition=partition.number,
            file=os.path.join(directory, os.path.basename(partition.path)),
        ),
        cure,
        stake=data,
    )


def _missing(
    node: Node,
    image: MetadataImage,
    states: Sequence[DirectoryState],
    present: set[tuple[bytes, int]],
) -> Iterator[Finding]:
    own = node.config.node_id
    paths = {state.meta.directory_id: state.path for state in states if state.meta}
    topics = image.fold.replica_counts().get(own, {})
    wanted = [(topic_id, number) for topic_id in topics for number in image.fold.numbers(topic_id)]
    for (topic_id, number), partition in zip(wanted, image.fold.states(wanted), strict=True):
        if partition and own in partition.replicas and (topic_id, number) not in present:
            topic = image.topics[topic_id].name
            yield _missing_partition(own, topic, number, partition, paths)


def _missing_partition(
    own: int,
    topic: str,
    number: int,
    partition: PartitionState,
    paths: Mapping[bytes | None, str],
) -> Finding:
    assigned = partition.directories[partition.replicas.index(own)]
    path = paths.get(assigned, "")
    where = "on this node" if is_reserved(assigned) else "here"
    if not path and not is_reserved(assigned):
        where = f"in directory {to_text(assigned)}, which is none of this node's"
    problem = f"it is missing: the metadata has it {where}"
    place = Place(own, path or None, topic, number, os.path.join(path, f"{topic}-{number}"))
    holders = _holders(partition)
    if own not in holders:
        problem += f"; the broker fetches it from the brokers {holders}"
        return Finding(MISSING, Severity.NOTE, problem, place, "leave it")
    others = [broker for broker in holders if broker != own]
    problem += ", in sync; the broker makes it anew and empty"
    cure = "put its directory back, or restore it from a copy"
    if others:
        problem += f", and may lead the other in-sync replicas {others}"
        cure += f"; or start the brokers {others} first"
    return Finding(MISSING, Severity.LOSS, problem, place, cure)


def _holders(partition: PartitionState) -> list[int]:
    """Return the brokers that may lead a partition; the last in sync has left the ISR for the ELR.

    The rules are those of KIP-966.
    """
    return (
        partition.isr
        or partition.eligible_leader_replicas
        or partition.last_known_elr
        or partition.replicas
    )


def without_wrong_rewrites(findings: Sequence[Finding]) -> list[Finding]:
    """Return findings, with no rewrite for directories that have partitions of other brokers."""
    return [_without_wrong_rewrite(finding, findings) for finding in findings]


def _without_wrong_rewrite(finding: Finding, findings: Sequence[Finding]) -> Finding:
    if finding.code != OTHER_NODE_ID:
        return finding
    strays = [
        each
        for each in findings
        if each.code == OTHER_BROKER and each.place.directory == finding.place.directory
    ]
    cure = f"take it out of log.dirs: the metadata has {lost_text(strays)} elsewhere"
    return replace(finding, cure=cure, commands=()) if strays else finding


def lost_text(findings: Sequence[Finding]) -> str:
    """Return the partitions of findings with the sums of their records and bytes."""
    names = [finding.place.partition_name for finding in findings]
    stakes = [finding.stake for finding in findings if finding.stake]
    shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    records = sum(stake.records or 0 for stake in stakes)
    return f"{shown} ({records} records, {sum(stake.bytes for stake in stakes)} bytes)"
