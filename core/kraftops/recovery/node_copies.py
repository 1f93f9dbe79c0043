"""Copies of nodes for a plan of a cluster: configuration, identity and log directories of each."""

from __future__ import annotations

import os
import posixpath
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace

from kraftops.log.files import METADATA_PARTITION
from kraftops.recovery.archives import LogSource, sources_of, unpacked_node
from kraftops.recovery.refusal import RecoveryRefused
from kraftops.server.log_directory import read_log_directory
from kraftops.server.meta_properties import FILE_NAME as META_FILE
from kraftops.server.meta_properties import MetaProperties
from kraftops.storage.config.server_config import ServerConfig, load_config

_ENDING = ".properties"


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeCopy:
    """Copy of a node.

    Attributes:
        name: its name on the command line.
        config: its configuration; None where only a log was given.
        config_path: the path of that on its host; None if that is unknown.
        host: the name of its host, if it was packed.
        directory: its metadata directory, or the copy of that; None if it has none.
        sources: its log directories: metadata log, partitions, or both.
    """

    name: str
    config: ServerConfig | None = None
    config_path: str | None = None
    host: str | None = None
    directory: str | None = None
    sources: tuple[LogSource, ...]

    @property
    def source(self) -> LogSource | None:
        """The log directory with its metadata log; None if it has none."""
        for source in self.sources:
            if os.path.isdir(os.path.join(source.folder, METADATA_PARTITION)):
                return source
        return None

    @property
    def meta(self) -> MetaProperties | None:
        """The meta.properties of its metadata directory, if it has one."""
        return read_log_directory(self.directory).meta if self.directory else None

    @property
    def node_id(self) -> int | None:
        """The node id, if the copy has one."""
        if self.config:
            return self.config.node_id
        return self.meta.node_id if self.meta else None


@contextmanager
def node_copies(names: Sequence[str]) -> Iterator[list[NodeCopy]]:
    """Yield the copies; directories of archives are removed at the end.

    A name is an archive, the server.properties of a node on this host, or a directory with a log.

    Raises:
        RecoveryRefused: a file or directory does not exist.
        RecoveryRefused: a copy cannot be read, or two are of one node.
        ConfigError: a configuration is not valid.
    """
    with ExitStack() as stack:
        copies = [_copy(name, stack) for name in names]
        ids = [copy.node_id for copy in copies if copy.config]
        for node_id in ids:
            if ids.count(node_id) > 1:
                raise RecoveryRefused(
                    "several-logs",
                    f"two copies are of node {node_id}",
                    "give one copy of each node",
                )
        yield copies


def _copy(name: str, stack: ExitStack) -> NodeCopy:
    if os.path.isdir(name):
        return NodeCopy(name=name, directory=name, sources=(LogSource(name, name),))
    if name.endswith(_ENDING) and os.path.lexists(name):
        return _local(name)
    packed = unpacked_node(name, stack)
    logs = [source for source in packed.sources if METADATA_PARTITION in os.listdir(source.folder)]
    if len(packed.configs) > 1 or len(logs) > 1:
        raise RecoveryRefused("several-logs", f"{name} holds several nodes", "pack one node")
    directories = packed.directories
    copy = NodeCopy(name=name, host=packed.host, sources=packed.sources)
    for path, place in packed.configs.items():
        config = load_config(place, (), os.environ)
        # tar takes the / away; without a directory the path is that of some working directory.
        config_path = posixpath.join("/", path) if "/" in path else None
        directory = directories.get(config.metadata_log_dir.strip("/"))
        copy = replace(copy, config=config, config_path=config_path, directory=directory)
    if copy.source:
        return replace(copy, directory=copy.source.folder)
    return replace(copy, directory=copy.directory or next(iter(directories.values()), None))


def _local(name: str) -> NodeCopy:
    config = load_config(name, (), os.environ)
    return NodeCopy(
        name=name,
        config=config,
        config_path=os.path.abspath(name),
        host=os.uname().nodename,
        directory=config.metadata_log_dir,
        sources=tuple(sources_of(config, name)),
    )


def working_directory(copy: NodeCopy, scratch: str) -> ServerConfig:
    """Copy a node's metadata log and meta.properties into *scratch*; return a configuration of it.

    Raises:
        OSError: it cannot be copied.
    """
    assert copy.config
    assert copy.directory
    shutil.copy2(os.path.join(copy.directory, META_FILE), scratch)
    if copy.source:
        log = os.path.join(scratch, METADATA_PARTITION)
        os.mkdir(log)
        for entry in os.scandir(os.path.join(copy.source.folder, METADATA_PARTITION)):
            if entry.is_file():
                shutil.copy2(entry.path, log)
    overrides = [f"log.dirs={scratch}", f"metadata.log.dir={scratch}"]
    return load_config(copy.config.path, overrides, os.environ)
