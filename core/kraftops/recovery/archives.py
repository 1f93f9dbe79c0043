"""Metadata logs in archives, tar or zip, unpacked to temporary directories."""

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
from kraftops.server.meta_properties import FILE_NAME as META_FILE

_MOST_META_BYTES = 1 << 16
_FILE_NAME = re.compile(r"[\w.-]*\w", re.ASCII)
_LOG_FILE = re.compile(r"\d{20}[.-].+|quorum-state", re.ASCII)


class LogSource(NamedTuple):
    """A log beside that of this node: its name for people, and the directory to read it in.

    *is_unpacked* says that the directory is a temporary one, made from an archive.
    """

    name: str
    folder: str
    is_unpacked: bool = False


@contextmanager
def unpacked(names: Sequence[str]) -> Iterator[list[LogSource]]:
    """Yield a source for each name; the directories of archives are removed at the end.

    Raises:
        NotFound: there is no such file or directory.
        RecoveryRefused: it is no archive, or has no metadata log, or several.
    """
    with ExitStack() as stack:
        yield [_source(name, stack) for name in names]


def _source(name: str, stack: ExitStack) -> LogSource:
    import tempfile

    if os.path.isdir(name):
        return LogSource(name, name)
    if not os.path.lexists(name):
        raise NotFound("not-there", f"{name} does not exist")
    if not os.path.isfile(os.path.realpath(name)) and os.path.exists(name):  # a pipe would hang
        hint = "write the archive to a file first"
        raise RecoveryRefused("no-archive", f"{name} is no regular file", hint)
    scratch = stack.enter_context(tempfile.TemporaryDirectory(prefix="kraftops-"))
    try:
        _unpack(name, scratch)
    except OSError as error:
        reason = error.strerror or error
        raise RecoveryRefused("unreadable", f"cannot read {name}: {reason}") from None
    except DamagedArchive as error:
        hint = "name a directory, or a tar or zip archive of it"
        raise RecoveryRefused("no-archive", f"cannot read {name}: {error.message}", hint) from None
    except SourceError as error:
        raise RecoveryRefused("unreadable", error.message) from None
    return LogSource(name, scratch, is_unpacked=True)


def _unpack(name: str, scratch: str) -> None:
    """Write the metadata log of an archive, and the meta.properties beside it, to a directory."""
    space = os.statvfs(scratch)
    free = int(space.f_bavail * space.f_frsize * USABLE)
    folder = os.path.join(scratch, METADATA_PARTITION)
    os.mkdir(folder)
    found: set[str] = set()
    metas: dict[str, bytes] = {}
    for member in members(name):
        if member.kind is not MemberKind.FILE:
            continue
        parent, base = posixpath.split(posixpath.normpath(member.name))
        if base == META_FILE:
            metas[parent] = next(member.blocks(), b"")[:_MOST_META_BYTES]
        if not _is_of_log(parent, base):
            continue
        found.add(parent)
        with open(os.path.join(folder, base), "wb") as file:
            for block in member.blocks():
                free -= len(block)
                if free < 0:
                    raise RecoveryRefused("no-room", f"{scratch} has no room for what is in {name}")
                file.write(block)
    if not found:
        hint = "name an archive that does"
        raise RecoveryRefused("no-log", f"{name} holds no metadata log", hint)
    if len(found) > 1:
        shown = ", ".join(sorted(found))
        hint = "unpack it, and name one directory of each node"
        raise RecoveryRefused("several-logs", f"{name} holds several metadata logs: {shown}", hint)
    meta = metas.get(posixpath.dirname(found.pop()))
    if meta is not None:
        with open(os.path.join(scratch, META_FILE), "wb") as file:
            file.write(meta)


def _is_of_log(parent: str, name: str) -> bool:
    """Tell whether a file is of a metadata log: in its directory, or at the top of an archive."""
    if posixpath.basename(parent) == METADATA_PARTITION:
        return _FILE_NAME.fullmatch(name) is not None
    return not parent and _LOG_FILE.fullmatch(name) is not None
