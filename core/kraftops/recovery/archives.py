"""Archives of log directories, tar or zip, unpacked to temporary directories.

Of each partition but that of the metadata, only the last segment is unpacked.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import NamedTuple

from kraftops.errors import SourceError
from kraftops.log.bundles.members import MemberKind, members
from kraftops.log.bundles.unpacking import USABLE
from kraftops.log.files import METADATA_PARTITION
from kraftops.log.reader import DamagedArchive
from kraftops.recovery.refusal import NotFound, RecoveryRefused
from kraftops.server.loader.load_plan import (
    CLEAN_SHUTDOWN,
    HIGH_WATERMARK,
    RECOVERY_POINT,
    parse_folder_name,
)
from kraftops.server.loader.text_files import LEADER_EPOCHS, PARTITION_METADATA
from kraftops.server.meta_properties import FILE_NAME as META_FILE

_NOTES = (META_FILE, HIGH_WATERMARK, RECOVERY_POINT, CLEAN_SHUTDOWN)
_OF_PARTITION = (LEADER_EPOCHS, PARTITION_METADATA)
_SEGMENT_FILE = re.compile(r"\d{20}\.(log|index|snapshot)", re.ASCII)
_FILE_NAME = re.compile(r"[\w.-]*\w", re.ASCII)
_LOG_FILE = re.compile(r"\d{20}[.-].+|quorum-state", re.ASCII)


class LogSource(NamedTuple):
    """A log directory of a node: its name for people, and the directory to read it in.

    *is_unpacked* says that the directory is a temporary one, made from an archive.
    """

    name: str
    folder: str
    is_unpacked: bool = False


@contextmanager
def unpacked(names: Sequence[str]) -> Iterator[list[LogSource]]:
    """Yield the log directories of each name; the copies of archives are removed at the end.

    Raises:
        NotFound: there is no such file or directory.
        RecoveryRefused: it is no archive, or has no log directory, or several.
    """
    with ExitStack() as stack:
        yield [source for name in names for source in _sources(name, stack)]


def _sources(name: str, stack: ExitStack) -> list[LogSource]:
    import tempfile

    if os.path.isdir(name):
        return [LogSource(name, name)]
    if not os.path.lexists(name):
        raise NotFound("not-there", f"{name} does not exist")
    if not os.path.isfile(os.path.realpath(name)) and os.path.exists(name):  # a pipe would hang
        hint = "write the archive to a file first"
        raise RecoveryRefused("no-archive", f"{name} is no regular file", hint)
    scratch = stack.enter_context(tempfile.TemporaryDirectory(prefix="kraftops-"))
    try:
        return [LogSource(name, copy, is_unpacked=True) for copy in _unpack(name, scratch)]
    except OSError as error:
        reason = error.strerror or error
        raise RecoveryRefused("unreadable", f"cannot read {name}: {reason}") from None
    except DamagedArchive as error:
        hint = "name a directory, or a tar or zip archive of it"
        raise RecoveryRefused("no-archive", f"cannot read {name}: {error.message}", hint) from None
    except SourceError as error:
        raise RecoveryRefused("unreadable", error.message) from None


def _unpack(name: str, scratch: str) -> list[str]:
    """Write what a recovery reads of the log directories in an archive; return their copies."""
    space = os.statvfs(scratch)
    free = int(space.f_bavail * space.f_frsize * USABLE)
    copies: dict[str, str] = {}
    logs: set[str] = set()
    with_partitions: set[str] = set()
    for member in members(name):
        parent, base = posixpath.split(posixpath.normpath(member.name))
        folder = _folder_of(parent, base)
        if member.kind is not MemberKind.FILE or folder is None:
            continue
        directory = posixpath.dirname(parent) if folder else parent
        if folder:
            (logs if folder == METADATA_PARTITION else with_partitions).add(directory)
        copy = copies.setdefault(directory, os.path.join(scratch, str(len(copies))))
        path = os.path.join(copy, folder, base)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if folder and folder != METADATA_PARTITION and not _is_last_segment(path):
            continue
        with open(path, "wb") as file:
            for block in member.blocks():
                free -= len(block)
                if free < 0:
                    raise RecoveryRefused("no-room", f"{scratch} has no room for what is in {name}")
                file.write(block)
    if len(logs) > 1:
        shown = ", ".join(sorted(logs))
        hint = "unpack it, and name one directory of each node"
        raise RecoveryRefused("several-logs", f"{name} holds several metadata logs: {shown}", hint)
    folders = [copy for place, copy in copies.items() if place in logs | with_partitions]
    if not folders:
        hint = "name an archive that does"
        raise RecoveryRefused("no-log", f"{name} holds no metadata log and no partition", hint)
    return folders


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
