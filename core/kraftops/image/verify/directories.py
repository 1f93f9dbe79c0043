"""Checks of partition directories on disk against the metadata (KIP-631's stray partitions).

The rules are those of Kafka's `LogManager.isStrayReplica` and of KIP-858.
"""

import errno
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from kraftops.display.sizes import named
from kraftops.engine.metadata_state import EntryKey, PartitionState
from kraftops.errors import SourceError
from kraftops.findings.finding import Evidence, Finding, Place, Severity
from kraftops.image.state.image import MetadataImage
from kraftops.image.verify.verify import place_of
from kraftops.server.loader.load_plan import FolderKind
from kraftops.server.log_directory import LogDirectory, PartitionDirectory, read_log_directory
from kraftops.server.partition_data import partition_data_of
from kraftops.uuids import is_reserved, to_text

_SET_ASIDE = {
    FolderKind.STRAY: "already set aside as a stray",
    FolderKind.DELETED: "about to be deleted",
}


class DirectoryOwner(NamedTuple):
    """The node of a log directory and, if known, the id of the directory."""

    node_id: int
    directory_id: bytes | None


class Misplacement(NamedTuple):
    """Reason why a partition does not belong into its directory, with a code that stays the same.

    *entry* is the entry of the state that says so, where there is one.
    """

    code: str
    reason: str
    entry: EntryKey | None = None


OTHER_BROKER, OTHER_DIRECTORY, OTHER_NAME = "other-broker", "other-directory", "other-name"
SET_ASIDE, NO_TOPIC_ID = "set-aside", "no-topic-id"
UNKNOWN_TOPIC, UNKNOWN_PARTITION = "unknown-topic", "unknown-partition"
NOT_GIVEN = "brokers-not-given"
NO_STRAYS = (OTHER_DIRECTORY, OTHER_NAME)
"""Codes of partitions that no broker sets aside."""
_KEPT = (SET_ASIDE, OTHER_DIRECTORY)
_COPY = "copy it if you need the records"
_CURES = {
    OTHER_DIRECTORY: "leave it: the broker tells the controller where it is",
    OTHER_NAME: "rename it to that of the topic; if another has that name, exchange their names",
    OTHER_BROKER: "move it to a replica, with the broker stopped, or copy it",
    SET_ASIDE: "remove it if you do not need the records",
}


def stray_findings(image: MetadataImage, directories: Sequence[str]) -> Iterator[Finding]:
    """Yield the partitions in log directories that do not belong there.

    Args:
        image: the metadata.
        directories: log directories of one node or several, each with a meta.properties.

    Raises:
        SourceError: a directory cannot be read, or is not a log directory.
    """
    for path in directories:
        owner = owner_of(path)
        for partition in read_log_directory(path).partitions():
            if misplaced := misplacement(image, owner, partition):
                place = place_of(image, misplaced.entry) if misplaced.entry else Place()
                finding = misplaced_finding(owner.node_id, path, partition, misplaced)
                yield finding.moved(offset=place.offset, address=place.address)


def registered_ids(image: MetadataImage, node_id: int) -> set[bytes]:
    """Return the ids of the log directories with which a broker registered last."""
    broker = image.brokers.get(node_id)
    return set(image.broker_state(broker, whole=False)["logDirs"]) if broker else set()


def formatted_anew(
    image: MetadataImage, node_id: int, directories: Iterable[LogDirectory]
) -> list[LogDirectory]:
    """Return the data directories of a broker whose ids it has not registered."""
    registered = registered_ids(image, node_id)
    return [
        directory
        for directory in directories
        # One for the metadata log alone is never registered.
        if not directory.has_metadata_alone
        and (directory.meta.directory_id if directory.meta else None) not in registered
    ]


def unread_ids(
    image: MetadataImage, node_id: int, directories: Sequence[LogDirectory]
) -> set[bytes]:
    """Return the ids of registered log directories of a broker that are not among those given.

    A reformatted directory takes the place of another.
    """
    present = {directory.meta.directory_id for directory in directories if directory.meta}
    unread = registered_ids(image, node_id) - present
    is_replaced = len(formatted_anew(image, node_id, directories)) >= len(unread)
    return set() if is_replaced else unread


def unread_findings(unread: Mapping[int, Collection[bytes]]) -> Iterator[Finding]:
    """Yield a finding if not all log directories of brokers were given: their ids, by broker."""
    if unread:
        count = sum(map(len, unread.values()))
        have = "has" if count == 1 else "have"
        yield Finding(
            NOT_GIVEN,
            Severity.RISK,
            f"{count} of the log directories of {named('broker', [*unread])} {have} not been read",
            cure="give them, too, or the directory that holds all of a node",
            evidence=tuple(
                Evidence(f"broker {broker}", f"directory.id {to_text(directory_id)}")
                for broker, ids in unread.items()
                for directory_id in sorted(ids)
            ),
            consequence="records that only they have would be cut, and are not counted here",
        )


