"""Directories without a configuration: which are of one server, and which copy another one."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from kraftops.findings.finding import Evidence, Finding, Severity, stop_finding
from kraftops.server.loader.load_plan import HIGH_WATERMARK
from kraftops.server.log_directory import LogDirectory
from kraftops.storage.logdirs.inspector import OTHER_NODE_ID
from kraftops.storage.logdirs.node import Node, directory_owners
from kraftops.uuids import to_text


class Copy(NamedTuple):
    """A log directory that has the same directory.id as one that is at least as new."""

    directory: LogDirectory
    newer: LogDirectory


def without_copies(
    directories: Sequence[LogDirectory], kept: Sequence[LogDirectory]
) -> tuple[list[LogDirectory], list[Copy]]:
    """Return the newest directory of each directory.id, and the others.

    Those that are *kept* stand for their ids however old they are: a configuration names them.
    """
    by_id: dict[object, list[LogDirectory]] = defaultdict(list)
    for directory in directories:
        meta = directory.meta
        by_id[(meta and meta.directory_id) or directory.path].append(directory)
    configured: dict[object, LogDirectory] = {
        directory.meta.directory_id: directory
        for directory in kept
        if directory.meta and directory.meta.directory_id
    }
    newest, copies = [], list[Copy]()
    for identity, alike in by_id.items():
        first = configured.get(identity) or (max(alike, key=_age) if len(alike) > 1 else alike[0])
        if first in alike:
            newest.append(first)
        copies += [Copy(directory, first) for directory in alike if directory is not first]
    return newest, copies


def of_each_server(directories: Sequence[LogDirectory]) -> Iterator[list[LogDirectory]]:
    """Yield the directories of one node id by server: each server has one metadata log.

    A second one stops it (`KafkaRaftServer.initializeLogDirs`, "Found unexpected metadata
    location"). Which server a directory without one belongs to is not known: the first.
    """
    with_log = [directory for directory in directories if directory.is_metadata]
    without = [directory for directory in directories if not directory.is_metadata]
    if not with_log:
        yield without
    for number, directory in enumerate(with_log):
        yield [directory, *(without if number == 0 else ())]


def as_registered(nodes: Sequence[Node], configured: Sequence[Node]) -> list[Node]:
    """Return nodes with the ids for which the newest metadata has their directories, if it has."""
    owners = directory_owners((*nodes, *configured))
    registered = []
    for node in nodes:
        meta = node.metadata.meta
        owner = owners.get((meta and meta.directory_id) or b"", node.config.node_id)
        is_other = owner != node.config.node_id
        config = replace(node.config, node_id=owner)
        registered.append(replace(node, config=config) if is_other else node)
    return registered


def misnumbered(node: Node) -> Iterator[Finding]:
    """Yield the directories whose meta.properties has another node id than the metadata."""
    owner = node.config.node_id
    for directory in node.directories:
        if directory.node_id not in (None, owner):
            yield stop_finding(
                OTHER_NODE_ID,
                f"it is of node {directory.node_id}, and the metadata has it for node {owner}",
                directory.place,
                f"give it the id {owner} again, with the configuration of node {owner}",
                (f"kafka-storage rewrite -c server.properties --node-id {owner}",),
            )


def _age(directory: LogDirectory) -> tuple[tuple[int, int], int]:
    """Return what grows as a directory is used; times do not survive a copy."""
    log = directory.log
    rank = log.content.rank if log else (0, 0)
    offsets = directory.plan.offsets.get(HIGH_WATERMARK, {})
    return rank, sum(offsets.values())


def copy_finding(copy: Copy) -> Finding:
    """Return the note that a directory is not examined, as it copies another one."""
    (mine, my_sum), (theirs, their_sum) = _age(copy.directory), _age(copy.newer)
    state = "as old as that"
    if (mine, my_sum) != (theirs, their_sum):
        state = "older" if (mine, my_sum) < (theirs, their_sum) else "newer"
    meta = copy.directory.meta
    assert meta
    assert meta.directory_id
    return Finding(
        "directory-id-twice",
        Severity.NOTE,
        f"it is a copy of {copy.newer.java_path}, and {state}: it is not examined",
        copy.directory.place,
        cure="start only one of them; name it alone to examine it; if only its meta.properties was "
        "copied, put its own back",
        evidence=(
            Evidence("meta.properties", f"both have directory.id {to_text(meta.directory_id)}"),
            Evidence("metadata log", f"ends at offset {mine[1]}, the other at {theirs[1]}"),
        ),
    )


def rival_servers(copied: Sequence[Node], configured: Sequence[Node]) -> Iterator[Finding]:
    """Yield the servers without a configuration that have the node id of another in the cluster."""
    firsts = {(node.cluster_id, node.config.node_id): node for node in reversed(configured)}
    newest = max((*configured, *copied), key=lambda node: node.content.rank)
    for node in copied:
        node_id = node.config.node_id
        first = firsts.setdefault((node.cluster_id, node_id), node)
        if first is node:
            continue
        registered = newest.content.directories.get(node_id, ())
        owner, other = first, node
        is_known = _has(first, registered) is not _has(node, registered)
        if is_known and _has(node, registered):
            owner, other = node, first
        proof = f": by the metadata that one is node {node_id}" if is_known else ""
        yield stop_finding(
            "node-id-twice",
            f"two servers have the node id {node_id}, this one and {owner.metadata_path}{proof}",
            other.metadata.place,
            "set another node.id in its configuration, and change meta.properties with the "
            f"command, which refuses if it has partitions of node {node_id}: then keep a copy of "
            "the directory, and format it again",
            ("kafka-storage rewrite -c server.properties --node-id N",),
        )


def _has(node: Node, registered: Sequence[bytes]) -> bool:
    ids = {directory.meta.directory_id for directory in node.directories if directory.meta}
    return not ids.isdisjoint(registered)
