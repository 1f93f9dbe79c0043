"""Backup of a metadata log, made before a recovery changes it, with the planned steps.

It is a directory, and complete as soon as it has its name. It may lie in the directory of the
partition, where a server reads only files with names that it knows.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from kraftops.fileio.directories import Owner, make_directories, sync_directory
from kraftops.recovery.file_steps import FileStep, WriteFile
from kraftops.recovery.log_files import TEMPORARY, FileStates, file_states, whole_file, write_parts
from kraftops.recovery.refusal import RecoveryRefused
from kraftops.storage.logdirs import meta_properties
from kraftops.storage.logdirs.directories import LogDirectory, read_file
from kraftops.uuids import to_text

PREFIX = "before-recover-"
STEPS_FILE = "recover.json"
_VERSION = 1


@dataclass(frozen=True, slots=True)
class Backup:
    """Backup of a log, with the steps that were planned then.

    Attributes:
        folder: the directory of the backup.
        files: the states of the files of the log.
        steps: the name of each file to write, with its size, or to remove, with -1.
    """

    folder: str
    files: FileStates
    steps: Sequence[tuple[str, int]]

    @property
    def removed_names(self) -> set[str]:
        """The names of the files to remove; some were then written again."""
        return {name for name, size in self.steps if size < 0}


def backup_folder(folder: str, parent: str | None, now: int) -> str:
    """Return the path of a new backup, in *parent* or in the folder of the log; *now* is in ms."""
    stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime(now // 1000))
    return os.path.join(parent or folder, f"{PREFIX}{stamp}.{now % 1000:03}Z")


def make_backup(
    directory: LogDirectory,
    log_folder: str,
    steps: Sequence[FileStep],
    owner: Owner | None,
    path: str,
) -> Backup:
    """Copy the log in *log_folder* and the planned steps to a new directory at *path*.

    Raises:
        OSError: it cannot be copied; then nothing stays.
    """
    unfinished = path + TEMPORARY
    files = file_states(log_folder)
    planned = [(step.name, step.size if isinstance(step, WriteFile) else -1) for step in steps]
    made: list[str] = []
    try:
        make_directories(unfinished, owner, made)
        for name in files:
            copied = whole_file(os.path.join(log_folder, name))
            write_parts(os.path.join(unfinished, name), [copied], owner)
        meta = whole_file(directory.meta_path)
        write_parts(os.path.join(unfinished, meta_properties.FILE_NAME), [meta], owner)
        content = {
            "version": _VERSION,
            "directory": _identity(directory),
            "files": files,
            "steps": planned,
        }
        steps_file = os.path.join(unfinished, STEPS_FILE)
        write_parts(steps_file, [json.dumps(content, indent=1).encode()], owner)
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
            if not name.endswith(TEMPORARY):
                continue
            if os.path.isdir(path):
                shutil.rmtree(path)
            else:
                os.unlink(path)


def find_backup(directory: LogDirectory, folder: str, named: str | None) -> Backup:
    """Return the newest backup of the log in *folder*, in *named* or in the folder itself.

    Raises:
        RecoveryRefused: there is none, or it is of another directory.
    """
    parent = named or folder
    paths = [parent]
    with suppress(OSError):
        names = sorted(os.listdir(parent), reverse=True)
        paths += [os.path.join(parent, name) for name in names if name.startswith(PREFIX)]
    for path in paths:
        content = _read(os.path.join(path, STEPS_FILE))
        if content is None:
            continue
        if content["directory"] != _identity(directory):
            raise RecoveryRefused(
                "other-backup",
                f"{path} is the copy of another directory: {content['directory']}",
                "name the one of this node with --backup",
            )
        files = {name: (size, changed) for name, (size, changed) in content["files"].items()}
        return Backup(path, files, [(name, size) for name, size in content["steps"]])
    raise RecoveryRefused(
        "no-backup",
        f"{parent} has no copy of a log that was recovered",
        "name the directory that was given as --backup, if one was",
    )


def _read(path: str) -> Any:
    try:
        content = json.loads(read_file(path))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise RecoveryRefused("unreadable", f"cannot read {path}: {error}") from None
    if not isinstance(content, dict) or content.get("version") != _VERSION:
        raise RecoveryRefused("unreadable", f"{path} is not what this version writes")
    return content


def _identity(directory: LogDirectory) -> str:
    assert directory.meta
    assert directory.meta.directory_id
    return f"{directory.meta.node_id}:{to_text(directory.meta.directory_id)}"
