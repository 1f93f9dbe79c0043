"""Description of a cluster as text and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kraftops.display.columns import Cell, Column, Styled, folded, number
from kraftops.display.times import span_text
from kraftops.storage.bootstrap.releases import METADATA_VERSION, by_level
from kraftops.uuids import to_text
from kraftops_cli.cluster.broker_states import state_style
from kraftops_cli.cluster.description import BrokerDescription, ClusterDescription
from kraftops_terminal.console import Console
from kraftops_terminal.escaping import escaped
from kraftops_terminal.tables import NO_VALUE, Table, table_text

if TYPE_CHECKING:
    from kraftops.wire.net.addresses import Address
    from kraftops.wire.rpc.cluster import Feature, ReplicaState
    from kraftops_cli.cluster.health import Health

_BROKERS = (
    number("BROKER"),
    Column("STATE"),
    folded("RACK", 1),
    Column("RELEASE", 4),
    number("LEADERS", 2),
    number("REPLICAS", 2),
    folded("LISTENERS", 3),
    folded("DIRECTORIES", 6),
    folded("FAILED DIRECTORIES", 5),
)
_REPLICAS = (
    number("NODE"),
    Column("ROLE"),
    Column("RELEASE", 4),
    number("END OFFSET", 2),
    number("LAG"),
    Column("CAUGHT UP", 1),
    folded("LISTENERS", 3),
    Column("DIRECTORY", 5),
)
_FEATURES = (Column("FEATURE"), Column("FINALIZED"), Column("SUPPORTED"))

_MOST_AHEAD_MS = 3_600_000  # by which the clock of a node may differ


def description_text(description: ClusterDescription, console: Console) -> str:
    """Return a description as tables; a dash stands for each value that is not available."""
    tables = (
        _summary_text(description, console),
        _broker_text(description.brokers(), console),
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
    rows: list[list[Cell]] = [
        [
            str(each.node_id),
            Styled(each.state, state_style(each.state)),
            each.rack,
            each.facts.release,
            _digits(each.leaders),
            _digits(each.replicas),
            _listener_text(each.listeners),
            None if each.directories is None else ", ".join(each.directories) or None,
            _failed_cell(each.facts.failed),
        ]
        for each in brokers
    ]
    return table_text(console, Table(_BROKERS, rows))


def _failed_cell(failed: Sequence[str] | None) -> Cell:
    if not failed:
        return None if failed is None else "none"
    return Styled(", ".join(failed), "bad")


def _digits(number: int | None) -> str | None:
    """Return a number as programs read it."""
    return None if number is None else str(number)


def _listener_text(listeners: Sequence[tuple[str, Address]]) -> str | None:
    texts = [f"{name}://{address}" if name else str(address) for name, address in listeners]
    return ", ".join(texts) or None


def _quorum_text(description: ClusterDescription, console: Console) -> str:
    quorum, end = description.quorum, description.log_end
    if quorum is None:
        return f"quorum  {NO_VALUE}\n"
    rows: list[list[Cell]] = [
        [
            str(each.node_id),
            Styled(role, "name" if role == "leader" else ""),
            description.facts_of(each.node_id).release,
            _digits(_known(each.end_offset)),
            _digits(end - each.end_offset if each.end_offset >= 0 else None),
            None if (age := age_of(each.caught_up_at, description.now)) is None else ago_text(age),
            _listener_text(quorum.listeners.get(each.node_id, [])),
            to_text(each.directory_id) if each.directory_id else None,
        ]
        for role, each in description.replicas()
    ]
    return table_text(console, Table(_REPLICAS, rows)) or "quorum  none\n"


def feature_text(features: Sequence[Feature], console: Console) -> str:
    """Return a table of features."""
    rows: list[list[Cell]] = [
        [
            each.name,
            None if each.finalized is None else level_text(each.name, each.finalized),
            f"{each.supported.first}-{each.supported.last}" if each.supported else None,
        ]
        for each in features
    ]
    return table_text(console, Table(_FEATURES, rows)) or "features  none\n"


def level_text(feature: str, level: int) -> str:
    """Return a level of a feature, with its name if it has one."""
    name = level_name(feature, level)
    return f"{level} ({name})" if name else str(level)


def level_name(feature: str, level: int | None) -> str | None:
    """Return the name of a level of metadata.version (`4.3-IV0`); None for all others."""
    known = by_level(level) if feature == METADATA_VERSION and level is not None else None
    return known.name if known else None


def age_of(time: int, now: int) -> int | None:
    """Return the ms since a time, at least 0; None for -1, and for a time in the far future."""
    return max(now - time, 0) if 0 <= time <= now + _MOST_AHEAD_MS else None


def ago_text(age: int) -> str:
    """Return an age, in ms, in words."""
    return f"{span_text(age // 1000 * 1000)} ago" if age >= 1000 else "now"


def _known(number: int) -> int | None:
    """Return a number of a replica's state; None for -1, which means unknown."""
    return number if number >= 0 else None


