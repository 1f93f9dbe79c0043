"""Remote files, in object stores and other file systems at URIs; needs pyarrow."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from kraftops.errors import SourceError, UsageError
from kraftops.origin import extra_remedy
from kraftops.parallel.background import BackgroundCall
from kraftops.uris import is_remote

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

T = TypeVar("T")
R = TypeVar("R")
_RANGE = 8 << 20  # bytes of a request: small ones cost more time than they save
CONNECT_SECONDS = 10.0
"""Seconds that a store may take to accept a connection: with pyarrow's 1 s, a slow one failed."""
_SILENT_SECONDS = 30.0  # of a store that was asked: with pyarrow's 3 s, a slow one failed
_OPTIONS = dict.fromkeys(("gs", "gcs"), "?retry_limit_seconds=15")  # 15 minutes by default
_GOOGLE_CAUSE = re.compile(r"with a last message of (.+?)(?:\. | error_info=)")
_CREDENTIALS = {"s3": "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, name some"}
_HADOOP = "it needs Hadoop's libhdfs and CLASSPATH, and JAVA_HOME"
_LEAST = 64 << 10  # bytes of a request out of order, such as for a header: some batches around it
_NEAR = 1 << 20  # bytes that are skipped sooner than requested again
_OBJECT_STORES = frozenset({"s3", "gcs", "abfs"})  # there the names of files make directories
_ASKED_AT_ONCE = 16  # files: a store takes some 10 ms to answer, however little is read
AHEAD = "kraftops-ahead"
"""Name of threads that read ahead."""


class Entry(NamedTuple):
    """Entry of a directory: its URI, and the size of a file in bytes, or None for a directory."""

    uri: str
    size: int | None

    @property
    def name(self) -> str:
        """The last part of the URI."""
        return self.uri.rstrip("/").rpartition("/")[2]


class _NextRange(NamedTuple):
    """A range of a file that a thread fetches; *call* returns its bytes."""

    start: int
    size: int
    call: BackgroundCall[bytes]


class RemoteFile:
    """File at a URI, with the reading part of the interface of files.

    Bytes that are read in order are fetched in large ranges, the next one ahead; others in small
    ranges.
    """

    def __init__(self, uri: str) -> None:
        """Open the file.

        Raises:
            SourceError: it does not exist, or cannot be read.
        """
        self._uri = uri
        system, path = filesystem(uri)
        with reading(uri):
            self._file: Any = system.open_input_file(path)
            self.size: int = self._file.size()
        self._stop = self.size
        self._position = 0
        self._block = b""
        self._base = 0
        self._next = -1  # where the last range ended; nothing was read in order before
        self._ahead: _NextRange | None = None

    def expect(self, start: int, stop: int) -> None:
        """Announce that the bytes from *start* to *stop* are read in order."""
        self._stop = stop
        if not self._base <= start < self._base + len(self._block):
            self._next = start

    def next_data(self, position: int) -> int:
        """Return *position* itself: a store does not tell holes."""
        return position

    def seek(self, position: int) -> None:
        self._position = position

    def tell(self) -> int:
        return self._position

    def read(self, size: int) -> bytes:
        """Return up to *size* bytes, none only at the end.

        Raises:
            SourceError: they cannot be read.
        """
        if not 0 <= self._position - self._base < len(self._block):
            if self._position >= self.size:
                return b""
            with reading(self._uri):
                self._fill(size)
        index = self._position - self._base
        content = self._block[index : index + size]
        self._position += len(content)
        return content

    def close(self) -> None:
        self._drop_ahead()
        self._file.close()

    def _fill(self, size: int) -> None:
        """Fill the block with the range that begins at the position, or with one around it."""
        start = self._position
        is_in_order = self._next >= 0 and 0 <= start - self._next < _NEAR
        if not (is_in_order and self._take_ahead(start)):
            self._drop_ahead()
            if is_in_order:
                stop = self._stop if start < self._stop else self.size
                range_size = min(_RANGE, stop - start)
            elif self.size <= _RANGE:
                start, range_size = 0, self.size
            else:
                range_size = min(max(size, _LEAST), self.size - start)
            self._base, self._block = start, self._fetch(start, range_size)
        self._next = self._base + len(self._block)
        if is_in_order and self._next < self._stop:
            size = min(_RANGE, self._stop - self._next)
            fetch = partial(self._fetch, self._next, size)
            self._ahead = _NextRange(self._next, size, BackgroundCall(fetch, name=AHEAD))

    def _take_ahead(self, position: int) -> bool:
        """Fill the block with the range fetched ahead, if it has the byte at *position*."""
        ahead = self._ahead
        if ahead is None or not ahead.start <= position < ahead.start + ahead.size:
            return False
        self._ahead = None
        self._base, self._block = ahead.start, ahead.call.result()
        return True

    def _fetch(self, start: int, size: int) -> bytes:
        return bytes(self._file.read_at(size, start))

    def _drop_ahead(self) -> None:
        ahead, self._ahead = self._ahead, None
        if ahead:
            ahead.call.wait()


def filesystem(uri: str) -> tuple[FileSystem, str]:
    """Return the file system of a URI, and the path in it.

    Raises:
        UsageError: pyarrow is not installed, or the URI is malformed.
    """
    scheme, _, rest = uri.partition("://")
    authority, _, path = rest.partition("/")
    system, root = _filesystem(f"{scheme}://{authority}")
    return system, f"{root}/{path}".rstrip("/")


