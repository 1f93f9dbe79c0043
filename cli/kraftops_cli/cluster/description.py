"""What `kafka-cluster describe` shows: all that was asked, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from kraftops.display.times import iso_time
from kraftops.uuids import to_text
from kraftops_cli.cluster.columns import UNKNOWN, columns
from kraftops_cli.cluster.state import brokers_of, replicas_of

if TYPE_CHECKING:
    from kraftops.errors import WireError
    from kraftops.image.state.broker import BrokerState
    from kraftops.wire.net.addresses import Address
    from kraftops.wire.quorum.live_image import LiveImage
    from kraftops.wire.rpc.cluster import Description, Feature, Quorum, Replica


class Picture(NamedTuple):
    """The answers, None for those that are not to be had; *failed*: why a broker has no quorum."""

    is_of_controllers: bool
    described: Description | None
    quorum: Quorum | None
    features: Sequence[Feature]
    live: LiveImage | None
    failed: WireError | None


class _Broker(NamedTuple):
    node_id: int
    state: str
    rack: str | None
    listeners: Sequence[tuple[str, Address]]
    directories: Sequence[str] | None
    replicas: int | None


def _brokers(picture: Picture) -> list[_Broker] | None:
    """Return the brokers, as the metadata log or a broker has them."""
    if picture.live:
        image = picture.live.image
        held = replicas_of(image)
        return [
            _broker(broker, state, held[broker].total() if broker in held else 0)
            for broker, state in brokers_of(image).items()
        ]
    if picture.is_of_controllers or not picture.described:
        return None
    return [
        _Broker(
            node.node_id,
            "registered-fenced" if node.is_fenced else "active",
            node.rack,
            [("", node.address)],
            None,
            None,
        )
        for node in sorted(picture.described.nodes)
    ]


def _broker(broker: int, state: BrokerState, replicas: int) -> _Broker:
    """Return a broker as the metadata log has it."""
    from kraftops.wire.net.addresses import Address

    standing = "in-controlled-shutdown" if state["inControlledShutdown"] else "active"
    return _Broker(
        broker,
        "registered-fenced" if state["fenced"] else standing,
        state["rack"],
        [(each["name"], Address(each["host"], each["port"])) for each in state["endPoints"]],
        [to_text(directory) for directory in state["logDirs"]],
        replicas,
    )


def _snapshot_lag(picture: Picture) -> int | None:
    """Return how many records the newest snapshot is behind; all, where there is none."""
    live = picture.live
    if not live:
        return None
    return live.offset - (live.snapshot.end_offset if live.snapshot else 0)


def _replicas(quorum: Quorum) -> Iterable[tuple[str, Replica]]:
    for replica in quorum.voters:
        yield "leader" if replica.node_id == quorum.leader else "voter", replica
    for replica in quorum.observers:
        yield "observer", replica


def _end(quorum: Quorum) -> int:
    """Return the end of the leader's log."""
    return max((replica.end_offset for _, replica in _replicas(quorum)), default=-1)


def as_text(picture: Picture) -> str:
    """Return the picture for people."""
    quorum, described, live = picture.quorum, picture.described, picture.live
    snapshot = UNKNOWN
    if live:
        snapshot = f"{live.snapshot or 'none'}, {_snapshot_lag(picture)} records behind"
    led = UNKNOWN
    if quorum:
        led = f"{quorum.leader}, epoch {quorum.epoch}, high watermark {quorum.high_watermark}"
    elif described and described.leader is not None:
        led = str(described.leader)
    rows = [
        ("cluster id", described.cluster_id if described else None),
        ("quorum leader", led),
        ("snapshot", snapshot),
    ]
    tables = (
        columns(rows),
        _broker_text(picture),
        _quorum_text(picture),
        _feature_text(picture),
    )
    return "\n".join(tables)


