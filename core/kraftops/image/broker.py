"""The state of a broker: what its registration says, and what changes make of it.

The rules are those of Kafka's `BrokerRegistration` and `ClusterDelta`.
"""

from __future__ import annotations

from kraftops.image.recordtypes import BROKER_REGISTRATION_CHANGE, FENCE_BROKER, UNFENCE_BROKER
from kraftops.schema.read import Data

_DEFAULTS: Data = {
    "inControlledShutdown": False,
    "isMigratingZkBroker": False,
    "logDirs": [],
    "cordonedLogDirs": None,
}
"""Of fields that versions of the registration lack."""
_FENCING = {-1: False, 0: None, 1: True}
_SHUTDOWN = {0: None, 1: True}


def registered(data: Data) -> Data:
    """Return the state that a RegisterBrokerRecord makes."""
    return _DEFAULTS | data


def changed(state: Data, number: int, data: Data) -> Data | str:
    """Return the state after a record of type *number* about the broker, or why it cannot apply."""
    if number == FENCE_BROKER:
        return state | {"fenced": True}
    if number == UNFENCE_BROKER:
        return state | {"fenced": False}
    if number != BROKER_REGISTRATION_CHANGE:
        return state
    changes: Data = {}
    for field, meanings in (("fenced", _FENCING), ("inControlledShutdown", _SHUTDOWN)):
        said = data.get(field, 0)
        if said not in meanings:
            return f"there is no {field} {said}"
        if meanings[said] is not None:
            changes[field] = meanings[said]
    if data.get("logDirs"):
        changes["logDirs"] = data["logDirs"]
    if data.get("cordonedLogDirs") is not None:
        changes["cordonedLogDirs"] = data["cordonedLogDirs"]
    return state | changes


def standing(state: Data) -> str:
    """Return what a registered broker may do: nothing while it is fenced, or less while it ends."""
    if state["fenced"]:
        return "registered-fenced"
    return "controlled-shutdown" if state["inControlledShutdown"] else "active"
