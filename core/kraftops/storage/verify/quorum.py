"""Checks of the metadata log, the quorum of a controller, and the registration of a broker.

The rules are those of Kafka 4.3.1's `KafkaRaftLog`, `KafkaRaftClient` and `QuorumController`.
"""

import os
from collections.abc import Iterator, Mapping, Sequence

from kraftops.fileio.reading import is_forbidden
from kraftops.findings.catalogue import with_cure
from kraftops.findings.finding import (
    Cure,
    Finding,
    Place,
    Severity,
    note_finding,
    stop_finding,
    unless_forbidden,
)
from kraftops.log.files import METADATA_PARTITION
from kraftops.server import quorum_state
from kraftops.server.metadata_log.cures import fetches_anew
from kraftops.server.metadata_log.files import Damage
from kraftops.server.voters import voters_text
from kraftops.storage.logdirs.inspector import FORMAT_ANEW, has_partitions
from kraftops.storage.logdirs.node import Node
from kraftops.storage.logdirs.proposals import rewrite_to_node
from kraftops.storage.verify.metadata_start import metadata_start_findings
from kraftops.uuids import to_text


def quorum_findings(node: Node, nodes: Sequence[Node]) -> Iterator[Finding]:
    """Yield the problems of the metadata log that keep a node from starting or from a quorum.

    Of the given *nodes*, one may have a directory of which this node has a copy.
    """
    yield from metadata_start_findings(node)
    yield from _metadata_log(node)
    if node.is_broker:
        yield from _registration(node, nodes)
    if node.is_controller:
        yield from _quorum(node)


def _metadata_log(node: Node) -> Iterator[Finding]:
    """Yield the damage and the gaps of the metadata log."""
    content = node.content
    folder = os.path.join(node.metadata.path, METADATA_PARTITION)
    yield from quorum_state_findings(node)
    for damage in content.damage:
        yield damage_finding(node, damage)
    if content.missing:
        problem = (
            f"offsets {content.missing[0]} to {content.missing[-1]} are neither in the log nor in "
            "a snapshot"
        )
        place = Place(directory=folder)
        yield Finding("missing-offsets", Severity.LOSS, problem, place, *_recover(node))
    if node.is_controller and node.metadata.meta and not node.log.is_used:
        yield from _forgotten_topics(node)


def quorum_state_findings(node: Node) -> Iterator[Finding]:
    """Yield why the epoch and the vote of a node cannot be read, which need no configuration."""
    state_file = os.path.join(node.metadata.path, METADATA_PARTITION, quorum_state.FILE_NAME)
    if problem := quorum_state.problem(state_file):
        cure = "remove it: the epoch is found again, only the last vote is lost"
        place = Place(directory=node.metadata_path, file=state_file)
        finding = stop_finding("bad-quorum-state", problem, place, cure)
        yield unless_forbidden(with_cure(finding, state_file), state_file)
    elif quorum_state.elected(state_file) == node.config.node_id == node.metadata.node_id:
        yield Finding(
            "bad-quorum-state",
            Severity.RISK,
            f"it has a vote for node {node.config.node_id} as another node gives it: it is not of "
            "this node",
            Place(directory=node.metadata_path, file=state_file),
            cure="find out whether disks or meta.properties of controllers were exchanged",
            consequence="this node forgets its own vote, and may vote twice in one epoch",
        )


