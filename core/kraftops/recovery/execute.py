"""Execution of a recovery under the lock that a server would take, its backup, and its undoing.

A backup is a directory, and complete as soon as it has its name. It may lie in the directory of the
partition, where a server reads only files with names that it knows.
"""

import json
import os
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from kraftops.errors import StorageError
from kraftops.fileio.directories import Owner, make_directories, owner_of, sync_directory
from kraftops.fileio.reading import read_small
from kraftops.log.files import METADATA_PARTITION
from kraftops.recovery import file_steps
from kraftops.recovery.log_selection import own_directory
from kraftops.recovery.plan import RecoveryPlan
from kraftops.recovery.refusal import RecoveryRefused
from kraftops.server import meta_properties
from kraftops.server.locks import hold_lock
from kraftops.server.log_directory import LogDirectory
from kraftops.storage.config.server_config import ServerConfig
from kraftops.uuids import to_text

PREFIX = "before-recover-"
STEPS_FILE = "recover.json"
_VERSION = 1  # of the notes that --undo reads: it refuses others


@dataclass(frozen=True, slots=True)
class Backup:
    """Backup of a log, with the steps that were planned then.

    Attributes:
        folder: the directory of the backup.
        files: the states of the files of the log.
        steps: the name of each file to write, with its size, or to remove, with -1.
    """

    folder: str
    files: file_steps.FileStates
    steps: Sequence[tuple[str, int]]

    @property
    def removed_names(self) -> set[str]:
        """The names of the files to remove; some were then written again."""
        return {name for name, size in self.steps if size < 0}


