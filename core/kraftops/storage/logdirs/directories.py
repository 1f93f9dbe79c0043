"""Log directories of a node: their meta.properties, and checks of their identity."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from kraftops.dump.sources.missing import nearest_path
from kraftops.errors import DecodeError, StorageError
from kraftops.server.log_directory import LogDirectory, identity_of, read_log_directory
from kraftops.storage.logdirs.proposals import cluster_id_argument
from kraftops.uuids import from_text, is_reserved, to_text

if TYPE_CHECKING:
    from kraftops.storage.config.server_config import ServerConfig

RELATIVE = (
    "relative log.dirs begin at the working directory, as for Kafka: run this where the broker is "
    "started"
)


def read_directories(config: ServerConfig) -> tuple[LogDirectory, ...]:
    """Read the directories of a node; two texts of one path are two directories, as for Kafka."""
    paths = dict.fromkeys((*config.log_dirs, config.metadata_log_dir))
    return tuple(
        read_log_directory(path, is_metadata=path == config.metadata_log_dir) for path in paths
    )


def right_path(config: ServerConfig, path: str) -> str | None:
    """Return what suggests that a path that does not exist is not the one of its node's data.

    Directories beside it, or below the configuration, count if they are of this node.
    """
    if config.given.keys().isdisjoint(("log.dirs", "log.dir")):
        return f"set log.dirs in {config.path}: without it, Kafka's default applies"
    folder = os.path.dirname(os.path.abspath(config.path))
    if not os.path.isabs(path) and _is_of(os.path.join(folder, path), config.node_id):
        return RELATIVE
    near = nearest_path(path)
    if near and near not in config.log_dirs and _is_of(near, config.node_id):
        return f"is it {near}, which belongs to node {config.node_id}?"
    return None


def _is_of(path: str, node_id: int) -> bool:
    return read_log_directory(path).node_id == node_id


def check_ids(directories: Iterable[LogDirectory], cluster_id: str, node_id: int) -> None:
    """Refuse directories of another cluster or node, and invalid directory ids.

    Raises:
        StorageError: there is one; the message is that of Kafka's `MetaPropertiesEnsemble`.
    """
    owners: dict[bytes, str] = {}
    for directory in directories:
        meta = directory.meta
        if meta is None:
            continue
        if meta.cluster_id is not None and meta.cluster_id != cluster_id:
            raise StorageError(
                f"Invalid cluster.id in: {directory.meta_path}. "
                f"Expected {cluster_id}, but read {meta.cluster_id}",
                hint=_cluster_hint(meta.cluster_id, cluster_id),
            )
        if meta.node_id is not None and meta.node_id != node_id:
            raise StorageError(
                f"Stored node id {meta.node_id} doesn't match previous node id {node_id} in "
                f"{directory.meta_path}. If you moved your data, make sure your configured node id "
                "matches. If you intend to create a new node, you should remove all data in your "
                "data directories.",
                hint="kafka-storage rewrite --node-id changes it"
                if meta.node_id < 0
                else f"either node.id={meta.node_id} in the configuration, or rewrite --node-id",
            )
        if meta.directory_id is None:
            continue
        directory_id = to_text(meta.directory_id)
        if is_reserved(meta.directory_id):
            raise StorageError(
                f"Invalid reserved directory ID {directory_id} found in {directory.path}",
                hint=f"take directory.id out of {directory.meta_path}: a server makes a new one",
            )
        owner = owners.setdefault(meta.directory_id, directory.path)
        if owner != directory.path:
            raise StorageError(
                f"Duplicate directory ID Optional[{directory_id}] found. "
                f"It was the ID of {owner}, but also of {directory.path}",
                hint="one is a copy of the other: remove it, or take directory.id out of its "
                "meta.properties",
            )


def _cluster_hint(present: str, requested: str) -> str:
    with suppress(DecodeError):
        if from_text(present) == from_text(requested):
            return (
                f"both are texts of the same 16 bytes: format with {cluster_id_argument(present)}"
            )
    return (
        f"if the data is wanted, format with {cluster_id_argument(present)}; if it does belong to "
        "the other cluster, see kafka-storage rewrite --cluster-id; if it is not wanted, "
        "empty the directory"
    )


def distinct(directories: Iterable[LogDirectory]) -> tuple[LogDirectory, ...]:
    """Return each directory once, by its first name: the others are not copies of it."""
    by_identity: dict[object, LogDirectory] = {}
    for directory in directories:
        first = by_identity.setdefault(identity_of(directory.path), directory)
        if directory.is_metadata and not first.is_metadata:
            by_identity[identity_of(first.path)] = replace(first, is_metadata=True)
    return tuple(by_identity.values())


def check_distinct(directories: Sequence[LogDirectory]) -> None:
    """Refuse one directory under two names, which Kafka formats and opens twice.

    Raises:
        StorageError: there is one.
    """
    by_identity: dict[object, str] = {}
    for directory in directories:
        if directory.problem:
            continue
        other = by_identity.setdefault(identity_of(directory.path), directory.path)
        if other != directory.path:
            raise StorageError(
                f"{other} and {directory.path} are one directory",
                hint="name it once in log.dirs and metadata.log.dir",
            )
