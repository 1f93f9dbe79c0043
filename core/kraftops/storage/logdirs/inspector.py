"""Inspection of the log directories of a node, which only reads."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from kraftops.java.text import path_text
from kraftops.storage.config.server_config import ServerConfig
from kraftops.storage.logdirs.directories import (
    METADATA_PARTITION,
    PARTITION,
    LogDirectory,
    read_directories,
)
from kraftops.storage.logdirs.locks import Holder, lock_holder
from kraftops.storage.logdirs.meta_properties import MetaProperties
from kraftops.storage.logdirs.metadata_log import (
    BootstrapFile,
    MetadataLog,
    read_bootstrap,
    read_metadata_log,
)
from kraftops.storage.logdirs.partition_data import PartitionData
from kraftops.storage.logdirs.proposals import rewrite_to_node
from kraftops.uuids import is_reserved, to_text

LEGACY_PROBLEM = (
    "The kafka configuration file appears to be for a cluster in KRaft mode, "
    "but the directories are formatted for legacy mode."
)


FORMAT_ANEW = f"remove meta.properties and {METADATA_PARTITION}, and kafka-storage format anew"
"""Cure of a metadata directory that no server has written to."""


OTHER_NODE_ID = "other-node-id"
"""Code of a directory with another node id than the configuration."""


class Finding(NamedTuple):
    """A problem of a directory, or of the node where *path* is empty, and its cure.

    One that *stops* keeps a server from starting or from a quorum, or costs data; others are notes.
    The *code* is one of `kraftops.storage.verify.codes.CODES`.
    """

    path: str
    problem: str
    cure: str
    stops: bool = True
    code: str = ""
    partition: str | None = None
    """The partition that it is about."""
    data: PartitionData | None = None
    """The data at stake, where that is known."""

    def __str__(self) -> str:
        return f"{self.path}: {self.problem}" if self.path else self.problem


class DirectoryStatus(NamedTuple):
    """Owner and mode of a directory; free space and size of its file system in bytes."""

    user: int
    group: int
    mode: int
    free: int
    size: int


@dataclass(frozen=True, slots=True)
class DirectoryState:
    """State of a log directory; *status* is None where it does not exist or is no directory."""

    directory: LogDirectory
    exists: bool
    status: DirectoryStatus | None = None
    holder: Holder | None = None
    bootstrap: BootstrapFile | None = None
    log: MetadataLog | None = None
    partitions: int = 0
    problem: str | None = None

    @property
    def path(self) -> str:
        """The path as Kafka's tool prints it."""
        return path_text(self.directory.path)

    @property
    def meta(self) -> MetaProperties | None:
        """The meta.properties, if there is one that can be read."""
        return self.directory.meta


def inspect(config: ServerConfig) -> tuple[DirectoryState, ...]:
    """Return the state of all directories, in the order of the configuration."""
    return tuple(map(_state, read_directories(config)))


def _state(directory: LogDirectory) -> DirectoryState:
    path = directory.path
    if not os.path.isdir(path):
        return DirectoryState(directory, exists=os.path.exists(path))
    status = holder = bootstrap = log = problem = None
    partitions = 0
    try:
        status = _status(path)
        with os.scandir(path) as entries:
            partitions = sum(entry.is_dir() and _is_partition(entry.name) for entry in entries)
        bootstrap = read_bootstrap(path)
        log = read_metadata_log(path) if directory.is_metadata else None
        holder = lock_holder(path)
    except OSError as error:
        problem = f"cannot read {error.filename or path}: {error.strerror}"
    return DirectoryState(
        directory,
        exists=True,
        status=status,
        holder=holder,
        bootstrap=bootstrap,
        log=log,
        partitions=partitions,
        problem=problem,
    )


def _status(path: str) -> DirectoryStatus:
    status, space = os.stat(path), os.statvfs(path)
    free, size = space.f_bavail * space.f_frsize, space.f_blocks * space.f_frsize
    return DirectoryStatus(status.st_uid, status.st_gid, status.st_mode & 0o7777, free, size)


def _is_partition(name: str) -> bool:
    return PARTITION.fullmatch(name) is not None and name != METADATA_PARTITION


