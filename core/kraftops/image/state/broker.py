"""The state of a broker: its registration with all changes applied.

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

_FENCED = 1  # `BrokerRegistrationFencingChange.FENCE`


class BrokerState(TypedDict):
    """All fields of a RegisterBrokerRecord, with later changes applied."""

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


def registered_broker(data: RegisterBrokerRecord) -> BrokerState:
    """Return the state that a RegisterBrokerRecord makes; missing fields have their defaults."""
    return {
        "inControlledShutdown": False,
        "isMigratingZkBroker": False,
        "logDirs": [],
        "cordonedLogDirs": None,
        **data,
    }


def changed_broker(state: BrokerState, number: int, data: Any) -> BrokerState:
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


def broker_status(state: BrokerState) -> str:
    """Return a registered broker's status, as `kafka-cluster` and the shell name it."""
    if state["fenced"]:
        return "registered-fenced"
    return "controlled-shutdown" if state["inControlledShutdown"] else "active"
