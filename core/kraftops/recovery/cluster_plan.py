"""Plan of a recovery for all hosts of a cluster: what becomes of each node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kraftops.findings.finding import Finding
from kraftops.recovery.host_script import AUTO_JOIN, Host, Role
from kraftops.recovery.node_copies import NodeCopy
from kraftops.recovery.partitions.losses import LossTotal, PartitionLoss
from kraftops.recovery.plan import RecoveryPlan
from kraftops.server.voters import Voter


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterPlan:
    """Plan of a recovery for all hosts.

    Attributes:
        recovery: the recovery of the first voter's log.
        log_name: the name of the log that goes on.
        hosts: the hosts with a configuration, by node id.
        without_copy: the ids of voters and brokers whose configuration was not given.
    """

    recovery: RecoveryPlan
    log_name: str
    hosts: tuple[Host, ...]
    without_copy: tuple[int, ...]

    @property
    def cluster_id(self) -> str:
        """The id of the cluster."""
        meta = self.recovery.directory.meta
        return (meta.cluster_id if meta else None) or ""

    @property
    def voters(self) -> tuple[Voter, ...]:
        """The voters after the recovery."""
        return self.recovery.new_voters

    @property
    def losses(self) -> Sequence[PartitionLoss]:
        """What would be cut from brokers' disks after it."""
        return self.recovery.losses

    @property
    def loss_total(self) -> LossTotal:
        """Their numbers, or why they are unknown."""
        return self.recovery.loss_total

    @property
    def findings(self) -> Sequence[Finding]:
        """What is given up, and what else is wrong, the worst first."""
        # The log of a first voter that is a broker, too, is read twice: as it is, and in a copy.
        return list(dict.fromkeys(self.recovery.findings))

    def of_role(self, role: Role) -> list[Host]:
        """Return the hosts of a role, in the order of their start."""
        hosts = [host for host in self.hosts if host.role is role]
        order = self.start_order
        return sorted(hosts, key=lambda host: [*order, host.node_id].index(host.node_id))

    @property
    def start_order(self) -> list[int]:
        """The brokers whose copies of partitions were read, in the order of their start."""
        return [broker.broker for broker in self.recovery.partitions.brokers]


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
        log_name=recovery.chosen.name,
        hosts=tuple(sorted(hosts, key=lambda host: host.node_id)),
        without_copy=tuple(sorted({*recovery.lost_ids, *recovery.brokers} - with_config)),
    )
