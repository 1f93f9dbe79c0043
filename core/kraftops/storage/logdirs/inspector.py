"""Problems of the log directories of a node: those that Kafka's `info` tells, and others."""

import os
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

from kraftops.display import quoting
from kraftops.findings.finding import (
    Cure,
    Finding,
    Place,
    Severity,
    note_finding,
    stop_finding,
    unless_forbidden,
)
from kraftops.log.files import METADATA_PARTITION
from kraftops.server.formatted import has_metadata_log
from kraftops.server.log_directory import LogDirectory, identity_of
from kraftops.server.meta_properties import MetaProperties
from kraftops.storage.config.server_config import ServerConfig
from kraftops.storage.logdirs.proposals import rewrite_to_node
from kraftops.uuids import is_reserved, to_text

LEGACY_PROBLEM = (
    "The kafka configuration file appears to be for a cluster in KRaft mode, "
    "but the directories are formatted for legacy mode."
)


FORMAT_ANEW = f"remove meta.properties and {METADATA_PARTITION}, and run kafka-storage format again"
"""Cure of a metadata directory that no server has written to."""


OTHER_NODE_ID = "other-node-id"
"""Code of a directory with another node id than the configuration."""


def kafka_problems(directories: tuple[LogDirectory, ...]) -> Iterator[str]:
    """Yield the problems that Kafka's tool finds, in its words and order."""
    first: MetaProperties | None = None
    for directory in sorted(directories, key=lambda directory: directory.path):
        path, meta = directory.java_path, directory.meta
        if not directory.exists:
            yield f"{path} does not exist"
        elif directory.status is None:
            yield f"{path} is not a directory"
        elif directory.problem:
            yield f"Error loading {path}/meta.properties: {directory.problem}"
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


def findings(
    config: ServerConfig,
    directories: tuple[LogDirectory, ...],
    owners: Mapping[bytes, int] = MappingProxyType({}),
) -> Iterator[Finding]:
    """Yield the problems of directories that Kafka's `info` does not see, from small files only.

    *owners* are the brokers that have registered directories, by the metadata log if that was read.
    """
    for directory in directories:
        if directory.read_problem and not directory.problem:
            cure = "grant the permission, replace the disk, or correct the path in log.dirs"
            finding = stop_finding("unreadable", directory.read_problem, directory.place, cure)
            inside = os.path.join(directory.path, METADATA_PARTITION)
            yield unless_forbidden(finding, inside)
    yield from _other_names(config, directories, owners)
    yield from _id_findings(config, directories, owners)
    for directory in directories:
        if directory.is_metadata:
            is_new = directory.is_readable and not has_partitions(directories)
            yield from _bootstrap_findings(config, directory, is_new=is_new)


def has_partitions(directories: Iterable[LogDirectory]) -> bool:
    """Tell whether directories hold partitions, not just a newly formatted metadata log."""
    return any(directory.partition_count for directory in directories)


def _other_node_cure(
    config: ServerConfig,
    meta: MetaProperties,
    owner: int | None,
    *,
    is_empty: bool,
    is_extra: bool,
) -> Cure:
    """Return the cure of two node ids: the metadata has the directory for its *owner*, if known.

    Without evidence, no id of a directory with data is changed. One that *is_extra* lies beside all
    directories that the metadata has for the node.
    """
    own = config.node_id
    give_back = Cure(f"give it the id {own}", (rewrite_to_node(config.path, own),))
    if owner == own:
        return give_back._replace(
            text=f"the metadata has it for node {owner}: {give_back.text} again"
        )
    if owner is None and (meta.node_id or 0) < 0:
        return give_back
    if owner is None and is_empty:
        text = f"if it is not of the node with node.id={meta.node_id}, {give_back.text}"
        return give_back._replace(text=text)
    other = meta.node_id if owner is None else owner
    if is_extra:
        return Cure(f"take it out of log.dirs of {config.path}, and give it back to node {other}")
    return Cure(
        f"mount the disk of node {own} in its place; or set node.id={other}, if this is the "
        f"configuration of node {other}; or put its own meta.properties back, if only that is of "
        f"node {other}"
    )


