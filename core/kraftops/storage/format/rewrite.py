"""Rewrite of the ids in the meta.properties of formatted directories, in all or none."""

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import NamedTuple

from kraftops.errors import DecodeError, StorageError, UsageError
from kraftops.fileio.atomic import StagedFile
from kraftops.fileio.directories import owner_of, sync_directory
from kraftops.fileio.reading import read_small
from kraftops.java.properties import Property, properties
from kraftops.server import meta_properties
from kraftops.server.locks import check_unlocked, hold_lock
from kraftops.server.log_directory import LogDirectory
from kraftops.server.meta_properties import ID_KEYS, MetaProperties
from kraftops.server.metadata_log.log import MetadataLog, read_metadata_log
from kraftops.storage.config.server_config import ServerConfig
from kraftops.storage.logdirs.directories import check_distinct, read_directories
from kraftops.uuids import random_uuid, to_text

BACKUP_SUFFIX = ".before-rewrite"


@dataclass(frozen=True, slots=True, kw_only=True)
class RewriteRequest:
    """Request of a rewrite; None leaves a value as it is."""

    cluster_id: str | None = None
    node_id: int | None = None
    to_v1: bool = False


@dataclass(frozen=True, slots=True)
class Rewrite:
    """Rewrite of one directory: all properties before and after, and the new ids."""

    directory: LogDirectory
    before: Mapping[str, str]
    after: Mapping[str, str]
    meta: MetaProperties

    @property
    def changes(self) -> dict[str, tuple[str | None, str | None]]:
        """The old and new value of each key that changes."""
        keys = dict.fromkeys((*self.before, *self.after))
        pairs = {key: (self.before.get(key), self.after.get(key)) for key in keys}
        return {key: (old, new) for key, (old, new) in pairs.items() if old != new}


def plan_rewrite(config: ServerConfig, request: RewriteRequest) -> tuple[Rewrite, ...]:
    """Plan the rewrite of each formatted directory; nothing is written.

    Raises:
        UsageError: the request changes nothing.
        StorageError: a directory cannot be read, is in use, has two names, or lacks an id.
    """
    if request == RewriteRequest():
        raise UsageError(
            "nothing to rewrite", hint="give --cluster-id, --node-id or --to-v1, or several"
        )
    rewrites = []
    directories = read_directories(config)
    check_distinct(directories)
    for directory in directories:
        if directory.problem:
            raise StorageError(
                f"cannot read {directory.meta_path}: {directory.problem}",
                hint="nothing was written: a rewrite is done in all directories or none",
            )
        if directory.meta:
            check_unlocked(directory.path, "rewrite")
            try:
                rewrites.append(_rewrite(directory, request))
            except OSError as error:
                raise StorageError(f"cannot read {directory.meta_path}: {error.strerror}") from None
    if not rewrites:
        raise StorageError(
            "none of the log directories is formatted", hint="kafka-storage format formats them"
        )
    return tuple(rewrites)


def _rewrite(directory: LogDirectory, request: RewriteRequest) -> Rewrite:
    meta = directory.meta
    assert meta
    before = _content(directory)
    after = dict(before)
    version = meta.version
    if request.to_v1 and version == 0:
        version = 1
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
    try:
        ids = meta_properties.read({key: Property(key, value, 0) for key, value in after.items()})
    except DecodeError as error:
        raise StorageError(
            f"{directory.meta_path} would not be whole: {error.message}", hint="give --node-id"
        ) from None
    return Rewrite(directory, before, after, ids)


def _content(directory: LogDirectory) -> dict[str, str]:
    data = read_small(directory.meta_path)
    return {key: entry.value for key, entry in properties(data).items()}


class Conflict(NamedTuple):
    """Evidence against a new node id; *is_proof* that the directory is of the old one."""

    message: str
    hint: str
    is_proof: bool = False


def conflicts(config: ServerConfig, rewrites: Sequence[Rewrite]) -> Iterator[Conflict]:
    """Yield evidence against new node ids."""
    changed = {}
    for rewrite in rewrites:
        path, before, after = rewrite.directory.path, rewrite.directory.meta, rewrite.meta
        if after.node_id not in (None, config.node_id):
            yield Conflict(
                f"the configuration is of node {config.node_id}, {path} of node {after.node_id}",
                f"set node.id={after.node_id} before a server starts",
            )
        if before and before.node_id != after.node_id:
            changed[before.directory_id] = before.node_id
    if changed:
        yield from _quorum_conflicts(config, changed)


