"""Changes of a broker's registration."""

from typing import Any

import pytest

from kraftops.image.state.broker import broker_status, changed_broker, registered_broker
from kraftops.records.metadata_numbers import (
    BROKER_REGISTRATION_CHANGE,
    FENCE_BROKER,
    UNFENCE_BROKER,
)

REGISTRATION: Any = {"brokerId": 1, "fenced": True, "rack": None}


def test_missing_fields_of_a_registration_have_defaults() -> None:
    state = registered_broker(REGISTRATION)

    assert (state["logDirs"], state["cordonedLogDirs"]) == ([], None)
    assert not state["inControlledShutdown"]
    assert state["fenced"]


def test_fence_records_change_the_state_only() -> None:
    state = registered_broker(REGISTRATION)

    unfenced = changed_broker(state, UNFENCE_BROKER, {})

    assert not unfenced["fenced"]
    assert changed_broker(unfenced, FENCE_BROKER, {}) == state


@pytest.mark.parametrize(
    ("fenced", "expected"), [(-1, False), (0, True), (1, True)], ids=["unfence", "keep", "fence"]
)
def test_registration_change_fences_by_its_sign(fenced: int, expected: bool) -> None:
    state = registered_broker(REGISTRATION)

    changed = changed_broker(state, BROKER_REGISTRATION_CHANGE, {"fenced": fenced})

    assert changed["fenced"] is expected


def test_registration_change_keeps_directories_it_does_not_have() -> None:
    state = registered_broker(REGISTRATION | {"logDirs": [b"a"]})

    kept = changed_broker(state, BROKER_REGISTRATION_CHANGE, {"fenced": 0, "logDirs": []})
    cordoned = changed_broker(
        state, BROKER_REGISTRATION_CHANGE, {"fenced": 0, "cordonedLogDirs": [b"a"]}
    )

    assert (kept["logDirs"], kept["cordonedLogDirs"]) == ([b"a"], None)
    assert cordoned["cordonedLogDirs"] == [b"a"]


@pytest.mark.parametrize(
    ("fenced", "shutdown", "status"),
    [
        (True, True, "registered-fenced"),
        (False, True, "controlled-shutdown"),
        (False, False, "active"),
    ],
)
def test_fencing_counts_more_than_a_shutdown(fenced: bool, shutdown: bool, status: str) -> None:
    state = registered_broker(REGISTRATION)

    assert broker_status(state | {"fenced": fenced, "inControlledShutdown": shutdown}) == status
