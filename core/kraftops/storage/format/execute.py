"""Execution of a format: write all files under temporary names, then rename them."""

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress

from kraftops.errors import StorageError
from kraftops.fileio.directories import (
    Owner,
    make_directories,
    make_directory,
    owner_of,
    sync_directory,
)
from kraftops.server.locks import FILE_NAME as LOCK_NAME
from kraftops.server.locks import InUse, hold_lock
from kraftops.storage.format.plan import FormatPlan, Target
from kraftops.storage.logdirs.directories import read_directories


def format_directories(plan: FormatPlan) -> Iterator[Target]:
    """Format the directories of a plan; yield each when it is formatted.

    The locks that a server would take are held throughout. All files are written under temporary
    names first; meta.properties, which makes a directory a formatted one, is renamed last.

    Raises:
        InUse: another process holds a lock or was faster.
        StorageError: a file cannot be written; a directory that was not yielded is not formatted,
            or may not last.
    """
    if not plan.targets:
        return  # a server may be running
    try:
        with ExitStack() as undo:
            new_directories = _prepare(plan, undo)
            for target in plan.targets:
                _commit(target, new_directories)
                yield target
    except OSError as error:
        path = f"{error.filename}: " if error.filename else ""
        raise StorageError(
            f"cannot format: {path}{error.strerror}",
            hint="directories that were not formatted are as they were; "
            "once it is mended, format again with -g",
        ) from None


_NewPaths = dict[str, list[str]]
"""The directories that were made for each target, by its path; it goes once formatted."""


def _prepare(plan: FormatPlan, undo: ExitStack) -> _NewPaths:
    """Make directories, take locks, write temporary files; *undo* removes unused ones."""
    owners = {target.directory.path: owner_of(target.directory.path) for target in plan.targets}
    new_directories: _NewPaths = {path: [] for path in owners}
    undo.callback(_remove_directories, new_directories)
    for path, owner in owners.items():
        make_directories(path, owner, new_directories[path])
    try:
        _lock(plan, owners, new_directories, undo)
    except InUse:
        new_directories.clear()  # the other process has put its files there, or is about to
        raise
    undo.callback(_remove_files, plan, new_directories)
    for target in plan.targets:
        path = target.directory.path
        for file in target.files:
            make_directory(os.path.dirname(file.path), owners[path], new_directories[path])
            undo.callback(file.discard)
            file.prepare(owners[path])
    return new_directories


def _lock(
    plan: FormatPlan,
    owners: Mapping[str, Owner | None],
    new_directories: _NewPaths,
    undo: ExitStack,
) -> None:
    """Take the locks until *undo*, and refuse directories that changed before that.

    Raises:
        InUse: another process was faster, or holds a lock.
    """
    for directory in plan.directories:
        if directory.problem is None:
            undo.enter_context(hold_lock(directory.path, owners.get(directory.path)))
            undo.callback(_remove_lock, directory.path, new_directories)  # while it is held
    if read_directories(plan.config) != plan.directories:
        raise InUse(
            "another process formatted a directory at the same time",
            hint="run it again",
            code="not-done",
        )


def _commit(target: Target, new_directories: _NewPaths) -> None:
    *others, meta = target.files
    path = target.directory.path
    for stale in target.removes:
        with suppress(FileNotFoundError):
            os.unlink(stale)
            sync_directory(os.path.dirname(stale))
    for file in others:
        file.commit()
        sync_directory(os.path.dirname(file.path))
    sync_directory(path)
    meta.commit()
    del new_directories[path]
    sync_directory(path)


def _remove_files(plan: FormatPlan, new_directories: _NewPaths) -> None:
    """Remove the files in directories that were made but not formatted."""
    for target in plan.targets:
        if _is_made(target.directory.path, new_directories):
            for file in reversed(target.files):  # meta.properties first
                with suppress(OSError):
                    os.unlink(file.path)


def _remove_lock(path: str, new_directories: _NewPaths) -> None:
    if _is_made(path, new_directories):
        with suppress(OSError):
            os.unlink(os.path.join(path, LOCK_NAME))


def _is_made(path: str, new_directories: _NewPaths) -> bool:
    return os.path.abspath(path) in new_directories.get(path, ())


def _remove_directories(new_directories: _NewPaths) -> None:
    for directories in reversed(new_directories.values()):
        for directory in reversed(directories):
            with suppress(OSError):
                os.rmdir(directory)
