"""Records of the group, transaction and share coordinators."""

import json
import struct
from base64 import b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftops.records.meaning import Decoded, Unknown
from kraftops.schema.compile import compiled
from tests.helpers.logs.coordinators import COORDINATORS, messages
from tests.helpers.logs.messages import Data, table

SKIPPED = "Error at offset 7, skipping. "


def int16(number: int) -> bytes:
    return struct.pack(">h", number)


def encoded(where: str, name: str, data: Data, version: int = 0) -> bytes:
    """Return key or value: its type or version, then its body."""
    message = table(where)[name]
    number = message.key if name.endswith("Key") else version
    assert number is not None
    return int16(number) + compiled(message, version).write(data)


KEY = encoded("group", "GroupMetadataKey", {"group": "g"})
VALUE = encoded(
    "group", "GroupMetadataValue", {"protocolType": "", "protocol": None, "leader": None}, 3
)
COMMIT_KEY = encoded("group", "OffsetCommitKey", {"group": "g", "topic": "t", "partition": 5})
COMMIT = encoded("group", "OffsetCommitValue", {"offset": 9}, 4)


def test_type_and_version_are_strings_in_the_text() -> None:
    key, value = COORDINATORS["offsets"].texts(COMMIT_KEY, COMMIT, 7)

    assert key == '{"type":"1","data":{"group":"g","topic":"t","partition":5}}'
    assert value == (
        '{"version":"4","data":{"offset":9,"leaderEpoch":-1,"metadata":"","commitTimestamp":0}}'
    )


def test_no_value_is_a_tombstone() -> None:
    assert COORDINATORS["offsets"].texts(KEY, None, 7) == (
        '{"type":"2","data":{"group":"g"}}',
        "<DELETE>",
    )
    meaning, value = COORDINATORS["offsets"].decode(KEY, None)
    assert isinstance(meaning, Decoded)
    assert value is None


ERRORS = [
    pytest.param(b"", VALUE, "Could not read version from key's buffer.", id="empty key"),
    pytest.param(b"\0", VALUE, "Could not read version from key's buffer.", id="short key"),
    pytest.param(KEY, b"", "Could not read version from value's buffer.", id="empty value"),
    pytest.param(KEY, b"\0", "Could not read version from value's buffer.", id="short value"),
    pytest.param(
        KEY, int16(17), "Found an unknown record version 17 for 2 type", id="unknown version"
    ),
    pytest.param(
        KEY, int16(-1), "Found an unknown record version -1 for 2 type", id="negative version"
    ),
    pytest.param(
        KEY[:3],
        VALUE,
        "Could not read record with version 2 from key's buffer due to: null.",
        id="key cut short",
    ),
    pytest.param(
        int16(2) + b"\xff\xff",
        VALUE,
        "Could not read record with version 2 from key's buffer due to: "
        "non-nullable field group was serialized as null.",
        id="null in a key",
    ),
    pytest.param(
        int16(2) + b"\0\5ab",
        VALUE,
        "Could not read record with version 2 from key's buffer due to: "
        "Error reading byte array of 5 byte(s): only 2 byte(s) available.",
        id="string beyond the end of a key",
    ),
    pytest.param(
        KEY,
        VALUE[:4],
        "Could not read record with version 3 from value's buffer due to: null.",
        id="value cut short",
    ),
    pytest.param(
        KEY,
        VALUE[:-4] + b"\0\1\0\0",
        "Could not read record with version 3 from value's buffer due to: "
        "Tried to allocate a collection of size 65536, but there are only 0 bytes remaining..",
        id="count too large",
    ),
    pytest.param(
        COMMIT_KEY,
        COMMIT[:14] + b"\xff\xff\xff\xff\xff\xff",
        "Could not read record with version 4 from value's buffer due to: Varint is too long, the "
        "most significant bit in the 5th byte is set, converted value: ffffffff.",
        id="varint that never ends",
    ),
]


@pytest.mark.parametrize(("key", "value", "reason"), ERRORS)
def test_error_is_printed_in_place_of_the_key(key: bytes, value: bytes, reason: str) -> None:
    """In Kafka's words; and is a value to those who decode."""
    assert COORDINATORS["offsets"].texts(key, value, 7) == (SKIPPED + reason, None)
    meanings = COORDINATORS["offsets"].decode(key, value)
    assert any(isinstance(meaning, Unknown) for meaning in meanings)


@pytest.mark.parametrize("number", [9, 18, 24, 99, -1])
def test_unknown_type_is_shown_in_place_of_the_key(number: int) -> None:
    key = int16(number) + b"rest"

    assert COORDINATORS["offsets"].texts(key, VALUE, 7) == (
        f"Unknown record type {number} at offset 7, skipping.",
        None,
    )


def test_unknown_type_is_a_value_with_all_that_is_known() -> None:
    key = int16(99) + b"rest"

    meaning, value = COORDINATORS["offsets"].decode(key, VALUE)

    assert meaning == Unknown("unknown record type 99", key, 99)
    assert isinstance(value, Unknown)
    assert value.raw == VALUE
    assert COORDINATORS["offsets"].decode(key, None)[1] is None


def test_unknown_version_is_a_value_with_all_that_is_known() -> None:
    raw = int16(17) + b"rest"

    meaning, value = COORDINATORS["offsets"].decode(KEY, raw)

    assert meaning == Decoded("GroupMetadata", 0, {"group": "g"})
    assert isinstance(value, Unknown)
    assert (value.raw, value.type) == (raw, 2)


def test_damaged_value_keeps_its_type_and_version() -> None:
    _, value = COORDINATORS["offsets"].decode(KEY, VALUE[:4])

    assert isinstance(value, Unknown)
    assert (value.raw, value.type, value.version) == (VALUE[:4], 2, 3)


