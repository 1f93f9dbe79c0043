"""A broker's state has its registration and the last change of each field."""

from typing import Any

import pytest

from kraftops.engine.metadata_state import BrokerEntry, NewestRecord
from kraftops.engine.reference.folding.brokers import Registration, refusal

NOTHING: Any = {"fenced": 0, "inControlledShutdown": 0, "logDirs": [], "cordonedLogDirs": None}


def test_entry_has_the_last_change_of_each_field() -> None:
    broker = Registration(7, 10)
    broker.fence(20)
    broker.change(NOTHING | {"inControlledShutdown": 1}, 30)
    broker.change(NOTHING | {"fenced": -1}, 40)
    broker.change(NOTHING, 50)

    assert broker.entry() == BrokerEntry(7, (10, 30, 40), NewestRecord(50, 5))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"fenced": -1, "inControlledShutdown": 1}, None),
        ({"fenced": 2}, "there is no fenced 2"),
        ({"inControlledShutdown": -1}, "there is no inControlledShutdown -1"),
    ],
)
def test_unknown_values_are_refused(changes: dict[str, Any], reason: str | None) -> None:
    assert refusal(NOTHING | changes) == reason
