"""Checks between the nodes of one cluster."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from kraftops.findings.finding import Finding, Place, stop_finding
from kraftops.server.log_directory import LogDirectory, identity_of
from kraftops.server.metadata_log.recovery_mark import voter_identities
from kraftops.server.voters import voters_text
from kraftops.storage.logdirs.inspector import FORMAT_ANEW
from kraftops.storage.logdirs.node import Node, directory_owners, recover_command
from kraftops.storage.logdirs.proposals import rewrite_cure
from kraftops.storage.verify.formatting import common_cluster_id
from kraftops.storage.verify.quorum import copied_directory
from kraftops.storage.verify.rival_quorums import rival_findings
from kraftops.storage.verify.voter_logs import voter_log_findings
from kraftops.uuids import to_text


def verify_cluster(nodes: Sequence[Node]) -> Iterator[Finding]:
    """Yield the conflicts between the nodes of one cluster."""
    yield from _identities(nodes)
    yield from _shared_directories(nodes)
    yield from _static_voters(nodes)
    yield from _dynamic_voters(nodes)
    yield from voter_log_findings(nodes)
    yield from rival_findings(nodes)


def _identities(nodes: Sequence[Node]) -> Iterator[Finding]:
    owners: dict[int, Node] = {}
    common = common_cluster_id(nodes)
    first = next(node for node in nodes if node.cluster_id == common)
    for node in nodes:
        config = node.config
        other = owners.setdefault(config.node_id, node)
        if other is not node:
            problem = f"its node id {config.node_id} is also the id of {other.config.path}"
            # The ids in the directories are right: one typing error is in no meta.properties.
            wrong = [twin for twin in (other, node) if twin.metadata.node_id != config.node_id]
            cure = "set another node.id in one of them; its directory, if it has data, keeps its id"
            if len(wrong) == 1 and (own_id := wrong[0].metadata.node_id) is not None:
                cure = f"set node.id={own_id} in {wrong[0].config.path}, as its directory has it"
            yield stop_finding("node-id-twice", problem, Place(file=config.path), cure)
        if node.cluster_id not in (None, first.cluster_id):
            problem = (
                f"its cluster id is {node.cluster_id}, and {first.config.path} has "
                f"{first.cluster_id}"
            )
            text = "change the wrong one: this one, unless it belongs to another cluster"
            rewriting = rewrite_cure(text, config.path, common)
            yield stop_finding("other-cluster", problem, Place(file=config.path), *rewriting)


def _shared_directories(nodes: Sequence[Node]) -> Iterator[Finding]:
    """Yield the directories, or ids of directories, of several nodes."""
    owners: dict[object, str] = {}
    identities: dict[bytes, _Owned] = {}
    for node in nodes:
        for directory in node.directories:
            path = node.config.path
            owner = owners.setdefault(identity_of(directory.path), path)
            if owner != path:
                problem = f"{owner} and {path} both have it"
                cure = "name another directory in log.dirs of one of the two"
                yield stop_finding("shared-directory", problem, directory.place, cure)
            elif directory.meta and directory.meta.directory_id:
                identity = directory.meta.directory_id
                first = identities.setdefault(identity, _Owned(node, directory))
                if first.node is not node:
                    registered = directory_owners(nodes).get(identity)
                    yield _id_twice(identity, _Owned(node, directory), first, registered)


class _Owned(NamedTuple):
    """A log directory of a node."""

    node: Node
    directory: LogDirectory


def _id_twice(identity: bytes, later: _Owned, first: _Owned, owner: int | None) -> Finding:
    """Return a finding: two nodes have one directory id; the copy has the node id of the other.

    Where the metadata has it for an *owner*, that decides: a node id is soon rewritten.
    """
    copies = [
        side
        for side in (later, first)
        if (side.directory.node_id if owner is None else owner) != side.node.config.node_id
    ]
    copied = copies[0] if len(copies) == 1 else later
    original = first if copied is later else later
    text = f"its directory id {to_text(identity)} is also the id of {original.directory.java_path}"
    if len(copies) == 1:
        own, path = copied.node.config.node_id, original.directory.java_path
        cure = copied_directory(own, path).text
    else:
        cure = "one of them is a copy: find out which, and put the directory of its node back"
    return stop_finding("directory-id-twice", text, copied.directory.place, cure)


def _static_voters(nodes: Sequence[Node]) -> Iterator[Finding]:
    # The odd one is named: with a majority of its own it would elect another leader. One that has
    # run with its voters is not the odd one.
    have_run = [node for node in nodes if node.config.voters.keys() == node.last_static_voters]
    texts = Counter(_static_text(node.config.voters) for node in have_run or nodes)
    usual = texts.most_common(1)[0][0]
    first = next(node.config for node in nodes if _static_text(node.config.voters) == usual)
    for node in nodes:
        config = node.config
        if config.voters != first.voters:
            problem = (
                f"its controller.quorum.voters are {_static_text(config.voters)}, and {first.path} "
                f"has {_static_text(first.voters)}"
            )
            if node.is_only_voter and len(first.voters) > 1:
                problem += ": it would elect itself"
            cure = "set the same controller.quorum.voters on all nodes before any of them starts"
            yield stop_finding("static-voters-differ", problem, Place(file=config.path), cure)


def _dynamic_voters(nodes: Sequence[Node]) -> Iterator[Finding]:
    controllers = [node for node in nodes if node.is_controller]
    with_voters = [node for node in controllers if node.voters]
    if not with_voters:
        yield from _all_waiting(controllers, nodes)
    # The voters change in the log, of which brokers have copies.
    with_log = [node for node in nodes if node.voters and node.log.is_used]
    newest = max((*with_voters, *with_log), key=lambda node: node.content.rank, default=None)
    if newest is None:
        return
    for node in with_voters:
        if not node.log.is_used and voter_identities(node.voters) != voter_identities(
            newest.voters
        ):
            yield stop_finding(
                "voters-differ",
                f"its voters are {voters_text(node.voters)}, and {newest.metadata_path} has "
                f"{voters_text(newest.voters)}",
                node.metadata.place,
                f"{FORMAT_ANEW} with -N"
                + ("" if newest.log.is_used else ", or with the voters of the other"),
            )
    by_id = {node.config.node_id: node for node in reversed(nodes)}
    for voter in newest.voters:
        voting = by_id.get(voter.node_id)
        if voting is None:
            continue
        meta = voting.metadata.meta
        if not voting.is_controller:
            problem = f"it is the voter {voter}, but no controller"
            cure = "add controller to its process.roles, or remove the voter from the quorum"
            yield stop_finding("not-a-controller", problem, Place(file=voting.config.path), cure)
        elif meta and meta.directory_id != voter.directory_id:
            own = to_text(meta.directory_id) if meta.directory_id else "none"
            yield stop_finding(
                "other-directory-id",
                f"its directory id is {own}, {newest.metadata_path} has it as {voter}",
                voting.metadata.place,
                "no directory has the id that the quorum knows: remove that voter, and let this "
                "one join",
            )


def _all_waiting(controllers: Sequence[Node], nodes: Sequence[Node]) -> Iterator[Finding]:
    waiting = [node for node in controllers if not (node.config.voters or node.log.is_used)]
    waiting = [node for node in waiting if not node.logs_elsewhere]
    ports = {listener.port for node in waiting for listener in node.config.advertised_controllers}
    expected = {port for node in waiting for _, port in node.bootstrap_controllers}
    if len(waiting) > 1 and waiting == list(controllers) and expected <= ports:
        commands: tuple[str, ...] = ()
        cure = "format one with --standalone, or all with the same --initial-controllers"
        if any(node.log.is_used for node in nodes):
            command = recover_command(waiting[0], nodes, "--voters", "self", "--dry-run")
            cure, commands = "go on from the brokers' logs", (command,)
        problem = "no controller has voters: each would wait for the others"
        yield stop_finding("all-wait", problem, Place(), cure, commands)


def _static_text(voters: Mapping[int, tuple[str, int]]) -> str:
    return ",".join(f"{number}@{host}:{port}" for number, (host, port) in voters.items()) or "none"