def description_json(description: ClusterDescription) -> dict[str, object]:
    """Return the JSON fields of a description; null for values that are not available."""
    nodes, live, brokers = description.nodes, description.live, description.brokers()
    return {
        "clusterId": nodes.cluster_id if nodes else None,
        "quorum": _quorum_json(description),
        "snapshot": {
            "endOffset": live.snapshot.end_offset if live.snapshot else None,
            "epoch": live.snapshot.epoch if live.snapshot else None,
            "lag": description.snapshot_lag,
        }
        if live
        else None,
        "partitions": _health_json(description.health),
        "brokers": None if brokers is None else [_broker_json(each) for each in brokers],
        "controllers": None
        if description.controllers is None
        else [
            {"id": each, "release": facts.release, "features": feature_json(facts.features)}
            for each, facts in description.controllers.items()
        ],
        "features": feature_json(description.features),
    }


def _health_json(health: Health | None) -> dict[str, object] | None:
    if health is None:
        return None
    return {
        "count": health.partitions,
        "underReplicated": health.under_replicated,
        "offline": health.offline,
        "underMinIsr": health.under_min_isr,
        "isMinIsrAssumed": health.is_min_isr_assumed,
        "reassignments": [
            {
                "topic": partition.topic,
                "partition": partition.number,
                "replicas": [*each.replicas],
                "adding": [*each.adding],
                "removing": [*each.removing],
            }
            for partition, each in health.moving.items()
        ],
    }


def feature_json(features: Sequence[Feature]) -> list[dict[str, object]]:
    """Return the JSON fields of features."""
    return [
        {
            "name": each.name,
            "finalized": each.finalized,
            "finalizedName": level_name(each.name, each.finalized),
            "min": each.supported.first if each.supported else None,
            "minName": level_name(each.name, each.supported.first) if each.supported else None,
            "max": each.supported.last if each.supported else None,
            "maxName": level_name(each.name, each.supported.last) if each.supported else None,
        }
        for each in features
    ]


def _broker_json(broker: BrokerDescription) -> dict[str, object]:
    return {
        "id": broker.node_id,
        "state": broker.state,
        "rack": broker.rack,
        "release": broker.facts.release,
        "replicas": broker.replicas,
        "leaders": broker.leaders,
        "listeners": _listener_json(broker.listeners),
        "directories": None if broker.directories is None else [*broker.directories],
        "failedDirectories": None if broker.facts.failed is None else [*broker.facts.failed],
    }


def _listener_json(listeners: Sequence[tuple[str, Address]]) -> list[dict[str, object]]:
    return [
        {"name": name or None, "host": address.host, "port": address.port}
        for name, address in listeners
    ]


def _quorum_json(description: ClusterDescription) -> dict[str, object] | None:
    quorum, end = description.quorum, description.log_end
    if quorum is None:
        return None
    replicas = [
        {
            **_replica_json(role, each, end, description.now),
            "release": description.facts_of(each.node_id).release,
            "listeners": _listener_json(quorum.listeners.get(each.node_id, [])),
        }
        for role, each in description.replicas()
    ]
    return {
        "leader": quorum.leader,
        "epoch": quorum.epoch,
        "highWatermark": quorum.high_watermark,
        "replicas": replicas,
    }


def _replica_json(role: str, replica: ReplicaState, end: int, now: int) -> dict[str, object]:
    return {
        "id": replica.node_id,
        "role": role,
        "endOffset": _known(replica.end_offset),
        "lag": end - replica.end_offset if replica.end_offset >= 0 else None,
        "lastFetchTimestamp": _known(replica.fetched_at),
        "lastFetchAgeMs": age_of(replica.fetched_at, now),
        "lastCaughtUpTimestamp": _known(replica.caught_up_at),
        "lastCaughtUpAgeMs": age_of(replica.caught_up_at, now),
        "directoryId": to_text(replica.directory_id) if replica.directory_id else None,
    }
