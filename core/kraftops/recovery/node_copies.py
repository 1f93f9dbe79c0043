"""Copies of nodes: archives, tar or zip, read in place; log directories; configurations."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Callable, Collection, Container, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from typing import NamedTuple

from kraftops.dump.small_files import is_small_file
from kraftops.errors import DecodeError, KraftopsError, SourceError
from kraftops.fileio.mounts import (
    Folder,
    Mount,
    archive_of,
    is_directory,
    is_file,
    names_in,
    opened,
)
from kraftops.fileio.reading import CONFIG_BYTES
from kraftops.java.numbers import parse_integer
from kraftops.java.properties import properties
from kraftops.log.bundles.spool import NoRoom, mounted_archive
from kraftops.log.files import METADATA_PARTITION, file_name
from kraftops.log.reader import BLOCK, DamagedArchive
from kraftops.recovery.refusal import PACK, RecoveryRefused
from kraftops.server.loader.load_plan import (
    CLEAN_SHUTDOWN,
    HIGH_WATERMARK,
    RECOVERY_POINT,
    parse_folder_name,
)
from kraftops.server.loader.text_files import LEADER_EPOCHS, PARTITION_METADATA
from kraftops.server.log_directory import read_log_directory
from kraftops.server.meta_properties import FILE_NAME as META_FILE
from kraftops.server.meta_properties import MetaProperties
from kraftops.server.nearby import log_directories_in
from kraftops.storage.config.nearby import ROLES
from kraftops.storage.config.server_config import ServerConfig, load_config

_NOTES = {META_FILE, HIGH_WATERMARK, RECOVERY_POINT, CLEAN_SHUTDOWN}
_OF_PARTITION = {LEADER_EPOCHS, PARTITION_METADATA}
_HOST = "hostname"
_SEGMENT = re.compile(r"\d{20}\.(log|index|snapshot)", re.ASCII)
_LOG_FILE = re.compile(r"\d{20}[.-].+|quorum-state", re.ASCII)

OnSkipped = Callable[[KraftopsError], None]
"""Takes the error of an archive that is left out, or of a member of it, as a link."""


class LogSource(NamedTuple):
    """A log directory of a node: its name for people, and the directory to read it in.

    *archive* is the path of the archive that it is in, *node_id* that of the configuration there,
    for directories without a meta.properties.
    """

    name: str
    folder: str
    archive: str | None = None
    node_id: int | None = None
    is_damaged: bool = False
    """Whether the archive is damaged: what it lacks may have been there."""

    @property
    def is_packed(self) -> bool:
        return self.archive is not None


def sources_of(config: ServerConfig, name: str | None = None) -> Iterator[LogSource]:
    """Yield the formatted log directories of a node on this host, under a name or their paths."""
    for path in dict.fromkeys((config.metadata_log_dir, *config.log_dirs)):
        if is_file(os.path.join(path, META_FILE)):
            yield LogSource(name or path, path, archive_of(path))


@contextmanager
def opened_sources(
    names: Sequence[str],
    on_skipped: OnSkipped,
    *,
    takes_damaged: bool = False,
    left_out: Container[str] = (),
) -> Iterator[list[LogSource]]:
    """Yield the log directories of each name; archives are open as long as the context lasts.

    *takes_damaged* reads what is left of damaged archives; the rest goes to *on_skipped*. So do
    refusals of names with a code of *left_out*, if another name has a log directory.

    Raises:
        RecoveryRefused: a file or directory does not exist.
        RecoveryRefused: it is not an archive, or has no log directory.
    """
    with ExitStack() as stack:
        sources: list[LogSource] = []
        refusals: list[RecoveryRefused] = []
        for name in names:
            try:
                sources += _sources(name, stack, on_skipped, takes_damaged=takes_damaged)
            except RecoveryRefused as refusal:
                if refusal.code not in left_out:
                    raise
                refusals.append(refusal)
        if refusals and not sources:
            raise refusals[0]
        for skipped in refusals:
            text = f"{skipped.message}: it is left out"
            on_skipped(RecoveryRefused(skipped.code, text, skipped.hint))
        yield sources


def _sources(
    name: str, stack: ExitStack, on_skipped: OnSkipped, *, takes_damaged: bool
) -> Sequence[LogSource]:
    if os.path.isdir(name):
        is_log = is_file(os.path.join(name, META_FILE)) or any(
            _LOG_FILE.fullmatch(file) or file == METADATA_PARTITION for file in names_in(name)
        )
        paths = [name] if is_log else log_directories_in(name)
        return [LogSource(path, path) for path in paths]
    packed = _packed_nodes(name, stack, on_skipped, takes_damaged=takes_damaged)
    sources = packed.sources()
    if not sources:
        hint = f"name an archive that does: {PACK}"
        raise RecoveryRefused("no-log", f"{name} holds no metadata log and no partition", hint)
    return sources


def _packed_nodes(
    name: str, stack: ExitStack, on_skipped: OnSkipped, *, takes_damaged: bool = False
) -> PackedNodes:
    """Let paths lead into an archive, for as long as *stack* is open.

    Raises:
        RecoveryRefused: the file does not exist, or is not an archive.
    """
    if not os.path.lexists(name):
        raise RecoveryRefused("not-found", f"{name} does not exist")
    if not os.path.isfile(os.path.realpath(name)) and os.path.exists(name):  # a pipe would hang
        hint = "write the archive to a file first"
        raise RecoveryRefused("no-archive", f"{name} is not a regular file", hint)
    hint = f"name a directory, or an archive of a node: {PACK}"
    try:
        mount, skipped = stack.enter_context(mounted_archive(name, lambda _: True))
    except NoRoom as error:
        raise RecoveryRefused("no-room", f"{name}: {error.message}", error.hint) from None
    except DamagedArchive as error:
        text = f"cannot read {name}: {error.message}"
        raise RecoveryRefused("no-archive", text, error.hint or hint) from None
    except SourceError as error:
        raise RecoveryRefused("unreadable", error.message, error.hint) from None
    damaged = [member for member in skipped if member.is_damaged]
    if damaged and not takes_damaged:
        raise RecoveryRefused("no-archive", f"cannot read {name}: {damaged[0].reason}", hint)
    for member in skipped:
        if member.is_damaged:  # what there is of a file would be taken for a log that was cut
            mount.remove(member.name)
        if member.is_damaged or _is_of_node(posixpath.basename(member.name)):
            on_skipped(member.error(name))
    return PackedNodes(mount, is_damaged=bool(damaged))


def _is_of_node(name: str) -> bool:
    """Tell by its name whether a file says something about a node."""
    is_read = file_name(name) is not None or is_small_file(name)
    return is_read or name == _HOST or name.endswith(".properties")


class PackedNodes:
    """The nodes in an archive, by the names of its files."""

    def __init__(self, mount: Mount, *, is_damaged: bool = False) -> None:
        """Look for what a recovery reads."""
        self.path = mount.path
        self.is_damaged = is_damaged
        self.partitions: dict[str, set[str]] = {}
        """The names of partitions in each log directory."""
        self.configs: list[str] = []
        """The paths of the configurations of servers."""
        self.hosts: list[str] = []
        """The paths of files with the name of a host."""
        self._root = mount.root
        for name, extent in [*mount.folders[""].files.items()]:
            if _LOG_FILE.fullmatch(name):  # a metadata log that was packed without its directory
                mount.add(f"{METADATA_PARTITION}/{name}", extent)
        for path, folder in mount.folders.items():
            self._look(path, folder)

    def _look(self, path: str, folder: Folder) -> None:
        parent, name = posixpath.split(path)
        files = folder.files.keys()
        if not files.isdisjoint(_NOTES):
            self.partitions.setdefault(path, set())
        if _HOST in files:
            self.hosts.append(posixpath.join(path, _HOST))
        for file, extent in folder.files.items():
            if file.endswith(".properties") and ROLES in extent.read_at(0, CONFIG_BYTES):
                self.configs.append(posixpath.join(path, file))
        is_partition = parse_folder_name(name) and (
            not files.isdisjoint(_OF_PARTITION) or any(map(_SEGMENT.fullmatch, files))
        )
        if is_partition or (name == METADATA_PARTITION and files):
            self.partitions.setdefault(parent, set()).add(name)

    def place(self, path: str) -> str:
        """Return the path by which a file or directory in the archive is read."""
        return posixpath.join(self._root, path) if path else self._root

    @property
    def logs(self) -> list[str]:
        """The log directories with a metadata log."""
        return [path for path, names in self.partitions.items() if METADATA_PARTITION in names]

    def sources(self, only: Collection[str] | None = None) -> tuple[LogSource, ...]:
        """Return the log directories with a metadata log or partitions; of several with paths."""
        node_id = _node_id(self.place(self.configs[0])) if len(self.configs) == 1 else None
        return tuple(
            LogSource(
                name=self.place(path) if len(self.logs) > 1 else self.path,
                folder=self.place(path),
                archive=self.path,
                node_id=node_id,
                is_damaged=self.is_damaged,
            )
            for path, names in self.partitions.items()
            if names and (only is None or path in only)
        )


def _node_id(path: str) -> int | None:
    """Return the node id in a configuration; None if it has none that is valid."""
    with suppress(DecodeError, OSError), opened(path) as file:
        entries = properties(file.read_at(0, CONFIG_BYTES))
        keys = [key for key in ("node.id", "broker.id") if key in entries]
        return parse_integer(entries[keys[0]].value, 32) if keys else None
    return None


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
            if is_directory(os.path.join(source.folder, METADATA_PARTITION)):
                return source
        return None

    @property
    def meta(self) -> MetaProperties | None:
        """The meta.properties of its metadata directory, if it has one."""
        return read_log_directory(self.directory).meta if self.directory else None

    @property
    def node_id(self) -> int | None:
        if self.config:
            return self.config.node_id
        return self.meta.node_id if self.meta else None


@contextmanager
def node_copies(names: Sequence[str], on_skipped: OnSkipped) -> Iterator[list[NodeCopy]]:
    """Yield the copies; archives are open as long as the context lasts.

    A name is an archive, the server.properties of a node on this host, or a directory with a log.

    Raises:
        RecoveryRefused: a file or directory does not exist.
        RecoveryRefused: a copy cannot be read, or two are of one node.
        ConfigError: a configuration is not valid.
    """
    with ExitStack() as stack:
        copies = [copy for name in names for copy in _copies(name, stack, on_skipped)]
        ids = [copy.node_id for copy in copies if copy.config]
        for node_id in ids:
            if ids.count(node_id) > 1:
                raise RecoveryRefused(
                    "several-logs",
                    f"two copies belong to node {node_id}",
                    "give one copy of each node",
                )
        yield copies


def _copies(name: str, stack: ExitStack, on_skipped: OnSkipped) -> Iterator[NodeCopy]:
    if os.path.isdir(name):
        yield NodeCopy(name=name, directory=name, sources=(LogSource(name, name),))
    elif name.endswith(".properties") and os.path.lexists(name):
        yield _local(name)
    else:
        yield from _packed_copies(_packed_nodes(name, stack, on_skipped))


def _packed_copies(packed: PackedNodes) -> Iterator[NodeCopy]:
    """Yield an archive's nodes: log directories go to the configuration with their node id."""
    configs = {path: load_config(packed.place(path), (), os.environ) for path in packed.configs}
    ids = {path: read_log_directory(packed.place(path)).node_id for path in packed.partitions}
    if len(configs) < 2 and len(packed.logs) < 2:
        yield _packed_copy(packed, next(iter(configs.items()), None), [*ids], packed.hosts)
        return
    by_id: dict[int | None, tuple[str, ServerConfig]] = {
        config.node_id: (path, config) for path, config in configs.items()
    }
    for node_id in dict.fromkeys((*by_id, *ids.values())):
        own = [path for path, owner in ids.items() if owner == node_id]
        tops = {path.split("/")[0] for path in own}
        hosts = [path for path in packed.hosts if path.split("/")[0] in tops]
        yield _packed_copy(packed, by_id.get(node_id), own, hosts)