def changed_voters(node: Node, nodes: Sequence[Node]) -> Iterator[Finding]:
    """Yield a finding if a leader can be elected without most voters of a node's last run.

    A majority of the new voters must share a voter with every majority of the old ones; one voter
    more or less keeps that. Kafka compares the two sets nowhere, and starts.
    """
    old, new = node.last_static_voters, frozenset(node.config.voters)
    own = node.config.node_id
    controllers = {other.config.node_id: other for other in nodes if other.is_controller}
    if node.voters or own not in new:
        return
    if any(other.config.voters.keys() != new for other in controllers.values()):
        return  # the checks between nodes tell it
    shared = max(len(new) // 2 + 1 - len(new - old), 0)  # in the smallest election
    if 2 * (len(old) - shared) <= len(old):
        return
    if all(2 * len(voters & controllers.keys()) > len(voters) for voters in (old, new)):
        return  # most of the old voters have changed, too, and the logs are compared
    names = [", ".join(map(str, sorted(ids))) for ids in (new, old)]
    elects = "it elects itself" if new == {own} else "they can elect a leader"
    yield Finding(
        "static-voters-differ",
        Severity.RISK,
        f"its controller.quorum.voters are {names[0]}, and by its quorum-state it last ran with "
        f"the voters {names[1]}: {elects}, and most of those are not asked",
        Place(file=node.config.path),
        cure=f"before it starts, set controller.quorum.voters to {names[1]} again, as on the other "
        "nodes; only if most of these are lost for good, kafka-storage recover goes on with others",
        consequence="what that leader writes is a second history of the cluster, and one of the "
        "two is lost",
    )


def _forgotten_topics(node: Node) -> Iterator[Finding]:
    """Yield the finding that a new cluster would set the partitions of an old one aside."""
    holding = [
        directory.java_path
        for directory in node.directories
        if directory.partition_count and any(directory.topic_ids())
    ]
    if holding:
        yield Finding(
            "metadata-lost",
            Severity.LOSS if node.is_only_voter else Severity.NOTE,
            f"its metadata log is empty, but there are topics in {', '.join(holding)}: "
            "a new cluster sets them aside",
            node.metadata.place,
            cure="if another controller has the metadata, start that one first; else restore "
            "a copy, or kafka-storage recover it from the log of a broker",
        )


def damage_finding(node: Node, damage: Damage) -> Finding:
    """Return what a server makes of damage in its metadata log."""
    if damage.is_harmless:
        cure = "leave it: a server does not read that far"
        return note_finding("harmless-damage", damage.reason, Place(file=damage.path), cure)
    if is_forbidden(damage.path):
        finding = stop_finding("unreadable", damage.reason, Place(file=damage.path))
        return unless_forbidden(finding, damage.path)
    if damage.lost is None:
        return stop_finding("damage", damage.reason, Place(file=damage.path), *_recover(node))
    problem = f"{damage.reason}; a server drops the log from there up to offset {damage.lost}"
    if node.is_only_voter:
        cure = f"{_recover(node).text}, or start the server anyway, without these records"
        return Finding("damage", Severity.LOSS, problem, Place(file=damage.path), cure)
    cure = "leave it: the server fetches the rest from the other controllers"
    return note_finding("damage", problem, Place(file=damage.path), cure)


def _recover(node: Node) -> Cure:
    if not (node.is_only_voter or (node.is_controller and node.asks_itself)):
        return fetches_anew(node.metadata_path)
    if node.log.is_used or has_partitions(node.directories):
        return Cure("restore the metadata directory from a copy")
    return Cure(f"{FORMAT_ANEW} with --standalone")


def _registration(node: Node, nodes: Sequence[Node]) -> Iterator[Finding]:
    """Yield the finding that directories are registered for another broker."""
    own = node.config.node_id
    owners = node.directory_owners
    for directory in node.directories:
        identity = directory.meta.directory_id if directory.meta else None
        other = owners.get(identity or b"", own)
        if other != own and directory.node_id in (None, own):
            originals = [
                original.java_path
                for original_node in nodes
                if original_node.config.node_id == other
                for original in original_node.directories
                if original.meta and original.meta.directory_id == identity
            ]
            yield stop_finding(
                "registered-elsewhere",
                f"the cluster knows it as of broker {other}, and refuses it of broker {own}",
                directory.place,
                *(
                    copied_directory(own, originals[0])
                    if originals
                    else _registered_again(node, owners, other)
                ),
            )
            return


def copied_directory(own: int, original: str) -> Cure:
    """Return the cure of a directory that is a copy of the *original*, which another node has."""
    return Cure(
        f"it is a copy of {original}, which is right: put the directory of node {own} back; if that"
        " is lost, keep the copy elsewhere, and see what verify says without it"
    )


def _registered_again(node: Node, owners: Mapping[bytes, int], other: int) -> Cure:
    """Return the cure of a directory of broker *other*; some directories may be of this node."""
    own = node.config.node_id
    metas = [directory.meta for directory in node.directories if directory.meta]
    has_own = any(owners.get(meta.directory_id or b"") == own for meta in metas)
    if has_own or {own, other} <= {meta.node_id for meta in metas}:
        return Cure(f"take it out of log.dirs, and give it back to broker {other}")
    if other < 0:
        return Cure("give the node its id again")
    command = rewrite_to_node(node.config.path, other)
    return Cure(f"give the node its id again: node.id={other}", (command,))


def _quorum(node: Node) -> Iterator[Finding]:
    """Yield the reasons why a controller would have no quorum, or no vote in it."""
    config, voters = node.config, node.voters
    path, meta = node.metadata_path, node.metadata.meta
    if meta is None:
        return
    if voters and config.voters:
        problem = "it has voters of its own: controller.quorum.voters is ignored"
        cure = f"set controller.quorum.bootstrap.servers in its place, in {config.path}"
        yield note_finding("static-voters-ignored", problem, Place(directory=path), cure)
    own = next((voter for voter in voters if voter.node_id == config.node_id), None)
    is_alone = len(voters) < 2 if own else node.asks_itself
    is_whole = not node.content.damage and not node.content.missing
    if own and own.directory_id != meta.directory_id:
        present = to_text(meta.directory_id) if meta.directory_id else "none"
        expected = to_text(own.directory_id)
        other = "remove the voter from the quorum, and let this one join"
        if is_alone:
            other = _recover(node).text
        cure = f"if it is that one, set directory.id={expected} in meta.properties; else {other}"
        problem = (
            f"its directory id is {present}, the voters have node {own.node_id} with {expected}"
        )
        yield Finding(
            "other-directory-id",
            Severity.STOPS if is_alone else Severity.NOTE,
            f"{problem}: it would not vote",
            Place(directory=path),
            cure,
        )
    elif voters and not own and is_alone:
        problem = (
            f"this node is not one of its voters {voters_text(voters)}, and controller.quorum."
            "bootstrap.servers names no other controller: it would wait forever"
        )
        cure = f"name the controllers that it is to join there, in {config.path}"
        yield stop_finding("not-a-voter", problem, Place(directory=path), cure)
    elif not voters and not config.voters and is_alone and is_whole:
        cure = (
            f"{FORMAT_ANEW} with --standalone, if the cluster is new; if its controllers are lost, "
            "kafka-storage recover with the log of a broker"
        )
        if node.log.is_used:
            cure = "set controller.quorum.voters as it was when this log was written"
        problem = (
            "it has no voters, and controller.quorum.bootstrap.servers names no other controller: "
            "it would wait forever"
        )
        cure = f"{cure}; or name the controllers that it is to join there, in {config.path}"
        yield stop_finding("no-voters", problem, Place(directory=path), cure)
