"""Execution of a recovery: its steps, or their undoing, under the lock that a server would take."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from kraftops.errors import StorageError
from kraftops.fileio.directories import Owner, make_directories, owner_of
from kraftops.log.files import METADATA_PARTITION
from kraftops.recovery.backup import (
    Backup,
    find_backups,
    make_backup,
    remove_unfinished,
)
from kraftops.recovery.file_steps import WriteFile
from kraftops.recovery.log_files import (
    FileStates,
    file_states,
    remove_file,
    whole_file,
    write_parts,
)
from kraftops.recovery.log_selection import own_directory
from kraftops.recovery.plan import RecoveryPlan
from kraftops.recovery.refusal import RecoveryRefused
from kraftops.server.locks import hold_lock
from kraftops.server.log_directory import LogDirectory
from kraftops.storage.config.server_config import ServerConfig


def execute(plan: RecoveryPlan, backup_path: str | None) -> None:
    """Execute the steps of a plan, after a backup at *backup_path*; None makes none.

    Raises:
        RecoveryRefused: the log has changed since the plan was made.
        StorageError: another process holds the lock, or a file cannot be written; then the log is
            as it was, or the message names the file that is not.
    """
    folder = plan.own.folder
    with _locked(plan.directory.path, "recover") as owner:
        if file_states(folder) != plan.files:
            raise RecoveryRefused("changed", f"{folder} has changed meanwhile", "run it again")
        remove_unfinished(folder)
        make_directories(folder, owner, [])
        backup = None
        if backup_path:
            backup = make_backup(plan.directory, folder, plan.steps, owner, backup_path)
        try:
            for step in plan.steps:
                path = os.path.join(folder, step.name)
                if isinstance(step, WriteFile):
                    write_parts(path, step.parts, owner)
                else:
                    remove_file(path)
        except BaseException as error:  # an interrupt too must not leave half of it
            if backup:
                _roll_back(folder, backup, owner, error)
            raise


def _roll_back(folder: str, backup: Backup, owner: Owner | None, error: BaseException) -> None:
    """Undo the steps before an error.

    Raises:
        StorageError: one cannot be undone.
    """
    try:
        _restore(folder, backup, owner)
    except OSError as second:
        raise StorageError(
            f"cannot recover: {error}; and then not put back {second.filename}: {second.strerror}",
            hint="once that is mended, recover --undo puts all back",
        ) from None


def undo(config: ServerConfig, parent: str | None, *, is_dry: bool = False) -> tuple[str, bool]:
    """Undo a recovery; return the path of the backup, and whether a file was changed.

    Args:
        config: the configuration of the node.
        parent: the directory of the backup; if None, the folder of the log.
        is_dry: whether nothing is written: the answer is then whether a file would be changed.

    Raises:
        RecoveryRefused: there is no backup, or a server has been started since.
        StorageError: as of `execute`.
    """
    directory = own_directory(config)
    folder = os.path.join(directory.path, METADATA_PARTITION)
    if is_dry:
        backup, states = _undoable(directory, folder, parent)
    else:
        with _locked(directory.path, "undo") as owner:
            backup, states = _undoable(directory, folder, parent)
            remove_unfinished(folder)
            _restore(folder, backup, owner)
    return backup.folder, states != backup.files


def _undoable(
    directory: LogDirectory, folder: str, parent: str | None
) -> tuple[Backup, FileStates]:
    """Return the backup of a log, and the states of the files that it replaces.

    Several recoveries are undone one by one, the newest first.

    Raises:
        RecoveryRefused: there is no backup, or a server has been started since.
    """
    backups = find_backups(directory, folder, parent)
    states = file_states(folder)
    restored = [backup for backup in backups if backup.files == states]
    others = backups[backups.index(restored[-1]) + 1 :] if restored else backups
    for backup in others[:1]:
        names = sorted({*states, *backup.files})
        foreign = [name for name in names if not _is_of_recovery(backup, states, name)]
        if not foreign:
            return backup, states
        if not restored:
            raise RecoveryRefused(
                "started",
                f"{os.path.join(folder, foreign[0])} is neither as it was nor as the recovery made "
                "it: a server has been started since",
                f"what was there before is in {backup.folder}",
            )
    return restored[-1], states


def _is_of_recovery(backup: Backup, states: FileStates, name: str) -> bool:
    """Tell whether a file is as it was before the recovery, or as the recovery made it."""
    if name not in states:
        return name in backup.removed_names
    return states[name] == backup.files.get(name) or (name, states[name][0]) in backup.steps


def _restore(folder: str, backup: Backup, owner: Owner | None) -> None:
    """Undo the steps that were executed, the last one first."""
    removed_names = backup.removed_names
    for name, size in reversed(backup.steps):
        path = os.path.join(folder, name)
        before = backup.files.get(name)
        if file_states(folder).get(name) == before:
            continue
        if before is None or (size >= 0 and name in removed_names):
            remove_file(path)
        else:
            copied = whole_file(os.path.join(backup.folder, name))
            write_parts(path, [copied], owner, before[1])


@contextmanager
def _locked(directory: str, what: str) -> Iterator[Owner | None]:
    """Hold the lock of a directory; yield the owner for its files."""
    try:
        owner = owner_of(directory)
        with hold_lock(directory, owner):
            yield owner
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        raise StorageError(f"cannot {what}: {place}{error.strerror}") from None