def _other_names(
    config: ServerConfig, directories: tuple[LogDirectory, ...], owners: Mapping[bytes, int]
) -> Iterator[Finding]:
    """Yield the directories that have two names in a configuration.

    Kafka compares their texts first, and so refuses even a trailing slash: there is a metadata log
    "outside" of the metadata directory (`KafkaRaftServer.initializeLogDirs`), a directory id twice
    (`MetaPropertiesEnsemble.verify`), a "Duplicate log directory" (`LogManager`).
    """
    present = {directory.meta.directory_id for directory in directories if directory.meta}
    absent = [
        to_text(identity)
        for identity, owner in owners.items()
        if owner == config.node_id and identity not in present
    ]
    names: dict[object, str] = {}
    for path in dict.fromkeys((*config.log_dirs, config.metadata_log_dir)):
        first = names.setdefault(identity_of(path), path)
        if first == path:
            continue
        cure = f"name it once in log.dirs and metadata.log.dir of {config.path}"
        if absent:
            cure = (
                f"mount the disk with directory.id={' or '.join(absent)} there, which the metadata "
                f"has for this node; if there is none, {cure}"
            )
        problem = f"it is {first} under another name"
        yield stop_finding("directory-twice", problem, Place(directory=path), cure)


def _id_findings(
    config: ServerConfig, directories: tuple[LogDirectory, ...], owners: Mapping[bytes, int]
) -> Iterator[Finding]:
    paths: dict[bytes, str] = {}
    present = {directory.meta.directory_id for directory in directories if directory.meta}
    registered = {identity for identity, owner in owners.items() if owner == config.node_id}
    is_extra = bool(registered) and registered <= present
    for directory in directories:
        path, meta = directory.java_path, directory.meta
        if meta is None:
            continue
        if meta.node_id not in (None, config.node_id):
            owner = owners.get(meta.directory_id or b"")
            is_empty = not (directory.partition_count or has_metadata_log(path))
            known_cure = _other_node_cure(config, meta, owner, is_empty=is_empty, is_extra=is_extra)
            problem = f"it is of node {meta.node_id}, the configuration of node {config.node_id}"
            yield stop_finding(OTHER_NODE_ID, problem, directory.place, *known_cure)
        if meta.directory_id is None:
            continue
        directory_id = to_text(meta.directory_id)
        if is_reserved(meta.directory_id):
            problem = f"its directory id {directory_id} is a reserved one"
            cure = f"take directory.id out of {directory.meta_path}: a server makes a new one"
            command = f"sed -i '/^directory.id=/d' {quoting.quote_path(directory.meta_path)}"
            yield stop_finding("reserved-directory-id", problem, directory.place, cure, (command,))
        first = paths.setdefault(meta.directory_id, path)
        if first != path:
            problem = f"its directory id {directory_id} is also the id of {first}"
            cure = (
                f"if it is a copy, take it out of log.dirs of {config.path}; "
                f"else take directory.id out of {directory.meta_path}"
            )
            yield stop_finding("directory-id-twice", problem, directory.place, cure)


def _bootstrap_findings(
    config: ServerConfig, directory: LogDirectory, *, is_new: bool
) -> Iterator[Finding]:
    bootstrap = directory.bootstrap
    is_used = directory.log is not None and directory.log.is_used
    if bootstrap and bootstrap.damage:
        cure = "remove it: a cluster that has begun no longer needs it"
        if not is_used:
            cure = FORMAT_ANEW if is_new else "restore the metadata directory from a copy"
        yield Finding(
            "bad-bootstrap",
            Severity.NOTE if bootstrap.is_usable else Severity.STOPS,
            bootstrap.damage,
            Place(file=bootstrap.path),
            cure,
        )
    elif (
        is_new and directory.meta and not bootstrap and not is_used and "controller" in config.roles
    ):
        problem = "it has no bootstrap.checkpoint, so that a new cluster begins without features"
        cure = f"{FORMAT_ANEW}, or raise the features with kafka-features once it runs"
        yield note_finding("no-bootstrap", problem, directory.place, cure)
