"""Description of a cluster as text and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kraftops.display.text_table import NO_VALUE, plain_table
from kraftops.display.times import iso_time
from kraftops.uuids import to_text
from kraftops_cli.cluster.description import BrokerDescription, ClusterDescription

if TYPE_CHECKING:
    from kraftops.wire.net.addresses import Address
    from kraftops.wire.rpc.cluster import Feature, ReplicaState

_BROKER_HEADER = ("BROKER", "STATE", "RACK", "REPLICAS", "LISTENERS", "DIRECTORIES")
_REPLICA_HEADER = ("NODE", "ROLE", "END OFFSET", "LAG", "CAUGHT UP", "LISTENERS", "DIRECTORY")


def description_text(description: ClusterDescription) -> str:
    """Return a description as tables; a dash stands for each value that is not available."""
    tables = (
        _summary_text(description),
        _broker_text(description.brokers()),
        _quorum_text(description),
        feature_text(description.features),
    )
    return "\n".join(tables)


def _summary_text(description: ClusterDescription) -> str:
    quorum, nodes, live = description.quorum, description.nodes, description.live
    snapshot = leader = None
    if live:
        snapshot = f"{live.snapshot or 'none'}, {description.snapshot_lag} records behind"
    if quorum:
        leader = f"{quorum.leader}, epoch {quorum.epoch}, high watermark {quorum.high_watermark}"
    elif nodes and nodes.leader is not None:
        leader = str(nodes.leader)
    return plain_table(
        [
            ("cluster id", nodes.cluster_id if nodes else None),
            ("quorum leader", leader),
            ("snapshot", snapshot),
        ]
    )


def _broker_text(brokers: Sequence[BrokerDescription] | None) -> str:
    if brokers is None:
        return f"brokers  {NO_VALUE}\n"
    rows = [
        (
            each.node_id,
            each.state,
            each.rack,
            each.replicas,
            _listener_text(each.listeners),
            None if each.directories is None else ", ".join(each.directories) or None,
        )
        for each in brokers
    ]
    return plain_table([_BROKER_HEADER, *rows])


def _listener_text(listeners: Sequence[tuple[str, Address]]) -> str | None:
    texts = [f"{name}://{address}" if name else str(address) for name, address in listeners]
    return ", ".join(texts) or None


def _quorum_text(description: ClusterDescription) -> str:
    quorum, end = description.quorum, description.log_end
    if quorum is None:
        return f"quorum  {NO_VALUE}\n"
    rows = [
        (
            each.node_id,
            role,
            _known(each.end_offset),
            end - each.end_offset if each.end_offset >= 0 else None,
            iso_time(each.caught_up_at) if each.caught_up_at >= 0 else None,
            _listener_text(quorum.listeners.get(each.node_id, [])),
            to_text(each.directory_id) if each.directory_id else None,
        )
        for role, each in description.replicas()
    ]
    return plain_table([_REPLICA_HEADER, *rows])


def feature_text(features: Sequence[Feature]) -> str:
    """Return a table of features."""
    rows = [
        (
            each.name,
            each.finalized,
            f"{each.supported.first}-{each.supported.last}" if each.supported else None,
        )
        for each in features
    ]
    return plain_table([("FEATURE", "FINALIZED", "SUPPORTED"), *rows])


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
        "brokers": None if brokers is None else [_broker_json(each) for each in brokers],
        "features": feature_json(description.features),
    }


def feature_json(features: Sequence[Feature]) -> list[dict[str, object]]:
    """Return the JSON fields of features."""
    return [
        {
            "name": each.name,
            "finalized": each.finalized,
            "min": each.supported.first if each.supported else None,
            "max": each.supported.last if each.supported else None,
        }
        for each in features
    ]


def _broker_json(broker: BrokerDescription) -> dict[str, object]:
    return {
        "id": broker.node_id,
        "state": broker.state,
        "rack": broker.rack,
        "replicas": broker.replicas,
        "listeners": _listener_json(broker.listeners),
        "directories": None if broker.directories is None else [*broker.directories],
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
            **_replica_json(role, each, end),
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


def _replica_json(role: str, replica: ReplicaState, end: int) -> dict[str, object]:
    return {
        "id": replica.node_id,
        "role": role,
        "endOffset": _known(replica.end_offset),
        "lag": end - replica.end_offset if replica.end_offset >= 0 else None,
        "lastFetchTimestamp": _known(replica.fetched_at),
        "lastCaughtUpTimestamp": _known(replica.caught_up_at),
        "directoryId": to_text(replica.directory_id) if replica.directory_id else None,
    }
