"""Checks before the start of a server: its directories and their contents.

The rules are those of Kafka 4.3.1's start: `KafkaRaftServer`, `LogManager`, `KafkaRaftClient`.
"""

import os
import stat
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from kraftops.display import quoting
from kraftops.display.sizes import NAMES_IN_LINE, first_names, many
from kraftops.dump.check.log_directory import misnamed_findings
from kraftops.fileio.directories import Owner
from kraftops.fileio.mounts import names_in
from kraftops.findings.finding import (
    Cure,
    Finding,
    Place,
    note_finding,
    stop_finding,
    unless_forbidden,
)
from kraftops.log.files import METADATA_PARTITION
from kraftops.server.formatted import has_metadata_log
from kraftops.server.locks import FILE_NAME as LOCK
from kraftops.server.log_directory import LogDirectory
from kraftops.storage.logdirs.inspector import findings
from kraftops.storage.logdirs.node import Node, directory_owners
from kraftops.storage.logdirs.proposals import (
    meta_lines,
    rewrite_cure,
    safe_cluster_id,
    write_command,
)
from kraftops.storage.verify.formatting import (
    FormatEvidence,
    common_cluster_id,
    format_advice,
    identity_obstacle,
)
from kraftops.storage.verify.quorum import changed_voters, quorum_findings

_READ, _WRITE, _CHANGE = 0o4, 0o6, 0o7  # bits of files, and of directories
_WRITTEN = (".log", ".index", ".timeindex", ".txnindex", LOCK)
"""What a server opens with "rw" (`RandomAccessFile`, 4.3.1); others it reads, or renames over."""


def verify_node(
    node: Node, cluster_id: str | None = None, evidence: FormatEvidence | None = None
) -> Iterator[Finding]:
    """Yield the problems that keep a server from starting or from a quorum, and notes.

    Args:
        node: the node.
        cluster_id: the expected cluster id.
        evidence: what other nodes tell about a format of this one.
    """
    evidence = evidence or FormatEvidence([node])
    yield from _formatted(node, cluster_id or node.cluster_id, evidence)
    yield from _cluster_ids(node, node.cluster_id if cluster_id is None else cluster_id)
    owners = node.directory_owners if node.metadata.is_readable else {}
    yield from findings(node.config, node.directories, owners)
    for directory in node.directories:
        place = directory.place
        if directory.holder:
            yield stop_finding(
                "running", f"{directory.holder} holds its lock", place, "stop it first"
            )
        if directory.status and not _is_writable(directory.path):
            problem = f"user {os.geteuid()} cannot write to it"
            cure = "give it to Kafka's user"
            if os.statvfs(directory.path).f_flag & os.ST_RDONLY:
                problem = "its file system is mounted read-only"
                cure = "mount it for writing, unless the kernel's log says that the disk fails"
            yield stop_finding("not-writable", problem, place, cure)
    yield from _owner_findings(node)
    yield from _contents(node)
    if node.metadata.is_readable:
        yield from quorum_findings(node, evidence.nodes)
        yield from changed_voters(node, evidence.nodes)
        yield from _never_started(node, evidence.nodes)


def _never_started(node: Node, nodes: Sequence[Node]) -> Iterator[Finding]:
    """Yield the note that a node is as a format leaves it, where no other tells of its cluster.

    A majority of voters that was formatted again elects a leader without the records of the others.
    """
    if node.metadata.meta is None or any(other.log.is_used for other in nodes):
        return
    if any(directory.partition_count for directory in node.directories):
        return  # [metadata-lost]
    controllers = {other.config.node_id for other in nodes if other.is_controller}
    voters = {voter.node_id for voter in node.voters} | node.config.voters.keys()
    is_new = len(voters & controllers) > len(voters) // 2 if voters else bool(controllers)
    if not is_new and (node.is_broker or node.config.node_id in voters):
        yield note_finding(
            "behind",
            "its metadata log is empty: whether its cluster is new, and what it should have, cannot"
            " be told from this node",
            node.metadata.place,
            "name the configurations of most voters, too; if the cluster is not new, start those"
            " first, and this node when they have a leader",
        )