@cache
def _filesystem(base: str) -> tuple[FileSystem, str]:
    """Return the file system of a scheme and authority, and the path of its root."""
    _refuse_password(base)
    try:
        from pyarrow.fs import FileSystem  # heavy: 100 ms
    except ImportError:
        raise UsageError(
            f"{base} needs pyarrow, which is not installed",
            hint=extra_remedy("arrow"),
            code="missing-package",
        ) from None
    scheme = base.partition("://")[0].lower()
    _prepare(scheme)
    errors: tuple[type[Exception], ...] = (*store_errors(), ValueError)
    try:
        if scheme == "s3":
            return _s3(base.partition("://")[2])
        system, root = FileSystem.from_uri(f"{base}/{_OPTIONS.get(scheme, '')}")
    except errors as error:
        hint = _HADOOP if scheme in ("hdfs", "viewfs") else None
        raise UsageError(f"{base}: {_first_line(error)}", hint) from None
    return system, root.rstrip("/")


def _s3(bucket: str) -> tuple[FileSystem, str]:
    """Return the file system of a bucket, whose store may be slow for a moment."""
    from pyarrow.fs import S3FileSystem, resolve_s3_region

    endpoint = s3_endpoint() or None
    region = None if endpoint else resolve_s3_region(bucket)
    system = S3FileSystem(
        region=region,
        endpoint_override=endpoint,
        connect_timeout=CONNECT_SECONDS,
        request_timeout=_SILENT_SECONDS,
    )
    return system, bucket


def s3_endpoint() -> str:
    """Return the address of a store that is not AWS's; empty without one."""
    return os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or ""


def _refuse_password(base: str) -> None:
    """Refuse a password in a URI: rows, messages and plans of Spark would show it.

    Raises:
        UsageError: there is one; the message does not have it.
    """
    scheme, _, authority = base.partition("://")
    user, at_sign, host = authority.rpartition("@")
    name, colon, port = host.partition(":")
    if ":" in user or (colon and not port.isdigit()):
        public = f"{scheme}://…@{host}" if at_sign else f"{scheme}://{name}:…"
        raise UsageError(
            f"{public} has a password, which outputs would show",
            hint=_CREDENTIALS.get(scheme),
        )


def _prepare(scheme: str) -> None:
    """Make an unreachable store fail soon, and once.

    Raises:
        SourceError: it cannot be reached.
    """
    if scheme == "s3":
        _reach(s3_endpoint())
    elif scheme in ("abfs", "abfss"):
        from shutil import which

        if which("az") is None:  # a shell would print an error
            os.environ.setdefault("AZURE_TOKEN_CREDENTIALS", "prod")


def _reach(endpoint: str) -> None:
    """Check that a server answers at all: the library would try for minutes.

    Raises:
        SourceError: it does not.
    """
    from socket import create_connection
    from urllib.parse import urlsplit

    if not endpoint:
        return
    try:
        parts = urlsplit(endpoint if "://" in endpoint else f"https://{endpoint}")
        port = parts.port or (80 if parts.scheme == "http" else 443)
        create_connection((parts.hostname or "", port), CONNECT_SECONDS).close()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise SourceError(f"cannot reach {endpoint}: {reason}") from None


def store_errors() -> tuple[type[Exception], ...]:
    try:
        from pyarrow import ArrowException
    except ImportError:
        return (OSError,)
    return OSError, ArrowException


def list_directory(uri: str, *, recursive: bool = False) -> list[Entry] | None:
    """Return the entries of a directory, by name; None if the URI is not a directory.

    An object store answers for a thousand names at a time, whatever directories they are in.

    Raises:
        SourceError: it cannot be listed.
    """
    system, path = filesystem(uri)
    from pyarrow.fs import FileSelector, FileType

    selector = FileSelector(path, recursive=recursive, allow_not_found=True)
    with reading(uri):
        infos = system.get_file_info(selector) if system.type_name in _OBJECT_STORES else []
        if not infos:
            if system.get_file_info(path).type is not FileType.Directory:
                return None
            infos = system.get_file_info(selector)
    base = uri.rstrip("/")
    entries = [
        Entry(
            f"{base}/{info.path[len(path) :].strip('/')}",
            info.size if info.type is FileType.File else None,
        )
        for info in infos
    ]
    return sorted(entries)


def sizes_of(uris: Sequence[str]) -> list[int | None]:
    """Return the sizes of files in bytes, requested together; None where there is no file.

    Raises:
        SourceError: the store cannot be read.
    """
    sizes: list[int | None] = []
    for base, some in groupby(uris, lambda uri: "/".join(uri.split("/", 3)[:3])):
        with reading(base):
            paths = [filesystem(uri)[1] for uri in some]
            infos = filesystem(base)[0].get_file_info(paths)
        sizes += [info.size if info.is_file else None for info in infos]
    return sizes


def asked_at_once(call: Callable[[T], R], things: Sequence[T], paths: Iterable[str]) -> list[R]:
    """Return what *call* returns of things at *paths*, of several at once if a store answers."""
    if not any(map(is_remote, paths)):
        return list(map(call, things))
    from concurrent.futures import ThreadPoolExecutor  # it costs each start 10 ms

    with ThreadPoolExecutor(_ASKED_AT_ONCE) as pool:
        return list(pool.map(call, things))


@contextmanager
def reading(uri: str) -> Iterator[None]:
    """Turn errors of a file system into errors that name the URI.

    Raises:
        SourceError: there was an error.
    """
    try:
        yield
    except FileNotFoundError:
        # Arrow's has neither the number of the error nor its text.
        missing = FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        raise SourceError.of(uri, missing) from None
    except store_errors() as error:
        raise SourceError(f"cannot read {uri}: {_first_line(error)}") from None


def _first_line(error: Exception) -> str:
    line = (str(error).splitlines() or [type(error).__name__])[0]
    cause = _GOOGLE_CAUSE.search(line)
    return cause[1] if cause else line
