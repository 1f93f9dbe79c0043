"""Checks of partition directories on disk against the metadata (KIP-631's stray partitions).

The rules are those of Kafka's `LogManager.isStrayReplica` and of KIP-858.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kraftops.engine.metadata_state import EntryKey, PartitionState
from kraftops.errors import DecodeError, SourceError
from kraftops.image.state.findings import Finding, FindingKind
from kraftops.image.state.image import MetadataImage
from kraftops.image.verify.verify import state_finding
from kraftops.java.properties import properties
from kraftops.storage.logdirs import meta_properties
from kraftops.storage.logdirs.directories import METADATA_PARTITION, read_file
from kraftops.storage.verify.partitions import is_partition
from kraftops.uuids import from_text, is_reserved, to_text

_SUFFIXES = re.compile(r"(.+)-(\d+)(?:\.[0-9a-f]+-(delete|future|stray))?", re.DOTALL)
_SET_ASIDE = {"stray": "set aside as a stray already", "delete": "about to be deleted"}


class _LogDirectory(NamedTuple):
    """A log directory, and the ids in its meta.properties."""

    node_id: int
    directory_id: bytes | None


class _PartitionDirectory(NamedTuple):
    """A directory of a partition; one that is set aside has a *suffix*."""

    path: str
    topic_name: str
    number: int
    suffix: str | None


def stray_findings(image: MetadataImage, directories: Sequence[str]) -> Iterator[Finding]:
    """Yield the partitions in log directories that do not belong there.

    Args:
        image: the metadata.
        directories: log directories of one node or several, each with a meta.properties.

    Raises:
        SourceError: a directory cannot be read, or is no log directory.
    """
    for path in directories:
        log_directory = _log_directory(path)
        for partition in _partitions(path):
            problem = _problem(image, log_directory, partition)
            if problem is None:
                continue
            reason, entry = problem
            finding = Finding(FindingKind.STRAY, reason)
            if entry is not None:
                finding = state_finding(image, FindingKind.STRAY, reason, entry)
            cure = "a broker sets it aside; copy it first if it is wanted"
            yield finding._replace(source=partition.path, position=None, cure=cure)


def _log_directory(directory: str) -> _LogDirectory:
    path = os.path.join(directory, meta_properties.FILE_NAME)
    try:
        meta = meta_properties.read(properties(read_file(path)))
    except OSError as error:
        raise SourceError(f"cannot read {path}: {error.strerror}") from None
    except DecodeError as error:
        raise SourceError(f"cannot read {path}: {error.message}") from None
    if meta.node_id is None:
        raise SourceError(f"{path} has no node id")
    return _LogDirectory(meta.node_id, meta.directory_id)


def _partitions(directory: str) -> Iterator[_PartitionDirectory]:
    try:
        with os.scandir(directory) as entries:
            names = [entry.name for entry in entries if entry.is_dir()]
    except OSError as error:
        raise SourceError(f"cannot read {directory}: {error.strerror}") from None
    for name in sorted(names):
        match = _SUFFIXES.fullmatch(name)
        if match and name != METADATA_PARTITION and is_partition(name):
            path = os.path.join(directory, name)
            yield _PartitionDirectory(path, match[1], int(match[2]), match[3])


def _topic_id(path: str) -> bytes | None:
    """Return the topic id in a partition's directory; None if there is none."""
    try:
        lines = read_file(os.path.join(path, "partition.metadata")).decode().splitlines()
        return from_text(lines[1].split()[1])
    except (OSError, ValueError, IndexError, DecodeError):
        return None


def _problem(
    image: MetadataImage, log_directory: _LogDirectory, partition: _PartitionDirectory
) -> tuple[str, EntryKey | None] | None:
    """Return why a partition does not belong into its directory, and the entry of the state."""
    if partition.suffix in _SET_ASIDE:
        return _SET_ASIDE[partition.suffix], None
    topic_id = _topic_id(partition.path)
    if topic_id is None:
        return "it has no topic id", None
    topic = image.topics.get(topic_id)
    if topic is None:
        return _unknown(image, partition.topic_name, topic_id)
    entry = EntryKey("topics", (topic_id,))
    if topic.name != partition.topic_name:
        return f"its topic id {to_text(topic_id)} is that of {topic.name}", entry
    state = image.partition(topic_id, partition.number)
    if state is None:
        return f"the topic {topic.name} has no partition {partition.number}", entry
    reason = _misplaced(state, topic.name, log_directory)
    return (
        None if reason is None else (reason, EntryKey("partitions", (topic_id, partition.number)))
    )


def _unknown(image: MetadataImage, name: str, topic_id: bytes) -> tuple[str, EntryKey | None]:
    newer = image.topic_ids.get(name)
    text = to_text(topic_id)
    if newer is None:
        return f"there is no topic {name} with the id {text}", None
    reason = f"the topic {name} is another one now: {to_text(newer)}, not {text}"
    return reason, EntryKey("topics", (newer,))


def _misplaced(state: PartitionState, topic_name: str, log_directory: _LogDirectory) -> str | None:
    node_id, replicas = log_directory.node_id, state.replicas
    if node_id not in replicas:
        return f"node {node_id} is not among the replicas {replicas} of {topic_name}"
    assigned = state.directories[replicas.index(node_id)]
    if is_reserved(assigned) or log_directory.directory_id in (None, assigned):
        return None
    return f"it is assigned to directory {to_text(assigned)}, not to this one"
