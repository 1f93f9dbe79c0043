"""Description of a cluster as text."""

from __future__ import annotations

from collections.abc import Sequence

from kraftops.reassign.answer import OPERATION
from kraftops.reassign.operations import Operation
from kraftops.wire.rpc.cluster import Feature
from kraftops_cli.cluster.description import BrokerDescription, ClusterDescription
from kraftops_cli.cluster.description_fields import BROKER, FEATURE, REPLICA, replicas_of
from kraftops_cli.cluster.health import Health
from kraftops_terminal.console import Console
from kraftops_terminal.escaping import escaped
from kraftops_terminal.tables import NO_VALUE, table_of, table_text


def description_text(description: ClusterDescription, console: Console) -> str:
    """Return a description as tables; a dash stands for each value that is not available."""
    tables = (
        _summary_text(description, console),
        _broker_text(description.brokers(), console),
        *_operation_texts(description.operations, console),
        _quorum_text(description, console),
        feature_text(description.features, console),
    )
    return "\n".join(tables)


def _summary_text(description: ClusterDescription, console: Console) -> str:
    quorum, nodes, live = description.quorum, description.nodes, description.live
    snapshot = leader = None
    if live:
        snapshot = f"{live.snapshot or 'none'}, {description.snapshot_lag} records behind"
    if quorum:
        leader = f"{quorum.leader}, epoch {quorum.epoch}, high watermark {quorum.high_watermark}"
    elif nodes and nodes.leader is not None:
        leader = str(nodes.leader)
    health = description.health
    is_bad = health is not None and (health.offline or health.under_min_isr)
    lines = (
        ("cluster id", nodes.cluster_id if nodes else None, ""),
        ("quorum leader", leader, ""),
        ("snapshot", snapshot, ""),
        ("partitions", _health_text(health), "bad" if is_bad else ""),
    )
    return "".join(
        f"{name:<13}  {console.painted(escaped(text or NO_VALUE), style or 'value')}\n"
        for name, text, style in lines
    )


def _health_text(health: Health | None) -> str | None:
    if health is None:
        return None
    assumed = " (of 1, which is assumed)" if health.is_min_isr_assumed else ""
    counts = (
        str(health.partitions),
        f"{health.under_replicated} under-replicated",
        f"{health.offline} offline",
        f"{health.under_min_isr} under min ISR{assumed}",
        f"{len(health.moving)} in reassignment",
    )
    return ", ".join(counts)


def _broker_text(brokers: Sequence[BrokerDescription] | None, console: Console) -> str:
    if not brokers:
        return f"brokers  {NO_VALUE if brokers is None else 'none'}\n"
    return table_text(console, table_of(BROKER, brokers))


def _operation_texts(operations: Sequence[Operation] | None, console: Console) -> list[str]:
    """Return the table of operations, if there are any."""
    return [table_text(console, table_of(OPERATION, operations))] if operations else []


def _quorum_text(description: ClusterDescription, console: Console) -> str:
    if description.quorum is None:
        return f"quorum  {NO_VALUE}\n"
    return table_text(console, table_of(REPLICA, replicas_of(description))) or "quorum  none\n"


def feature_text(features: Sequence[Feature], console: Console) -> str:
    """Return a table of features."""
    return table_text(console, table_of(FEATURE, features)) or "features  none\n"