def kafka_problems(states: tuple[DirectoryState, ...]) -> Iterator[str]:
    """Yield the problems that Kafka's tool finds, in its words and order."""
    first: MetaProperties | None = None
    for state in sorted(states, key=lambda state: state.directory.path):
        path, meta = state.path, state.meta
        if not state.exists:
            yield f"{path} does not exist"
        elif state.status is None:
            yield f"{path} is not a directory"
        elif state.directory.problem:
            yield f"Error loading {path}/meta.properties: {state.directory.problem}"
        elif meta is None:
            yield f"{path} is not formatted."
        elif first is None:
            first = meta
        elif meta.cluster_id != first.cluster_id:
            yield "Mismatched cluster IDs between storage directories."
        elif meta.node_id != first.node_id:
            yield "Mismatched node IDs between storage directories."
    if first and first.version == 0:
        yield LEGACY_PROBLEM


def findings(config: ServerConfig, states: tuple[DirectoryState, ...]) -> Iterator[Finding]:
    """Yield the problems of directories that Kafka's `info` does not see, from small files only."""
    for state in states:
        if state.problem and not state.directory.problem:
            yield Finding(
                state.path,
                state.problem,
                "mend it, or give the permission to read it",
                code="unreadable",
            )
    yield from _id_findings(config, states)
    for state in states:
        if state.directory.is_metadata:
            yield from _bootstrap_findings(config, state)


def damage_findings(states: tuple[DirectoryState, ...]) -> Iterator[Finding]:
    """Yield the damage of metadata logs, which are read for it."""
    for state in states:
        for damage in state.log.damage if state.log else ():
            cure = "kafka-storage verify tells what a server makes of it"
            yield Finding(
                damage.path, damage.reason, cure, stops=not damage.is_harmless, code="damage"
            )


def _id_findings(config: ServerConfig, states: tuple[DirectoryState, ...]) -> Iterator[Finding]:
    owners: dict[bytes, str] = {}
    for state in states:
        path, meta = state.path, state.meta
        if meta is None:
            continue
        if meta.node_id not in (None, config.node_id):
            cure = rewrite_to_node(config.path, config.node_id)
            if (meta.node_id or 0) >= 0:
                cure = f"set node.id={meta.node_id}, or {cure}"
            problem = f"it is of node {meta.node_id}, the configuration of node {config.node_id}"
            yield Finding(path, problem, cure, code=OTHER_NODE_ID)
        if meta.directory_id is None:
            continue
        shown = to_text(meta.directory_id)
        if is_reserved(meta.directory_id):
            yield Finding(
                path,
                f"its directory id {shown} is a reserved one",
                "take directory.id out of its meta.properties: a server makes a new one",
                code="reserved-directory-id",
            )
        owner = owners.setdefault(meta.directory_id, path)
        if owner != path and os.path.samefile(owner, path):
            yield Finding(
                path,
                f"it is {owner} under another name",
                "name it once in log.dirs",
                code="directory-twice",
            )
        elif owner != path:
            yield Finding(
                path,
                f"its directory id {shown} is also the id of {owner}",
                "if it is a copy, take it out of log.dirs; "
                "else take directory.id out of its meta.properties",
                code="directory-id-twice",
            )


def _bootstrap_findings(config: ServerConfig, state: DirectoryState) -> Iterator[Finding]:
    bootstrap = state.bootstrap
    is_used = state.log is not None and state.log.is_used
    if bootstrap and bootstrap.damage:
        cure = "remove it: a cluster that has begun needs it no more"
        if not is_used:
            cure = FORMAT_ANEW
        yield Finding(
            bootstrap.path,
            bootstrap.damage,
            cure,
            stops=not bootstrap.is_usable,
            code="bad-bootstrap",
        )
    elif state.meta and not bootstrap and not is_used and "controller" in config.roles:
        yield Finding(
            state.path,
            "it has no bootstrap.checkpoint, so that a new cluster begins without features",
            f"{FORMAT_ANEW}, or raise the features with kafka-features once it runs",
            stops=False,
            code="no-bootstrap",
        )