def with_cluster_ids(nodes: Sequence[Node]) -> Iterator[tuple[Node, str | None]]:
    """Yield nodes and their cluster ids; of one that has none, that of most others."""
    common = common_cluster_id(nodes)
    for node in nodes:
        yield node, node.cluster_id or common


def _is_writable(path: str) -> bool:
    return os.access(path, os.W_OK | os.X_OK, effective_ids=True)


def _formatted(node: Node, cluster_id: str | None, evidence: FormatEvidence) -> Iterator[Finding]:
    """Yield the directories without a complete meta.properties."""
    for directory in node.directories:
        meta, place = directory.meta, directory.place
        if directory.exists and directory.status is None:
            cure = format_advice(node, directory, cluster_id, evidence)
            cure = cure._replace(text=f"move the file out of the way, then {cure.text}")
            yield stop_finding("not-a-directory", "it is not a directory", place, *cure)
        elif directory.problem:
            problem = f"its meta.properties cannot be read: {directory.problem}"
            cure = _restore(node, directory, cluster_id, evidence)
            finding = stop_finding("bad-meta", problem, place, *cure)
            yield unless_forbidden(finding, directory.meta_path)
        elif meta is None and directory.is_metadata and has_metadata_log(directory.java_path):
            problem = "it has a metadata log, and no meta.properties"
            yield stop_finding(
                "not-formatted", problem, place, *_restore(node, directory, cluster_id, evidence)
            )
        elif meta is None and not (directory.is_metadata and node.logs_elsewhere):
            problem = "it is not formatted" if directory.status else "it does not exist"
            yield stop_finding(
                "not-formatted",
                problem,
                place,
                *format_advice(node, directory, cluster_id, evidence),
            )
        elif meta and (meta.node_id is None or meta.cluster_id is None):
            ids = {"node id": meta.node_id, "cluster id": meta.cluster_id}
            missing = " and no ".join(name for name, number in ids.items() if number is None)
            options = "--to-v1", "--node-id", str(node.config.node_id)
            cure = rewrite_cure("write the ids into it", node.config.path, cluster_id, *options)
            problem = f"its meta.properties has no {missing}"
            yield stop_finding("incomplete-meta", problem, place, *cure)


def _restore(
    node: Node, directory: LogDirectory, cluster_id: str | None, evidence: FormatEvidence
) -> Cure:
    """Return the cure of a bad meta.properties."""
    if directory.is_metadata and (obstacle := identity_obstacle(node, evidence.nodes)):
        return obstacle
    own_id = node.config.node_id
    lines = meta_lines(own_id, cluster_id, _known_directory_id(node, directory, evidence))
    command = write_command(directory.meta_path, lines)
    text = f"restore it from a copy, or write {', '.join(lines)}"
    return Cure(text, () if safe_cluster_id(cluster_id) is None else (command,))


def _known_directory_id(
    node: Node, directory: LogDirectory, evidence: FormatEvidence
) -> bytes | None:
    """Return the id of a directory by the voters or the registrations, if only one can be its."""
    own_id = node.config.node_id
    ids = {voter.node_id: voter.directory_id for voter in node.voters}
    if directory.is_metadata and own_id in ids:
        return ids[own_id]
    present = {other.meta.directory_id for other in node.directories if other.meta}
    owners = directory_owners([node, *evidence.nodes]).items()
    absent = [key for key, owner in owners if owner == own_id and key not in present]
    return absent[0] if len(absent) == 1 else None


def _cluster_ids(node: Node, expected: str | None) -> Iterator[Finding]:
    for directory in node.directories:
        present = directory.meta.cluster_id if directory.meta else None
        if present is not None and present != expected:
            yield stop_finding(
                "other-cluster",
                f"its cluster id is {present}, not {expected}",
                directory.place,
                *rewrite_cure(
                    f"if it is another cluster's, take it out of log.dirs of {node.config.path};"
                    " else change its cluster id",
                    node.config.path,
                    expected,
                ),
            )


