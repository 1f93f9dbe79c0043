"""Advice to format a directory, and the evidence that forbids it: decided here alone.

A voter that is formatted votes with an empty log, and a broker may lead with empty partitions.
"""

import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from kraftops.display import quoting
from kraftops.display.sizes import NAMES_IN_LINE, first_names, many, named
from kraftops.findings.finding import Cure
from kraftops.server.log_directory import LogDirectory
from kraftops.server.voters import voters_text
from kraftops.storage.logdirs.directories import right_path
from kraftops.storage.logdirs.node import Node
from kraftops.storage.logdirs.proposals import format_cure
from kraftops.storage.verify.voter_logs import quorum_of

_TABLE = "/etc/fstab"
UNLESS_NEWER = ", if kafka-storage compare finds no newer copy,"
"""The condition of a cure that lets another broker lead, as long as its copies are not compared."""


@dataclass(frozen=True)
class FormatEvidence:
    """What all given nodes tell about one that is not formatted.

    *in_sync* has, by broker, the partitions that the metadata has in sync there and its disks lack,
    with the other brokers that may lead them.
    """

    nodes: Sequence[Node] = ()
    in_sync: Mapping[int, Mapping[str, Sequence[int]]] = field(default_factory=dict)


def common_cluster_id(nodes: Sequence[Node]) -> str | None:
    """Return the cluster id of most nodes; of as many, that of the first."""
    ids = Counter(node.cluster_id for node in nodes if node.cluster_id is not None)
    return ids.most_common(1)[0][0] if ids else None


def format_advice(
    node: Node, directory: LogDirectory, cluster_id: str | None, evidence: FormatEvidence
) -> Cure:
    """Return the cure of an unformatted directory: a command only where it loses nothing."""
    if point := _unmounted(directory.path):
        text = f"mount its disk: {_TABLE} has one for {point}, where nothing is mounted"
        return Cure(text, (quoting.join(("mount", point)),))
    if not directory.exists and (hint := right_path(node.config, directory.path)):
        return Cure(hint)  # On a wrong path a broker begins with empty partitions, which may lead.
    cure = _obstacle(node, directory, evidence)
    if cure is None:
        cure = _format(node, cluster_id, evidence)
    if directory.exists:
        return cure
    return cure._replace(text=f"mount it if it is a disk; else {cure.text}")


def _unmounted(path: str) -> str | None:
    """Return the mount point of a path that the host's table has, if nothing is mounted there."""
    with suppress(OSError), open(_TABLE, encoding="utf-8", errors="surrogateescape") as file:
        for line in file:
            written = "".join(line.partition("#")[0].split()[1:2])
            point = re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), written)
            is_above = f"{os.path.abspath(path)}/".startswith(f"{point.rstrip('/')}/")
            if point.startswith("/") and is_above and not os.path.ismount(point):
                return point
    return None


def _obstacle(node: Node, directory: LogDirectory, evidence: FormatEvidence) -> Cure | None:
    """Return the cure that must come instead of a format, or before it; None without one."""
    text = _quorum_obstacle(node, evidence.nodes) if directory.is_metadata else None
    lost = evidence.in_sync.get(node.config.node_id, {})
    if text is None and lost:
        text = _partitions_obstacle(lost)
    return Cure(text) if text else None


def _quorum_obstacle(node: Node, nodes: Sequence[Node]) -> str | None:
    quorum = quorum_of(nodes)
    if not node.is_controller or quorum is None:
        return None
    newest, config = quorum.newest, node.config
    if newest.voters and config.voters:
        return (
            f"do not format it yet: {newest.metadata_path} has the voters "
            f"{voters_text(newest.voters)}, and the static ones of {config.path} would elect a "
            "leader without its records; first set controller.quorum.bootstrap.servers instead of "
            f"controller.quorum.voters in {config.path}"
        )
    if len(quorum.sound) >= quorum.majority:
        return None
    if any(quorum.lost()):
        return "do not format it: recover the quorum"
    if unknown := quorum.voters.keys() - {other.config.node_id for other in nodes}:
        return (
            "do not format it before most of the voters are known to have their logs: name the "
            f"configurations of {named('voter', sorted(unknown))}, too"
        )
    return (
        f"do not format it yet: with {named('voter', sorted(quorum.behind))} it could win an "
        "election; start the other voters first, and format it when all of these have the end of "
        "the newest log"
    )


