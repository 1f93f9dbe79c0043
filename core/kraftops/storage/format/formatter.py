"""Format log directories: decide what is to be written, check all of it, then write it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass

from kraftops.errors import StorageError, UsageError
from kraftops.fileio.atomic import StagedFile
from kraftops.fileio.directories import (
    Owner,
    existing_parent,
    make_directories,
    make_directory,
    owner_of,
    sync_directory,
)
from kraftops.java.hosts import host_text
from kraftops.storage.bootstrap import records as bootstrap
from kraftops.storage.bootstrap.features import chosen_levels, chosen_version, parse_levels
from kraftops.storage.bootstrap.records import Bootstrap, bootstrap_bytes, voters_snapshot_bytes
from kraftops.storage.bootstrap.releases import SCRAM_SINCE, by_name
from kraftops.storage.bootstrap.scram import parse_credential
from kraftops.storage.bootstrap.voters import Voter, parse_initial_controllers
from kraftops.storage.config.server_config import ServerConfig
from kraftops.storage.logdirs import meta_properties
from kraftops.storage.logdirs.directories import (
    LogDirectory,
    check_distinct,
    check_ids,
    has_metadata_log,
    partition_data,
    read_directories,
)
from kraftops.storage.logdirs.locks import FILE_NAME as LOCK_NAME
from kraftops.storage.logdirs.locks import InUse, held, refuse_locked
from kraftops.storage.logdirs.meta_properties import MetaProperties
from kraftops.uuids import random_uuid

STATIC_VOTERS = "controller.quorum.voters"


@dataclass(frozen=True, slots=True, kw_only=True)
class FormatRequest:
    """What the command line asks for; the texts are as they were given."""

    cluster_id: str
    release: str | None = None
    features: Sequence[str] = ()
    credentials: Sequence[str] = ()
    standalone: bool = False
    initial_controllers: str | None = None
    no_initial_controllers: bool = False
    ignore_formatted: bool = False
    ensure: bool = False
    strict: bool = False
    force: bool = False


@dataclass(frozen=True, slots=True)
class Target:
    """A directory to be formatted: what Kafka calls it, its new id, its files in their order.

    *removes* is what an earlier format left there and would now be taken for this one's.
    """

    directory: LogDirectory
    kind: str
    directory_id: bytes
    files: tuple[StagedFile, ...]
    removes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FormatPlan:
    """What a format would do.

    *voters* is None where the quorum is not a dynamic one that begins with this node's snapshot.
    """

    config: ServerConfig
    cluster_id: str
    directories: tuple[LogDirectory, ...]
    bootstrap: Bootstrap
    voters: tuple[Voter, ...] | None
    targets: tuple[Target, ...]
    force: bool

    @property
    def formatted(self) -> list[LogDirectory]:
        """The directories that are formatted already."""
        return [directory for directory in self.directories if directory.meta]

    @property
    def unreadable(self) -> list[LogDirectory]:
        """The directories of which that cannot be told."""
        return [directory for directory in self.directories if directory.problem]


def plan_format(config: ServerConfig, request: FormatRequest) -> FormatPlan:
    """Return what is to be done, in the order of Kafka's checks; nothing is written.

    Raises:
        UsageError: the request makes no sense, with Kafka's message where it has one.
        StorageError: the directories are another cluster's, another node's, or formatted already.
    """
    unstable = config.unstable_feature_versions
    release = None if request.release is None else by_name(request.release, unstable=unstable)
    levels = parse_levels(request.features)
    voters = _asked_voters(config, request)
    version = chosen_version(release, levels, unstable=unstable)
    has_choice = (
        request.standalone or request.no_initial_controllers or bool(request.initial_controllers)
    )
    levels = chosen_levels(version, levels, is_dynamic=has_choice and not config.voters)
    if request.credentials and version.level < SCRAM_SINCE:
        raise UsageError("SCRAM is only supported in metadata.version 3.5-IV2 or later.")
    initial = Bootstrap(version, levels, tuple(map(parse_credential, request.credentials)))
    directories = read_directories(config)
    check_distinct(directories)
    check_ids(directories, request.cluster_id, config.node_id)
    formatted = [directory for directory in directories if directory.meta]
    if formatted and not (request.ignore_formatted or request.ensure):
        raise StorageError(
            f"Log directory {formatted[0].path} is already formatted. Use --ignore-formatted to "
            "ignore this directory and format the others."
        )
    return _plan(config, request, initial, directories, voters)


def _asked_voters(config: ServerConfig, request: FormatRequest) -> tuple[Voter, ...] | None:
    """Return the voters of a dynamic quorum; with `--standalone` this node's id is made up."""
    is_controller = "controller" in config.roles
    if config.voters and (request.standalone or request.initial_controllers is not None):
        raise UsageError(
            f"You cannot specify {STATIC_VOTERS} and format the node with --initial-controllers or "
            f"--standalone. If you want to use dynamic quorum, please remove {STATIC_VOTERS} and "
            "specify controller.quorum.bootstrap.servers instead."
        )
    if request.initial_controllers is not None:
        return parse_initial_controllers(request.initial_controllers)
    if request.standalone:
        if not is_controller:
            raise UsageError("You can only use --standalone on a controller.")
        listener = config.controller_listener
        if not 0 <= listener.port <= 0xFFFF:
            raise UsageError(f"Invalid port {listener.port} in dynamic voter string.")
        host = host_text(listener.host)
        return (Voter(config.node_id, random_uuid(), host, listener.port),)
    if is_controller and not config.voters and not request.no_initial_controllers:
        raise UsageError(
            f"Because {STATIC_VOTERS} is not set on this controller, you must specify one of the "
            "following: --standalone, --initial-controllers, or --no-initial-controllers.",
            hint="the first controller of a new cluster: --standalone; several that begin "
            "together: --initial-controllers; one that joins: --no-initial-controllers",
        )
    return None


