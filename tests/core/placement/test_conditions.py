"""Conditions that can be waited for."""

import pytest

from kraftops.errors import UsageError
from kraftops.placement.conditions import parse_condition
from kraftops.placement.placement import BrokerPlace, Placement, Replicas, TopicPartition

PLACEMENT = Placement(
    {
        1: BrokerPlace(None, is_fenced=False, takes_replicas=True),
        2: BrokerPlace(None, is_fenced=True, takes_replicas=False),
        3: BrokerPlace(None, is_fenced=False, takes_replicas=True),
    },
    {
        TopicPartition("t", 0): Replicas((1, 2), (1,), 1),
        TopicPartition("t", 1): Replicas((2, 1), (1, 2), 1, adding=(2,)),
    },
)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("broker=2:fenced", None),
        ("broker=1:fenced", "broker 1 is not fenced"),
        ("broker=9:fenced", "broker 9 is not registered"),
        ("broker=1:unfenced", None),
        ("broker=2:unfenced", "broker 2 is fenced"),
        ("broker=9:unfenced", "broker 9 is not registered"),
        ("broker=9:gone", None),
        ("broker=2:gone", "broker 2 is registered"),
        ("broker=3:empty", None),
        ("broker=2:empty", "broker 2 has 2 replicas"),
        ("no-under-replicated", "1 partition is under-replicated, as t-0"),
        ("no-reassignments", "1 reassignment is in flight, as t-1"),
    ],
)
def test_condition_is_true_or_has_a_reason(text: str, reason: str | None) -> None:
    assert parse_condition(text).check(PLACEMENT) == reason


@pytest.mark.parametrize("text", ["", "broker=1", "broker=-1:gone", "broker=1:Gone", "no-thing"])
def test_other_text_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is not a condition"):
        parse_condition(text)