def _quorum_conflicts(
    config: ServerConfig, changed: Mapping[bytes | None, int | None]
) -> Iterator[Conflict]:
    """Yield the old node ids in the metadata log; *changed* has old ids by directory id."""
    try:
        log = read_metadata_log(config.metadata_log_dir) or MetadataLog()
    except OSError as error:
        message = f"cannot read {error.filename}: {error.strerror}"
        yield Conflict(message, "ask kafka-storage verify")
        return
    content = log.read(is_thorough=True)
    for voter in content.quorum.voters or ():
        if voter.node_id in changed.values():
            problem = f"the voters in {config.metadata_log_dir} name node {voter.node_id}"
            yield Conflict(
                problem, "remove that voter from the quorum, and let this node join again"
            )
    for broker, identities in content.directories.items():
        if broker in changed.values() and not changed.keys().isdisjoint(identities):
            problem = f"the cluster has registered these directories for broker {broker}"
            hint = "it refuses them from another broker, which does not have their partitions"
            yield Conflict(problem, hint, is_proof=True)


def rewrite(rewrites: Sequence[Rewrite]) -> None:
    """Execute planned rewrites; the old files stay beside the new ones.

    Raises:
        StorageError: another process holds a lock or was faster, or a file cannot be written; then
            all files are as they were, or the message names those that are not.
    """
    # A rewrite that is done does not fail because a lock cannot be closed.
    with suppress(OSError), ExitStack() as undo:
        try:
            for planned in rewrites:
                path = planned.directory.path
                undo.enter_context(hold_lock(path, owner_of(path)))
            for planned in rewrites:
                if _content(planned.directory) != planned.before:
                    raise StorageError(
                        f"{planned.directory.meta_path} has changed meanwhile", hint="run it again"
                    )
            _replace_all([_Replacement(planned) for planned in rewrites if planned.changes], undo)
        except OSError as error:
            path = f"{error.filename}: " if error.filename else ""
            raise StorageError(
                f"cannot rewrite: {path}{error.strerror}", hint="all directories are as they were"
            ) from None


class _Replacement:
    """New meta.properties of a directory, and the backup of the old one."""

    def __init__(self, rewrite: Rewrite) -> None:
        path = rewrite.directory.meta_path
        status = os.stat(path)
        self.path = path
        self._mode = stat.S_IMODE(status.st_mode)
        self._owner = (status.st_uid, status.st_gid) if os.geteuid() == 0 else None
        self._new = self._file(path, meta_properties.file_bytes(list(rewrite.after.items())))
        self._backup = self._file(f"{path}{BACKUP_SUFFIX}", read_small(path))
        self._has_backup = False

    def _file(self, path: str, data: bytes) -> StagedFile:
        return StagedFile(path, f"{path}.tmp", data, self._mode)

    def prepare(self) -> None:
        """Write both files under temporary names."""
        for file in (self._backup, self._new):
            file.prepare(self._owner)

    def discard(self) -> None:
        """Remove the files under temporary names."""
        for file in (self._backup, self._new):
            file.discard()

    def commit(self) -> None:
        """Give both files their names, the backup first."""
        for file in (self._backup, self._new):
            file.commit()
            self._has_backup = True
            sync_directory(os.path.dirname(self.path))

    def restore(self) -> None:
        """Rename the backup back, which takes no space."""
        if self._has_backup:
            os.replace(self._backup.path, self.path)
            with suppress(OSError):
                sync_directory(os.path.dirname(self.path))


def _replace_all(replacements: Sequence[_Replacement], undo: ExitStack) -> None:
    for replacement in replacements:
        undo.callback(replacement.discard)
        replacement.prepare()
    try:
        for replacement in replacements:
            replacement.commit()
    except BaseException as error:  # an interrupt too must not leave half of them
        changed = [failed.path for failed in replacements if not _is_restored(failed)]
        if not changed:
            raise
        raise StorageError(
            f"cannot rewrite: {error}; and then not restore {', '.join(changed)}",
            hint=f"the old content is in meta.properties{BACKUP_SUFFIX} beside it",
        ) from None


def _is_restored(replacement: _Replacement) -> bool:
    try:
        replacement.restore()
    except OSError:
        return False
    return True
