"""View: what the screen knows of a cluster at one moment, as plain values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from kraftops_cli.cluster.description import (
    OBSERVER,
    BrokerDescription,
    ClusterDescription,
    Member,
)
from kraftops_cli.cluster.description_fields import level_text, replicas_of
from kraftops_cli.cluster.health import Health


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
    snapshot_lag: int | None = None
    brokers: tuple[BrokerDescription, ...] | None = None
    members: tuple[Member, ...] | None = None
    """The voters, and observers that are not brokers."""
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
    brokers = description.brokers()
    of_brokers = {broker.id for broker in brokers or ()}
    leader = quorum.leader if quorum else nodes.leader if nodes else None
    return View(
        time=description.now,
        cluster_id=nodes.cluster_id if nodes else None,
        leader=leader,
        epoch=quorum.epoch if quorum else None,
        snapshot_lag=description.snapshot_lag,
        brokers=None if brokers is None else tuple(brokers),
        members=None
        if quorum is None
        else tuple(
            member
            for member in replicas_of(description)
            if member.role != OBSERVER or member.state.node_id not in of_brokers
        ),
        counts=None if health is None else _counts(health),
        is_min_isr_assumed=bool(health and health.is_min_isr_assumed),
        features=tuple(
            (feature.name, level_text(feature.name, feature.finalized))
            for feature in description.features
            if feature.finalized is not None
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