def _contents(node: Node) -> Iterator[Finding]:
    """Yield the contents of directories that must not be there."""
    for directory in node.directories:
        path = directory.path
        if not directory.is_readable:
            continue
        inside = os.path.join(path, METADATA_PARTITION)
        if not directory.is_metadata and os.path.lexists(inside):
            problem = f"a metadata log outside of the metadata directory {node.metadata_path}"
            cure = f"set metadata.log.dir={directory.java_path} in {node.config.path}"
            if node.logs_elsewhere == [directory]:
                problem += ", which has none"
                cure = f"{cure} again, and format nothing: this is the log of node "
                cure += str(node.config.node_id)
            else:
                cure = f"if its log is the newest, {cure}; if it is a leftover, move it away"
            place = Place(file=os.path.join(directory.java_path, METADATA_PARTITION))
            yield stop_finding("stray-metadata-log", problem, place, cure)
        if node.is_broker and path in node.config.log_dirs:
            yield from misnamed_findings(directory)


def _owner_findings(node: Node) -> Iterator[Finding]:
    """Yield the log directories with files that the owner of most files of the node cannot use.

    Groups beside that of these files are not known: what a group may do is not told.
    """
    statuses = {
        directory: dict(_statuses(directory))
        for directory in node.directories
        if directory.status and directory.is_readable
    }
    owner = _usual_owner(status for files in statuses.values() for status in files.values())
    # A server of root may have directories of another user: it writes everything.
    is_possible = not owner[0]
    if is_possible:
        owner = _usual_owner(files[directory.path] for directory, files in statuses.items())
    user, group = owner
    for directory, files in statuses.items() if user else ():
        closed = [path for path, status in files.items() if _is_closed(path, status, user)]
        if not closed:
            continue
        is_foreign = any(files[path].st_uid != user for path in closed)
        # A log directory, or that of a partition, may be a link: -L follows it.
        place = quoting.quote_path(os.path.join(directory.path, ""))
        is_shut = any(not _may(files[path].st_mode >> 6, path, files[path]) for path in closed)
        commands = [f"chown -RL {user}:{group} {place}"] if is_foreign else []
        commands += [f"find -L {place} ! -type l -exec chmod u+rwX {{}} +"] if is_shut else []
        names = [os.path.relpath(path, directory.path) for path in closed]
        owns = "the log directories" if is_possible else "most files of this node"
        finding = stop_finding(
            "not-writable",
            f"user {user}, who owns {owns}, cannot use {many(len(names), 'file')} in it:"
            f" {first_names(names, NAMES_IN_LINE)}",
            directory.place,
            "if that is the user of the server, give them to it",
            tuple(commands),
        )
        yield replace(finding, is_possible=is_possible)


def _usual_owner(statuses: Iterable[os.stat_result]) -> Owner:
    owners = Counter((status.st_uid, status.st_gid) for status in statuses)
    return max(owners, key=owners.__getitem__, default=(0, 0))


def _is_closed(path: str, status: os.stat_result, user: int) -> bool:
    mode = status.st_mode
    return not _may(mode >> 6 if status.st_uid == user else mode | mode >> 3, path, status)


def _may(bits: int, path: str, status: os.stat_result) -> bool:
    is_directory = stat.S_ISDIR(status.st_mode)
    needed = _CHANGE if is_directory else _WRITE if path.endswith(_WRITTEN) else _READ
    return bits & needed == needed


def _statuses(directory: LogDirectory) -> Iterator[tuple[str, os.stat_result]]:
    """Yield the paths and statuses of a log directory, its files, its partitions and theirs."""
    partitions = [partition.path for partition in directory.partitions()]
    folders = [directory.path, os.path.join(directory.path, METADATA_PARTITION), *partitions]
    for folder in folders:
        with suppress(OSError):
            yield folder, os.stat(folder)
            for name in names_in(folder):
                path = os.path.join(folder, name)
                if os.path.isfile(path):
                    yield path, os.stat(path)
