"""Views of clusters for tests of the screen of `describe --watch`."""

from kraftops.wire.net.addresses import Address
from kraftops.wire.rpc.cluster import ReplicaState
from kraftops_cli.cluster.description import BrokerDescription, Member
from kraftops_cli.cluster.watch.view import Counts, View

NOON = 1_795_348_800_000
"""2026-11-22 12:00 UTC, in ms."""
CALM = Counts(partitions=300, under_replicated=0, offline=0, under_min_isr=0, moving=0)


def broker(number: int, **changes: object) -> BrokerDescription:
    """Return an active broker in the first or second rack."""
    row = BrokerDescription(
        id=number,
        state="active",
        release="4.3",
        rack=f"r{1 + number % 2}",
        leaders=100 + number,
        replicas=300 + number,
        lag=0,
        behind_ms=400,
        listeners=(("", Address(f"broker-{number}.example", 9092)),),
        failed=(),
    )
    return row._replace(**changes)  # type: ignore[arg-type]


def voter(number: int, **changes: object) -> Member:
    state = ReplicaState(number, None, 5000, NOON - 100, NOON - 500)
    listeners = (("", Address(f"controller-{number}.example", 9093)),)
    member = Member("voter", state, 5000, NOON, listeners, "4.3")
    return member._replace(**changes)  # type: ignore[arg-type]


def view(*brokers: BrokerDescription, seconds: int = 0, **changes: object) -> View:
    """Return a view of brokers and three voters, some seconds after noon."""
    fields: dict[str, object] = {
        "cluster_id": "MkU3OEVBNTcwNTJENDM2Qk",
        "leader": 11,
        "epoch": 7,
        "snapshot_lag": 1200,
        "brokers": brokers,
        "members": (voter(11, role="leader"), voter(12), voter(13)),
        "counts": CALM,
        "features": (("metadata.version", "30 (4.3-IV0)"),),
    }
    return View(NOON + 1000 * seconds, **{**fields, **changes})  # type: ignore[arg-type]
