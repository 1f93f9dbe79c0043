"""Partitions on disk that the metadata does not know, or wants somewhere else (KIP-631's strays).

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


class _Place(NamedTuple):
    """A log directory: whose it is, as its meta.properties says."""

    path: str
    node_id: int
    directory_id: bytes | None


def stray_findings(image: MetadataImage, directories: Sequence[str]) -> Iterator[Finding]:
    """Yield the partitions in log directories that do not belong there.

    Args:
        image: the metadata.
        directories: log directories of one node or several; a meta.properties is in each.

    Raises:
        SourceError: one cannot be read, or is no log directory.
    """
    for directory in directories:
        place = _place(directory)
        for name in _partitions(directory):
            path = os.path.join(directory, name)
            reason, entry = _reason(image, place, name, _topic_id(path))
            if reason is None:
                continue
            found = Finding(FindingKind.STRAY, reason)
            if entry is not None:
                found = state_finding(image, FindingKind.STRAY, reason, entry)
            cure = "a broker sets it aside; copy it first if it is wanted"
            yield found._replace(source=path, position=None, cure=cure)


def _place(directory: str) -> _Place:
    path = os.path.join(directory, meta_properties.FILE_NAME)
    try:
        meta = meta_properties.read(properties(read_file(path)))
    except OSError as error:
        raise SourceError(f"cannot read {path}: {error.strerror}") from None
    except DecodeError as error:
        raise SourceError(f"cannot read {path}: {error.message}") from None
    if meta.node_id is None:
        raise SourceError(f"{path} has no node id")
    return _Place(directory, meta.node_id, meta.directory_id)


def _partitions(directory: str) -> list[str]:
    try:
        with os.scandir(directory) as entries:
            names = [entry.name for entry in entries if entry.is_dir()]
    except OSError as error:
        raise SourceError(f"cannot read {directory}: {error.strerror}") from None
    return sorted(name for name in names if name != METADATA_PARTITION and is_partition(name))


def _topic_id(path: str) -> bytes | None:
    """Return the topic id that a partition's directory has; None if it has none."""
    try:
        lines = read_file(os.path.join(path, "partition.metadata")).decode().splitlines()
        return from_text(lines[1].split()[1])
    except (OSError, ValueError, IndexError, DecodeError):
        return None


def _reason(
    image: MetadataImage, place: _Place, name: str, topic_id: bytes | None
) -> tuple[str | None, EntryKey | None]:
    """Return why a partition does not belong where it is, and the entry that says so."""
    found = _SUFFIXES.fullmatch(name)
    if found is None:
        return None, None
    topic_name, number, suffix = found[1], int(found[2]), found[3]
    if suffix in _SET_ASIDE:
        return _SET_ASIDE[suffix], None
    if topic_id is None:
        return "it has no topic id", None
    topic = image.topics.get(topic_id)
    if topic is None:
        return _unknown(image, topic_name, topic_id)
    if topic.name != topic_name:
        reason = f"its topic id {to_text(topic_id)} is that of {topic.name}"
        return reason, EntryKey("topics", (topic_id,))
    state = image.partition(topic_id, number)
    if state is None:
        reason = f"the topic {topic_name} has no partition {number}"
        return reason, EntryKey("topics", (topic_id,))
    return _misplaced(state, topic_name, place), EntryKey("partitions", (topic_id, number))


def _unknown(image: MetadataImage, name: str, topic_id: bytes) -> tuple[str, EntryKey | None]:
    newer = image.topic_ids.get(name)
    shown = to_text(topic_id)
    if newer is None:
        return f"there is no topic {name} with the id {shown}", None
    reason = f"the topic {name} is another one now: {to_text(newer)}, not {shown}"
    return reason, EntryKey("topics", (newer,))


def _misplaced(state: PartitionState, topic_name: str, place: _Place) -> str | None:
    replicas = state.replicas
    if place.node_id not in replicas:
        return f"node {place.node_id} is not among the replicas {replicas} of {topic_name}"
    wanted = state.directories[replicas.index(place.node_id)]
    if is_reserved(wanted) or place.directory_id in (None, wanted):
        return None
    return f"it is assigned to directory {to_text(wanted)}, not to this one"
