"""The spread of leaders and replicas over brokers and racks."""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from kraftops.answers.fields import number, text
from kraftops.engine.metadata_state import BrokerLoad
from kraftops.image.state.image import MetadataImage

COLUMNS = (
    text("of", "broker or rack", values=("broker", "rack")),
    text("name", "id of the broker, or name of the rack"),
    text("rack", "rack of the broker"),
    number("leaders", "partitions that it leads", numeral="amount"),
    number("preferred", "partitions that it should lead", numeral="amount"),
    number("replicas", "replicas on it", numeral="amount"),
)


class Share(NamedTuple):
    """The load of a broker or rack, with values of `COLUMNS`."""

    of: str
    name: str
    rack: str | None
    leaders: int
    preferred: int
    replicas: int


def skew(image: MetadataImage) -> list[Share]:
    """Return the loads of brokers, also of unregistered ones with replicas, and then of racks.

    Raises:
        KraftopsError: a source can no longer be read.
    """
    loads = image.fold.broker_loads()
    replicas = image.fold.state_columns().replicas
    preferred = Counter[int]()
    for place, count in Counter(replicas.places).items():
        for first in replicas.in_place(place)[:1]:
            preferred[first] += count
    racks = {
        broker_id: image.broker_state(entry, whole=False)["rack"]
        for broker_id, entry in image.brokers.items()
    }
    brokers = [
        Share(
            of="broker",
            name=str(broker),
            rack=racks.get(broker),
            leaders=load.leaders,
            preferred=preferred[broker],
            replicas=load.replicas,
        )
        for broker in sorted({*racks, *loads})
        if (load := loads.get(broker, BrokerLoad(0, 0)))
    ]
    return [*brokers, *_by_rack(brokers)]


def _by_rack(brokers: Iterable[Share]) -> list[Share]:
    shares_by_rack: dict[str, Share] = {}
    for broker in brokers:
        if broker.rack is not None:
            share = shares_by_rack.get(
                broker.rack,
                Share(of="rack", name=broker.rack, rack=None, leaders=0, preferred=0, replicas=0),
            )
            shares_by_rack[broker.rack] = share._replace(
                leaders=share.leaders + broker.leaders,
                preferred=share.preferred + broker.preferred,
                replicas=share.replicas + broker.replicas,
            )
    return [shares_by_rack[rack] for rack in sorted(shares_by_rack)]
