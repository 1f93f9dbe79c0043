"""Copies of nodes: archives, tar or zip, unpacked for a while; log directories; configurations.

Of each partition in an archive but that of the metadata, only the last segment is unpacked.
"""

from __future__ import annotations

import os
import posixpath
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from typing import NamedTuple

from kraftops.errors import DecodeError, SourceError
from kraftops.java.numbers import parse_integer
from kraftops.java.properties import properties
from kraftops.log.bundles.unpacking import unpack
from kraftops.log.bundles.wanted import NoRoom
from kraftops.log.files import METADATA_PARTITION
from kraftops.log.reader import DamagedArchive
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
from kraftops.storage.config.server_config import ServerConfig, load_config

_NOTES = (META_FILE, HIGH_WATERMARK, RECOVERY_POINT, CLEAN_SHUTDOWN)
_OF_PARTITION = (LEADER_EPOCHS, PARTITION_METADATA)
_SEGMENT = re.compile(r"\d{20}\.(log|index|snapshot)", re.ASCII)
_FILE_NAME = re.compile(r"[\w.-]*\w", re.ASCII)
_LOG_FILE = re.compile(r"\d{20}[.-].+|quorum-state", re.ASCII)
_ROLES = b"process.roles"  # every KRaft server has it; other .properties files are of clients
_MOST_BYTES = 1 << 20  # of a configuration; a real one has a few kB


class LogSource(NamedTuple):
    """A log directory of a node: its name for people, and the directory to read it in.

    Of an *archive* the directory is a temporary one; *node_id* is that of the configuration in it,
    for directories without a meta.properties.
    """

    name: str
    folder: str
    archive: str | None = None
    node_id: int | None = None

    @property
    def is_unpacked(self) -> bool:
        """Whether the directory is a temporary one."""
        return self.archive is not None


def sources_of(config: ServerConfig, name: str | None = None) -> Iterator[LogSource]:
    """Yield the formatted log directories of a node on this host, under a name or their paths."""
    for path in dict.fromkeys((config.metadata_log_dir, *config.log_dirs)):
        if os.path.isfile(os.path.join(path, META_FILE)):
            yield LogSource(name or path, path)


@contextmanager
def unpacked(names: Sequence[str]) -> Iterator[list[LogSource]]:
    """Yield the log directories of each name; the copies of archives are removed at the end.

    Raises:
        RecoveryRefused: a file or directory does not exist.
        RecoveryRefused: it is not an archive, or has no log directory.
    """
    with ExitStack() as stack:
        yield [source for name in names for source in _sources(name, stack)]


def _sources(name: str, stack: ExitStack) -> Sequence[LogSource]:
    if os.path.isdir(name):
        return [LogSource(name, name)]
    sources = unpacked_node(name, stack).sources
    if not sources:
        hint = f"name an archive that does: {PACK}"
        raise RecoveryRefused("no-log", f"{name} holds no metadata log and no partition", hint)
    return sources


def unpacked_node(name: str, stack: ExitStack) -> PackedNode:
    """Unpack what a recovery reads of an archive, for as long as *stack* is open.

    Raises:
        RecoveryRefused: the file does not exist, or is not an archive.
    """
    import tempfile

    if not os.path.lexists(name):
        raise RecoveryRefused("not-found", f"{name} does not exist")
    if not os.path.isfile(os.path.realpath(name)) and os.path.exists(name):  # a pipe would hang
        hint = "write the archive to a file first"
        raise RecoveryRefused("no-archive", f"{name} is not a regular file", hint)
    scratch = stack.enter_context(tempfile.TemporaryDirectory(prefix="kraftops-"))
    node = PackedNode(name, scratch)
    try:
        skipped = unpack(name, scratch, node.is_wanted)
        damage = [member.reason for member in skipped if member.is_damaged]
    except NoRoom as error:
        raise RecoveryRefused("no-room", f"{name}: {error.message}", error.hint) from None
    except DamagedArchive as error:
        damage = [error.message]
    except SourceError as error:
        raise RecoveryRefused("unreadable", error.message) from None
    if damage:
        hint = f"name a directory, or an archive of a node: {PACK}"
        raise RecoveryRefused("no-archive", f"cannot read {name}: {damage[0]}", hint)
    node.place_log()
    return node


