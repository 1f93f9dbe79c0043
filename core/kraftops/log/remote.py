"""Files in object stores and other file systems behind URIs, read in ranges; needs pyarrow."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from kraftops.errors import SourceError, UsageError

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

SCHEMES = ("s3", "gs", "gcs", "abfs", "abfss", "hdfs", "viewfs")
_URI = re.compile(rf"({'|'.join(SCHEMES)})://", re.IGNORECASE)
_LOCAL = "file://"
_RANGE = 8 << 20  # bytes of a request: small ones cost more time than they save


def is_remote(path: str) -> bool:
    """Tell whether a path is the URI of something that is not on this machine."""
    return _URI.match(path) is not None


def local_path(path: str) -> str:
    """Return a `file://` URI as a path; all else as it is.

    Raises:
        UsageError: it names another machine.
    """
    if not path.lower().startswith(_LOCAL):
        return path
    from urllib.parse import unquote

    host, slash, rest = path[len(_LOCAL) :].partition("/")
    if host not in ("", "localhost") or not slash:
        raise UsageError(f"{path} is no file of this machine", hint="as file:///var/kafka")
    return unquote(f"/{rest}", errors="surrogateescape")


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
    found = _parameters.match(uri)
    assert found is not None
    base, path, options = found[1], found[2], found[3] or ""
    system, root = _filesystem(base, options)
    return system, f"{root}{path}".rstrip("/") if path else root


_parameters = re.compile(r"([a-z0-9]+://[^/?]*)([^?]*)(\?.*)?", re.IGNORECASE | re.DOTALL)


@cache
def _filesystem(base: str, options: str) -> tuple[FileSystem, str]:
    """Return what is behind scheme, authority and options of URIs."""
    try:
        from pyarrow import ArrowException
        from pyarrow.fs import FileSystem  # heavy: 100 ms
    except ImportError:
        raise UsageError(
            f"{base} needs pyarrow, which is not installed", hint="pip install 'kraftops[arrow]'"
        ) from None
    try:
        system, root = FileSystem.from_uri(f"{base}/{options}")
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
    base, _, options = uri.rstrip("/").partition("?")
    tail = f"?{options}" if options else ""
    entries = [
        Entry(
            f"{base.rstrip('/')}/{one.path[len(path) :].strip('/')}{tail}",
            one.size if one.type is FileType.File else None,
        )
        for one in found
    ]
    return sorted(entries)


def size_of(uri: str) -> int | None:
    """Return the bytes of a file; None where there is none, or nobody can tell."""
    from pyarrow.fs import FileType

    try:
        system, path = filesystem(uri)
        with reading(uri):
            found = system.get_file_info(path)
    except (SourceError, UsageError):
        return None
    return found.size if found.type is FileType.File else None


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
