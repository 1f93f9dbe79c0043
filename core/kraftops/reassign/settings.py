"""Settings of brokers that operations make, each with a mark beside it: rates and cordons.

A setting without a mark of ours is another's: it is not removed.
"""

from collections.abc import Collection, Iterable

from kraftops.errors import AnswerError
from kraftops.placement.placement import Placement
from kraftops.reassign.access import ALL, CORDON, ClusterAccess
from kraftops.reassign.marks import MARK_VALUE, Mark, Part, keys_of
from kraftops.wire.admin.configs import ConfigChange, Operation

RATES = ("leader.replication.throttled.rate", "follower.replication.throttled.rate")
DIRECTORY_RATE = "replica.alter.log.dirs.io.max.bytes.per.second"
"""The rate at which a broker copies between its own log directories (KIP-113)."""
KEYS = {
    Part.THROTTLE: RATES,
    Part.DIRECTORY_THROTTLE: (DIRECTORY_RATE,),
    Part.CORDON: (CORDON,),
}
"""The keys of a broker's configuration that a part of an operation sets."""


def marked_changes(keys: Iterable[str], mark: Mark, value: str) -> list[ConfigChange]:
    """Set a value and its mark together; older marks of the part in *keys* go."""
    assert mark.part
    older = keys_of(keys, mark.part)  # also those of an operation of another kind
    return [
        *(ConfigChange(key, Operation.SET, value) for key in KEYS[mark.part]),
        *(ConfigChange(key, Operation.DELETE) for key in older if key != mark.key),
        ConfigChange(mark.key, Operation.SET, MARK_VALUE),
    ]


def clear_marked(
    access: ClusterAccess, placement: Placement, brokers: Collection[int], part: Part
) -> bool:
    """Remove settings of ours from brokers; tell whether there were any.

    Raises:
        WireError: a broker cannot be asked; some settings may stay, with their marks.
        RefusedError: a broker with such a setting is down, and no controllers are given.
    """
    has_any = False
    for broker, values in access.broker_configs(placement.part_of(brokers)).items():
        if keys := keys_of(values, part):
            deletions = [ConfigChange(key, Operation.DELETE) for key in (*keys, *KEYS[part])]
            access.change_broker(placement, broker, deletions)
            has_any = True
    return has_any


def cordon(
    access: ClusterAccess, placement: Placement, mark: Mark, brokers: Collection[int]
) -> list[int]:
    """Cordon brokers that run (KIP-1066, Kafka 4.3); return those that were not before.

    No new partitions come to them then, while they leave.

    Raises:
        WireError: a broker cannot be asked.
    """
    done = []
    for broker in filter(placement.is_running, sorted(brokers)):
        values = access.config_of(broker)
        if CORDON not in values or values[CORDON].value:
            continue  # a release before Kafka 4.3, or an earlier run has cordoned it
        changes = marked_changes(values, mark.on(Part.CORDON), ALL)
        try:
            access.change_broker(placement, broker, changes)
        except AnswerError as error:
            # As before the metadata.version of the release is finalized.
            access.note(f"broker {broker} cannot be cordoned: {error.message}")
            continue
        done.append(broker)
    return done


def has_cordons(access: ClusterAccess, placement: Placement) -> bool:
    """Tell whether the release of the brokers has cordons; errors as `cordon`."""
    some = placement.running[:1]
    return any(CORDON in access.patiently(access.config_of, broker, (CORDON,)) for broker in some)