def _plan(
    config: ServerConfig,
    request: FormatRequest,
    initial: Bootstrap,
    directories: tuple[LogDirectory, ...],
    voters: tuple[Voter, ...] | None,
) -> FormatPlan:
    now = time.time_ns() // 1_000_000
    taken = {directory.meta.directory_id for directory in directories if directory.meta}
    taken |= {voter.directory_id for voter in voters or ()}
    own = next((voter for voter in voters or () if voter.node_id == config.node_id), None)
    targets = []
    for directory in directories:
        if directory.meta or directory.problem:
            continue
        kind, directory_id = "data directory", None
        has_log = directory.is_metadata and has_metadata_log(directory.path)
        if directory.is_metadata:
            kind = "metadata directory"
            if voters:
                kind = "dynamic metadata voter directory" if own else "dynamic metadata directory"
                directory_id = own.directory_id if own else None
        if has_log:
            directory_id = _known_directory_id(directory.path, config.node_id) or directory_id
        if directory_id is None:
            directory_id = random_uuid()
            while directory_id in taken:
                directory_id = random_uuid()
        taken.add(directory_id)
        files = [_new_file(directory.path, bootstrap.FILE_NAME, bootstrap_bytes(initial, now))]
        removes: tuple[str, ...] = ()
        # What a server has written says more of its quorum than the command line does.
        if directory.is_metadata and not has_log:
            if voters:
                listener = config.controller_listener_names[0]
                files.append(_voters_file(directory.path, voters, listener, now))
            elif os.path.lexists(stale := os.path.join(directory.path, bootstrap.SNAPSHOT_NAME)):
                removes = (stale,)
        meta = MetaProperties(1, request.cluster_id, config.node_id, directory_id)
        data = meta_properties.file_bytes(meta.items())
        files.append(_new_file(directory.path, meta_properties.FILE_NAME, data))
        targets.append(Target(directory, kind, directory_id, tuple(files), removes))
    return FormatPlan(
        config, request.cluster_id, directories, initial, voters, tuple(targets), request.force
    )


def _known_directory_id(path: str, node_id: int) -> bytes | None:
    """Return the id under which the voters in a metadata log know the directory of a node."""
    from kraftops.storage.logdirs.metadata_log import read_metadata_log

    try:
        log = read_metadata_log(path)
    except OSError:
        return None
    voters = (log.quorum.voters if log else None) or ()
    return next((voter.directory_id for voter in voters if voter.node_id == node_id), None)


def _new_file(directory: str, name: str, data: bytes) -> StagedFile:
    path = os.path.join(directory, name)
    return StagedFile(path, f"{path}.tmp", data)


def _voters_file(directory: str, voters: Sequence[Voter], listener: str, now: int) -> StagedFile:
    path = os.path.join(directory, bootstrap.SNAPSHOT_NAME)
    # A server knows this suffix and removes what it finds under it.
    data = voters_snapshot_bytes(voters, listener, now)
    return StagedFile(path, f"{path}.part", data, mode=0o400)


def check_plan(plan: FormatPlan, *, strict: bool = False) -> None:
    """Check every directory before any is written; nothing is written.

    Raises:
        StorageError: one cannot be written, is in use, or holds data; or, of those that cannot be
            read, one is the metadata directory, or *strict* asks for all.
    """
    if plan.unreadable and not plan.targets and not plan.formatted:
        raise StorageError(
            "No available log directories to format.",
            hint="; ".join(f"{one.meta_path}: {one.problem}" for one in plan.unreadable),
        )
    for directory in plan.unreadable:
        if directory.is_metadata or strict:
            kind = "the metadata directory" if directory.is_metadata else "a log directory"
            raise StorageError(
                f"cannot read {kind}: {directory.meta_path}: {directory.problem}",
                hint="nothing was written; mend it, or take it out of the configuration",
            )
    if not plan.targets:
        return
    for directory in plan.directories:
        if directory.problem and not os.path.isdir(directory.path):
            continue
        try:
            refuse_locked(directory.path, "format")
        except InUse:
            raise
        except StorageError:
            if not directory.problem:  # with which it is passed over
                raise
    for target in plan.targets:
        _check_writable(target)
        _check_empty(target, force=plan.force)


