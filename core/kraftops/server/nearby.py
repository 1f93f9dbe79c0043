"""The log directories near a file: the one that it is in, and those beside that one."""

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress

from kraftops.errors import DecodeError
from kraftops.server.meta_properties import FILE_NAME, MetaProperties, read_meta

_DEEPEST = 3  # as of copies of a cluster: CLUSTER/HOST/DISK/data


def log_directories_in(path: str, depth: int = _DEEPEST) -> list[str]:
    """Return the log directories that a directory holds; itself if it is one, or holds none."""
    if os.path.isfile(os.path.join(path, FILE_NAME)):
        return [path]
    inside: list[str] = []
    if depth:
        with suppress(OSError):
            for folder in sorted(entry.path for entry in os.scandir(path) if entry.is_dir()):
                inside += log_directories_in(folder, depth - 1)
    return inside or ([path] if depth == _DEEPEST else [])


def cluster_id_near(sources: Iterable[str]) -> str | None:
    """Return the cluster id of the log directory that a file or a directory is in, if it says."""
    return next((meta.cluster_id for _, meta in _log_directories_of(sources)), None)


def directory_paths_near(sources: Iterable[str]) -> dict[bytes, str]:
    """Return paths by directory id of the log directories that sources are in, or beside."""
    paths: dict[bytes, str] = {}
    for directory, meta in _log_directories_of(sources):
        beside = [directory]
        with suppress(OSError):
            beside += (entry.path for entry in os.scandir(os.path.dirname(directory)))
        for path in beside:
            other = _meta_of(path)
            if other and other.directory_id and other.cluster_id == meta.cluster_id:
                paths[other.directory_id] = path
    return paths


def _log_directories_of(sources: Iterable[str]) -> Iterator[tuple[str, MetaProperties]]:
    """Yield each source's log directory (itself, or the one it is in) and its meta.properties."""
    for source in sources:
        path = os.path.abspath(source)
        for directory in (path, os.path.dirname(path), os.path.dirname(os.path.dirname(path))):
            if meta := _meta_of(directory):
                yield directory, meta
                break


def _meta_of(directory: str) -> MetaProperties | None:
    with suppress(OSError, ValueError, DecodeError):
        return read_meta(os.path.join(directory, FILE_NAME))
    return None