def _packed_copy(
    packed: PackedNodes,
    configured: tuple[str, ServerConfig] | None,
    own: Sequence[str],
    hosts: Sequence[str],
) -> NodeCopy:
    """Return a node by its configuration and its log directories, with the name of its host."""
    sources = packed.sources(own)
    path, config = configured or ("", None)
    inner = config.metadata_log_dir.strip("/") if config else ""
    named = next((log for log in own if inner and f"/{log}".endswith(f"/{inner}")), None)
    # What is above the root of its host was added by who has packed several nodes.
    top = named.removesuffix(inner) if named else ""
    copy = NodeCopy(
        name=sources[0].name if sources else packed.path,
        config=config,
        # tar takes the / away; without a directory the path is that of some working directory.
        config_path=posixpath.join("/", path.removeprefix(top)) if "/" in path else None,
        host=_host_in(packed.place(hosts[-1])) if hosts else None,
        sources=sources,
    )
    if copy.source:
        return replace(copy, directory=copy.source.folder)
    directory = named or next(iter(own), None)
    return replace(copy, directory=packed.place(directory) if directory is not None else None)


def _host_in(path: str) -> str | None:
    with opened(path) as file:
        return file.read_at(0, CONFIG_BYTES).decode(errors="replace").strip() or None


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
    _copy_file(os.path.join(copy.directory, META_FILE), scratch)
    if copy.source:
        log = os.path.join(scratch, METADATA_PARTITION)
        os.mkdir(log)
        folder = os.path.join(copy.source.folder, METADATA_PARTITION)
        for path in (os.path.join(folder, name) for name in names_in(folder)):
            if is_file(path):
                _copy_file(path, log)
    overrides = [f"log.dirs={scratch}", f"metadata.log.dir={scratch}"]
    return load_config(copy.config.path, overrides, os.environ)


def _copy_file(path: str, folder: str) -> None:
    target = os.path.join(folder, os.path.basename(path))
    with opened(path) as file, open(target, "wb") as copy:
        copy.writelines(file.read_at(position, BLOCK) for position in range(0, file.size, BLOCK))
    os.utime(target, (file.modified, file.modified))
