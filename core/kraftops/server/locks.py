"""Lock of a log directory, which a running server holds (Kafka's `FileLock`)."""

import fcntl
import os
import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

from kraftops.errors import StorageError
from kraftops.fileio.directories import Owner, change_owner

FILE_NAME = ".lock"

# struct flock: the place of the type, and of the process, differ between systems.
_IS_LINUX = sys.platform.startswith("linux")
_FLOCK = struct.Struct("hhqqi4x" if _IS_LINUX else "qqihh")


class InUse(StorageError):
    """Another process holds the lock of a log directory."""

    code = "in-use"


class Holder(NamedTuple):
    """A process that holds a lock; *command* is its command line, if it is visible."""

    pid: int
    command: str | None

    def __str__(self) -> str:
        if self.pid <= 0:
            return "a process outside of this container"
        return f"process {self.pid}" + (f" ({self.command})" if self.command else "")


def lock_holder(directory: str) -> Holder | None:
    """Return the holder of the lock of a log directory, without locking; None if there is none.

    Raises:
        OSError: the lock file cannot be read.
    """
    try:
        fd = os.open(os.path.join(directory, FILE_NAME), os.O_RDONLY | os.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        if _IS_LINUX:
            asked = _FLOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
            kind, _, _, _, pid = _FLOCK.unpack(fcntl.fcntl(fd, fcntl.F_GETLK, asked))
        else:
            asked = _FLOCK.pack(0, 0, 0, fcntl.F_WRLCK, os.SEEK_SET)
            _, _, pid, kind, _ = _FLOCK.unpack(fcntl.fcntl(fd, fcntl.F_GETLK, asked))
    finally:
        os.close(fd)
    return None if kind == fcntl.F_UNLCK else Holder(pid, _command(pid))


def check_unlocked(directory: str, what: str) -> None:
    """Refuse a log directory that a server or another process uses.

    Raises:
        InUse: another process holds its lock.
        StorageError: the lock cannot be read.
    """
    try:
        holder = lock_holder(directory)
    except OSError as error:
        path = os.path.join(directory, FILE_NAME)
        raise StorageError(f"cannot read the lock {path}: {error.strerror}") from None
    if holder:
        raise InUse(f"{directory} is in use: {holder} holds its lock", hint=f"stop it, then {what}")


@contextmanager
def hold_lock(directory: str, owner: Owner | None) -> Iterator[None]:
    """Hold the lock of a log directory; a missing lock file is made, and stays.

    A server locks the file that exists: if it were removed, two servers could start. *owner* is
    the owner of a new file.

    Raises:
        InUse: another process holds the lock.
        StorageError: the file cannot be made.
    """
    path = os.path.join(directory, FILE_NAME)
    try:
        fd = _opened(path, owner)
    except OSError as error:
        raise StorageError(f"cannot open the lock {path}: {error.strerror}") from None
    try:
        _lock(fd, path)
        yield
    finally:
        with suppress(OSError):  # nothing was written to it
            os.close(fd)


def _lock(fd: int, path: str) -> None:
    try:
        fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # A format that fails removes the lock of a directory that it made: this may be that one.
        is_ours = os.path.samestat(os.fstat(fd), os.stat(path))
    except (BlockingIOError, FileNotFoundError, PermissionError):
        is_ours = False
    except OSError as error:
        raise StorageError(f"cannot lock {path}: {error.strerror}") from None
    if not is_ours:
        directory, holder = os.path.dirname(path), None
        with suppress(OSError):
            holder = lock_holder(directory)
        raise InUse(
            f"{directory} is in use: {holder or 'another process'} holds its lock",
            hint="stop it, then try again",
        )


def _opened(path: str, owner: Owner | None) -> int:
    flags = os.O_RDWR | os.O_CLOEXEC
    try:
        fd = os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o666)
    except FileExistsError:
        return os.open(path, flags)
    try:
        change_owner(fd, owner)
    except OSError:
        os.close(fd)
        raise
    return fd


def _command(pid: int) -> str | None:
    """Return the program of a process and, of a JVM, its Kafka class; arguments may be secret."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            words = file.read().decode("utf-8", "replace").split("\0")[:-1]
    except OSError:
        return None
    classes = [word for word in words[1:] if word.startswith(("kafka.", "org.apache.kafka."))]
    return " ".join([os.path.basename(words[0]), *classes[:1]]) if words else None
