"""Reader, writer and renderer of every message version agree with each other and with the formats."""

import json
from base64 import b64encode

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from kraftops.errors import DecodeError
from kraftops.schema.compile import MALFORMED, compiled
from kraftops.schema.message import Message
from tests.helpers.logs.messages import (
    Data,
    as_json,
    data_for,
    each_newest_version,
    each_version,
    encoded,
    every_version,
    fields_of,
    is_flexible,
    table,
)

PARTITION = table("metadata")["PartitionRecord"]


def parsed(text: str) -> object:
    """Return JSON with its objects as tuples, in their order, and doubles by their digits."""
    assert "\n" not in text
    return json.loads(
        text,
        object_pairs_hook=tuple,
        parse_float=lambda digits: ("double", repr(float(digits))),
    )


@each_version
def test_data_survive_writing_and_reading(message: Message, version: int) -> None:
    """The writer writes the bytes of the format; the reader reads them at any position."""
    version_ = compiled(message, version)

    @given(data_for(message, version, unknown_tags=True, many=True), st.binary(max_size=3))
    def holds(data: Data, other: bytes) -> None:
        raw = version_.write(data)
        got, end = version_.read(other + raw + other, len(other))

        assert raw == encoded(message, version, data)
        assert got == data
        assert end == len(other) + len(raw)

    holds()


@each_version
def test_text_is_the_json_of_the_data(message: Message, version: int) -> None:
    """Fields in order, defaults of tagged ones left out, unknown ones dropped; twice the same."""
    version_ = compiled(message, version)

    @given(data_for(message, version, unknown_tags=True), st.binary(max_size=3))
    def holds(data: Data, other: bytes) -> None:
        raw = version_.write(data)
        text = version_.text(raw, 0, len(raw))
        inside = version_.text(other + raw + other, len(other), len(other) + len(raw))

        assert parsed(text) == as_json(message, version, data)
        assert inside == text

    holds()


@each_newest_version
def test_text_shows_long_arrays(message: Message, version: int) -> None:
    """From 127 elements on the length takes two bytes: read is right, and so is the text."""
    version_ = compiled(message, version)

    @settings(max_examples=5, phases=[Phase.generate])
    @given(data_for(message, version, many=True))
    def holds(data: Data) -> None:
        raw = version_.write(data)

        assert parsed(version_.text(raw, 0, len(raw))) == as_json(message, version, data)

    holds()


FLEXIBLE = [
    pytest.param(message, version, id=f"{name}-{message.name}-{version}")
    for name, message, version in every_version()
    if any(field.tag is not None for field in message.fields)
]


@pytest.mark.parametrize(("message", "version"), FLEXIBLE)
def test_tagged_fields_may_be_written_at_their_default(message: Message, version: int) -> None:
    """Kafka writes none, but others may: data and text are as if they were not there."""
    version_ = compiled(message, version)

    @given(data_for(message, version))
    def holds(data: Data) -> None:
        raw = encoded(message, version, data, with_defaults=True)

        assert version_.read(raw, 0) == (data, len(raw))
        assert parsed(version_.text(raw, 0, len(raw))) == as_json(message, version, data)

    holds()


TAGS_OF_OTHER_VERSIONS = [
    pytest.param(message, version, field.tag, id=f"{message.name}-{version}-{field.tag}")
    for name, message, version in every_version()
    for field in message.fields
    if field.tag is not None and is_flexible(message, version)
    if field not in fields_of(message.fields, version)
]


@pytest.mark.parametrize(("message", "version", "tag"), TAGS_OF_OTHER_VERSIONS)
def test_tag_of_another_version_is_refused(message: Message, version: int, tag: int) -> None:
    """Kafka's generated readers throw: "Tag 0 is not valid for version 0"."""
    version_ = compiled(message, version)
    raw = version_.write({"_unknownTags": {tag: b"\0"}})

    with pytest.raises(DecodeError):
        version_.read(raw, 0)
    with pytest.raises(MALFORMED):
        version_.text(raw, 0, len(raw))


@each_newest_version
def test_every_truncation_is_noticed(message: Message, version: int) -> None:
    """Reader and renderer notice it wherever the bytes end, the renderer also if others follow."""
    version_ = compiled(message, version)

    @settings(max_examples=8)
    @given(data_for(message, version, unknown_tags=True))
    def holds(data: Data) -> None:
        raw = version_.write(data)
        for end in range(len(raw)):
            with pytest.raises(DecodeError):
                version_.read(raw[:end], 0)
            with pytest.raises(MALFORMED):
                version_.text(raw[:end], 0, end)
            with pytest.raises(MALFORMED):
                version_.text(raw, 0, end)

    holds()


