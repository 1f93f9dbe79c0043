"""Plan of a recovery for all hosts of a cluster: what becomes of each node, and the files of it.

The recovery itself is done here, on a copy of a voter's log: so all voters get the same bytes.
"""

import os
import tarfile
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from kraftops.errors import StorageError, UsageError
from kraftops.fileio.directories import sync_directory
from kraftops.log.files import METADATA_PARTITION
from kraftops.recovery.execute import execute
from kraftops.recovery.host_script import AUTO_JOIN, LOG_ARCHIVE, Host, Role, host_script
from kraftops.recovery.node_copies import LogSource, NodeCopy, working_directory
from kraftops.recovery.plan import RecoveryPlan, RecoveryRequest, plan_recovery
from kraftops.recovery.refusal import PACK, RecoveryRefused
from kraftops.recovery.target_voters import SELF, is_list_of_ids
from kraftops.server.meta_properties import FILE_NAME as META_FILE
from kraftops.server.voters import Voter, parse_initial_controllers

PAGE = "README.txt"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterPlan:
    """Plan of a recovery for all hosts.

    Attributes:
        recovery: the recovery of the first voter's log.
        hosts: the hosts with a configuration, by node id.
        without_copy: the ids of voters and brokers whose configuration was not given.
    """

    recovery: RecoveryPlan
    hosts: tuple[Host, ...]
    without_copy: tuple[int, ...]


def write_cluster_plan(
    copies: Sequence[NodeCopy],
    request: RecoveryRequest,
    page: Callable[[ClusterPlan], str],
    now: int,
    folder: str,
) -> ClusterPlan:
    """Plan a recovery; write the log, the scripts and the page to the new directory *folder*.

    Args:
        copies: the copies of the nodes.
        request: the voters, as their ids too, and what a person has decided.
        page: returns the page.
        now: the time in ms since the epoch.
        folder: the path of the plan.

    Raises:
        UsageError: the voters are of a form that is not known.
        RecoveryRefused: it would do harm, or a copy is missing.
        StorageError: the directory exists, or cannot be written.
    """
    voters = _named_voters(request.voters or "", copies)
    if os.path.lexists(folder) and (not os.path.isdir(folder) or os.listdir(folder)):
        raise StorageError(f"{folder} exists already", "name a new directory", code="exists")
    first = _copy_of(voters[0].node_id, copies)
    assert first.config
    parent = os.path.dirname(os.path.abspath(folder))
    try:
        os.makedirs(parent, exist_ok=True)
        with (
            tempfile.TemporaryDirectory(prefix="kraftops-") as scratch,
            tempfile.TemporaryDirectory(prefix=".recover-plan-", dir=parent) as output,
        ):
            request = replace(
                request,
                sources=[source for copy in copies for source in _sources(copy, first)],
                voters=",".join(map(str, voters)),
                own_name=first.name,
                allows_minority=True,
            )
            recovery = plan_recovery(working_directory(first, scratch), request, now)
            if recovery.unseen_brokers:
                raise recovery.unseen_refusal()
            execute(recovery, None)
            plan = _cluster_plan(recovery, copies)
            _write(plan, page(plan), scratch, output)
            finished = os.path.join(output, "plan")
            os.replace(finished, folder)  # an empty directory of this name is replaced
            sync_directory(parent)
    except OSError as error:
        place = error.filename or folder
        raise StorageError(f"cannot write {place}: {error.strerror}", code="not-writable") from None
    return plan


def _cluster_plan(recovery: RecoveryPlan, copies: Sequence[NodeCopy]) -> ClusterPlan:
    """Return the role of each node once the first voter's log is recovered."""
    old_ids = {voter.node_id: voter.directory_id for voter in recovery.old_voters or ()}
    new_ids = {voter.node_id for voter in recovery.new_voters}
    first = tuple(broker.broker for broker in recovery.partitions.first_brokers)
    logs = {compared.log.owner.node_id: compared for compared in recovery.logs}
    hosts = []
    for copy in copies:
        if copy.config is None:
            continue
        node_id = copy.config.node_id
        role = Role.JOINS if "controller" in copy.config.roles else Role.BROKER
        hosts.append(
            Host(
                copy=copy,
                role=Role.VOTER if node_id in new_ids else role,
                directory_id=copy.meta.directory_id if copy.meta else old_ids.get(node_id),
                is_broker=node_id in recovery.brokers,
                log=logs[node_id].log if node_id in logs else None,
                is_ahead=node_id in logs and bool(logs[node_id].ahead),
                joins_itself=bool(copy.config.values.get(AUTO_JOIN)),
                starts_after=first[: first.index(node_id) if node_id in first else len(first)],
            )
        )
    with_config = {host.node_id for host in hosts}
    return ClusterPlan(
        recovery=recovery,
        hosts=tuple(sorted(hosts, key=lambda host: host.node_id)),
        without_copy=tuple(sorted({*new_ids, *recovery.lost_ids, *recovery.brokers} - with_config)),
    )


def _named_voters(text: str, copies: Sequence[NodeCopy]) -> tuple[Voter, ...]:
    """Return the voters of a list of node ids, or of the form of `--initial-controllers`.

    Raises:
        UsageError: it is neither.
        RecoveryRefused: the copy of a node does not tell its directory id.
    """
    if text == SELF:
        raise UsageError(f"--voters {SELF}: a plan is for several nodes", "name its id: --voters 1")
    if not is_list_of_ids(text):
        return parse_initial_controllers(text)
    voters = []
    for node_id in sorted({int(word) for word in text.split(",")}):
        copy = _copy_of(node_id, copies)
        assert copy.config
        assert copy.meta
        if not copy.config.advertised_controllers:
            raise UsageError(f"--voters: node {node_id} is not a controller")
        listener = copy.config.controller_listener
        voters.append(Voter(node_id, copy.meta.directory_id or b"", listener.host, listener.port))
    return tuple(voters)


def _copy_of(node_id: int, copies: Sequence[NodeCopy]) -> NodeCopy:
    for copy in copies:
        if copy.node_id == node_id and copy.config and copy.meta and copy.meta.directory_id:
            return copy
    raise RecoveryRefused(
        "unknown-voter",
        f"no copy has the server.properties and the meta.properties of voter {node_id}",
        f"format a new controller with --no-initial-controllers first, then pack it there: {PACK}",
    )


def _sources(copy: NodeCopy, first: NodeCopy) -> Sequence[LogSource]:
    """Return a copy's log directories, without the metadata log that is read already."""
    has_partitions = copy.config is None or "broker" in copy.config.roles
    is_read = copy is not first or has_partitions
    return [source for source in copy.sources if is_read or source != first.source]


def _write(plan: ClusterPlan, page: str, scratch: str, output: str) -> None:
    folder = os.path.join(output, "plan")
    os.mkdir(folder)
    with tarfile.open(os.path.join(folder, LOG_ARCHIVE), "w:gz") as archive:
        for name in (META_FILE, METADATA_PARTITION):
            archive.add(os.path.join(scratch, name), name, filter=_of_log)
    texts = {PAGE: page}
    for host in plan.hosts:
        texts[host.script_name] = host_script(host, plan.recovery)
    for name, text in texts.items():
        path = os.path.join(folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
            os.fsync(file.fileno())
    sync_directory(folder)


def _of_log(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """Leave out the votes of the node whose log it was: they are not of the log."""
    return None if member.name.endswith("/quorum-state") else member
