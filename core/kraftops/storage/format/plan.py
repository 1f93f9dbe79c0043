"""Plan of a format: directories to format and the files to write; nothing is written here."""

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kraftops.errors import StorageError, UsageError
from kraftops.fileio.atomic import StagedFile
from kraftops.java.hosts import host_text
from kraftops.server import meta_properties
from kraftops.server.formatted import has_metadata_log, partition_data
from kraftops.server.log_directory import LogDirectory
from kraftops.server.meta_properties import MetaProperties
from kraftops.server.metadata_log.log import read_metadata_log
from kraftops.server.voters import Voter, parse_initial_controllers
from kraftops.storage.bootstrap import records as bootstrap
from kraftops.storage.bootstrap.features import chosen_levels, chosen_version, parse_levels
from kraftops.storage.bootstrap.records import Bootstrap, bootstrap_bytes, voters_snapshot_bytes
from kraftops.storage.bootstrap.releases import SCRAM_SINCE, by_name
from kraftops.storage.bootstrap.scram import parse_credential
from kraftops.storage.config.server_config import ServerConfig
from kraftops.storage.logdirs.directories import check_distinct, check_ids, read_directories
from kraftops.uuids import random_uuid


def directories_to_mend(directories: Sequence[LogDirectory]) -> list[LogDirectory]:
    """Return the directories that hold partitions and are not formatted, where all others are sane.

    The metadata directory is never one of them: a voter without its log would be trusted.
    """
    metadata = next(directory for directory in directories if directory.is_metadata)
    if metadata.meta is None or any(directory.problem for directory in directories):
        return []
    return [directory for directory in directories if not directory.meta and _holds_data(directory)]


def _holds_data(directory: LogDirectory) -> bool:
    try:
        return partition_data(directory.path) is not None
    except OSError:
        return False  # the check of the plan says why


STATIC_VOTERS = "controller.quorum.voters"


@dataclass(frozen=True, slots=True, kw_only=True)
class FormatRequest:
    """Request of `kafka-storage format`; texts are those of the command line.

    *directory_ids* has the known ids of directories that lost their meta.properties, by paths.
    """

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
    directory_ids: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Target:
    """A directory to format: Kafka's word for its kind, its new id, its files in their order.

    *removes* are files of an earlier format that a server would take for files of this one.
    """

    directory: LogDirectory
    kind: str
    directory_id: bytes
    files: tuple[StagedFile, ...]
    removes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FormatPlan:
    """Plan of a format.

    *voters* is None unless a snapshot on this node begins a dynamic quorum. The directories of
    *mended* hold data, and have lost their meta.properties.
    """

    config: ServerConfig
    cluster_id: str
    directories: tuple[LogDirectory, ...]
    bootstrap: Bootstrap
    voters: tuple[Voter, ...] | None
    targets: tuple[Target, ...]
    force: bool
    mended: tuple[str, ...] = ()

    @property
    def formatted(self) -> list[LogDirectory]:
        """The directories that are formatted already."""
        return [directory for directory in self.directories if directory.meta]

    @property
    def unreadable(self) -> list[LogDirectory]:
        """The directories with a meta.properties that cannot be read."""
        return [directory for directory in self.directories if directory.problem]


def plan_format(config: ServerConfig, request: FormatRequest) -> FormatPlan:
    """Plan a format, with Kafka's checks in Kafka's order.

    Raises:
        UsageError: the request makes no sense, with Kafka's message where there is one.
        StorageError: a directory is of another cluster or node, or formatted already.
    """
    unstable = config.unstable_feature_versions
    release = None if request.release is None else by_name(request.release, unstable=unstable)
    levels = parse_levels(request.features)
    voters = _requested_voters(config, request)
    version = chosen_version(release, levels, unstable=unstable)
    has_quorum_flag = (
        request.standalone or request.no_initial_controllers or bool(request.initial_controllers)
    )
    levels = chosen_levels(version, levels, is_dynamic=has_quorum_flag and not config.voters)
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
    planner = _TargetPlanner(config, request, initial, voters, directories)
    targets = [
        planner.target(directory)
        for directory in directories
        if not (directory.meta or directory.problem)
    ]
    mended = directories_to_mend(directories) if request.ignore_formatted else []
    return FormatPlan(
        config=config,
        cluster_id=request.cluster_id,
        directories=directories,
        bootstrap=initial,
        voters=voters,
        targets=tuple(targets),
        force=request.force,
        mended=tuple(directory.path for directory in mended),
    )


def _requested_voters(config: ServerConfig, request: FormatRequest) -> tuple[Voter, ...] | None:
    """Return the voters of a dynamic quorum; with `--standalone` one with a new directory id."""
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


class _TargetPlanner:
    """Planner of the directories to format, each with an id of its own."""

    def __init__(
        self,
        config: ServerConfig,
        request: FormatRequest,
        initial: Bootstrap,
        voters: tuple[Voter, ...] | None,
        directories: Sequence[LogDirectory],
    ) -> None:
        self._config = config
        self._request = request
        self._initial = initial
        self._voters = voters
        self._own = next((voter for voter in voters or () if voter.node_id == config.node_id), None)
        self._used_ids = {
            directory.meta.directory_id for directory in directories if directory.meta
        }
        self._used_ids |= {voter.directory_id for voter in voters or ()}
        self._now = time.time_ns() // 1_000_000

    def target(self, directory: LogDirectory) -> Target:
        path = directory.path
        has_log = directory.is_metadata and has_metadata_log(path)
        directory_id = self._directory_id(directory, has_log=has_log)
        self._used_ids.add(directory_id)
        files = [_new_file(path, bootstrap.FILE_NAME, bootstrap_bytes(self._initial, self._now))]
        removes: tuple[str, ...] = ()
        # The log that a server has written says more of its quorum than the command line does.
        if directory.is_metadata and not has_log:
            if self._voters:
                listener = self._config.controller_listener_names[0]
                files.append(_voters_file(path, self._voters, listener, self._now))
            elif os.path.lexists(stale := os.path.join(path, bootstrap.SNAPSHOT_NAME)):
                removes = (stale,)
        meta = MetaProperties(1, self._request.cluster_id, self._config.node_id, directory_id)
        data = meta_properties.file_bytes(meta.items())
        files.append(_new_file(path, meta_properties.FILE_NAME, data))
        return Target(
            directory=directory,
            kind=self._kind(directory),
            directory_id=directory_id,
            files=tuple(files),
            removes=removes,
        )

    def _kind(self, directory: LogDirectory) -> str:
        if not directory.is_metadata:
            return "data directory"
        if not self._voters:
            return "metadata directory"
        return "dynamic metadata voter directory" if self._own else "dynamic metadata directory"

    def _directory_id(self, directory: LogDirectory, *, has_log: bool) -> bytes:
        """Return the id that is known, in the metadata log, or of this voter; else a new one."""
        directory_id = self._request.directory_ids.get(directory.path)
        if directory.is_metadata and self._own:
            directory_id = self._own.directory_id
        if has_log:
            directory_id = _id_in_log(directory.path, self._config.node_id) or directory_id
        if directory_id is not None:
            return directory_id
        new = random_uuid()
        while new in self._used_ids:
            new = random_uuid()
        return new


def _id_in_log(path: str, node_id: int) -> bytes | None:
    """Return the directory id of a node among the voters in a metadata log."""
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
    # A server knows this suffix, and removes files that have it.
    data = voters_snapshot_bytes(voters, listener, now)
    return StagedFile(path, f"{path}.part", data, mode=0o400)
