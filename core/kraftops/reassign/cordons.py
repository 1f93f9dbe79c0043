"""Brokers that are leaving: marked, and cordoned, so that no new partitions come to them.

Marks are keys of a broker's dynamic configuration that Kafka does not know: one for a decommission
that has begun, one for a cordon of ours (KIP-1066, Kafka 4.3): cordons of others are not removed.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from kraftops.errors import AnswerError
from kraftops.placement.placement import Placement
from kraftops.reassign.access import ALL, CORDON, ClusterAccess
from kraftops.wire.admin.configs import ConfigChange, Operation

BEGUN = "kraftops.decommission"
_OURS = "kraftops.cordon"


class Leaving(NamedTuple):
    """The brokers of which a decommission has begun, and those that are cordoned by anybody."""

    begun: frozenset[int]
    cordoned: frozenset[int]


def leaving_brokers(access: ClusterAccess, placement: Placement) -> Leaving:
    """Return the brokers of a placement that are leaving.

    Raises:
        WireError: a broker cannot be asked.
    """
    found = access.broker_configs(placement, (BEGUN, CORDON))
    return Leaving(
        frozenset(broker for broker, values in found.items() if BEGUN in values),
        frozenset(b for b, values in found.items() if CORDON in values and values[CORDON].value),
    )


def cordon(access: ClusterAccess, placement: Placement, brokers: Collection[int]) -> list[int]:
    """Mark brokers that run as leaving, and cordon them; return those that are cordoned by now.

    Raises:
        WireError: a broker cannot be asked.
    """
    done = []
    for broker in sorted(brokers):
        place = placement.brokers.get(broker)
        if place is None or place.is_fenced:
            continue
        begun = ConfigChange(BEGUN, Operation.SET, "true")
        access.change_broker(placement, broker, [begun])
        values = access.config_of(broker, (CORDON,))
        if CORDON not in values:
            continue  # a release before Kafka 4.3
        if not values[CORDON].value:
            changes = [
                ConfigChange(CORDON, Operation.SET, ALL),
                ConfigChange(_OURS, Operation.SET, "true"),
            ]
            try:
                access.change_broker(placement, broker, changes)
            except AnswerError as error:
                # As before the metadata.version of the release is finalized.
                access.note(f"broker {broker} cannot be cordoned: {error.message}")
                continue
        done.append(broker)
    return done


def uncordon(access: ClusterAccess, placement: Placement, brokers: Collection[int]) -> None:
    """Remove marks, and cordons of ours.

    Raises:
        WireError: a broker cannot be asked.
        RefusedError: a broker is down, and no controllers are given.
    """
    some = {broker: each for broker, each in placement.brokers.items() if broker in brokers}
    found = access.broker_configs(Placement(some, {}), (BEGUN, _OURS))
    for broker, values in sorted(found.items()):
        keys = [key for key in (BEGUN, _OURS) if key in values]
        if _OURS in keys:
            keys.append(CORDON)
        if keys:
            deletions = [ConfigChange(key, Operation.DELETE) for key in keys]
            access.change_broker(placement, broker, deletions)
