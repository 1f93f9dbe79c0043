"""Views of clusters for tests of the screen of `describe --watch`."""

from kraftops.errors import WireError
from kraftops.wire.net.addresses import Address
from kraftops.wire.rpc.cluster import Feature, QuorumInfo, ReplicaState
from kraftops_cli.cluster.description import BrokerDescription, ClusterDescription, Member
from kraftops_cli.cluster.health import Counts, Health

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


def view(
    *brokers: BrokerDescription,
    seconds: int = 0,
    counts: Counts | None = CALM,
    is_min_isr_assumed: bool = False,
    missing: str | None = None,
    **changes: object,
) -> ClusterDescription:
    """Return a cluster with brokers and three voters, some seconds after noon.

    *epoch* is that of its leader, *missing* the reason why the quorum is not known.
    """
    fields: dict[str, object] = {
        "cluster_id": "MkU3OEVBNTcwNTJENDM2Qk",
        "leader": 11,
        "epoch": 7,
        "snapshot_lag": 1200,
        "members": (voter(11, role="leader"), voter(12), voter(13)),
        "features": (Feature("metadata.version", None, 30),),
        **changes,
    }
    epoch = fields.pop("epoch")
    return ClusterDescription(
        NOON + 1000 * seconds,
        brokers=brokers,
        quorum=None if epoch is None else QuorumInfo(11, epoch, 0, [], [], {}),  # type: ignore[arg-type]
        quorum_error=None if missing is None else WireError(missing),
        health=None if counts is None else Health(counts, is_min_isr_assumed, {}),
        **fields,  # type: ignore[arg-type]
    )