def _check_writable(target: Target) -> None:
    path = target.directory.path
    place = existing_parent(path)
    verb = "write to" if place == os.path.abspath(path) else "make"
    reason = None
    if not os.path.isdir(place):
        reason = "a symbolic link to nothing" if os.path.islink(place) else "Not a directory"
    elif not os.access(place, os.W_OK | os.X_OK, effective_ids=True):
        status = os.stat(place)
        reason = (
            f"no permission in {place} (mode {status.st_mode & 0o7777:04o}, owner {status.st_uid}, "
            f"group {status.st_gid}) for user {os.geteuid()}, or its file system is read-only"
        )
    if reason:
        raise StorageError(f"cannot {verb} {target.kind} {path}: {reason}")
    for name in (os.path.join(path, LOCK_NAME), *_paths(target)):
        if os.path.isdir(name):
            raise StorageError(f"{name} is a directory: a file is to be written there")
    for file in target.files:
        folder = os.path.dirname(file.path)
        if os.path.lexists(folder) and not os.path.isdir(folder):
            raise StorageError(f"{folder} is no directory: files are to be written into it")


def _paths(target: Target) -> list[str]:
    return [name for file in target.files for name in (file.path, file.temporary_path)]


def _check_empty(target: Target, *, force: bool) -> None:
    path = target.directory.path
    try:
        found = partition_data(path)
    except FileNotFoundError:
        return
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror}") from None
    if found and not force:
        raise StorageError(
            f"{path} is not formatted, but holds data: {found}",
            hint="if its meta.properties was lost, restore it, or write it anew with --force, "
            "which keeps the data",
        )


def format_directories(plan: FormatPlan) -> Iterator[Target]:
    """Write what is planned; yield each directory when it is formatted.

    While this runs it holds the locks that a server would take. All is written to temporary files
    first; meta.properties, which makes a directory a formatted one, is renamed last.

    Raises:
        InUse: somebody holds a lock or was faster.
        StorageError: a file cannot be written; a directory that was not yielded is not formatted,
            or it is not known to last.
    """
    if not plan.targets:
        return  # nothing to write: nothing to lock, a server may be running
    try:
        with ExitStack() as undo:
            made = _prepare(plan, undo)
            for target in plan.targets:
                _commit(target, made)
                yield target
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        raise StorageError(
            f"cannot format: {place}{error.strerror}",
            hint="directories that were not formatted are as they were; "
            "once it is mended, format again with -g",
        ) from None


_Made = dict[str, list[str]]
"""The directories that were made for a target, by its path; none once it is formatted."""


def _prepare(plan: FormatPlan, undo: ExitStack) -> _Made:
    """Make directories, take locks, write temporary files; *undo* removes what is not used."""
    owners = {target.directory.path: owner_of(target.directory.path) for target in plan.targets}
    made: _Made = {path: [] for path in owners}
    undo.callback(_remove_directories, made)
    for path, owner in owners.items():
        make_directories(path, owner, made[path])
    try:
        _lock(plan, owners, made, undo)
    except InUse:
        made.clear()  # the other process has put its files there, or is about to
        raise
    undo.callback(_remove_files, plan, made)
    for target in plan.targets:
        path = target.directory.path
        for file in target.files:
            make_directory(os.path.dirname(file.path), owners[path], made[path])
            undo.callback(file.discard)
            file.prepare(owners[path])
    return made


def _lock(
    plan: FormatPlan, owners: Mapping[str, Owner | None], made: _Made, undo: ExitStack
) -> None:
    """Take the locks until *undo*, and see whether another process was faster.

    Raises:
        InUse: it was, or it is at work.
    """
    for directory in plan.directories:
        if directory.problem is None:
            undo.enter_context(held(directory.path, owners.get(directory.path)))
            undo.callback(_remove_lock, directory.path, made)  # while it is held
    if read_directories(plan.config) != plan.directories:
        raise InUse("another process formatted a directory at the same time", hint="run it again")


def _commit(target: Target, made: _Made) -> None:
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
    del made[path]
    sync_directory(path)


def _remove_files(plan: FormatPlan, made: _Made) -> None:
    """Remove what was put into directories that were made for targets but not formatted."""
    for target in plan.targets:
        if _is_made(target.directory.path, made):
            for file in reversed(target.files):  # meta.properties first
                with suppress(OSError):
                    os.unlink(file.path)


def _remove_lock(path: str, made: _Made) -> None:
    if _is_made(path, made):
        with suppress(OSError):
            os.unlink(os.path.join(path, LOCK_NAME))


def _is_made(path: str, made: _Made) -> bool:
    return os.path.abspath(path) in made.get(path, ())


def _remove_directories(made: _Made) -> None:
    for directories in reversed(made.values()):
        for directory in reversed(directories):
            with suppress(OSError):
                os.rmdir(directory)