def misplaced_finding(
    node_id: int, directory: str, partition: PartitionDirectory, misplaced: Misplacement
) -> Finding:
    """Return a finding: the partition does not belong in a log directory; with what is at stake."""
    data = partition_data_of(partition.path)
    problem, cure = f"{misplaced.reason} ({data})", _CURES.get(misplaced.code, _COPY)
    if misplaced.code == UNKNOWN_TOPIC and misplaced.entry:
        cure += "; if they equal those of its other replicas, correct the id in partition.metadata"
    if misplaced.code not in (SET_ASIDE, *NO_STRAYS):
        problem += "; a broker sets it aside as a stray"
    is_loss = misplaced.code not in _KEPT and bool(data.bytes or data.records is None)
    severity = Severity.LOSS if is_loss else Severity.NOTE
    place = place_of_partition(directory, partition, node_id)
    return Finding(misplaced.code, severity, problem, place, cure, stake=data)


def partition_loss(
    code: str, text: str, directory: str, partition: PartitionDirectory, cure: str
) -> Finding:
    """Return a finding of severity loss that counts the records and bytes of a partition."""
    place = place_of_partition(directory, partition)
    stake = partition_data_of(partition.path)
    return Finding(code, Severity.LOSS, text, place, cure, stake=stake)


def place_of_partition(
    directory: str, partition: PartitionDirectory, node_id: int | None = None
) -> Place:
    path = os.path.join(directory, os.path.basename(partition.path))
    return Place(
        node=node_id,
        directory=directory,
        topic=partition.topic,
        partition=partition.number,
        file=path,
    )


def owner_of(directory: str) -> DirectoryOwner:
    """Return the identity of a log directory.

    Raises:
        SourceError: it has no meta.properties with a node id.
    """
    log_directory = read_log_directory(directory)
    meta, path = log_directory.meta, log_directory.meta_path
    if meta is None:
        raise SourceError(
            f"cannot read {path}: {log_directory.problem or os.strerror(errno.ENOENT)}"
        )
    if meta.node_id is None:
        raise SourceError(f"{path} has no node id")
    return DirectoryOwner(meta.node_id, meta.directory_id)


def is_misnamed(image: MetadataImage, name: str, topic_id: bytes | None) -> bool:
    """Tell whether a directory's name and its topic id are of different topics."""
    topic = image.topics.get(topic_id) if topic_id else None
    return topic is not None and topic.name != name


def misplacement(
    image: MetadataImage, owner: DirectoryOwner, partition: PartitionDirectory
) -> Misplacement | None:
    """Return why a partition does not belong into its directory; None if it does.

    Raises:
        KraftopsError: a source of the image can no longer be read.
    """
    if partition.kind in _SET_ASIDE:
        return Misplacement(SET_ASIDE, _SET_ASIDE[partition.kind])
    topic_id = partition.topic_id
    if topic_id is None:
        return Misplacement(NO_TOPIC_ID, "it has no topic id")
    topic = image.topics.get(topic_id)
    if topic is None:
        return _unknown(image, partition.topic, topic_id)
    entry = EntryKey("topics", (topic_id,))
    if is_misnamed(image, partition.topic, topic_id):
        reason = f"its topic id {to_text(topic_id)} is that of {topic.name}"
        return Misplacement(OTHER_NAME, reason, entry)
    state = image.partition(topic_id, partition.number)
    if state is None:
        reason = f"the topic {topic.name} has no partition {partition.number}"
        return Misplacement(UNKNOWN_PARTITION, reason, entry)
    entry = EntryKey("partitions", (topic_id, partition.number))
    return _misplaced(state, topic.name, owner, entry)


def _unknown(image: MetadataImage, name: str, topic_id: bytes) -> Misplacement:
    newer = image.topic_ids.get(name)
    text = to_text(topic_id)
    if newer is None:
        return Misplacement(UNKNOWN_TOPIC, f"there is no topic {name} with the id {text}")
    reason = f"topic {name} has another id now: {to_text(newer)}, not {text}"
    return Misplacement(UNKNOWN_TOPIC, reason, EntryKey("topics", (newer,)))


def _misplaced(
    state: PartitionState, topic_name: str, owner: DirectoryOwner, entry: EntryKey
) -> Misplacement | None:
    node_id, replicas = owner.node_id, state.replicas
    if node_id not in replicas:
        reason = f"node {node_id} is not among the replicas {replicas} of {topic_name}"
        return Misplacement(OTHER_BROKER, reason, entry)
    assigned = state.directories[replicas.index(node_id)]
    if is_reserved(assigned) or owner.directory_id in (None, assigned):
        return None
    reason = f"it is assigned to directory {to_text(assigned)}, not to this one"
    return Misplacement(OTHER_DIRECTORY, reason, entry)
