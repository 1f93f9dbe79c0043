"""Checks of a format's plan: every directory is checked before any is written."""

from __future__ import annotations

import os

from kraftops.errors import StorageError
from kraftops.fileio.directories import existing_parent
from kraftops.server.formatted import partition_data
from kraftops.server.locks import FILE_NAME as LOCK_NAME
from kraftops.server.locks import InUse, check_unlocked
from kraftops.storage.format.plan import FormatPlan, Target


def check_plan(plan: FormatPlan, *, strict: bool = False) -> None:
    """Refuse a plan that cannot be executed in every directory.

    Raises:
        StorageError: a directory to format cannot be written, is in use, or holds data; or the
            metadata directory, with *strict* any directory, cannot be read.
    """
    _check_readable(plan, strict=strict)
    if plan.targets:
        _check_not_in_use(plan)
    for target in plan.targets:
        _check_writable(target)
        _check_empty(target, force=plan.force or target.directory.path in plan.mended)


def _check_readable(plan: FormatPlan, *, strict: bool) -> None:
    if plan.unreadable and not plan.targets and not plan.formatted:
        raise StorageError(
            "No available log directories to format.",
            hint="; ".join(f"{lost.meta_path}: {lost.problem}" for lost in plan.unreadable),
        )
    for directory in plan.unreadable:
        if directory.is_metadata or strict:
            kind = "the metadata directory" if directory.is_metadata else "a log directory"
            raise StorageError(
                f"cannot read {kind}: {directory.meta_path}: {directory.problem}",
                hint="nothing was written; mend it, or take it out of the configuration",
            )


def _check_not_in_use(plan: FormatPlan) -> None:
    for directory in plan.directories:
        if directory.problem and not os.path.isdir(directory.path):
            continue
        try:
            check_unlocked(directory.path, "format")
        except InUse:
            raise
        except StorageError:
            if not directory.problem:  # one with a problem is passed over
                raise


def _check_writable(target: Target) -> None:
    path = target.directory.path
    parent = existing_parent(path)
    verb = "write to" if parent == os.path.abspath(path) else "make"
    reason = None
    if not os.path.isdir(parent):
        reason = "a symbolic link to nothing" if os.path.islink(parent) else "Not a directory"
    elif not os.access(parent, os.W_OK | os.X_OK, effective_ids=True):
        status = os.stat(parent)
        reason = (
            f"no permission in {parent} (mode {status.st_mode & 0o7777:04o}, "
            f"owner {status.st_uid}, group {status.st_gid}) for user {os.geteuid()}, "
            "or its file system is read-only"
        )
    if reason:
        raise StorageError(f"cannot {verb} {target.kind} {path}: {reason}")
    paths = [path for file in target.files for path in (file.path, file.temporary_path)]
    for name in (os.path.join(path, LOCK_NAME), *paths):
        if os.path.isdir(name):
            raise StorageError(f"{name} is a directory: a file is to be written there")
    for file in target.files:
        folder = os.path.dirname(file.path)
        if os.path.lexists(folder) and not os.path.isdir(folder):
            raise StorageError(f"{folder} is not a directory: files are to be written into it")


def _check_empty(target: Target, *, force: bool) -> None:
    path = target.directory.path
    try:
        data = partition_data(path)
    except FileNotFoundError:
        return
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror}") from None
    if data and not force:
        raise StorageError(
            f"{path} is not formatted, but holds data: {data}",
            hint="if its meta.properties was lost, restore it, or write it anew with --force, "
            "which keeps the data",
            code="holds-data",
        )
