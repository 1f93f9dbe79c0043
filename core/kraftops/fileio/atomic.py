"""Files written whole or not at all: a temporary file, fsync, rename, fsync of the directory."""

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from errno import ENOSYS, EOPNOTSUPP, EPERM
from typing import BinaryIO

from kraftops.fileio.directories import Owner, change_owner, errors_with_path, sync_directory

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_PERMISSIONS = 0o777  # without setuid: other content is another program
_NO_LINKS = (EPERM, ENOSYS, EOPNOTSUPP)  # of file systems without hard links


@contextmanager
def temporary_file(
    path: str, final_path: str, *, owner: Owner | None = None, mode: int | None = None
) -> Iterator[BinaryIO]:
    """Give a new file at *path* to write to; sync it at the end, remove it after an error.

    A file that a killed run has left at *path* is replaced.

    Args:
        path: The temporary name.
        final_path: The name for messages of errors.
        owner: The owner of the file; None for the user of this process.
        mode: The mode of the file; None for what the umask leaves of 0666.

    Raises:
        OSError: it cannot be written; nothing of it stays.
    """
    with suppress(FileNotFoundError):
        os.unlink(path)
    try:
        fd = os.open(path, _NEW, 0o600 if mode else 0o666)
        with errors_with_path(final_path), open(fd, "wb") as file:
            yield file
            file.flush()
            if mode is not None:
                os.fchmod(fd, mode)
            change_owner(fd, owner)
            os.fsync(fd)
    except BaseException:
        with suppress(OSError):
            os.unlink(path)
        raise


def write_file(
    path: str,
    temporary_path: str,
    blocks: Iterable[bytes],
    *,
    owner: Owner | None = None,
    time_ns: int | None = None,
) -> None:
    """Make a file of *blocks*, or replace it; *time_ns* is its time of change.

    Raises:
        OSError: it cannot be made; then nothing has changed.
    """
    try:
        with temporary_file(temporary_path, path, owner=owner) as file:
            file.writelines(blocks)
        if time_ns is not None:
            os.utime(temporary_path, ns=(time_ns, time_ns))
        os.replace(temporary_path, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary_path)
        raise
    sync_directory(os.path.dirname(path))


@dataclass(frozen=True, slots=True)
class StagedFile:
    """A file that is written under a temporary name first, and renamed when others are written.

    With *mode* None its mode is what the umask leaves of 0666.
    """

    path: str
    temporary_path: str
    data: bytes
    mode: int | None = None

    def prepare(self, owner: Owner | None) -> None:
        """Write the temporary file.

        Raises:
            OSError: it cannot be written; nothing of it stays.
        """
        with temporary_file(self.temporary_path, self.path, owner=owner, mode=self.mode) as file:
            file.write(self.data)

    def commit(self) -> None:
        """Rename the temporary file; the caller syncs the directory."""
        os.replace(self.temporary_path, self.path)

    def discard(self) -> None:
        """Remove the temporary file, if there is one."""
        with suppress(OSError):
            os.unlink(self.temporary_path)


class OutputFile:
    """A file without a name until `commit`, so that no kill leaves anything of it.

    Where the file system has no files without a name, it has a temporary one.
    """

    def __init__(
        self, target: str, present: os.stat_result | None, *, replaces: bool, is_private: bool
    ) -> None:
        """Open it.

        Args:
            target: The path that it gets; a symbolic link there is replaced, not followed.
            present: The status of what is at *target* now; a file gives its mode and owner.
            replaces: Replace what is at *target* then.
            is_private: Only the user of this process may read it.

        Raises:
            OSError: it cannot be opened, or the file at *target* not be written.
        """
        is_file = present is not None and stat.S_ISREG(present.st_mode)
        if is_file and not os.access(target, os.W_OK):
            raise PermissionError(None, "Permission denied")
        directory, self._name = os.path.split(os.path.abspath(target))
        self._replaces = replaces
        mode = 0o600 if is_private else 0o666
        self._temporary = f".{self._name[:50]}.{os.urandom(4).hex()}.tmp"
        self._directory = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._has_name = False
        self.fd = -1
        try:
            self.fd = self._nameless(mode)
            if self.fd < 0:
                with self._naming():
                    self.fd = os.open(self._temporary, _NEW, mode, dir_fd=self._directory)
            if present and is_file and not is_private:
                with suppress(OSError):
                    os.fchown(self.fd, present.st_uid, present.st_gid)
                os.fchmod(self.fd, present.st_mode & _PERMISSIONS)
        except BaseException:
            self.close()
            raise

    @contextmanager
    def _naming(self) -> Iterator[None]:
        """Take the temporary name from the beginning: a signal may come as soon as it is there."""
        self._has_name = True
        try:
            yield
        except FileExistsError:
            self._has_name = False
            raise

    def _nameless(self, mode: int) -> int:
        """Return the descriptor of a file without a name; -1 where the system has none."""
        if not hasattr(os, "O_TMPFILE"):
            return -1
        flags = os.O_WRONLY | os.O_TMPFILE | os.O_CLOEXEC
        try:
            fd = os.open(".", flags, mode, dir_fd=self._directory)
        except OSError:
            return -1
        if os.path.exists(f"/proc/self/fd/{fd}"):
            return fd
        os.close(fd)  # without /proc it would never get a name
        return -1

    def commit(self) -> None:
        """Sync the file and give it its name.

        Raises:
            FileExistsError: something has appeared at the target, and is not to be replaced.
            OSError: it cannot be done; what is at the target is as it was.
        """
        os.fsync(self.fd)
        source = self._temporary if self._has_name else f"/proc/self/fd/{self.fd}"
        if not self._replaces:
            self._link(source, self._name)
        else:
            if not self._has_name:
                with self._naming():
                    self._link(source, self._temporary)
            self._rename()

    def sync(self) -> None:
        """Sync the directory, so that the file has its name after a power cut, too.

        Raises:
            OSError: it cannot be done; the file has its name nevertheless.
        """
        os.fsync(self._directory)

    def _link(self, source: str, name: str) -> None:
        """Give the file at *source* a name that must be free, by a hard link if possible."""
        place = self._directory
        try:
            # With a directory, which an absolute path does not need, Python calls `linkat`, and
            # `linkat` follows the link to the file.
            os.link(source, name, src_dir_fd=place, dst_dir_fd=place)
        except OSError as error:
            if error.errno not in _NO_LINKS or source != self._temporary:
                raise
            try:
                os.close(os.open(name, _NEW, 0o600, dir_fd=place))
                self._rename()
            except FileExistsError:
                raise
            except BaseException:
                with suppress(OSError):
                    os.unlink(name, dir_fd=place)
                raise

    def _rename(self) -> None:
        ends = {"src_dir_fd": self._directory, "dst_dir_fd": self._directory}
        os.replace(self._temporary, self._name, **ends)
        self._has_name = False

    def close(self) -> None:
        """Close the file, and remove it unless it is committed."""
        if self._has_name:
            with suppress(OSError):
                os.unlink(self._temporary, dir_fd=self._directory)
        for fd in (self.fd, self._directory):
            with suppress(OSError):  # what is written is synced
                if fd >= 0:
                    os.close(fd)
