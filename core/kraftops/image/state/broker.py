"""The state of a broker: what its registration says, and what changes make of it.

The rules are those of Kafka's `BrokerRegistration`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NotRequired, TypedDict

from kraftops.records.metadata_numbers import FENCE_BROKER, UNFENCE_BROKER

if TYPE_CHECKING:
    from kraftops.records.metadata_types import (
        BrokerEndpoint,
        BrokerFeature,
        BrokerRegistrationChangeRecord,
        RegisterBrokerRecord,
    )

_FENCED = 1


class BrokerState(TypedDict):
    """The fields of a RegisterBrokerRecord, all of them there, as they are after its changes."""

    brokerId: int
    isMigratingZkBroker: bool
    incarnationId: bytes
    brokerEpoch: int
    endPoints: list[BrokerEndpoint]
    features: list[BrokerFeature]
    rack: str | None
    fenced: bool
    inControlledShutdown: bool
    logDirs: list[bytes]
    cordonedLogDirs: list[bytes] | None
    _unknownTags: NotRequired[dict[int, bytes]]


def registered(data: RegisterBrokerRecord) -> BrokerState:
    """Return the state that a RegisterBrokerRecord makes; of fields it lacks, their defaults."""
    return {
        "inControlledShutdown": False,
        "isMigratingZkBroker": False,
        "logDirs": [],
        "cordonedLogDirs": None,
        **data,
    }


def changed(state: BrokerState, number: int, data: Any) -> BrokerState:
    """Return the state after a record of type *number* that changes the broker."""
    if number in (FENCE_BROKER, UNFENCE_BROKER):
        return state | {"fenced": number == FENCE_BROKER}
    change: BrokerRegistrationChangeRecord = data
    after = state.copy()
    if change["fenced"]:
        after["fenced"] = change["fenced"] == _FENCED
    if change.get("inControlledShutdown"):
        after["inControlledShutdown"] = True
    log_dirs, cordoned = change.get("logDirs"), change.get("cordonedLogDirs")
    if log_dirs:
        after["logDirs"] = log_dirs
    if cordoned is not None:
        after["cordonedLogDirs"] = cordoned
    return after


def standing(state: BrokerState) -> str:
    """Return what a registered broker may do: nothing while it is fenced, or less while it ends."""
    if state["fenced"]:
        return "registered-fenced"
    return "controlled-shutdown" if state["inControlledShutdown"] else "active"