@each_newest_version
def test_trailing_bytes_are_noticed_by_the_text(message: Message, version: int) -> None:
    version_ = compiled(message, version)

    @settings(max_examples=8)
    @given(data_for(message, version, unknown_tags=True), st.binary(min_size=1, max_size=4))
    def holds(data: Data, rest: bytes) -> None:
        raw = version_.write(data) + rest

        with pytest.raises(MALFORMED):
            version_.text(raw, 0, len(raw))

    holds()


@each_newest_version
def test_flipped_bits_raise_what_is_promised(message: Message, version: int) -> None:
    """Reader and renderer both notice the damage, or both read the same other value."""
    version_ = compiled(message, version)

    @settings(max_examples=10)
    @given(data_for(message, version, unknown_tags=True), st.data())
    def holds(data: Data, draw: st.DataObject) -> None:
        raw = bytearray(version_.write(data))
        if not raw:
            return
        for _ in range(10):
            raw[draw.draw(st.integers(0, len(raw) - 1))] ^= 1 << draw.draw(st.integers(0, 7))
        damaged = bytes(raw)
        try:
            _, end = version_.read(damaged, 0)
        except DecodeError:
            with pytest.raises(MALFORMED):
                version_.text(damaged, 0, len(damaged))
        else:
            parsed(version_.text(damaged, 0, end))

    holds()


@pytest.mark.parametrize(
    ("number", "text"),
    [
        pytest.param(float("nan"), '"NaN"', id="nan"),
        pytest.param(float("inf"), '"Infinity"', id="infinity"),
        pytest.param(float("-inf"), '"-Infinity"', id="minus infinity"),
        pytest.param(0.0, "0.0", id="zero"),
        pytest.param(-0.0, "-0.0", id="minus zero"),
        pytest.param(1e7, "1.0E7", id="exponent"),
    ],
)
def test_text_shows_doubles_as_java(number: float, text: str) -> None:
    """Zeros keep their sign even when the other one was shown before."""
    version_ = compiled(table("metadata")["ClientQuotaRecord"], 0)
    raw = version_.write({"entity": [], "key": "k", "value": number, "remove": False})

    shown = version_.text(raw, 0, len(raw))

    assert shown == f'{{"entity":[],"key":"k","value":{text},"remove":false}}'


def test_text_has_no_blanks_and_raw_letters() -> None:
    version_ = compiled(table("metadata")["TopicRecord"], 0)
    raw = version_.write({"name": "ünd/<\x1f>", "topicId": bytes(15) + b"\x01"})

    shown = version_.text(raw, 0, len(raw))

    assert shown == '{"name":"ünd/<\\u001F>","topicId":"AAAAAAAAAAAAAAAAAAAAAQ"}'


def test_text_shows_bytes_as_padded_base64() -> None:
    version_ = compiled(table("group")["GroupMetadataValue"], 0)
    member = {
        "memberId": "",
        "clientId": "",
        "clientHost": "",
        "sessionTimeout": 0,
        "subscription": b"\xff\xfe",
        "assignment": b"",
    }
    raw = version_.write(
        {"protocolType": "", "generation": 0, "members": [member], "protocol": None}
    )

    shown = version_.text(raw, 0, len(raw))

    assert f'"subscription":"{b64encode(bytes([255, 254])).decode()}","assignment":""' in shown
    assert '"leader":""' in shown


def test_struct_of_nothing_but_unknown_tags_is_shown() -> None:
    """It is not the default: the generated `equals` of Kafka's classes compares unknown tags."""
    version_ = compiled(table("group")["ConsumerGroupMemberMetadataValue"], 0)
    member = {"sessionTimeoutMs": 0, "supportedProtocols": [], "_unknownTags": {7: b"\1"}}
    raw = version_.write({"classicMemberMetadata": member})

    shown = version_.text(raw, 0, len(raw))

    assert shown.endswith(
        ',"classicMemberMetadata":{"sessionTimeoutMs":0,"supportedProtocols":[]}}'
    )


@pytest.mark.parametrize("version", [-1, 3, 32767])
def test_unknown_version_is_a_key_error(version: int) -> None:
    with pytest.raises(KeyError):
        compiled(PARTITION, version)


def test_functions_are_made_once() -> None:
    newest = compiled(PARTITION, 2)

    assert compiled(PARTITION, 2) is newest
    assert newest.read is newest.read
    assert newest.text is newest.text
    assert compiled(PARTITION, 1) is not newest


def test_versions_differ() -> None:
    newest = compiled(PARTITION, 2).read(compiled(PARTITION, 2).write({}), 0)[0]
    oldest = compiled(PARTITION, 0).read(compiled(PARTITION, 0).write({}), 0)[0]

    assert set(newest) - set(oldest) == {"directories", "eligibleLeaderReplicas", "lastKnownElr"}