def backup_folder(folder: str, parent: str | None, now: int) -> str:
    """Return the path of a new backup, in *parent* or in the folder of the log; *now* is in ms.

    Raises:
        RecoveryRefused: *parent* is in a log directory.
    """
    if parent and (log_directory := _log_directory(os.path.realpath(parent))):
        raise RecoveryRefused(
            "in-log-directory",
            f"--backup {parent} is in the log directory {log_directory}: a broker does not start "
            "beside a directory that is not a partition",
            "name a directory elsewhere, or leave it out",
        )
    stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime(now // 1000))
    return os.path.join(parent or folder, f"{PREFIX}{stamp}.{now % 1000:03}Z")


def _log_directory(path: str) -> str | None:
    """Return the log directory that holds, or is, *path*; None if it is in a metadata log."""
    for place in (Path(path), *Path(path).parents):
        if place.name == METADATA_PARTITION:
            return None
        if (place / meta_properties.FILE_NAME).is_file():
            return str(place)
    return None


def make_backup(
    directory: LogDirectory,
    log_folder: str,
    steps: Sequence[file_steps.FileStep],
    owner: Owner | None,
    path: str,
) -> Backup:
    """Copy the log in *log_folder* and the planned steps to a new directory at *path*.

    Raises:
        OSError: it cannot be copied; then nothing stays.
    """
    unfinished = path + file_steps.TEMPORARY
    files = file_steps.file_states(log_folder)
    planned = [
        (step.name, step.size if isinstance(step, file_steps.WriteFile) else -1) for step in steps
    ]
    made: list[str] = []
    try:
        make_directories(unfinished, owner, made)
        for name in files:
            copied = file_steps.whole_file(os.path.join(log_folder, name))
            file_steps.write_parts(os.path.join(unfinished, name), [copied], owner)
        meta = file_steps.whole_file(directory.meta_path)
        file_steps.write_parts(os.path.join(unfinished, meta_properties.FILE_NAME), [meta], owner)
        content = {
            "version": _VERSION,
            "directory": _identity(directory),
            "files": files,
            "steps": planned,
        }
        steps_file = os.path.join(unfinished, STEPS_FILE)
        file_steps.write_parts(steps_file, [json.dumps(content, indent=1).encode()], owner)
        os.rename(unfinished, path)
        sync_directory(os.path.dirname(path))
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise
    return Backup(path, files, planned)


def remove_unfinished(folder: str) -> None:
    """Remove the unfinished files and backups of killed runs in the directory of a partition.

    Raises:
        OSError: one cannot be removed.
    """
    with suppress(FileNotFoundError):
        for name in os.listdir(folder):
            path = os.path.join(folder, name)
            if not name.endswith(file_steps.TEMPORARY):
                continue
            if os.path.isdir(path):
                shutil.rmtree(path)
            else:
                os.unlink(path)


def find_backups(directory: LogDirectory, folder: str, named: str | None) -> list[Backup]:
    """Return the backups of the log in *folder*, the newest first; *named* is, or has, others.

    Raises:
        RecoveryRefused: there is none, or it is of another directory.
    """
    parent = named or folder
    names = []
    with suppress(OSError):
        names = [name for name in os.listdir(parent) if name.startswith(PREFIX)]
    paths = [parent, *(os.path.join(parent, name) for name in sorted(names, reverse=True))]
    backups = []
    for identity, backup in filter(None, map(_read, paths)):
        if identity != _identity(directory):
            text = f"{backup.folder} is the copy of another directory: {identity}"
            raise RecoveryRefused("other-backup", text, "name the one of this node with --backup")
        backups.append(backup)
    if not backups:
        text = f"{parent} has no copy of a log that was recovered"
        hint = "name the directory that was given as --backup, if one was"
        raise RecoveryRefused("no-backup", text, hint)
    return backups


def _read(folder: str) -> tuple[str, Backup] | None:
    path = os.path.join(folder, STEPS_FILE)
    try:
        content = json.loads(read_small(path))
        version, identity = content["version"], content["directory"]
        files = {name: (size, changed) for name, (size, changed) in content["files"].items()}
        steps = [(name, size) for name, size in content["steps"]]
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise RecoveryRefused("unreadable", f"cannot read {path}: {error.strerror}") from None
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
        version = None
    if version != _VERSION:
        raise RecoveryRefused("unreadable", f"{path} is not what this version writes")
    return identity, Backup(folder, files, steps)


def _identity(directory: LogDirectory) -> str:
    assert directory.meta
    assert directory.meta.directory_id
    return f"{directory.meta.node_id}:{to_text(directory.meta.directory_id)}"


def execute(plan: RecoveryPlan, backup_path: str | None) -> None:
    """Execute the steps of a plan, after a backup at *backup_path*; None makes none.

    Raises:
        RecoveryRefused: the log has changed since the plan was made.
        StorageError: another process holds the lock, or a file cannot be written; then the log is
            as it was, or the message names the file that is not.
    """
    folder, backup = plan.own.folder, None
    with _locked(plan.directory.path, "recover") as owner:
        if file_steps.file_states(folder) != plan.files:
            raise RecoveryRefused("changed", f"{folder} has changed meanwhile", "run it again")
        remove_unfinished(folder)
        make_directories(folder, owner, [])
        if backup_path:
            backup = make_backup(plan.directory, folder, plan.steps, owner, backup_path)
        try:
            for step in plan.steps:
                path = os.path.join(folder, step.name)
                if isinstance(step, file_steps.WriteFile):
                    file_steps.write_parts(path, step.parts, owner)
                else:
                    file_steps.remove_file(path)
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
            hint="once that is mended, recover --undo puts everything back",
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
) -> tuple[Backup, file_steps.FileStates]:
    """Return the backup of a log, and the states of the files that it replaces.

    Several recoveries are undone one by one, the newest first.

    Raises:
        RecoveryRefused: there is no backup, or a server has been started since.
    """
    backups = find_backups(directory, folder, parent)
    states = file_steps.file_states(folder)
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


def _is_of_recovery(backup: Backup, states: file_steps.FileStates, name: str) -> bool:
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
        if file_steps.file_states(folder).get(name) == before:
            continue
        if before is None or (size >= 0 and name in removed_names):
            file_steps.remove_file(path)
        else:
            copied = file_steps.whole_file(os.path.join(backup.folder, name))
            file_steps.write_parts(path, [copied], owner, before[1])


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
