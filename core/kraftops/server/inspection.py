"""Inspection of a log directory, which only reads: owner, room, lock, and metadata."""

from __future__ import annotations

import os
from dataclasses import replace

from kraftops.errors import SourceError
from kraftops.server.locks import lock_holder
from kraftops.server.log_directory import DirectoryStatus, LogDirectory
from kraftops.server.metadata_log.log import read_bootstrap, read_metadata_log


def inspected(directory: LogDirectory) -> LogDirectory:
    """Return a log directory with its status, its lock, and what it has of the metadata."""
    path = directory.path
    if not os.path.isdir(path):
        return directory
    status = holder = bootstrap = log = problem = None
    try:
        status = _status(path)
        os.listdir(path)
        bootstrap = read_bootstrap(path)
        log = read_metadata_log(path) if directory.is_metadata else None
        holder = lock_holder(path)
    except SourceError as error:
        problem = error.message
    except OSError as error:
        problem = f"cannot read {error.filename or path}: {error.strerror}"
    return replace(
        directory,
        status=status,
        holder=holder,
        bootstrap=bootstrap,
        log=log,
        read_problem=problem,
    )


def _status(path: str) -> DirectoryStatus:
    status, space = os.stat(path), os.statvfs(path)
    free, size = space.f_bavail * space.f_frsize, space.f_blocks * space.f_frsize
    return DirectoryStatus(status.st_uid, status.st_gid, status.st_mode & 0o7777, free, size)
