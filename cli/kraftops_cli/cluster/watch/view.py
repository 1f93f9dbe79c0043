"""View: what the screen knows of a cluster at one moment, as plain values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from kraftops.wire.net.addresses import Address
from kraftops_cli.cluster.description import BrokerDescription, ClusterDescription, age_of
from kraftops_cli.cluster.description_fields import level_text
from kraftops_cli.cluster.health import Health


class ReplicaRow(NamedTuple):
    """A voter of the quorum, or an observer that is no broker; ages are in ms."""

    id: int
    role: str
    release: str | None
    end_offset: int | None
    lag: int | None
    fetched_ms: int | None
    behind_ms: int | None
    address: str | None


class Counts(NamedTuple):
    """Counts of partitions, as in `kraftops_cli.cluster.health.Health`."""

    partitions: int
    under_replicated: int
    offline: int
    under_min_isr: int
    moving: int


@dataclass(frozen=True, slots=True)
class View:
    """A cluster at one moment, *time* in ms; None for what is not known."""

    time: int
    cluster_id: str | None = None
    leader: int | None = None
    epoch: int | None = None
    high_watermark: int | None = None
    snapshot_lag: int | None = None
    brokers: tuple[BrokerDescription, ...] | None = None
    replicas: tuple[ReplicaRow, ...] | None = None
    counts: Counts | None = None
    is_min_isr_assumed: bool = False
    features: tuple[tuple[str, str], ...] = ()
    """Names and finalized levels."""
    operations: tuple[str, ...] = ()
    """Names and states."""
    missing: str | None = None
    """The reason why the quorum is not known."""


def view_of(description: ClusterDescription) -> View:
    """Return the view of a description.

    Raises:
        KraftopsError: a source of the metadata cannot be read any more.
    """
    quorum, health, nodes = description.quorum, description.health, description.nodes
    rows = {row.id: row for row in _replica_rows(description)}
    brokers = description.brokers()
    of_brokers = {broker.id for broker in brokers or ()}
    leader = quorum.leader if quorum else nodes.leader if nodes else None
    return View(
        time=description.now,
        cluster_id=nodes.cluster_id if nodes else None,
        leader=leader,
        epoch=quorum.epoch if quorum else None,
        high_watermark=quorum.high_watermark if quorum else None,
        snapshot_lag=description.snapshot_lag,
        brokers=None if brokers is None else tuple(brokers),
        replicas=None
        if quorum is None
        else tuple(
            row for row in rows.values() if row.role != "observer" or row.id not in of_brokers
        ),
        counts=None if health is None else _counts(health),
        is_min_isr_assumed=bool(health and health.is_min_isr_assumed),
        features=tuple(
            (each.name, level_text(each.name, each.finalized))
            for each in description.features
            if each.finalized is not None
        ),
        operations=tuple(
            f"{operation.name} {operation.state}" for operation in description.operations or ()
        ),
        missing=description.quorum_error.message if description.quorum_error else None,
    )


def _counts(health: Health) -> Counts:
    return Counts(
        health.partitions,
        health.under_replicated,
        health.offline,
        health.under_min_isr,
        len(health.moving),
    )


def _replica_rows(description: ClusterDescription) -> list[ReplicaRow]:
    end, now, quorum = description.log_end, description.now, description.quorum
    listeners = quorum.listeners if quorum else {}
    return [
        ReplicaRow(
            each.node_id,
            role,
            description.facts_of(each.node_id).release,
            each.end_offset if each.end_offset >= 0 else None,
            end - each.end_offset if each.end_offset >= 0 else None,
            age_of(each.fetched_at, now),
            age_of(each.caught_up_at, now),
            _first(listeners.get(each.node_id, [])),
        )
        for role, each in description.replicas()
    ]


def _first(listeners: object) -> str | None:
    """Return the first address of listeners."""
    assert isinstance(listeners, (list, tuple))
    if not listeners:
        return None
    address: Address = listeners[0][1]
    return str(address)
