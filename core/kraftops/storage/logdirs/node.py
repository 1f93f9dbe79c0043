"""Node of a cluster on disk: its configuration and its directories."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from kraftops.display import quoting
from kraftops.display.sizes import named
from kraftops.fileio.mounts import archive_of
from kraftops.log.files import METADATA_PARTITION
from kraftops.memory import USUAL, Budget
from kraftops.server import quorum_state
from kraftops.server.formatted import has_metadata_log
from kraftops.server.log_directory import LogDirectory
from kraftops.server.metadata_log.content import LogContent
from kraftops.server.metadata_log.log import MetadataLog
from kraftops.server.voters import Voter
from kraftops.storage.config.server_config import ServerConfig
from kraftops.storage.logdirs.directories import distinct, read_directories

_THIS_HOST = frozenset({"", "localhost", "127.0.0.1", "::1", "0:0:0:0:0:0:0:1"})


@dataclass(frozen=True)
class Node:
    """A node of a cluster: its configuration and its directories.

    What is read of its partitions has the *budget*.
    """

    config: ServerConfig
    directories: tuple[LogDirectory, ...]
    budget: Budget = USUAL

    @property
    def metadata(self) -> LogDirectory:
        return next(directory for directory in self.directories if directory.is_metadata)

    @property
    def metadata_path(self) -> str:
        """The path of the metadata directory, as Kafka's tool prints it."""
        return self.metadata.java_path

    @property
    def data_directories(self) -> list[LogDirectory]:
        """The directories of log.dirs that can be read."""
        return [
            directory
            for directory in self.directories
            if directory.is_readable and directory.path in self.config.log_dirs
        ]

    @property
    def log(self) -> MetadataLog:
        """The metadata log, empty where there is none."""
        return self.metadata.log or MetadataLog()

    @cached_property
    def content(self) -> LogContent:
        """The content of the whole metadata log."""
        return self.log.read(is_thorough=True)

    @cached_property
    def logs_elsewhere(self) -> list[LogDirectory]:
        """The other directories with a metadata log, where the metadata directory has none."""
        others = [] if self.log.is_used else self.data_directories
        return [
            directory
            for directory in others
            if not directory.is_metadata and has_metadata_log(directory.path)
        ]

    @property
    def voters(self) -> tuple[Voter, ...]:
        """The voters of a dynamic quorum in its metadata log; empty if there are none."""
        return self.content.quorum.voters or ()

    @property
    def last_static_voters(self) -> frozenset[int]:
        """The ids of the voters with which it last ran, by its quorum-state; or empty."""
        folder = os.path.join(self.metadata.path, METADATA_PARTITION)
        return quorum_state.static_voters(os.path.join(folder, quorum_state.FILE_NAME))

    @property
    def static_voters(self) -> frozenset[int]:
        """The ids of the voters in its configuration, or else in its quorum-state; or empty."""
        return frozenset(self.config.voters) or self.last_static_voters

    @property
    def directory_owners(self) -> dict[bytes, int]:
        """The broker for which its metadata log has each registered directory."""
        registered = self.content.directories.items()
        return {identity: broker for broker, ids in registered for identity in ids}

    @property
    def cluster_id(self) -> str | None:
        """The cluster id of the first directory that has one."""
        ids = (directory.meta.cluster_id for directory in self.directories if directory.meta)
        return next((cluster_id for cluster_id in ids if cluster_id is not None), None)

    @property
    def is_broker(self) -> bool:
        return "broker" in self.config.roles

    @property
    def is_controller(self) -> bool:
        return "controller" in self.config.roles

    @property
    def bootstrap_controllers(self) -> list[tuple[str, int]]:
        """Host and port of the controllers that it asks for the leader, unless it votes."""
        servers = [server.rpartition(":") for server in self.config.bootstrap_servers]
        controllers = [(host.strip("[]"), int(port)) for host, _, port in servers]
        return controllers or list(self.config.voters.values())

    @property
    def asks_itself(self) -> bool:
        """Whether these controllers are this node itself, by their names."""
        host_name = os.uname().nodename
        names = {*_THIS_HOST, host_name, host_name.partition(".")[0]}
        own = {
            (listener.host or "", listener.port) for listener in self.config.advertised_controllers
        }
        own |= {(name, port) for host, port in own if host in _THIS_HOST for name in names}
        return own.issuperset(self.bootstrap_controllers)

    @property
    def is_only_voter(self) -> bool:
        """Whether no other node votes, and so has records that its log has lost."""
        voters = {voter.node_id for voter in self.voters} or set(self.config.voters)
        return voters == {self.config.node_id}


def read_node(config: ServerConfig, budget: Budget = USUAL) -> Node:
    return Node(config, distinct(read_directories(config)), budget)


def directory_owners(nodes: Sequence[Node]) -> dict[bytes, int]:
    """Return the broker for which the newest metadata log has each registered directory."""
    owners: dict[bytes, int] = {}
    for node in sorted(nodes, key=lambda node: node.content.rank):
        owners |= node.directory_owners
    return owners


def recover_command(node: Node, nodes: Sequence[Node], *arguments: str) -> str:
    """Return the command that recovers a node, with the disks of the others, for a shell.

    A log directory without a metadata log has partitions whose losses count. A node in an archive
    has nothing to write to here: for that there is a plan.
    """
    if archive_of(node.config.path):
        copies = dict.fromkeys(map(_copy_name, (node, *nodes)))
        command = ["kafka-storage", "recover-plan"]
        command += [word for name in copies for word in ("--from", name)]
        return quoting.join([*command, "--voters", str(node.config.node_id), "--output", "plan"])
    command = ["kafka-storage", "recover", "-c", node.config.path]
    for other in nodes:
        if other is node:
            continue
        paths = [
            directory.path
            for directory in other.data_directories
            if directory.path != other.metadata.path or not other.log.is_used
            if any(directory.partitions())
        ]
        if other.log.is_used:
            paths.insert(0, os.path.join(other.metadata.path, METADATA_PARTITION))
        for path in paths:
            command += ["--from", path]
    return quoting.join([*command, *arguments])


def _copy_name(node: Node) -> str:
    """Return a node's name in recover-plan: its archive, configuration or directory."""
    path = node.config.path if node.config.given else node.metadata.path
    return archive_of(node.metadata.path) or path


def voter_ids(nodes: Sequence[Node]) -> frozenset[int]:
    """Return the ids of the voters by the newest metadata log of the nodes; or empty."""
    newest = max(nodes, key=lambda node: node.content.rank)
    return frozenset(voter.node_id for voter in newest.voters) or newest.static_voters


def voters_not_given(nodes: Sequence[Node]) -> list[int]:
    """Return the other voters, if there are voters among the nodes, but no majority of them."""
    voters = voter_ids(nodes) if nodes else frozenset()
    present = voters & {node.config.node_id for node in nodes}
    return sorted(voters - present) if present and 2 * len(present) <= len(voters) else []


def majority_unknown(voters: Iterable[int]) -> str:
    """Return the caveat about voters that were not given."""
    return f"without -c for {named('voter', voters)}, it cannot be said whether a majority is left"
