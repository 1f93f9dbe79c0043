"""Files in object stores and other file systems behind URIs, read in ranges; needs pyarrow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from kraftops.errors import SourceError, UsageError

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

_RANGE = 8 << 20  # bytes of a request: small ones cost more time than they save


class Entry(NamedTuple):
    """Something in a directory: its URI, and the size of a file in bytes, None of a directory."""

    uri: str
    size: int | None

    @property
    def name(self) -> str:
        """The last part of the URI."""
        return self.uri.rstrip("/").rpartition("/")[2]


class RemoteFile:
    """A file behind a URI, with as much of the interface of files as reading needs."""

    def __init__(self, uri: str) -> None:
        """Open the file.

        Raises:
            SourceError: it is not there, or cannot be read.
        """
        self._uri = uri
        system, path = filesystem(uri)
        with reading(uri):
            self._file: Any = system.open_input_file(path)
            self.size: int = self._file.size()
        self._position = 0
        self._block = b""
        self._base = 0

    def seek(self, position: int) -> None:
        """Go on at a byte."""
        self._position = position

    def tell(self) -> int:
        """Return the byte that is next."""
        return self._position

    def read(self, size: int) -> bytes:
        """Return up to *size* bytes, none only at the end.

        Raises:
            SourceError: they cannot be had.
        """
        at = self._position - self._base
        if not 0 <= at < len(self._block):
            if self._position >= self.size:
                return b""
            wanted = max(min(_RANGE, self.size - self._position), 1)
            with reading(self._uri):
                self._block = self._file.read_at(wanted, self._position)
            self._base, at = self._position, 0
        found = self._block[at : at + size]
        self._position += len(found)
        return found

    def close(self) -> None:
        """Close it."""
        self._file.close()


def filesystem(uri: str) -> tuple[FileSystem, str]:
    """Return the file system of a URI, and the path in it.

    Raises:
        UsageError: pyarrow is not installed, or the URI makes no sense.
    """
    scheme, _, rest = uri.partition("://")
    authority, _, path = rest.partition("/")
    system, root = _filesystem(f"{scheme}://{authority}")
    return system, f"{root}/{path}".rstrip("/")


@cache
def _filesystem(base: str) -> tuple[FileSystem, str]:
    """Return what is behind scheme and authority of URIs, and the path of its root."""
    try:
        from pyarrow import ArrowException
        from pyarrow.fs import FileSystem  # heavy: 100 ms
    except ImportError:
        raise UsageError(
            f"{base} needs pyarrow, which is not installed", hint="pip install 'kraftops[arrow]'"
        ) from None
    try:
        system, root = FileSystem.from_uri(f"{base}/")
    except (ArrowException, ValueError, OSError) as error:
        raise UsageError(f"{base}: {_first_line(error)}") from None
    return system, root.rstrip("/")


def list_directory(uri: str, *, recursive: bool = False) -> list[Entry] | None:
    """Return what is in a directory, by name; None where the URI is none.

    Raises:
        SourceError: it cannot be listed.
    """
    from pyarrow.fs import FileSelector, FileType

    system, path = filesystem(uri)
    with reading(uri):
        if system.get_file_info(path).type is not FileType.Directory:
            return None
        found = system.get_file_info(FileSelector(path, recursive=recursive))
    base = uri.rstrip("/")
    entries = [
        Entry(
            f"{base}/{one.path[len(path) :].strip('/')}",
            one.size if one.type is FileType.File else None,
        )
        for one in found
    ]
    return sorted(entries)


def sizes_of(uris: Sequence[str]) -> list[int | None]:
    """Return the bytes of files, asked for together; None where there is none.

    Raises:
        SourceError: nobody can tell.
    """
    from pyarrow.fs import FileType

    found: list[int | None] = []
    for base, some in groupby(uris, lambda uri: "/".join(uri.split("/", 3)[:3])):
        with reading(base):
            paths = [filesystem(uri)[1] for uri in some]
            infos = filesystem(base)[0].get_file_info(paths)
        found += [info.size if info.type is FileType.File else None for info in infos]
    return found


@contextmanager
def reading(uri: str) -> Iterator[None]:
    """Let errors of a file system name the URI.

    Raises:
        SourceError: there was one.
    """
    try:
        yield
    except FileNotFoundError:
        raise SourceError(f"cannot read {uri}: No such file or directory") from None
    except OSError as error:
        raise SourceError(f"cannot read {uri}: {_first_line(error)}") from None


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
