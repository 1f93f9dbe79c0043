"""Output of a command: a file written whole or not at all, a device, or a descriptor."""

import os
import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from errno import EISDIR, ELOOP, ENOENT
from typing import BinaryIO

from kraftops.errors import KraftopsError
from kraftops.fileio.atomic import OutputFile

_OWN_DESCRIPTORS = {"-": 1, "/dev/stdout": 1, "/dev/stderr": 2}
_OWN_DESCRIPTOR = re.compile(r"/(?:dev|proc/self)/fd/(\d{1,9})")


class OutputError(KraftopsError):
    """An output file cannot be written; the message names it."""

    code = "not-writable"


class ExistsError(OutputError):
    """There is something at an output's path, and it is not to be replaced."""

    code = "exists"

    def __init__(self, path: str) -> None:
        super().__init__(f"{path} exists", hint="--overwrite replaces it")


@dataclass(frozen=True, slots=True)
class OutputFlags:
    """Flags of an output: it may replace a file; only the user of this process may read it."""

    overwrite: bool = False
    is_private: bool = False


PLAIN = OutputFlags()


@contextmanager
def open_output(
    path: str, sources: Iterable[str] = (), flags: OutputFlags = PLAIN
) -> Iterator[int]:
    """Give a file descriptor to write to; its file becomes *path* at the end.

    A file that was there is replaced then, if the flags say so, and keeps its mode and owner; an
    error or a signal leaves it as it was. A symbolic link is replaced too, not followed. Devices,
    FIFOs and this process's own descriptors (`-` is standard output) are written to directly.

    Args:
        path: The file.
        sources: Files that are read meanwhile, and must not be replaced.
        flags: Whether to replace a file, and who may read it.

    Raises:
        ExistsError: there is a file or a link, and it is not to be replaced.
        OutputError: it cannot be written, or is a directory or one of the sources.
    """
    if (own := _own_descriptor(path)) is not None:
        with nullcontext() if own == 1 else _write_errors_of(path):
            yield own
        return
    status = _status(path)
    if status and not _is_replaceable(status):
        with _errors_of(path):
            fd = os.open(path, os.O_WRONLY | os.O_NOFOLLOW | os.O_NOCTTY | os.O_CLOEXEC)
        try:
            with _write_errors_of(path):
                yield fd
        finally:
            os.close(fd)
        return
    for source in sources:
        with suppress(OSError):
            if os.path.samefile(path, source):
                raise OutputError(f"cannot write {path}: it is being read")
    if status and not flags.overwrite:
        raise ExistsError(path)
    with _errors_of(path):
        new = OutputFile(path, status, replaces=flags.overwrite, is_private=flags.is_private)
    try:
        with _write_errors_of(path):
            yield new.fd
        with _errors_of(path):
            new.commit()
        try:
            new.sync()
        except OSError as error:
            text = f"{path} is written, but its directory cannot be synced: {error.strerror}"
            raise OutputError(text, "a power cut could still lose it") from error
    finally:
        new.close()


def refuse_output(path: str, flags: OutputFlags = PLAIN) -> None:
    """Refuse a file that `open_output` would refuse, before anything is read for it.

    Raises:
        ExistsError: there is a file or a link, and it is not to be replaced.
        OutputError: its directory does not exist, or it is a directory.
    """
    if _own_descriptor(path) is not None:
        return
    status = _status(path)
    if status and _is_replaceable(status) and not flags.overwrite:
        raise ExistsError(path)
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        hint = f"the directory {folder} does not exist"
        raise OutputError(f"cannot write {path}: {os.strerror(ENOENT)}", hint)


def open_plainly(path: str, *, is_append: bool, is_private: bool = False) -> BinaryIO:
    """Open a file as a shell does for `>` and `>>`, but follow symbolic links only of devices.

    If *is_private*, a regular file gets a mode that lets nobody but its owner read it.

    Raises:
        OSError: it cannot be opened.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | (os.O_APPEND if is_append else os.O_TRUNC)
    if not os.path.abspath(path).startswith("/dev/"):
        flags |= os.O_NOFOLLOW
    try:
        fd = os.open(path, flags, 0o600 if is_private else 0o666)
    except OSError as error:
        if error.errno == ELOOP:
            error.strerror = "it is a symbolic link"
        raise
    if is_private and stat.S_ISREG(os.fstat(fd).st_mode):
        with suppress(PermissionError):
            os.fchmod(fd, 0o600)
    return open(fd, "wb")


def _is_replaceable(status: os.stat_result) -> bool:
    return stat.S_ISREG(status.st_mode) or stat.S_ISLNK(status.st_mode)


def _own_descriptor(path: str) -> int | None:
    if match := _OWN_DESCRIPTOR.fullmatch(path):
        return int(match[1])
    return _OWN_DESCRIPTORS.get(path)


def _status(path: str) -> os.stat_result | None:
    """Return the status of the file at *path*; None where there is none.

    Raises:
        OutputError: *path* can be no file.
    """
    if not os.path.basename(path):
        raise OutputError(f"cannot write {path}: {os.strerror(EISDIR if path else ENOENT)}")
    try:
        with _errors_of(path):
            status = os.lstat(path)
    except OutputError as error:
        if isinstance(error.__cause__, FileNotFoundError):
            return None
        raise
    if os.path.isdir(path):
        raise OutputError(f"cannot write {path}: {os.strerror(EISDIR)}")
    return status


@contextmanager
def _errors_of(path: str) -> Iterator[None]:
    """Turn errors of the system into errors that name the file."""
    try:
        yield
    except FileExistsError:
        raise ExistsError(path) from None
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror}") from error


@contextmanager
def _write_errors_of(path: str) -> Iterator[None]:
    """Turn errors of writing into errors that name the file.

    Errors that name another file, and a FIFO without a reader, stay as they are.
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.filename is not None:
            raise
        raise OutputError(f"cannot write {path}: {error.strerror}") from error
