"""Archives of nodes, tar or zip, unpacked to temporary directories.

Of each partition but that of the metadata, only the last segment is unpacked.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import NamedTuple

from kraftops.errors import DecodeError, SourceError
from kraftops.java.numbers import parse_integer
from kraftops.java.properties import properties
from kraftops.log.bundles.members import MemberKind, members
from kraftops.log.bundles.unpacking import USABLE
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
from kraftops.server.meta_properties import FILE_NAME as META_FILE
from kraftops.storage.config.server_config import ServerConfig

_NOTES = (META_FILE, HIGH_WATERMARK, RECOVERY_POINT, CLEAN_SHUTDOWN)
_OF_PARTITION = (LEADER_EPOCHS, PARTITION_METADATA)
_SEGMENT_FILE = re.compile(r"\d{20}\.(log|index|snapshot)", re.ASCII)
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


class PackedNode(NamedTuple):
    """What an archive has of a node.

    Attributes:
        sources: its log directories with a metadata log or partitions.
        directories: the copies of all its log directories, by their paths in the archive.
        configs: the copies of the configurations of servers, by their paths in the archive.
        host: the name of its host, if it was packed.
    """

    sources: tuple[LogSource, ...]
    directories: Mapping[str, str]
    configs: Mapping[str, str]
    host: str | None


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
        RecoveryRefused: the file does not exist.
        RecoveryRefused: it is not an archive.
    """
    import tempfile

    if not os.path.lexists(name):
        raise RecoveryRefused("not-there", f"{name} does not exist")
    if not os.path.isfile(os.path.realpath(name)) and os.path.exists(name):  # a pipe would hang
        hint = "write the archive to a file first"
        raise RecoveryRefused("no-archive", f"{name} is not a regular file", hint)
    scratch = stack.enter_context(tempfile.TemporaryDirectory(prefix="kraftops-"))
    try:
        return _unpack(name, scratch)
    except OSError as error:
        reason = error.strerror or error
        raise RecoveryRefused("unreadable", f"cannot read {name}: {reason}") from None
    except DamagedArchive as error:
        hint = f"name a directory, or an archive of a node: {PACK}"
        raise RecoveryRefused("no-archive", f"cannot read {name}: {error.message}", hint) from None
    except SourceError as error:
        raise RecoveryRefused("unreadable", error.message) from None


def _unpack(name: str, scratch: str) -> PackedNode:
    space = os.statvfs(scratch)
    free = int(space.f_bavail * space.f_frsize * USABLE)
    targets = _Targets(scratch)
    for member in members(name):
        path = targets.path_of(member.name) if member.kind is MemberKind.FILE else None
        if path is None:
            continue
        with open(path, "wb") as file:
            for block in member.blocks():
                free -= len(block)
                if free < 0:
                    raise RecoveryRefused("no-room", f"{scratch} has no room for what is in {name}")
                file.write(block)
    return targets.node(name)


class _Targets:
    """Paths to which the members of an archive are unpacked in a directory."""

    def __init__(self, scratch: str) -> None:
        self._scratch = scratch
        self._directories: dict[str, str] = {}
        self._configs: dict[str, str] = {}
        self._hostname = os.path.join(scratch, "hostname")

    def path_of(self, name: str) -> str | None:
        """Return the path of a member; None if it is not read."""
        path = posixpath.normpath(name)
        parent, base = posixpath.split(path)
        if base == "hostname":
            return self._hostname
        if base.endswith(".properties") and base != META_FILE:
            target = os.path.join(self._scratch, f"{len(self._configs)}.properties")
            return self._configs.setdefault(path, target)
        folder = _folder_of(parent, base)
        if folder is None:
            return None
        directory = posixpath.dirname(parent) if folder else parent
        target = os.path.join(self._scratch, str(len(self._directories)))
        target = os.path.join(self._directories.setdefault(directory, target), folder, base)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        is_read = not folder or folder == METADATA_PARTITION or _is_last_segment(target)
        return target if is_read else None

    def node(self, name: str) -> PackedNode:
        """Return what was unpacked of an archive; several nodes are named with their paths."""
        folders = {path: os.listdir(copy) for path, copy in self._directories.items()}
        is_of_several = sum(METADATA_PARTITION in names for names in folders.values()) > 1
        configs = {path: copy for path, copy in self._configs.items() if _ROLES in _small(copy)}
        node_id = _node_id(*configs.values()) if len(configs) == 1 else None
        sources = [
            LogSource(
                os.path.join(name, path) if is_of_several else name,
                self._directories[path],
                name,
                node_id,
            )
            for path, names in folders.items()
            if not {*names}.issubset(_NOTES)
        ]
        host = _small(self._hostname).decode(errors="replace").strip() or None
        return PackedNode(tuple(sources), self._directories, configs, host)


def _small(path: str) -> bytes:
    with suppress(FileNotFoundError), open(path, "rb") as file:
        return file.read(_MOST_BYTES)
    return b""


def _node_id(path: str) -> int | None:
    """Return the node id in a configuration; None if it has none that is valid."""
    with suppress(DecodeError):
        entries = properties(_small(path))
        keys = [key for key in ("node.id", "broker.id") if key in entries]
        return parse_integer(entries[keys[0]].value, 32) if keys else None
    return None


def _folder_of(parent: str, name: str) -> str | None:
    """Return the directory of a file within its log directory; None if the file is not read."""
    folder = posixpath.basename(parent)
    if name in _NOTES:
        return ""
    if folder == METADATA_PARTITION:
        return folder if _FILE_NAME.fullmatch(name) else None
    if not parent and _LOG_FILE.fullmatch(name):
        return METADATA_PARTITION
    is_read = name in _OF_PARTITION or _SEGMENT_FILE.fullmatch(name)
    return folder if is_read and parse_folder_name(folder) else None


def _is_last_segment(path: str) -> bool:
    """Tell whether no later file of its kind was unpacked; remove the earlier ones."""
    folder, name = os.path.split(path)
    if not _SEGMENT_FILE.fullmatch(name):
        return True
    others = [
        other
        for other in os.listdir(folder)
        if _SEGMENT_FILE.fullmatch(other) and other.endswith(os.path.splitext(name)[1])
    ]
    if any(other > name for other in others):
        return False
    for other in others:
        os.unlink(os.path.join(folder, other))
    return True
