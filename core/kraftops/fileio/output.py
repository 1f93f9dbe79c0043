"""Output files, which are there whole or not at all."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from errno import EISDIR, ENOENT

from kraftops.errors import KraftopsError

_OWN_DESCRIPTORS = {"-": 1, "/dev/stdout": 1, "/dev/stderr": 2}
_OWN_DESCRIPTOR = re.compile(r"/(?:dev|proc/self)/fd/(\d{1,9})")


class OutputError(KraftopsError):
    """An output file cannot be written; the message names it."""


@contextmanager
def open_output(path: str, sources: Iterable[str] = ()) -> Iterator[int]:
    """Give a file descriptor to write to; what is written becomes *path* at the end.

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
        new = _NewFile(os.path.realpath(path), status)
    try:
        with _write_errors_of(path):
            yield new.fd
        with _errors_of(path):
            new.commit()
    finally:
        new.close()


class _NewFile:
    """A file that has no name yet, or where the file system knows no such thing, another one."""

    def __init__(self, target: str, replaced: os.stat_result | None) -> None:
        if replaced and not os.access(target, os.W_OK):
            raise PermissionError(None, "Permission denied")
        directory, self._name = os.path.split(target)
        self._temporary = f".{self._name[:50]}.{os.urandom(4).hex()}.tmp"
        self._directory = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._has_name = False
        self.fd = -1
        try:
            self.fd = self._nameless()
            if self.fd < 0:
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
                self.fd = os.open(self._temporary, flags, 0o666, dir_fd=self._directory)
                self._has_name = True
            if replaced:
                with suppress(OSError):
                    os.fchown(self.fd, replaced.st_uid, replaced.st_gid)
                os.fchmod(self.fd, stat.S_IMODE(replaced.st_mode))
        except BaseException:
            self.close()
            raise

    def _nameless(self) -> int:
        """Return a file without a name, of which no kill leaves anything; -1 if there are none."""
        if not hasattr(os, "O_TMPFILE"):
            return -1
        flags = os.O_WRONLY | os.O_TMPFILE | os.O_CLOEXEC
        try:
            fd = os.open(".", flags, 0o666, dir_fd=self._directory)
        except OSError:
            return -1
        if os.path.exists(f"/proc/self/fd/{fd}"):
            return fd
        os.close(fd)  # without /proc it would never get a name
        return -1

    def commit(self) -> None:
        """Put the file in its place, for good."""
        os.fsync(self.fd)
        if not self._has_name:
            # With a directory, which an absolute path does not need, Python calls `linkat`: that
            # one follows the link to the file.
            os.link(
                f"/proc/self/fd/{self.fd}",
                self._temporary,
                src_dir_fd=self._directory,
                dst_dir_fd=self._directory,
            )
            self._has_name = True
        ends = {"src_dir_fd": self._directory, "dst_dir_fd": self._directory}
        os.replace(self._temporary, self._name, **ends)
        self._has_name = False
        os.fsync(self._directory)

    def close(self) -> None:
        """Close it, and leave nothing of it unless it is in its place."""
        if self._has_name:
            with suppress(OSError):
                os.unlink(self._temporary, dir_fd=self._directory)
        if self.fd >= 0:
            os.close(self.fd)
        os.close(self._directory)


def _own_descriptor(path: str) -> int | None:
    if found := _OWN_DESCRIPTOR.fullmatch(path):
        return int(found[1])
    return _OWN_DESCRIPTORS.get(path)


def _status(path: str) -> os.stat_result | None:
    """Return what is there under this name, if something is.

    Raises:
        OutputError: no file can be there.
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
    """Let errors of the system name the file."""
    try:
        yield
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror}") from error


@contextmanager
def _write_errors_of(path: str) -> Iterator[None]:
    """Let errors of writing name the file: those that name none, but that nobody reads a FIFO."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.filename is not None:
            raise
        raise OutputError(f"cannot write {path}: {error.strerror}") from error
