"""Checks of the partitions in a log directory, which a server must be able to load.

The rules are those of Kafka's `LogManager`, `LogLoader` and their checkpoint files. Segments are
not read: a broker truncates a damaged one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from kraftops.errors import DecodeError, UsageError
from kraftops.findings.finding import Finding, Place, Severity
from kraftops.java.numbers import parse_integer
from kraftops.log.files import BOOTSTRAP_CHECKPOINT, FileKind, file_name
from kraftops.storage.logdirs import meta_properties
from kraftops.storage.logdirs.directories import METADATA_PARTITION, read_file
from kraftops.storage.logdirs.inspector import DirectoryState
from kraftops.uuids import ZERO, from_text

METADATA_TOPIC_ID = bytes(15) + b"\x01"

_CHECKPOINTS = (
    "cleaner-offset-checkpoint",
    "log-start-offset-checkpoint",
    "recovery-point-offset-checkpoint",
    "replication-offset-checkpoint",
)
_INDEX_CACHE = "remote-log-index-cache"
_RENAMED = re.compile(r".*-(delete|future|stray)", re.DOTALL)
_RENAMED_NAME = re.compile(r"(\S+-\S+)\.\S+-(?:delete|future|stray)")
_NAME = re.compile(r".+-[+-]?(\d+)", re.DOTALL)


def is_partition(name: str) -> bool:
    """Tell whether a name is that of a partition's directory, by Kafka's `LocalLog`."""
    if _RENAMED.fullmatch(name):
        if not _RENAMED_NAME.fullmatch(name):
            return False
        name = name[: name.rindex(".")]
    match = _NAME.fullmatch(name)
    return match is not None and parse_integer(match[1], 32) is not None


def holds_topics(path: str) -> bool:
    """Tell whether a log directory holds a partition of a topic that has an id."""
    with os.scandir(path) as entries:
        names = [entry.name for entry in entries if is_partition(entry.name)]
    names = [name for name in names if name != METADATA_PARTITION]
    return any(topic_id_of(os.path.join(path, name)) for name in names)


def data_findings(state: DirectoryState, owners: dict[tuple[str, bytes], str]) -> Iterator[Finding]:
    """Yield the problems that keep a broker from loading a log directory.

    *owners* has the log directory of each partition, and gets those of this one.
    """
    for name in _CHECKPOINTS:
        file = os.path.join(state.directory.path, name)
        if os.path.isfile(file) and (problem := _checkpoint_problem(file, fields=3)):
            cure = "remove it: a server finds out what it says"
            yield Finding(
                "bad-checkpoint",
                Severity.STOPS,
                problem,
                Place(file=os.path.join(state.path, name)),
                cure,
            )
    with os.scandir(state.directory.path) as entries:
        is_directory = {entry.name: entry.is_dir() for entry in entries}
    known = {METADATA_PARTITION, _INDEX_CACHE, meta_properties.FILE_NAME}
    if state.directory.is_metadata:
        known.add(BOOTSTRAP_CHECKPOINT)
    for name in sorted(is_directory.keys() - known):
        shown = os.path.join(state.path, name)
        if not is_directory[name]:
            if is_partition(name):
                yield Finding(
                    "file-for-partition",
                    Severity.STOPS,
                    "a file where a partition's directory belongs",
                    Place(directory=shown),
                    "move it away",
                )
        elif not is_partition(name):
            yield Finding(
                "unknown-directory",
                Severity.STOPS,
                "it is not the directory of a partition: a broker stops",
                Place(directory=shown),
                "move it, or use a directory below the mount point",
            )
        else:
            yield from _partition_findings(state, name, owners)


def _partition_findings(
    state: DirectoryState, name: str, owners: dict[tuple[str, bytes], str]
) -> Iterator[Finding]:
    path, shown = os.path.join(state.directory.path, name), os.path.join(state.path, name)
    yield from partition_findings(path, shown)
    # Without topic id, or of another topic, a broker only renames it as a stray.
    topic_id = topic_id_of(path)
    owner = owners.setdefault((name, topic_id), state.path) if topic_id else state.path
    if owner != state.path:
        yield Finding(
            "partition-twice",
            Severity.STOPS,
            f"the partition is in {owner} too",
            Place(directory=shown),
            "move one of them away",
        )


def partition_findings(path: str, shown: str, topic_id: bytes | None = None) -> Iterator[Finding]:
    """Yield the problems that keep a server from loading the directory of a partition.

    Its topic id, if it has one, must be *topic_id*.
    """
    try:
        with os.scandir(path) as entries:
            names = sorted(entry.name for entry in entries if entry.is_file())
    except OSError as error:
        yield Finding(
            "unreadable",
            Severity.STOPS,
            f"cannot read it: {error.strerror}",
            Place(directory=shown),
            "give the permission to read it",
        )
        return
    for name in names:
        code, problem, cure = "", None, "remove it: a server makes a new one"
        file = os.path.join(path, name)
        if name == "leader-epoch-checkpoint":
            code, problem = "bad-epochs", _checkpoint_problem(file, fields=2)
        elif name == "partition.metadata":
            code, problem = "bad-topic-id", _identity_problem(file, topic_id)
        elif not _has_offset(name):
            code, cure = "bad-file-name", "move it away"
            problem = "its name has no offset, which stops a server"
        if problem:
            yield Finding(
                code,
                Severity.STOPS,
                problem,
                Place(file=os.path.join(shown, name)),
                cure,
            )


def _has_offset(name: str) -> bool:
    """Tell whether the name of a file has the offset that its suffix requires."""
    found = file_name(name)
    if found is None or (found.renamed == ".deleted" and found.kind is not FileKind.CHECKPOINT):
        return True
    try:
        _ = found.snapshot_id if found.kind is FileKind.CHECKPOINT else found.base_offset
    except UsageError:
        return False
    return True


def _checkpoint_problem(path: str, *, fields: int) -> str | None:
    """Return why Kafka's `CheckpointFile` refuses a file."""
    try:
        lines = read_file(path).decode().splitlines()
    except OSError as error:
        return f"cannot read it: {error.strerror}"
    except UnicodeDecodeError:
        return "it is no text"
    if not lines:
        return None
    if lines[0].strip() != "0":
        return f"its version is {lines[0]!r}, not 0"
    if len(lines) > 1:
        entries = lines[2:]
        is_count = parse_integer(lines[1], 32) == len(entries)
        if not is_count or any(len(line.split()) != fields for line in entries):
            return f"it does not have the {lines[1]} entries that it counts"
    return None


def _identity_problem(path: str, expected: bytes | None) -> str | None:
    """Return why Kafka's `PartitionMetadataFile` refuses a file."""
    try:
        version, identity = read_file(path).decode().splitlines()[:2]
        number, text = version.split()[1], identity.split()[1]
        found = from_text(text)
    except OSError as error:
        return f"cannot read it: {error.strerror}"
    except (ValueError, IndexError, DecodeError):
        return "it has no topic id"
    if not number.isdecimal() or found == ZERO:
        return f"its topic id {text}, or its version {number}, cannot be"
    if expected not in (None, found):
        return f"its topic id is {text}, which is not the id of the metadata log"
    return None


def topic_id_of(path: str) -> bytes | None:
    """Return the topic id in a partition's directory; None if there is none."""
    try:
        _, identity = read_file(os.path.join(path, "partition.metadata")).decode().splitlines()[:2]
        return from_text(identity.split()[1])
    except (OSError, ValueError, IndexError, DecodeError):
        return None
