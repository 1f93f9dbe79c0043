"""Metadata logs in archives, tar or zip, unpacked to temporary directories."""

from __future__ import annotations

import os
import posixpath
import re
import tarfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import IO, NamedTuple

from kraftops.log.codecs import zstd_module
from kraftops.recovery.refusal import NotFound, RecoveryRefused
from kraftops.storage.logdirs.directories import METADATA_PARTITION
from kraftops.storage.logdirs.meta_properties import FILE_NAME as META_FILE

_USABLE = 0.9  # of the free space of the temporary directory
_BLOCK = 1 << 20
_MOST_META_BYTES = 1 << 16
_FILE_NAME = re.compile(r"[\w.-]*\w", re.ASCII)
_LOG_FILE = re.compile(r"\d{20}[.-].+|quorum-state", re.ASCII)
_ZSTD, _ZIP = b"\x28\xb5\x2f\xfd", b"PK"


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
    except _damages() as error:
        # tarfile has a line for each compression that it tried.
        reason = str(error).partition("\n")[0].rstrip(":")
        hint = "name a directory, or a tar or zip archive of it"
        raise RecoveryRefused("no-archive", f"cannot read {name}: {reason}", hint) from None
    return LogSource(name, scratch, is_unpacked=True)


def _unpack(name: str, scratch: str) -> None:
    """Write the metadata log of an archive, and the meta.properties beside it, to a directory."""
    space = os.statvfs(scratch)
    free = int(space.f_bavail * space.f_frsize * _USABLE)
    folder = os.path.join(scratch, METADATA_PARTITION)
    os.mkdir(folder)
    found: set[str] = set()
    metas: dict[str, bytes] = {}
    for path, content in _members(name):
        parent, base = posixpath.split(posixpath.normpath(path))
        if base == META_FILE:
            metas[parent] = content.read(_MOST_META_BYTES)
        if not _is_of_log(parent, base):
            continue
        found.add(parent)
        with open(os.path.join(folder, base), "wb") as file:
            while block := content.read(_BLOCK):
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


def _members(name: str) -> Iterator[tuple[str, IO[bytes]]]:
    """Yield path and content of each file in an archive."""
    with open(name, "rb") as file:
        magic = file.read(4)
    return _zip_members(name) if magic.startswith(_ZIP) else _tar_members(name, magic)


def _tar_members(name: str, magic: bytes) -> Iterator[tuple[str, IO[bytes]]]:
    with ExitStack() as stack:
        inflated = None
        if magic == _ZSTD:  # tarfile knows it from Python 3.14 on
            inflated = stack.enter_context(zstd_module().open(name))
        tar = stack.enter_context(tarfile.open(name, "r|" if inflated else "r", inflated))
        for member in tar:
            if member.isfile() and (content := tar.extractfile(member)):
                yield member.name, content


def _zip_members(name: str) -> Iterator[tuple[str, IO[bytes]]]:
    from zipfile import BadZipFile, ZipFile

    with ZipFile(name) as archive:
        for member in archive.infolist():
            if member.flag_bits & 1:
                raise BadZipFile("it is encrypted")
            if not member.is_dir():
                with archive.open(member) as content:
                    yield member.filename, content


def _damages() -> tuple[type[Exception], ...]:
    """Return the errors of archives that are damaged, or none."""
    from lzma import LZMAError
    from struct import error
    from zipfile import BadZipFile
    from zlib import error as zlib_error

    zstd_error = zstd_module().ZstdError
    of_zip = (BadZipFile, NotImplementedError)
    return (tarfile.TarError, EOFError, *of_zip, zlib_error, LZMAError, zstd_error, error)
