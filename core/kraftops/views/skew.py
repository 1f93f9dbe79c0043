"""The spread of leaders and replicas over brokers and racks."""

from __future__ import annotations

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
        KraftopsError: a source cannot be read any more.
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
        Share("broker", str(one), racks.get(one), load.leaders, preferred[one], load.replicas)
        for one in sorted({*racks, *loads})
        if (load := loads.get(one, BrokerLoad(0, 0)))
    ]
    return [*brokers, *_by_rack(brokers)]


def _by_rack(brokers: Iterable[Share]) -> list[Share]:
    found: dict[str, Share] = {}
    for one in brokers:
        if one.rack is not None:
            known = found.get(one.rack, Share("rack", one.rack, None, 0, 0, 0))
            found[one.rack] = known._replace(
                leaders=known.leaders + one.leaders,
                preferred=known.preferred + one.preferred,
                replicas=known.replicas + one.replicas,
            )
    return [found[rack] for rack in sorted(found)]