def test_bytes_behind_key_and_value_do_not_count() -> None:
    assert COORDINATORS["offsets"].texts(KEY + b"k", VALUE + b"v", 7) == COORDINATORS[
        "offsets"
    ].texts(KEY, VALUE, 7)
    assert COORDINATORS["offsets"].decode(KEY + b"k", VALUE + b"v") == COORDINATORS[
        "offsets"
    ].decode(KEY, VALUE)


@pytest.mark.parametrize("decoder", COORDINATORS)
def test_every_record_has_a_text_and_a_meaning(decoder: str) -> None:
    for number, (key_message, value_message) in messages(decoder).items():
        key = int16(number) + compiled(key_message, 0).write({})
        last = value_message.versions.last
        assert last is not None
        for version in range(last + 1):
            value = int16(version) + compiled(value_message, version).write({})

            key_text, value_text = COORDINATORS[decoder].texts(key, value, 7)
            meaning, value_meaning = COORDINATORS[decoder].decode(key, value)

            assert json.loads(key_text)["type"] == str(number)
            assert value_text is not None
            assert json.loads(value_text)["version"] == str(version)
            assert isinstance(meaning, Decoded)
            assert isinstance(value_meaning, Decoded)
            assert value_meaning.version == version
            assert value_meaning.type == meaning.type == key_message.name.removesuffix("Key")


@given(
    kind=st.integers(-1, 25),
    key=st.binary(max_size=20),
    version=st.integers(-1, 5),
    value=st.binary(max_size=40),
    decoder=st.sampled_from(list(COORDINATORS)),
)
def test_any_bytes_have_a_text_and_a_meaning(
    kind: int, key: bytes, version: int, value: bytes, decoder: str
) -> None:
    """And they agree whether it is one."""
    raw_key, raw_value = int16(kind) + key, int16(version) + value

    key_text, value_text = COORDINATORS[decoder].texts(raw_key, raw_value, 7)
    meanings = COORDINATORS[decoder].decode(raw_key, raw_value)

    is_read = value_text is not None
    assert is_read == all(isinstance(meaning, Decoded) for meaning in meanings)
    assert is_read == key_text.startswith('{"type":')


# What consumers put into a group's metadata


def member(subscription: bytes, assignment: bytes = b"") -> Data:
    return {
        "memberId": "m",
        "clientId": "",
        "clientHost": "",
        "sessionTimeout": 0,
        "subscription": subscription,
        "assignment": assignment,
    }


def shown(subscription: bytes, assignment: bytes = b"", protocol_type: str = "consumer") -> Data:
    """Return the JSON of the one member of a group."""
    data = {"protocolType": protocol_type, "protocol": None, "leader": None}
    data["members"] = [member(subscription, assignment)]  # type: ignore[assignment]
    value = encoded("group", "GroupMetadataValue", data, 3)
    text = COORDINATORS["offsets"].texts(KEY, value, 7)[1]
    assert text is not None
    found: Data = json.loads(text)["data"]["members"][0]
    return found


def subscription(version: int, data: Data) -> bytes:
    return encoded("consumer", "ConsumerProtocolSubscription", data, version)


def base64(raw: bytes) -> str:
    return b64encode(raw).decode()


def test_consumers_subscription_and_assignment_are_shown() -> None:
    topics = [{"topic": "t", "partitions": [1, 2]}]
    assignment = encoded(
        "consumer", "ConsumerProtocolAssignment", {"assignedPartitions": topics}, 1
    )

    found = shown(subscription(0, {"topics": ["t"]}), assignment)

    assert found["subscription"] == {"topics": ["t"], "userData": None}
    assert found["assignment"] == {"assignedPartitions": topics, "userData": None}


@pytest.mark.parametrize(
    ("version", "extra"),
    [
        (0, {}),
        (1, {"ownedPartitions": []}),
        (2, {"ownedPartitions": [], "generationId": -1}),
        (3, {"ownedPartitions": [], "generationId": -1, "rackId": None}),
    ],
)
def test_subscription_of_each_version(version: int, extra: Data) -> None:
    found = shown(subscription(version, {"topics": ["t"]}))

    assert found["subscription"] == {"topics": ["t"], "userData": None, **extra}


def test_bytes_behind_a_subscription_do_not_count() -> None:
    found = shown(subscription(0, {"topics": []}) + b"more")

    assert found["subscription"] == {"topics": [], "userData": None}


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(b"\0\4\0\0\0\0\xff\xff\xff\xff", id="version 4"),
        pytest.param(b"\0", id="too short for a version"),
        pytest.param(b"\0\0\0\0", id="cut short"),
        pytest.param(b"\0\0\0\0\0\x09", id="topics that are not there"),
        pytest.param(b"not a subscription", id="something else"),
        pytest.param(b"", id="empty"),
    ],
)
def test_unreadable_subscription_stays_base64(raw: bytes) -> None:
    assert shown(raw)["subscription"] == base64(raw)


@pytest.mark.parametrize("protocol_type", ["connect", "", "consumers", "consumer "])
def test_members_of_other_groups_stay_base64(protocol_type: str) -> None:
    raw = subscription(0, {"topics": ["t"]})

    assert shown(raw, protocol_type=protocol_type)["subscription"] == base64(raw)


def test_group_with_bytes_behind_it_shows_its_members() -> None:
    data = {"protocolType": "consumer", "protocol": None, "leader": None}
    data["members"] = [member(subscription(0, {"topics": []}))]  # type: ignore[assignment]
    value = encoded("group", "GroupMetadataValue", data, 3)

    assert COORDINATORS["offsets"].texts(KEY, value + b"more", 7) == COORDINATORS["offsets"].texts(
        KEY, value, 7
    )
