"""Plan of a recovery for all hosts of a cluster: what becomes of each node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kraftops.recovery.host_script import AUTO_JOIN, Host, Role
from kraftops.recovery.node_copies import NodeCopy
from kraftops.recovery.plan import RecoveryPlan


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


def cluster_plan(recovery: RecoveryPlan, copies: Sequence[NodeCopy]) -> ClusterPlan:
    """Return what becomes of the nodes after the recovery of the first voter's log."""
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
