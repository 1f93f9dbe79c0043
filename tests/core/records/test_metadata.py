"""Records of the metadata log."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftops.records.dialects import DIALECTS, dialect
from kraftops.records.meaning import Decoded, Unknown
from kraftops.records.metadata import decode, payload_text
from kraftops.schema.compile import compiled
from tests.helpers.logs.messages import table, uvarint

KAFKA = dialect("kafka")
TOPIC = compiled(table("metadata")["TopicRecord"], 0)
BODY = TOPIC.write({"name": "a", "topicId": bytes(16)})
FRAME = b"\1\2\0"
FRAME_0 = (
    "Could not deserialize metadata record with frame version 0. Note that upgrades from the "
    "preview release of KRaft in 2.8 to newer versions are not supported."
)


def unknown_frame(version: int) -> str:
    return (
        f"Could not deserialize metadata record due to unknown frame version {version}"
        "(only frame version 1 is supported)"
    )


def unknown_id(number: int) -> str:
    return (
        f"org.apache.kafka.common.errors.UnsupportedVersionException: Unknown metadata id {number}"
    )


NEVER_ENDS = b"\xff\xff\xff\xff\xff\xff"
ERRORS = [
    pytest.param(None, "Error while reading frame version", id="null"),
    pytest.param(b"", "Error while reading frame version", id="empty"),
    pytest.param(b"\x81", "Error while reading frame version", id="frame version cut short"),
    pytest.param(NEVER_ENDS, "Error while reading frame version", id="frame version never ends"),
    pytest.param(b"\1", "Error while reading type", id="no type"),
    pytest.param(b"\1" + NEVER_ENDS, "Error while reading type", id="type never ends"),
    pytest.param(b"\1\2", "Error while reading version", id="no version"),
    pytest.param(b"\1\2" + NEVER_ENDS, "Error while reading version", id="version never ends"),
    pytest.param(b"\0" + FRAME[1:] + BODY, FRAME_0, id="frame version 0"),
    pytest.param(b"\2" + FRAME[1:] + BODY, unknown_frame(2), id="frame version 2"),
    pytest.param(b"\xff\xff\xff\xff\x0f", unknown_frame(-1), id="frame version -1"),
    pytest.param(uvarint(0x8000), "Value for frame version was too large.", id="large frame"),
    pytest.param(b"\1" + uvarint(0x8000), "Value for type was too large.", id="large type"),
    pytest.param(
        b"\1\2" + uvarint(1 << 20), "Value for version was too large.", id="large version"
    ),
    *(
        pytest.param(b"\1" + uvarint(number) + b"\0", unknown_id(number), id=f"type {number}")
        for number in (6, 13, 16, 29, 99)
    ),
    pytest.param(FRAME + BODY[:-1], "Failed to deserialize record with type 2", id="cut short"),
    pytest.param(FRAME, "Failed to deserialize record with type 2", id="no body"),
    pytest.param(FRAME + b"\x7f", "Failed to deserialize record with type 2", id="bad length"),
    pytest.param(FRAME + BODY + b"abc", "Found 3 byte(s) of garbage after 2", id="garbage"),
]


@pytest.mark.parametrize(("value", "reason"), ERRORS)
def test_value_that_is_no_record_has_kafkas_reason(value: bytes | None, reason: str) -> None:
    """In the text, and as a value that keeps the bytes."""
    found = decode(value)

    assert payload_text(value, 7, KAFKA) == f"Error at 7, skipping. {reason}"
    assert isinstance(found, Unknown)
    assert (found.reason, found.raw) == (reason, value)


def test_record_is_decoded() -> None:
    assert decode(FRAME + BODY) == Decoded("TOPIC_RECORD", 0, {"name": "a", "topicId": bytes(16)})


def test_text_of_a_record() -> None:
    assert payload_text(FRAME + BODY, 7, KAFKA) == (
        '{"type":"TOPIC_RECORD","version":0,"data":{"name":"a","topicId":"AAAAAAAAAAAAAAAAAAAAAA"}}'
    )


def test_unknown_type_is_a_value_with_all_that_is_known() -> None:
    value = b"\1\x63\5whatever"

    assert decode(value) == Unknown(unknown_id(99), value, 99, 5)


def test_unknown_version_is_a_value_with_all_that_is_known() -> None:
    value = b"\1\2\x09" + BODY

    found = decode(value)

    assert isinstance(found, Unknown)
    assert (found.type, found.version, found.raw) == (2, 9, value)


def test_damage_keeps_type_and_version() -> None:
    found = decode(b"\1\3\2\0")

    assert isinstance(found, Unknown)
    assert (found.type, found.version, found.raw) == (3, 2, b"\1\3\2\0")


@pytest.mark.parametrize("count", [126, 127, 200, 5_000])
def test_partition_may_have_many_replicas(count: int) -> None:
    """From 127 on their number takes two bytes."""
    replicas = list(range(count))
    data = {"partitionId": 1, "topicId": bytes(16), "replicas": replicas, "isr": replicas}
    value = b"\1\3\0" + compiled(table("metadata")["PartitionRecord"], 0).write(data)

    text = payload_text(value, 0, KAFKA)

    shown = json.loads(text)["data"]
    assert (shown["replicas"], shown["isr"], shown["leader"]) == (replicas, replicas, -1)


def test_lengths_may_be_longer_than_needed() -> None:
    value = b"\x81\0\x82\0\x80\0" + b"\x82\0a" + BODY[2:]

    assert payload_text(value, 0, KAFKA) == payload_text(FRAME + BODY, 0, KAFKA)


FRAMES = {"kafka": b"\1", "kip-631": b"\0", "kip-631-draft": b""}


@given(
    body=st.binary(max_size=40),
    type_=st.integers(0, 30),
    version=st.integers(0, 5),
    name=st.sampled_from(DIALECTS),
)
def test_any_bytes_have_a_text_and_a_meaning(
    body: bytes, type_: int, version: int, name: str
) -> None:
    """And they agree whether it is one."""
    value = FRAMES[name] + bytes([type_, version]) + body

    text, found = payload_text(value, 5, dialect(name)), decode(value, name)

    assert isinstance(found, Decoded | Unknown)
    if isinstance(found, Decoded):
        shown = json.loads(text)
        assert (shown["type"], shown["version"]) == (found.type, found.version)


@pytest.mark.parametrize("record", table("metadata").values(), ids=lambda record: record.name)
def test_every_cut_and_flip_of_a_record_has_a_text(record: object) -> None:
    message = table("metadata")[record.name]  # type: ignore[attr-defined]
    version = message.versions.last
    assert message.key is not None
    assert version is not None
    value = b"\1" + uvarint(message.key) + uvarint(version) + compiled(message, version).write({})
    for cut in range(len(value)):
        assert payload_text(value[:cut], 0, KAFKA).startswith("Error at 0, skipping. ")
    for bit in range(len(value) * 8):
        flipped = bytearray(value)
        flipped[bit // 8] ^= 1 << bit % 8
        text = payload_text(bytes(flipped), 0, KAFKA)
        assert text.startswith("Error at 0, skipping. ") or json.loads(text)["data"] is not None
