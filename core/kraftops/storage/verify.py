"""Whether servers would start on their log directories, and form or join their quorum.

The rules are those of Kafka 4.3.1's start: `KafkaRaftServer`, `LogManager`, `KafkaRaftClient`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kraftops.storage.config import ServerConfig
from kraftops.storage.directories import METADATA_PARTITION, PARTITION
from kraftops.storage.inspector import DirectoryState, Finding, findings, inspect
from kraftops.storage.metadata_log import MetadataLog
from kraftops.storage.releases import FEATURES, METADATA_VERSION, by_level, level_of
from kraftops.storage.voters import Voter
from kraftops.uuids import to_text

_FORMAT = "kafka-storage format formats it"
_OTHER_PLACES = frozenset({"remote-log-index-cache"})
_THIS_HOST = frozenset({"", "localhost", "127.0.0.1", "::1", "0:0:0:0:0:0:0:1"})

RETIRED = {
    "zookeeper.": "KRaft needs no ZooKeeper",
    "control.plane.listener.name": "controllers have listeners of their own",
    "broker.id.generation.enable": "node.id is given, never made up",
    "reserved.broker.max.id": "node.id is given, never made up",
    "inter.broker.protocol.version": "metadata.version has taken its place",
    "log.message.format.version": "the format of records follows from metadata.version",
    "password.encoder.": "secrets are no longer kept in ZooKeeper",
}
"""Keys, or what they begin with, that servers of Kafka 4 ignore; and why."""


@dataclass(frozen=True, slots=True)
class Node:
    """A node of a cluster: its configuration and its directories."""

    config: ServerConfig
    states: tuple[DirectoryState, ...]

    @property
    def metadata(self) -> DirectoryState:
        """The metadata directory."""
        return next(state for state in self.states if state.directory.is_metadata)

    @property
    def log(self) -> MetadataLog:
        """The metadata log, empty where there is none."""
        return self.metadata.log or MetadataLog()

    @property
    def voters(self) -> tuple[Voter, ...] | None:
        """The voters of a dynamic quorum that its directory knows of."""
        return self.log.quorum.voters

    @property
    def cluster_id(self) -> str | None:
        """The cluster id of the first directory that has one."""
        ids = (state.meta.cluster_id for state in self.states if state.meta)
        return next((found for found in ids if found is not None), None)

    @property
    def is_controller(self) -> bool:
        """Whether it has the role of a controller."""
        return "controller" in self.config.roles


def node(config: ServerConfig) -> Node:
    """Return a node as it is on disk."""
    return Node(config, inspect(config))


def retired_keys(config: ServerConfig) -> Iterator[tuple[str, str]]:
    """Yield where a retired key is set, with its name, and why it is ignored."""
    for key in config.given:
        for retired, reason in RETIRED.items():
            if key == retired or (retired.endswith(".") and key.startswith(retired)):
                yield f"{config.place(key)}: {key}", reason


def verify_node(node: Node, cluster_id: str | None = None) -> Iterator[Finding]:
    """Yield what keeps the server of a node from starting, or from having a quorum.

    *cluster_id* is the one that its directories should have.
    """
    yield from _formatted(node)
    yield from _cluster_ids(node, cluster_id)
    yield from findings(node.config, node.states)
    for state in node.states:
        if state.holder:
            yield Finding(state.path, f"{state.holder} holds its lock", "stop it first")
        if state.place and not os.access(state.directory.path, os.W_OK | os.X_OK):
            yield Finding(
                state.path, f"user {os.geteuid()} cannot write to it", "give it to Kafka's user"
            )
    yield from _places(node)
    yield from _features(node)
    if node.is_controller:
        yield from _quorum(node)


def _formatted(node: Node) -> Iterator[Finding]:
    for state in node.states:
        if state.exists and state.place is None:
            yield Finding(state.path, "it is not a directory", "move the file out of the way")
        elif state.directory.problem:
            problem = f"its meta.properties cannot be read: {state.directory.problem}"
            yield Finding(state.path, problem, "mend the file, or restore it from a copy")
        elif state.meta is None:
            what = "it is not formatted" if state.place else "it does not exist"
            yield Finding(state.path, what, f"{_FORMAT}; with -g if others are")


def _cluster_ids(node: Node, wanted: str | None) -> Iterator[Finding]:
    expected = node.cluster_id if wanted is None else wanted
    for state in node.states:
        there = state.meta.cluster_id if state.meta else None
        if there is not None and there != expected:
            yield Finding(
                state.path,
                f"its cluster id is {there}, not {expected}",
                "take it out of log.dirs if it is another cluster's, else "
                f"kafka-storage rewrite --cluster-id {expected}",
            )


def _places(node: Node) -> Iterator[Finding]:
    """Yield what lies in a directory that must not be there."""
    owners: dict[str, str] = {}
    for state in node.states:
        path = state.directory.path
        if state.place is None or state.problem:
            continue
        for name in sorted(entry.name for entry in os.scandir(path) if entry.is_dir()):
            inside = os.path.join(state.path, name)
            if name == METADATA_PARTITION:
                if not state.directory.is_metadata:
                    yield Finding(
                        inside,
                        f"a metadata log outside of the metadata directory {node.metadata.path}",
                        f"set metadata.log.dir={state.path}, or remove it if it is a leftover",
                    )
                continue
            if "broker" not in node.config.roles or path not in node.config.log_dirs:
                continue
            if not PARTITION.fullmatch(name) and name not in _OTHER_PLACES:
                yield Finding(
                    inside,
                    "a directory that is no partition, which stops a broker",
                    "move it, or use a directory below the mount point",
                )
            elif name in owners:
                yield Finding(
                    inside, f"the partition is in {owners[name]} too", "move one of them away"
                )
            owners.setdefault(name, state.path)


def _features(node: Node) -> Iterator[Finding]:
    found = node.metadata.bootstrap
    for name, level in (found.features if found else {}).items():
        known = by_level(level) if name == METADATA_VERSION else _has_level(name, level)
        if not known:
            yield Finding(
                os.path.join(node.metadata.path, "bootstrap.checkpoint"),
                f"{name}={level} is beyond Kafka 4.3",
                "start a newer server, or format with --release-version",
            )


def _has_level(name: str, level: int) -> bool:
    try:
        return name in FEATURES and level_of(name, level) is not None
    except KeyError:
        return False


def _quorum(node: Node) -> Iterator[Finding]:
    """Yield why a controller would have no quorum."""
    config, voters = node.config, node.voters
    meta = node.metadata.meta
    if meta is None:
        return
    if voters is None:
        if not config.voters and not node.log.is_used and _is_alone(config):
            yield Finding(
                node.metadata.path,
                "it has no voters, and controller.quorum.bootstrap.servers names no other "
                "controller: it would wait for ever",
                "format it anew with --standalone, or name the controllers that it is to join",
            )
        return
    for voter in voters:
        if voter.node_id == config.node_id and voter.directory_id != meta.directory_id:
            own = to_text(meta.directory_id) if meta.directory_id else "none"
            yield Finding(
                node.metadata.path,
                f"its directory id is {own}, the voters have node {voter.node_id} with "
                f"{to_text(voter.directory_id)}: it would not vote",
                f"set directory.id={to_text(voter.directory_id)} if this is that directory; else "
                "remove the voter from the quorum, and let this one join",
            )


def _is_alone(config: ServerConfig) -> bool:
    """Tell whether the bootstrap servers are this node itself, as far as names tell."""
    own = {(listener.host or "", listener.port) for listener in config.advertised_controllers}
    ports = {port for _, port in own}
    for server in config.bootstrap_servers:
        host, _, port = server.rpartition(":")
        host = host.strip("[]")
        if (host, int(port)) not in own and not (host in _THIS_HOST and int(port) in ports):
            return False
    return True


def verify_cluster(nodes: Sequence[Node]) -> Iterator[Finding]:
    """Yield what does not fit between the nodes of one cluster."""
    first = nodes[0]
    by_id: dict[int, Node] = {}
    directories: dict[bytes, str] = {}
    places: dict[str, str] = {}
    for node in nodes:
        config = node.config
        other = by_id.setdefault(config.node_id, node)
        if other is not node:
            yield Finding(
                config.path,
                f"its node id {config.node_id} is that of {other.config.path} too",
                "give each node an id of its own, and its directories by rewrite --node-id",
            )
        if None not in (node.cluster_id, first.cluster_id) and node.cluster_id != first.cluster_id:
            yield Finding(
                config.path,
                f"its cluster id is {node.cluster_id}, that of {first.config.path} is "
                f"{first.cluster_id}",
                "kafka-storage rewrite --cluster-id in the one that is wrong",
            )
        if config.voters != first.config.voters:
            yield Finding(
                config.path,
                f"its controller.quorum.voters differ from those of {first.config.path}",
                "the static voters are the same on all nodes, or none on all",
            )
        for state in node.states:
            place = os.path.realpath(state.directory.path)
            owner = places.setdefault(place, config.path)
            if owner != config.path:
                yield Finding(
                    state.path, f"{owner} and {config.path} both have it", "one node, one directory"
                )
            elif state.meta and state.meta.directory_id:
                owner = directories.setdefault(state.meta.directory_id, state.path)
                if owner != state.path:
                    shown = to_text(state.meta.directory_id)
                    yield Finding(
                        state.path,
                        f"its directory id {shown} is that of {owner} too",
                        "one is a copy: format it anew, or take directory.id out of it",
                    )
    yield from _one_quorum(nodes, by_id)


def _one_quorum(nodes: Sequence[Node], by_id: dict[int, Node]) -> Iterator[Finding]:
    controllers = [node for node in nodes if node.is_controller]
    for node in nodes:
        for node_id in node.config.voters:
            named = by_id.get(node_id)
            if named and not named.is_controller:
                yield Finding(
                    node.config.path,
                    f"controller.quorum.voters has node {node_id}, which is no controller",
                    f"give {named.config.path} the role, or take it out of the voters",
                )
    knowing = [node for node in controllers if node.voters is not None]
    if not knowing:
        yield from _nobody_begins(controllers)
        return
    # The voters change in the log: the longest one is the newest.
    newest = max(knowing, key=lambda node: node.log.end_offset or 0)
    for node in knowing:
        if not node.log.is_used and node.voters != newest.voters:
            yield Finding(
                node.metadata.path,
                f"its voters are {_shown(node.voters)}, those of {newest.metadata.path} are "
                f"{_shown(newest.voters)}",
                "format one of them anew with the voters of the other, or with -N",
            )
    for voter in newest.voters or ():
        found = by_id.get(voter.node_id)
        if found is None or found is newest:
            continue
        meta = found.metadata.meta
        if not found.is_controller:
            problem = f"it is the voter {voter}, but no controller"
            yield Finding(found.config.path, problem, "give it the role of a controller")
        elif meta and meta.directory_id != voter.directory_id:
            own = to_text(meta.directory_id) if meta.directory_id else "none"
            yield Finding(
                found.metadata.path,
                f"its directory id is {own}, {newest.metadata.path} has it as {voter}",
                "no directory has the id that the quorum knows: remove that voter, and let this "
                "one join",
            )


def _nobody_begins(controllers: Sequence[Node]) -> Iterator[Finding]:
    """Yield that all controllers wait for each other."""
    waiting = [node for node in controllers if not node.config.voters and not node.log.is_used]
    ports = {listener.port for node in waiting for listener in node.config.advertised_controllers}
    asked = {
        int(server.rpartition(":")[2])
        for node in waiting
        for server in node.config.bootstrap_servers
    }
    if len(waiting) > 1 and waiting == list(controllers) and asked <= ports:
        yield Finding(
            "",
            "no controller has voters: each would wait for the others",
            "format one with --standalone, or all with the same --initial-controllers",
        )


def _shown(voters: Sequence[Voter] | None) -> str:
    return ", ".join(map(str, voters or ())) or "none"
