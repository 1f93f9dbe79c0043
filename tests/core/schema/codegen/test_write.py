"""Defaults of writers, and values that they refuse."""

import struct

import pytest

from kraftops.schema.compile import compiled
from tests.helpers.logs.messages import table

TOPIC = compiled(table("metadata")["TopicRecord"], 0)
CHANGE = compiled(table("metadata")["PartitionChangeRecord"], 0)


def test_missing_fields_are_written_as_their_default() -> None:
    """A partition of -1, the zero UUID, and no tagged field."""
    raw = CHANGE.write({})

    assert raw == b"\xff\xff\xff\xff" + bytes(16) + b"\0"


def test_tagged_fields_are_written_in_the_order_of_their_tags() -> None:
    raw = CHANGE.write({"leaderRecoveryState": 0, "_unknownTags": {3: b"?"}, "leader": 7})

    tags = raw[20:]
    assert tags == b"\3" + b"\1\4\0\0\0\7" + b"\3\1?" + b"\5\1\0"


def test_empty_is_not_null() -> None:
    assert CHANGE.write({"isr": []})[20:] == b"\1\0\1\1"
    assert CHANGE.write({"isr": None})[20:] == b"\0"


def test_null_is_refused_where_the_message_has_none() -> None:
    with pytest.raises(TypeError):
        TOPIC.write({"name": None})


@pytest.mark.parametrize("number", [1 << 31, -(1 << 31) - 1])
def test_number_out_of_range_is_refused(number: int) -> None:
    with pytest.raises(struct.error):
        CHANGE.write({"partitionId": number})
