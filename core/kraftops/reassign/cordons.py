"""Cordons of brokers: Kafka places no new partitions on them (KIP-1066, Kafka 4.3).

A cordon of ours has a mark beside it, a key that Kafka does not know: others are not removed.
"""

from __future__ import annotations

from collections.abc import Collection

from kraftops.errors import AnswerError
from kraftops.placement.placement import Placement
from kraftops.reassign.access import ALL, CORDON, ClusterAccess
from kraftops.wire.admin.configs import ConfigChange, Operation

MARK = "kraftops.cordon"


def cordoned_by_us(access: ClusterAccess, placement: Placement) -> frozenset[int]:
    """Return the brokers of a placement with a cordon of ours.

    Raises:
        WireError: a broker cannot be asked.
    """
    found = access.broker_configs(placement, (MARK,))
    return frozenset(broker for broker, values in found.items() if MARK in values)


def cordon(access: ClusterAccess, placement: Placement, brokers: Collection[int]) -> list[int]:
    """Cordon brokers that run and are not cordoned; return those that are, by now.

    Raises:
        WireError: a broker cannot be asked.
    """
    done = []
    for broker in sorted(brokers):
        place = placement.brokers.get(broker)
        if place is None or place.is_fenced:
            continue
        values = access.config_of(broker, (CORDON,))
        if CORDON not in values:
            continue  # a release before Kafka 4.3
        if not values[CORDON].value:
            changes = [
                ConfigChange(CORDON, Operation.SET, ALL),
                ConfigChange(MARK, Operation.SET, "true"),
            ]
            try:
                access.change_broker(placement, broker, changes)
            except AnswerError as error:
                # As before the metadata.version of the release is finalized.
                access.note(f"broker {broker} cannot be cordoned: {error.message}")
                continue
        done.append(broker)
    return done


def uncordon(access: ClusterAccess, placement: Placement, brokers: Collection[int]) -> list[int]:
    """Remove cordons of ours; return the brokers that had one.

    Raises:
        WireError: a broker cannot be asked.
        RefusedError: a broker is down, and no controllers are given.
    """
    some = {broker: each for broker, each in placement.brokers.items() if broker in brokers}
    ours = sorted(cordoned_by_us(access, Placement(some, {})))
    deletions = [ConfigChange(key, Operation.DELETE) for key in (CORDON, MARK)]
    for broker in ours:
        access.change_broker(placement, broker, deletions)
    return ours
