"""URIs among paths: of files on other machines, or on this one."""

import os
import re
from collections.abc import Iterable

from kraftops.errors import UsageError

SCHEMES = ("s3", "gs", "gcs", "abfs", "abfss", "hdfs", "viewfs")
"""Schemes of files on other machines."""

Path = str | bytes | os.PathLike[str]
Paths = Path | Iterable[Path]
"""A path or URI, or several."""

_REMOTE = re.compile(rf"({'|'.join(SCHEMES)})://", re.IGNORECASE)
_LOCAL = "file://"


def is_remote(path: str) -> bool:
    """Tell whether a path is the URI of a file on another machine."""
    return "://" in path and _REMOTE.match(path) is not None


def path_texts(source: Paths) -> list[str]:
    """Return the texts of one path or of several.

    Raises:
        UsageError: it is something else.
    """
    try:
        several = [source] if isinstance(source, (str, bytes, os.PathLike)) else source
        texts = [os.fsdecode(path) for path in several]
    except TypeError:
        raise UsageError(f"{source!r} is not a path") from None
    if wrong := next((text for text in texts if "\0" in text), None):
        raise UsageError(f"{wrong!r} is not a path: no name has a NUL")
    return texts


def local_path(path: str) -> str:
    """Return the path of a `file://` URI; any other path as it is.

    Raises:
        UsageError: it names another machine.
    """
    if not path.lower().startswith(_LOCAL):
        return path
    from urllib.parse import unquote

    host, slash, rest = path[len(_LOCAL) :].partition("/")
    if host not in ("", "localhost") or not slash:
        raise UsageError(f"{path} is not a file of this machine", hint="as file:///var/kafka")
    return unquote(f"/{rest}", errors="surrogateescape")