class PackedNode:
    """A node in an archive, of which is unpacked to a directory what a recovery reads."""

    def __init__(self, name: str, scratch: str) -> None:
        self._name = name
        self._scratch = scratch
        self._last_segments: dict[tuple[str, str], str] = {}
        self._partitions: dict[str, set[str]] = {}  # by log directory
        self._configs: list[str] = []
        self._log_files: list[str] = []  # of an archive of the metadata partition itself
        self._host = ""

    def is_wanted(self, name: str) -> bool:
        """Tell whether a member is read: of the segments of a partition only the last."""
        parent, base = posixpath.split(name)
        directory, folder = posixpath.split(parent)
        if base in _NOTES:
            self._partitions.setdefault(parent, set())
        elif base == "hostname":
            self._host = name
        elif base.endswith(".properties"):
            self._configs.append(name)
        elif not parent and _LOG_FILE.fullmatch(base):
            self._partitions.setdefault("", set()).add(METADATA_PARTITION)
            self._log_files.append(name)
        elif folder == METADATA_PARTITION and _FILE_NAME.fullmatch(base):
            self._partitions.setdefault(directory, set()).add(folder)
        elif parse_folder_name(folder) and (base in _OF_PARTITION or _SEGMENT.fullmatch(base)):
            self._partitions.setdefault(directory, set()).add(folder)
            return base in _OF_PARTITION or self._is_last(name)
        else:
            return False
        return True

    def _is_last(self, name: str) -> bool:
        """Tell whether no later file of its kind was unpacked; remove the one before it."""
        key = (posixpath.dirname(name), posixpath.splitext(name)[1])
        last = self._last_segments.setdefault(key, name)
        if name > last:
            with suppress(FileNotFoundError):  # of a link, which is not unpacked
                os.unlink(self._copy(last))
            self._last_segments[key] = name
        return name >= last

    @property
    def host(self) -> str | None:
        """The name of its host, if it was packed."""
        text = _small(self._copy(self._host)) if self._host else b""
        return text.decode(errors="replace").strip() or None

    @property
    def configs(self) -> dict[str, str]:
        """The copies of the configurations of servers, by their paths in the archive."""
        copies = {path: self._copy(path) for path in self._configs}
        return {path: copy for path, copy in copies.items() if _ROLES in _small(copy)}

    @property
    def directories(self) -> dict[str, str]:
        """The copies of all its log directories, by their paths in the archive."""
        return {path: self._copy(path) for path in self._partitions}

    @property
    def sources(self) -> tuple[LogSource, ...]:
        """Its log directories with a metadata log or partitions; of several nodes with paths."""
        configs = [*self.configs.values()]
        node_id = _node_id(configs[0]) if len(configs) == 1 else None
        return tuple(
            LogSource(
                os.path.join(self._name, path) if len(self.logs) > 1 else self._name,
                self._copy(path),
                self._name,
                node_id,
            )
            for path, names in self._partitions.items()
            if names
        )

    @property
    def logs(self) -> list[str]:
        """The log directories with a metadata log, by their paths in the archive."""
        return [path for path, names in self._partitions.items() if METADATA_PARTITION in names]

    def place_log(self) -> None:
        """Give files of a metadata log that were packed alone their directory."""
        for file in self._log_files:
            with suppress(FileNotFoundError):
                os.renames(self._copy(file), self._copy(METADATA_PARTITION, file))

    def _copy(self, *path: str) -> str:
        return os.path.join(self._scratch, *filter(None, path))


def _small(path: str) -> bytes:
    with suppress(OSError), open(path, "rb") as file:
        return file.read(_MOST_BYTES)
    return b""


def _node_id(path: str) -> int | None:
    """Return the node id in a configuration; None if it has none that is valid."""
    with suppress(DecodeError):
        entries = properties(_small(path))
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
    if name.endswith(".properties") and os.path.lexists(name):
        return _local(name)
    packed = unpacked_node(name, stack)
    if len(packed.configs) > 1 or len(packed.logs) > 1:
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
