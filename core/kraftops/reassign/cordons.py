"""Cordons: brokers to which no new partitions come while they leave.

A cordon (KIP-1066, Kafka 4.3) that has no mark of ours is another's: it is not removed.
"""

from __future__ import annotations

from collections.abc import Collection

from kraftops.errors import AnswerError
from kraftops.placement.placement import Placement
from kraftops.reassign.access import ALL, CORDON, ClusterAccess
from kraftops.reassign.marks import MARK_VALUE, Mark, Part, keys_of
from kraftops.wire.admin.configs import ConfigChange, Operation


def cordon(
    access: ClusterAccess, placement: Placement, mark: Mark, brokers: Collection[int]
) -> list[int]:
    """Cordon brokers that run; return those that were not cordoned before.

    Raises:
        WireError: a broker cannot be asked.
    """
    done = []
    for broker in sorted(brokers):
        place = placement.brokers.get(broker)
        if place is None or place.is_fenced:
            continue
        values = access.config_of(broker)
        if CORDON not in values or values[CORDON].value:
            continue  # a release before Kafka 4.3, or an earlier run has cordoned it
        changes = [
            ConfigChange(CORDON, Operation.SET, ALL),
            ConfigChange(mark.on(Part.CORDON).key, Operation.SET, MARK_VALUE),
        ]
        try:
            access.change_broker(placement, broker, changes)
        except AnswerError as error:
            # As before the metadata.version of the release is finalized.
            access.note(f"broker {broker} cannot be cordoned: {error.message}")
            continue
        done.append(broker)
    return done


def has_cordons(access: ClusterAccess, placement: Placement) -> bool:
    """Tell whether the release of the brokers has cordons (KIP-1066); errors as `cordon`."""
    running = next((b for b, place in placement.brokers.items() if not place.is_fenced), None)
    return running is not None and CORDON in access.patiently(
        lambda: access.config_of(running, (CORDON,))
    )


def uncordon(access: ClusterAccess, placement: Placement, brokers: Collection[int]) -> None:
    """Remove cordons of ours from brokers.

    Raises:
        WireError: a broker cannot be asked.
        RefusedError: a broker is down, and no controllers are given.
    """
    for broker, values in access.broker_configs(placement.part_of(brokers)).items():
        keys = keys_of(values, Part.CORDON)
        if keys:
            deletions = [ConfigChange(key, Operation.DELETE) for key in (*keys, CORDON)]
            access.change_broker(placement, broker, deletions)
