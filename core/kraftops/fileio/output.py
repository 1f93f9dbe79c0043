"""Output of a command: a file written whole or not at all, a device, or a descriptor."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from errno import EISDIR, ENOENT

from kraftops.errors import KraftopsError
from kraftops.fileio.atomic import OutputFile

_OWN_DESCRIPTORS = {"-": 1, "/dev/stdout": 1, "/dev/stderr": 2}
_OWN_DESCRIPTOR = re.compile(r"/(?:dev|proc/self)/fd/(\d{1,9})")


class OutputError(KraftopsError):
    """An output file cannot be written; the message names it."""

    code = "not-writable"


@contextmanager
def open_output(path: str, sources: Iterable[str] = ()) -> Iterator[int]:
    """Give a file descriptor to write to; its file becomes *path* at the end.

    A file that was there is replaced then, and keeps its mode and owner; an error or a signal
    leaves it as it was. Devices, FIFOs and this process's own descriptors (`-` is standard output)
    are written to directly.

    Args:
        path: The file.
        sources: Files that are read meanwhile, and must not be replaced.

    Raises:
        OutputError: it cannot be written, or is a directory or one of the sources.
    """
    if (own := _own_descriptor(path)) is not None:
        yield own
        return
    status = _status(path)
    if status and not stat.S_ISREG(status.st_mode):
        with _errors_of(path):
            fd = os.open(path, os.O_WRONLY | os.O_NOCTTY | os.O_CLOEXEC)
        try:
            with _write_errors_of(path):
                yield fd
        finally:
            os.close(fd)
        return
    for source in sources:
        with suppress(OSError):
            if status and os.path.samestat(status, os.stat(source)):
                raise OutputError(f"cannot write {path}: it is being read")
    with _errors_of(path):
        new = OutputFile(os.path.realpath(path), status)
    try:
        with _write_errors_of(path):
            yield new.fd
        with _errors_of(path):
            new.commit()
    finally:
        new.close()


def refuse_lost_output(path: str) -> None:
    """Refuse a file whose directory does not exist, before anything is read for it.

    Raises:
        OutputError: there is no such directory.
    """
    folder = os.path.dirname(os.path.abspath(path))
    if _own_descriptor(path) is None and not os.path.isdir(folder):
        raise OutputError(f"cannot write {path}: {os.strerror(ENOENT)}")


def _own_descriptor(path: str) -> int | None:
    if found := _OWN_DESCRIPTOR.fullmatch(path):
        return int(found[1])
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
            status = os.stat(path)
    except OutputError as error:
        if isinstance(error.__cause__, FileNotFoundError):
            return None
        raise
    if stat.S_ISDIR(status.st_mode):
        raise OutputError(f"cannot write {path}: {os.strerror(EISDIR)}")
    return status


@contextmanager
def _errors_of(path: str) -> Iterator[None]:
    """Turn errors of the system into errors that name the file."""
    try:
        yield
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
