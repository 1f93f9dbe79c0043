"""Checks before the start of a server: its keys, its directories, and their contents.

The rules are those of Kafka 4.3.1's start: `KafkaRaftServer`, `LogManager`, `KafkaRaftClient`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from kraftops.findings.finding import Cure, Finding, Place, Severity
from kraftops.log.files import METADATA_PARTITION
from kraftops.storage.config.server_config import ServerConfig
from kraftops.storage.logdirs.directories import has_metadata_log
from kraftops.storage.logdirs.inspector import DirectoryState, findings
from kraftops.storage.logdirs.node import Node
from kraftops.storage.logdirs.proposals import (
    format_command,
    rewrite_to_cluster,
    shown_cluster_id,
)
from kraftops.storage.verify import partitions
from kraftops.storage.verify.quorum import quorum_findings
from kraftops.uuids import to_text

RETIRED = {
    "zookeeper.": "KRaft needs no ZooKeeper",
    "control.plane.listener.name": "controllers have listeners of their own",
    "broker.id.generation.enable": "node.id is given, never made up",
    "reserved.broker.max.id": "node.id is given, never made up",
    "inter.broker.protocol.version": "metadata.version has taken its place",
    "log.message.format.version": "the format of records follows from metadata.version",
    "password.encoder.": "secrets are no longer kept in ZooKeeper",
}
"""Keys, or prefixes of keys, that servers of Kafka 4 ignore, each with the reason."""


def verify_node(node: Node, cluster_id: str | None = None) -> Iterator[Finding]:
    """Yield the problems that keep a server from starting or from a quorum, and notes.

    *cluster_id* is the expected one.
    """
    yield from _retired_keys(node.config)
    yield from _formatted(node, cluster_id or node.cluster_id)
    yield from _cluster_ids(node, node.cluster_id if cluster_id is None else cluster_id)
    yield from findings(node.config, node.states)
    for state in node.states:
        if state.holder:
            yield Finding(
                "running",
                Severity.STOPS,
                f"{state.holder} holds its lock",
                Place(directory=state.path),
                "stop it first",
            )
        if state.status and not _is_writable(state.directory.path):
            yield Finding(
                "not-writable",
                Severity.STOPS,
                f"user {os.geteuid()} cannot write to it",
                Place(directory=state.path),
                "give it to Kafka's user, or mount it for writing",
            )
    yield from _contents(node)
    if node.metadata.status and not node.metadata.problem:
        yield from quorum_findings(node)


def _is_writable(path: str) -> bool:
    return os.access(path, os.W_OK | os.X_OK, effective_ids=True)


def _retired_keys(config: ServerConfig) -> Iterator[Finding]:
    for key in config.given:
        for retired, reason in RETIRED.items():
            if key == retired or (retired.endswith(".") and key.startswith(retired)):
                problem = f"{key} is ignored: {reason}"
                yield Finding(
                    "ignored-key",
                    Severity.NOTE,
                    problem,
                    Place(file=config.place(key)),
                    "take it out",
                )


def _formatted(node: Node, cluster_id: str | None) -> Iterator[Finding]:
    """Yield the directories without a complete meta.properties."""
    for state in node.states:
        meta = state.meta
        if state.exists and state.status is None:
            cure = _format(node, state, cluster_id)
            cure = cure._replace(text=f"move the file out of the way, then {cure.text}")
            yield Finding(
                "not-a-directory",
                Severity.STOPS,
                "it is not a directory",
                Place(directory=state.path),
                *cure,
            )
        elif state.directory.problem:
            problem = f"its meta.properties cannot be read: {state.directory.problem}"
            yield Finding(
                "bad-meta",
                Severity.STOPS,
                problem,
                Place(directory=state.path),
                _restore(node, state, cluster_id),
            )
        elif meta is None and state.directory.is_metadata and has_metadata_log(state.path):
            what = "it has a metadata log, and no meta.properties"
            yield Finding(
                "not-formatted",
                Severity.STOPS,
                what,
                Place(directory=state.path),
                _restore(node, state, cluster_id),
            )
        elif meta is None:
            what = "it is not formatted" if state.status else "it does not exist"
            yield Finding(
                "not-formatted",
                Severity.STOPS,
                what,
                Place(directory=state.path),
                *_format(node, state, cluster_id),
            )
        elif meta.node_id is None or meta.cluster_id is None:
            lacks = {"node id": meta.node_id, "cluster id": meta.cluster_id}
            shown = " and no ".join(name for name, value in lacks.items() if value is None)
            command = rewrite_to_cluster(node.config.path, cluster_id)
            command = f"{command} --to-v1 --node-id {node.config.node_id}"
            yield Finding(
                "incomplete-meta",
                Severity.STOPS,
                f"its meta.properties has no {shown}",
                Place(directory=state.path),
                "write the ids into it",
                (command,),
            )


def _format(node: Node, state: DirectoryState, cluster_id: str | None) -> Cure:
    """Return the cure of an unformatted directory, where others may be formatted."""
    command = format_command(node.config.path, cluster_id)
    if node.metadata.meta is not None:
        cure = Cure("format it", (f"{command} -g -N",))
    elif any(other.meta for other in node.states):
        text = "restore it: the metadata is in there; or, if other controllers have it, format it"
        cure = Cure(text, (f"{command} -g -N",))
    elif node.is_controller and not node.config.voters:
        cure = Cure("format it, with -N if other controllers have the metadata", (command,))
    else:
        cure = Cure("format it", (command,))
    if state.exists:
        return cure
    return cure._replace(text=f"mount it if it is a disk; else {cure.text}")


def _restore(node: Node, state: DirectoryState, cluster_id: str | None) -> str:
    """Return the cure of a bad meta.properties; a server makes any directory.id but a voter's."""
    ids = [f"node.id={node.config.node_id}", f"cluster.id={shown_cluster_id(cluster_id)}"]
    if state.directory.is_metadata:
        own = [voter for voter in node.voters if voter.node_id == node.config.node_id]
        ids += [f"directory.id={to_text(voter.directory_id)}" for voter in own]
    return f"restore it from a copy, or write version=1, {', '.join(ids)}"


def _cluster_ids(node: Node, expected: str | None) -> Iterator[Finding]:
    for state in node.states:
        present = state.meta.cluster_id if state.meta else None
        if present is not None and present != expected:
            yield Finding(
                "other-cluster",
                Severity.STOPS,
                f"its cluster id is {present}, not {expected}",
                Place(directory=state.path),
                "take it out of log.dirs if it is another cluster's, else give it the cluster id",
                (rewrite_to_cluster(node.config.path, expected),),
            )


def _contents(node: Node) -> Iterator[Finding]:
    """Yield the contents of directories that must not be there."""
    owners: dict[tuple[str, bytes], str] = {}
    for state in node.states:
        path = state.directory.path
        if state.status is None or state.problem:
            continue
        inside = os.path.join(path, METADATA_PARTITION)
        if not state.directory.is_metadata and os.path.lexists(inside):
            yield Finding(
                "stray-metadata-log",
                Severity.STOPS,
                f"a metadata log outside of the metadata directory {node.metadata.path}",
                Place(file=os.path.join(state.path, METADATA_PARTITION)),
                f"set metadata.log.dir={state.path}, or remove it if it is a leftover",
            )
        if node.is_broker and path in node.config.log_dirs:
            yield from partitions.data_findings(state, owners)
