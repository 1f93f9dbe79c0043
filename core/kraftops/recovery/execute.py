"""Do what a recovery has planned, or undo it, under the lock that a server would take."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from kraftops.errors import StorageError
from kraftops.fileio.atomic import Owner, make_directories, owner_of
from kraftops.recovery.backup import Backup, backup_place, find, remove_unfinished, save
from kraftops.recovery.copying import State, copied, put, remove, state_of
from kraftops.recovery.plan import RecoveryPlan
from kraftops.recovery.reading import own_directory
from kraftops.recovery.refusal import Refused
from kraftops.recovery.steps import Put
from kraftops.storage.config.server_config import ServerConfig
from kraftops.storage.logdirs.directories import METADATA_PARTITION
from kraftops.storage.logdirs.locks import held


def recover(plan: RecoveryPlan, *, backup: str | None, is_saved: bool, now: int) -> str | None:
    """Do what was planned; return where the copy is of what was there before.

    Args:
        plan: what to do.
        backup: where that copy goes; if None, beside the log.
        is_saved: whether one is made at all.
        now: the time in ms since the epoch.

    Raises:
        Refused: the log has changed since.
        StorageError: somebody holds the lock, or a file cannot be written; then all is as it was,
            or it says what is not.
    """
    folder = plan.own.folder
    with _locked(plan.directory.path, "recover") as owner:
        if state_of(folder) != plan.files:
            raise Refused("changed", f"{folder} has changed meanwhile", "run it again")
        remove_unfinished(folder)
        make_directories(folder, owner, [])
        saved = None
        if is_saved:
            place = backup_place(folder, backup, now)
            saved = save(plan.directory, folder, plan.steps, place, owner)
        try:
            for step in plan.steps:
                path = os.path.join(folder, step.name)
                if isinstance(step, Put):
                    put(path, step.parts, owner)
                else:
                    remove(path)
        except BaseException as error:  # an interrupt too must not leave half of it
            if saved:
                _put_back(folder, saved, owner, error)
            raise
    return saved.place if saved else None


def _put_back(folder: str, saved: Backup, owner: Owner | None, error: BaseException) -> None:
    """Undo what was done before an error.

    Raises:
        StorageError: that fails too.
    """
    try:
        _restore(folder, saved, owner)
    except OSError as second:
        raise StorageError(
            f"cannot recover: {error}; and then not put back {second.filename}: {second.strerror}",
            hint="once that is mended, recover --undo puts all back",
        ) from None


def undo(config: ServerConfig, backup: str | None) -> tuple[str, bool]:
    """Put back what a recovery has changed; return where the copy is, and whether it was needed.

    Raises:
        Refused: there is no copy, or a server has been started since.
        StorageError: as `recover`.
    """
    directory = own_directory(config)
    folder = os.path.join(directory.path, METADATA_PARTITION)
    with _locked(directory.path, "undo") as owner:
        saved = find(directory, folder, backup)
        there = state_of(folder)
        for name in sorted({*there, *saved.files}):
            if not _is_of_recovery(saved, there, name):
                raise Refused(
                    "started",
                    f"{os.path.join(folder, name)} is neither as it was nor as the recovery made "
                    "it: a server has been started since",
                    f"what was there before is in {saved.place}",
                )
        remove_unfinished(folder)
        _restore(folder, saved, owner)
    return saved.place, there != saved.files


def _is_of_recovery(saved: Backup, there: State, name: str) -> bool:
    """Tell whether a file is as it was before a recovery, or as that has made it."""
    if name not in there:
        return name in saved.drops
    return there[name] == saved.files.get(name) or (name, there[name][0]) in saved.steps


def _restore(folder: str, saved: Backup, owner: Owner | None) -> None:
    """Undo the steps of a recovery that were done, the last one first."""
    drops = saved.drops
    for name, size in reversed(saved.steps):
        path = os.path.join(folder, name)
        before = saved.files.get(name)
        if state_of(folder).get(name) == before:
            continue
        if before is None or (size >= 0 and name in drops):
            remove(path)
        else:
            put(path, [copied(os.path.join(saved.place, name))], owner, before[1])


@contextmanager
def _locked(directory: str, what: str) -> Iterator[Owner | None]:
    """Hold the lock of a directory; yield whom its files should belong to."""
    try:
        owner = owner_of(directory)
        with held(directory, owner):
            yield owner
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        raise StorageError(f"cannot {what}: {place}{error.strerror}") from None
