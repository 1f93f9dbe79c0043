"""Checks of partition directories on disk against the metadata (KIP-631's stray partitions).

The rules are those of Kafka's `LogManager.isStrayReplica` and of KIP-858.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from kraftops.engine.metadata_state import EntryKey, PartitionState
from kraftops.errors import DecodeError, SourceError
from kraftops.findings.finding import Finding, Place, Severity
from kraftops.image.state.image import MetadataImage
from kraftops.image.verify.verify import place_of
from kraftops.log.files import METADATA_PARTITION
from kraftops.server import meta_properties
from kraftops.server.meta_properties import read_meta
from kraftops.server.partition_files import topic_id_of
from kraftops.storage.verify.partitions import is_partition
from kraftops.uuids import is_reserved, to_text

_SUFFIXES = re.compile(r"(.+)-(\d+)(?:\.[0-9a-f]+-(delete|future|stray))?", re.DOTALL)
_SET_ASIDE = {"stray": "set aside as a stray already", "delete": "about to be deleted"}


class LogDirectory(NamedTuple):
    """A log directory by its node and, if known, its id."""

    node_id: int
    directory_id: bytes | None


class PartitionDirectory(NamedTuple):
    """A directory of a partition; one that is renamed has a *suffix*."""

    path: str
    topic_name: str
    number: int
    suffix: str | None


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
NO_STRAYS = (OTHER_DIRECTORY, OTHER_NAME)
"""Codes of partitions that no broker sets aside."""


def stray_findings(image: MetadataImage, directories: Sequence[str]) -> Iterator[Finding]:
    """Yield the partitions in log directories that do not belong there.

    Args:
        image: the metadata.
        directories: log directories of one node or several, each with a meta.properties.

    Raises:
        SourceError: a directory cannot be read, or is no log directory.
    """
    for path in directories:
        log_directory = log_directory_of(path)
        for partition in partition_directories(path):
            found = misplacement(image, log_directory, partition)
            if found is None:
                continue
            place = Place() if found.entry is None else place_of(image, found.entry)
            yield Finding(
                found.code,
                severity_of(found),
                found.reason,
                replace(
                    place,
                    directory=path,
                    topic=partition.topic_name,
                    partition=partition.number,
                    file=partition.path,
                    position=None,
                ),
                "a broker sets it aside; copy it first if it is wanted",
            )


def severity_of(misplaced: Misplacement) -> Severity:
    """Return what it means that a partition does not belong into its directory."""
    if misplaced.code in (SET_ASIDE, OTHER_DIRECTORY):
        return Severity.NOTE
    return Severity.LOSS


def log_directory_of(directory: str) -> LogDirectory:
    """Return the identity of a log directory.

    Raises:
        SourceError: it has no meta.properties with a node id.
    """
    path = os.path.join(directory, meta_properties.FILE_NAME)
    try:
        meta = read_meta(path)
    except OSError as error:
        raise SourceError.of(path, error) from None
    except DecodeError as error:
        raise SourceError(f"cannot read {path}: {error.message}") from None
    if meta.node_id is None:
        raise SourceError(f"{path} has no node id")
    return LogDirectory(meta.node_id, meta.directory_id)


def partition_directories(directory: str) -> Iterator[PartitionDirectory]:
    """Yield the partitions in a log directory, by name.

    Raises:
        SourceError: it cannot be read.
    """
    try:
        with os.scandir(directory) as entries:
            names = [entry.name for entry in entries if entry.is_dir()]
    except OSError as error:
        raise SourceError.of(directory, error) from None
    for name in sorted(names):
        match = _SUFFIXES.fullmatch(name)
        if match and name != METADATA_PARTITION and is_partition(name):
            path = os.path.join(directory, name)
            yield PartitionDirectory(path, match[1], int(match[2]), match[3])


def misplacement(
    image: MetadataImage, log_directory: LogDirectory, partition: PartitionDirectory
) -> Misplacement | None:
    """Return why a partition does not belong into its directory; None if it does.

    Raises:
        KraftopsError: a source of the image cannot be read any more.
    """
    if partition.suffix in _SET_ASIDE:
        return Misplacement(SET_ASIDE, _SET_ASIDE[partition.suffix])
    topic_id = topic_id_of(partition.path)
    if topic_id is None:
        return Misplacement(NO_TOPIC_ID, "it has no topic id")
    topic = image.topics.get(topic_id)
    if topic is None:
        return _unknown(image, partition.topic_name, topic_id)
    entry = EntryKey("topics", (topic_id,))
    if topic.name != partition.topic_name:
        reason = f"its topic id {to_text(topic_id)} is that of {topic.name}"
        return Misplacement(OTHER_NAME, reason, entry)
    state = image.partition(topic_id, partition.number)
    if state is None:
        reason = f"the topic {topic.name} has no partition {partition.number}"
        return Misplacement(UNKNOWN_PARTITION, reason, entry)
    entry = EntryKey("partitions", (topic_id, partition.number))
    return _misplaced(state, topic.name, log_directory, entry)


def _unknown(image: MetadataImage, name: str, topic_id: bytes) -> Misplacement:
    newer = image.topic_ids.get(name)
    text = to_text(topic_id)
    if newer is None:
        return Misplacement(UNKNOWN_TOPIC, f"there is no topic {name} with the id {text}")
    reason = f"the topic {name} is another one now: {to_text(newer)}, not {text}"
    return Misplacement(UNKNOWN_TOPIC, reason, EntryKey("topics", (newer,)))


def _misplaced(
    state: PartitionState, topic_name: str, log_directory: LogDirectory, entry: EntryKey
) -> Misplacement | None:
    node_id, replicas = log_directory.node_id, state.replicas
    if node_id not in replicas:
        reason = f"node {node_id} is not among the replicas {replicas} of {topic_name}"
        return Misplacement(OTHER_BROKER, reason, entry)
    assigned = state.directories[replicas.index(node_id)]
    if is_reserved(assigned) or log_directory.directory_id in (None, assigned):
        return None
    reason = f"it is assigned to directory {to_text(assigned)}, not to this one"
    return Misplacement(OTHER_DIRECTORY, reason, entry)
