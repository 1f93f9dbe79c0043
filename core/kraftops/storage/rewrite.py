"""Change the ids in the meta.properties of formatted directories, in all of them or none."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass

from kraftops.errors import StorageError, UsageError
from kraftops.storage import meta_properties
from kraftops.storage.config import ServerConfig
from kraftops.storage.directories import LogDirectory, read_directories, read_file
from kraftops.storage.files import NewFile, sync_directory
from kraftops.storage.locks import held, refuse_locked
from kraftops.storage.meta_properties import ID_KEYS
from kraftops.storage.properties import properties
from kraftops.uuids import random_uuid, to_text

BACKUP_SUFFIX = ".before-rewrite"


@dataclass(frozen=True, slots=True, kw_only=True)
class RewriteRequest:
    """What is to be changed; None is left as it is."""

    cluster_id: str | None = None
    node_id: int | None = None
    to_v1: bool = False


@dataclass(frozen=True, slots=True)
class Rewrite:
    """One directory: the whole file as it was and as it will be, key by key."""

    directory: LogDirectory
    before: Mapping[str, str]
    after: Mapping[str, str]

    @property
    def changes(self) -> dict[str, tuple[str | None, str | None]]:
        """Old and new value of each key that changes."""
        keys = dict.fromkeys((*self.before, *self.after))
        both = {key: (self.before.get(key), self.after.get(key)) for key in keys}
        return {key: (old, new) for key, (old, new) in both.items() if old != new}


def plan_rewrite(config: ServerConfig, request: RewriteRequest) -> tuple[Rewrite, ...]:
    """Return what is to be done in each formatted directory; nothing is written.

    Raises:
        UsageError: nothing is asked for.
        StorageError: a directory cannot be read, is in use, or lacks what version 1 needs.
    """
    if request == RewriteRequest():
        raise UsageError(
            "nothing to rewrite", hint="give --cluster-id, --node-id or --to-v1, or several"
        )
    found = []
    for directory in read_directories(config):
        if directory.problem:
            raise StorageError(
                f"cannot read {directory.meta_path}: {directory.problem}",
                hint="nothing was written: a rewrite is done in all directories or none",
            )
        if directory.meta:
            refuse_locked(directory.path, "rewrite")
            found.append(_rewrite(directory, request))
    if not found:
        raise StorageError(
            "none of the log directories is formatted", hint="kafka-storage format formats them"
        )
    return tuple(found)


def _rewrite(directory: LogDirectory, request: RewriteRequest) -> Rewrite:
    meta = directory.meta
    assert meta
    before = _content(directory)
    after = dict(before)
    version = 1 if request.to_v1 else meta.version
    if version != meta.version:
        after.pop(ID_KEYS[0], None)
        after["version"] = "1"
        if meta.node_id is not None:
            after[ID_KEYS[1]] = str(meta.node_id)
        if meta.directory_id is None:
            after["directory.id"] = to_text(random_uuid())
    if request.node_id is not None:
        after[ID_KEYS[version]] = str(request.node_id)
    if request.cluster_id is not None:
        after["cluster.id"] = request.cluster_id
    for key, flag in ((ID_KEYS[1], "--node-id"), ("cluster.id", "--cluster-id")):
        if version == 1 and key not in after:
            raise StorageError(f"{directory.meta_path} does not say its {key}", hint=f"give {flag}")
    return Rewrite(directory, before, after)


def _content(directory: LogDirectory) -> dict[str, str]:
    data = read_file(directory.meta_path)
    return {key: found.value for key, found in properties(data).items()}


def rewrite(rewrites: Sequence[Rewrite]) -> None:
    """Do what was planned; the old files stay beside the new ones.

    Raises:
        StorageError: somebody holds a lock or was faster, or a file cannot be written; then all
            files are what they were.
    """
    changed = [one for one in rewrites if one.changes]
    with ExitStack() as undo:
        try:
            for one in rewrites:
                undo.enter_context(held(one.directory.path, None))
            for one in rewrites:
                if _content(one.directory) != one.before:
                    raise StorageError(
                        f"{one.directory.meta_path} has changed meanwhile", hint="run it again"
                    )
            files = [_new_file(one) for one in changed]
            for file, owner in files:
                undo.callback(file.discard)
                file.prepare(owner)
            with ExitStack() as restore:
                for file, _ in files:
                    _keep(file.path)
                    restore.callback(_restore, file.path)
                    file.commit()
                    sync_directory(os.path.dirname(file.path))
                restore.pop_all()
        except OSError as error:
            raise StorageError(
                f"cannot rewrite: {error.filename or ''}: {error.strerror}",
                hint="all directories are as they were",
            ) from None


def _new_file(one: Rewrite) -> tuple[NewFile, tuple[int, int] | None]:
    path = one.directory.meta_path
    status = os.stat(path)
    data = meta_properties.file_bytes(list(one.after.items()))
    owner = (status.st_uid, status.st_gid) if os.geteuid() == 0 else None
    return NewFile(path, f"{path}.tmp", data, stat.S_IMODE(status.st_mode)), owner


def _keep(path: str) -> None:
    """Give the old file its second name; an older one of that name goes."""
    temporary = f"{path}{BACKUP_SUFFIX}.tmp"
    with suppress(FileNotFoundError):
        os.unlink(temporary)
    os.link(path, temporary)
    os.replace(temporary, f"{path}{BACKUP_SUFFIX}")


def _restore(path: str) -> None:
    temporary = f"{path}.tmp"
    with suppress(FileNotFoundError):
        os.unlink(temporary)
    os.link(f"{path}{BACKUP_SUFFIX}", temporary)
    os.replace(temporary, path)
    sync_directory(os.path.dirname(path))