def _broker_text(picture: Picture) -> str:
    brokers = _brokers(picture)
    if brokers is None:
        return f"brokers  {UNKNOWN}\n"
    head = ("BROKER", "STATE", "RACK", "REPLICAS", "LISTENERS", "DIRECTORIES")
    return columns(
        [
            head,
            *(
                (
                    each.node_id,
                    each.state,
                    each.rack,
                    each.replicas,
                    _listed(each.listeners),
                    None if each.directories is None else ", ".join(each.directories) or None,
                )
                for each in brokers
            ),
        ]
    )


def _listed(listeners: Sequence[tuple[str, Address]]) -> str | None:
    return ", ".join(f"{name}://{at}" if name else str(at) for name, at in listeners) or None


def _quorum_text(picture: Picture) -> str:
    quorum = picture.quorum
    if quorum is None:
        return f"quorum  {UNKNOWN}\n"
    end = _end(quorum)
    rows: list[tuple[object, ...]] = [
        ("NODE", "ROLE", "END OFFSET", "LAG", "CAUGHT UP", "LISTENERS", "DIRECTORY")
    ]
    for role, each in _replicas(quorum):
        is_known = each.end_offset >= 0
        rows.append(
            (
                each.node_id,
                role,
                each.end_offset if is_known else None,
                end - each.end_offset if is_known else None,
                iso_time(each.caught_up_at) if each.caught_up_at >= 0 else None,
                _listed(quorum.listeners.get(each.node_id, [])),
                to_text(each.directory_id) if each.directory_id else None,
            )
        )
    return columns(rows)


def _feature_text(picture: Picture) -> str:
    rows: list[tuple[object, ...]] = [("FEATURE", "FINALIZED", "SUPPORTED")]
    for each in picture.features:
        both = each.supported
        rows.append((each.name, each.finalized, f"{both.first}-{both.last}" if both else None))
    return columns(rows)


def as_json(picture: Picture) -> dict[str, object]:
    """Return the picture for programs; null for what is not to be had."""
    described, live = picture.described, picture.live
    brokers = _brokers(picture)
    return {
        "clusterId": described.cluster_id if described else None,
        "quorum": _quorum_json(picture.quorum),
        "snapshot": {
            "endOffset": live.snapshot.end_offset if live.snapshot else None,
            "epoch": live.snapshot.epoch if live.snapshot else None,
            "lag": _snapshot_lag(picture),
        }
        if live
        else None,
        "brokers": None if brokers is None else [_broker_json(each) for each in brokers],
        "features": [
            {
                "name": each.name,
                "finalized": each.finalized,
                "min": each.supported.first if each.supported else None,
                "max": each.supported.last if each.supported else None,
            }
            for each in picture.features
        ],
    }


def _broker_json(broker: _Broker) -> dict[str, object]:
    return {
        "id": broker.node_id,
        "state": broker.state,
        "rack": broker.rack,
        "replicas": broker.replicas,
        "listeners": [_listener_json(name, at) for name, at in broker.listeners],
        "directories": None if broker.directories is None else [*broker.directories],
    }


def _listener_json(name: str, address: Address) -> dict[str, object]:
    return {"name": name or None, "host": address.host, "port": address.port}


def _quorum_json(quorum: Quorum | None) -> dict[str, object] | None:
    if quorum is None:
        return None
    end = _end(quorum)
    return {
        "leader": quorum.leader,
        "epoch": quorum.epoch,
        "highWatermark": quorum.high_watermark,
        "replicas": [
            {
                "id": each.node_id,
                "role": role,
                "endOffset": each.end_offset if each.end_offset >= 0 else None,
                "lag": end - each.end_offset if each.end_offset >= 0 else None,
                "lastFetchTimestamp": each.fetched_at if each.fetched_at >= 0 else None,
                "lastCaughtUpTimestamp": each.caught_up_at if each.caught_up_at >= 0 else None,
                "directoryId": to_text(each.directory_id) if each.directory_id else None,
                "listeners": [
                    _listener_json(name, at) for name, at in quorum.listeners.get(each.node_id, [])
                ],
            }
            for role, each in _replicas(quorum)
        ],
    }