def identity_obstacle(node: Node, nodes: Sequence[Node]) -> Cure | None:
    """Return why a node that has lost its meta.properties must not get it back, or not yet.

    By its own log, or by static voters, it would elect a leader beside a quorum that was recovered
    without it, of which only the logs of the others tell.
    """
    if not node.is_controller or not (node.voters or node.config.voters):
        return None
    quorum = quorum_of(nodes)
    if quorum and node.config.node_id not in quorum.voters:
        static = "controller.quorum.bootstrap.servers instead of controller.quorum.voters"
        change = f"set {static} in {node.config.path}, " if node.config.voters else ""
        return Cure(
            f"do not write it: {quorum.newest.metadata_path} goes on with the voters "
            f"{', '.join(map(str, quorum.voters))}, beside which this log could elect a leader; "
            f"copy the directory, {change}remove __cluster_metadata-0, and format it with -N"
        )
    addresses = {voter.node_id: (voter.host, voter.port) for voter in node.voters}
    addresses = addresses or dict(node.config.voters)
    unread = sorted(addresses.keys() - {other.config.node_id for other in nodes})
    if not unread:
        return None
    servers = ",".join(f"{host}:{port}" for host, port in map(addresses.__getitem__, unread))
    others = named("voter", unread)
    return Cure(
        "do not write it yet: if the cluster was recovered without this node, its old voters would "
        f"be a second quorum; name the configurations of {others}, too, to be told what to write; "
        "where a quorum runs, see who votes",
        (quoting.join(["kafka-cluster", "controllers", "-C", servers]),),
    )


def _partitions_obstacle(lost: Mapping[str, Sequence[int]]) -> str:
    alone = [name for name, others in lost.items() if not others]
    others = sorted({broker for brokers in lost.values() for broker in brokers})
    text = (
        "put its disk back, or restore it from a copy: the metadata has "
        f"{many(len(lost), 'partition')} in sync here, which the broker may lead with empty logs "
        "once it is formatted"
    )
    if others:
        text += (
            f"; or first start {named('broker', others)}{UNLESS_NEWER} and format it when the"
            " metadata no longer has these partitions in sync here"
        )
    if alone:
        text += f"; no other broker is in sync with {first_names(alone, NAMES_IN_LINE)}"
    return text


def _format(node: Node, cluster_id: str | None, evidence: FormatEvidence) -> Cure:
    has_log = any(other.log.is_used for other in evidence.nodes)
    is_voter = bool(node.config.voters)
    text, options = "format it", list[str]()
    if node.metadata.meta is not None:
        options = ["-g", "-N"]
    elif any(other.meta for other in node.directories):
        text = "restore it: the metadata is in there"
        if node.is_controller and node.asks_itself and [*evidence.nodes] == [node]:
            return Cure(text)
        text += "; or, if other controllers have it, format it"
        options = ["-g", "-N"]
    elif node.is_controller and not is_voter and has_log:
        options = ["-N"]
    elif node.is_controller and not is_voter:
        text = "format it, with -N if other controllers have the metadata"
    elif node.is_controller and not node.is_only_voter and not has_log:
        text = "format it if the cluster is new, or if most of the voters have their logs"
    is_new = node.metadata.meta is None and not any(other.meta for other in node.directories)
    if is_new and node.is_broker and not node.is_only_voter and not has_log:
        other = "another" if node.is_controller else "a"
        text = (
            f"name the log of {other} controller, too: which partitions it should have is unknown; "
            f"if it is new, {text}"
        )
    return format_cure(text, node.config.path, cluster_id, *options)
