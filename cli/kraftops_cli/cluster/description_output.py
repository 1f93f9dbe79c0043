"""Description of a cluster as text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kraftops.answers.fields import Field
from kraftops.reassign.answer import OPERATION
from kraftops_cli.cluster.description import ClusterDescription
from kraftops_cli.cluster.description_fields import BROKER, FEATURE, REPLICA
from kraftops_cli.cluster.health import Health
from kraftops_terminal.console import Console
from kraftops_terminal.escaping import escaped
from kraftops_terminal.tables import NO_VALUE, table_of, table_text


def description_text(description: ClusterDescription, console: Console) -> str:
    """Return a description as tables; a dash stands for each value that is not available."""

    def table(name: str, fields: Sequence[Field], rows: Iterable[object] | None) -> str:
        if rows is None:
            return f"{name}  {NO_VALUE}\n"
        return table_text(console, table_of(fields, rows)) or f"{name}  none\n"

    operations = description.operations
    return "\n".join(
        (
            _summary_text(description, console),
            table("brokers", BROKER, description.brokers),
            *([table("operations", OPERATION, operations)] if operations else []),
            table("quorum", REPLICA, description.members),
            table("features", FEATURE, description.features),
        )
    )


def _summary_text(description: ClusterDescription, console: Console) -> str:
    quorum, health, snapshot_lag = description.quorum, description.health, description.snapshot_lag
    leader = None if description.leader is None else str(description.leader)
    if quorum:
        leader = f"{leader}, epoch {quorum.epoch}, high watermark {quorum.high_watermark}"
    snapshot = f"{description.snapshot or 'none'}, {snapshot_lag} records behind"
    is_bad = health is not None and (health.counts.offline or health.counts.under_min_isr)
    lines = (
        ("cluster id", description.cluster_id, ""),
        ("quorum leader", leader, ""),
        ("snapshot", None if snapshot_lag is None else snapshot, ""),
        ("partitions", None if health is None else _health_text(health), "bad" if is_bad else ""),
    )
    return "".join(
        f"{name:<13}  {console.painted(escaped(text or NO_VALUE), style or 'value')}\n"
        for name, text, style in lines
    )


def _health_text(health: Health) -> str:
    counts = health.counts
    assumed = " (of 1, which is assumed)" if health.is_min_isr_assumed else ""
    return (
        f"{counts.partitions}, {counts.under_replicated} under-replicated,"
        f" {counts.offline} offline, {counts.under_min_isr} under min ISR{assumed},"
        f" {counts.moving} in reassignment"
    )
