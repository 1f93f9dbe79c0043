"""Copies of nodes for a plan of a cluster: configuration, identity and metadata log of each."""

from __future__ import annotations

import os
import posixpath
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace

from kraftops.errors import SourceError
from kraftops.log.bundles.members import MemberKind, members
from kraftops.log.files import METADATA_PARTITION
from kraftops.log.reader import DamagedArchive
from kraftops.recovery.archives import LogSource, unpacked
from kraftops.recovery.refusal import NotFound, RecoveryRefused
from kraftops.server.meta_properties import FILE_NAME as META_FILE
from kraftops.server.meta_properties import MetaProperties, read_meta
from kraftops.storage.config.server_config import ServerConfig, load_config

PACK = (
    r"find /var/lib/kafka -type f \( -path '/var/lib/kafka/__cluster_metadata-0/*' -o "
    r"! -name '*.log' ! -name '*index' \) | "
    "tar -czf node-N.tar.gz /etc/hostname /etc/kafka/server.properties -T -"
)
"""The command that packs a node, with the paths of its host."""
_ENDING = ".properties"
_ROLES = b"process.roles"
_MOST_BYTES = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeCopy:
    """Copy of a node.

    Attributes:
        name: its name on the command line.
        config: its configuration; None where only a log was given.
        config_path: the path of that on its host; None if that is unknown.
        host: the name of its host, if it was packed.
        meta: the meta.properties of its metadata directory, if it has one.
        sources: its log directories: metadata log, partitions, or both.
    """

    name: str
    config: ServerConfig | None
    config_path: str | None
    host: str | None
    meta: MetaProperties | None
    sources: tuple[LogSource, ...]

    @property
    def source(self) -> LogSource | None:
        """The log directory with its metadata log; None if it has none."""
        for source in self.sources:
            if os.path.isdir(os.path.join(source.folder, METADATA_PARTITION)):
                return source
        return None

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
        NotFound: there is no such file or directory.
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
        return _local(name, None, [name])
    if not os.path.lexists(name):
        raise NotFound("not-there", f"{name} does not exist")
    if name.endswith(_ENDING):
        config = load_config(name, (), os.environ)
        return _local(name, config, [config.metadata_log_dir, *config.log_dirs])
    scratch = stack.enter_context(tempfile.TemporaryDirectory(prefix="kraftops-"))
    try:
        return _unpacked(name, scratch, stack)
    except (DamagedArchive, SourceError) as error:
        raise RecoveryRefused("no-archive", error.message, f"pack a node so: {PACK}") from None


def _local(name: str, config: ServerConfig | None, directories: Sequence[str]) -> NodeCopy:
    formatted = [
        directory
        for directory in dict.fromkeys(directories)
        if config is None or os.path.isfile(os.path.join(directory, META_FILE))
    ]
    meta_path = os.path.join(directories[0], META_FILE)
    return NodeCopy(
        name=name,
        config=config,
        config_path=os.path.abspath(name) if config else None,
        host=os.uname().nodename if config else None,
        meta=read_meta(meta_path) if os.path.isfile(meta_path) else None,
        sources=tuple(LogSource(name if config else place, place) for place in formatted),
    )


def _unpacked(name: str, scratch: str, stack: ExitStack) -> NodeCopy:
    config, config_path, host = None, None, None
    metas: dict[str, bytes] = {}
    for member in members(name):
        path = posixpath.normpath(member.name)
        parent, base = posixpath.split(path)
        if member.kind is not MemberKind.FILE or not base.endswith((_ENDING, "hostname")):
            continue
        content = b"".join(member.blocks())[:_MOST_BYTES]
        if base == META_FILE:
            metas[parent] = content
        elif base == "hostname":
            host = content.decode(errors="replace").strip()
        elif _ROLES in content:
            if config is not None:
                raise RecoveryRefused(
                    "several-logs", f"{name} holds several server.properties", "pack one node"
                )
            place = os.path.join(scratch, base)
            with open(place, "wb") as file:
                file.write(content)
            config = load_config(place, (), os.environ)
            # tar takes the / away; without a directory the path is that of some working directory.
            config_path = posixpath.join("/", path) if parent else None
    copy = NodeCopy(
        name=name,
        config=config,
        config_path=config_path,
        host=host,
        meta=None,
        sources=_sources(name, stack),
    )
    meta_path = os.path.join(copy.source.folder if copy.source else scratch, META_FILE)
    directory = config.metadata_log_dir.strip("/") if config else ""
    if not copy.source and (meta := metas.get(directory, next(iter(metas.values()), None))):
        with open(meta_path, "wb") as file:
            file.write(meta)
    return replace(copy, meta=read_meta(meta_path) if os.path.isfile(meta_path) else None)


def _sources(name: str, stack: ExitStack) -> tuple[LogSource, ...]:
    """Return the log directories of an archive; of a lost controller there may be none."""
    try:
        return tuple(stack.enter_context(unpacked([name])))
    except RecoveryRefused as error:
        if error.code != "no-log":
            raise
        return ()


def working_directory(copy: NodeCopy, scratch: str) -> ServerConfig:
    """Copy a node's metadata log and meta.properties into *scratch*; return a configuration of it.

    Raises:
        OSError: it cannot be copied.
    """
    assert copy.config
    folder = copy.source.folder if copy.source else copy.config.metadata_log_dir
    if copy.source:
        log = os.path.join(folder, METADATA_PARTITION)
        os.mkdir(os.path.join(scratch, METADATA_PARTITION))
        for entry in os.scandir(log):
            if entry.is_file():
                shutil.copy2(entry.path, os.path.join(scratch, METADATA_PARTITION))
    elif not os.path.isfile(os.path.join(folder, META_FILE)):
        folder = os.path.dirname(copy.config.path)  # an archive without a log is unpacked there
    shutil.copy2(os.path.join(folder, META_FILE), scratch)
    overrides = [f"log.dirs={scratch}", f"metadata.log.dir={scratch}"]
    return load_config(copy.config.path, overrides, os.environ)
