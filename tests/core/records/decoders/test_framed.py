"""A decoder of framed values reads the frame first, and the message only where it is asked."""

import json
from typing import Any

import pytest

from kraftops.errors import UsageError
from kraftops.log.batch import Record
from kraftops.records.decoder import DecoderOptions
from kraftops.records.decoders.framed import FramedDecoder, id_fields
from kraftops.records.meaning import LARGEST_DECODED, Label, Meaning
from kraftops.uuids import to_text
from tests.helpers.logs.messages import table
from tests.helpers.logs.random_logs import new_record, uuid

METADATA = FramedDecoder("metadata", has_dialects=True)
T = uuid(1)
TOPIC = new_record("TopicRecord", topicId=T, name="a").value
assert TOPIC is not None
UNREADABLE = TOPIC[:-1]
UNKNOWN_TYPE = b"\1\x63\2rest"
NEVER_ENDS = b"\xff" * 6


def record(value: bytes | None, key: bytes | None = None) -> Record:
    return Record(7, 0, key, value)


def meaning(
    value: bytes | None, *, show_secrets: bool = False, key: bytes | None = None
) -> Meaning:
    return METADATA.meaning_reader(show_secrets=show_secrets)(record(value, key))


def value_of(name: str, /, **fields: Any) -> bytes | None:
    return new_record(name, **fields).value


class TestFrames:
    @pytest.mark.parametrize(
        ("value", "name", "label", "head"),
        [
            pytest.param(TOPIC, "TOPIC_RECORD", Label("TOPIC_RECORD", 0), ("TOPIC_RECORD", 0)),
            pytest.param(
                UNREADABLE, "TOPIC_RECORD", Label("TOPIC_RECORD", 0), ("TOPIC_RECORD", 0), id="cut"
            ),
            pytest.param(
                UNKNOWN_TYPE, None, Label("UNKNOWN(99)", 2), ("UNKNOWN(99)", 2), id="unknown-type"
            ),
            pytest.param(NEVER_ENDS, None, Label("UNKNOWN", None), (None, None), id="no-frame"),
            pytest.param(None, None, Label("UNKNOWN", None), (None, None), id="null"),
        ],
    )
    def test_type_and_version_need_no_more_than_the_frame(
        self,
        value: bytes | None,
        name: str | None,
        label: Label,
        head: tuple[str | None, int | None],
    ) -> None:
        assert METADATA.type_reader()(record(value)) == name
        assert METADATA.label_reader()(record(value)) == label
        found = METADATA.head_reader()(record(value))
        assert (found.kind, found.type, found.version) == ("metadata", *head)
        assert found.value is None

    def test_dialect_of_the_options_reads_its_own_frames(self) -> None:
        value = new_record("TopicRecord", dialect="kip-631-draft", name="a").value
        draft = METADATA.configured(DecoderOptions(dialect="kip-631-draft"))

        assert METADATA.type_reader()(record(value)) == "REGISTER_BROKER_RECORD"
        assert draft.type_reader()(record(value)) == "TOPIC_RECORD"

    def test_dialect_of_a_decoder_without_others_stays(self) -> None:
        other = FramedDecoder("remote-log")

        assert other.configured(DecoderOptions(dialect="kip-631")) is other

    def test_unknown_dialect_is_a_usage_error(self) -> None:
        with pytest.raises(UsageError, match="no dialect 'x'"):
            list(METADATA.configured(DecoderOptions(dialect="x")).type_names())


class TestMeaning:
    def test_ids_of_the_message_fill_columns(self) -> None:
        found = meaning(value_of("PartitionRecord", partitionId=3, topicId=T, leader=2))

        assert (found.topic_id, found.partition_id, found.broker_id) == (to_text(T), 3, None)
        assert json.loads(found.value or "")["leader"] == 2

    @pytest.mark.parametrize("name", ["FenceBrokerRecord", "UnfenceBrokerRecord"])
    def test_id_of_a_fenced_broker_is_a_broker_id(self, name: str) -> None:
        assert meaning(value_of(name, id=4, epoch=1)).broker_id == 4
        assert id_fields(table("metadata")[name]) == {"brokerId": "id"}

    def test_key_is_base64(self) -> None:
        found = meaning(TOPIC, key=b"k\xff")

        assert (found.key, found.key_encoding) == ("a/8=", "base64")
        assert (meaning(TOPIC).key, meaning(TOPIC).key_encoding) == (None, None)

    def test_unreadable_value_is_base64_with_the_reason(self) -> None:
        found = meaning(UNREADABLE)

        assert (found.type, found.version, found.value_encoding) == ("TOPIC_RECORD", 0, "base64")
        assert found.error is not None
        assert found.error.startswith("Failed to deserialize record with type 2")

    def test_version_that_kafka_does_not_know_is_an_error(self) -> None:
        assert TOPIC is not None
        found = meaning(TOPIC[:2] + b"\x09" + TOPIC[3:])

        assert (found.type, found.version) == ("TOPIC_RECORD", 9)
        assert found.error == "unknown version 9 of TopicRecord at offset 7"

    def test_huge_record_is_not_decoded(self) -> None:
        assert TOPIC is not None
        found = meaning(TOPIC + bytes(LARGEST_DECODED * 5))

        assert (found.type, found.value) == (None, None)
        assert found.error


class TestSecrets:
    @pytest.mark.parametrize(
        ("key", "is_secret"), [("ssl.key.password", True), ("log.retention.ms", False)]
    )
    def test_value_of_a_secret_configuration_is_redacted(self, key: str, is_secret: bool) -> None:
        value = value_of("ConfigRecord", resourceType=4, resourceName="", name=key, value="v")

        assert json.loads(meaning(value).value or "")["value"] == (
            "<redacted>" if is_secret else "v"
        )
        assert json.loads(meaning(value, show_secrets=True).value or "")["value"] == "v"

    def test_keys_of_a_scram_credential_are_redacted(self) -> None:
        value = value_of(
            "UserScramCredentialRecord", name="u", salt=b"x", storedKey=b"y", serverKey=b"z"
        )

        shown = json.loads(meaning(value).value or "")

        assert [shown[name] for name in ("salt", "storedKey", "serverKey")] == ["<redacted>"] * 3
        assert shown["name"] == "u"

    def test_bytes_of_an_unreadable_configuration_are_redacted(self) -> None:
        value = value_of("ConfigRecord", name="ssl.key.password", value="v")
        assert value is not None

        hidden, shown = (meaning(value[:-1], show_secrets=show) for show in (False, True))

        assert (hidden.value, hidden.value_encoding) == ('"<redacted>"', None)
        assert shown.value_encoding == "base64"


class TestTexts:
    def test_text_is_the_value_alone(self) -> None:
        key, value = METADATA.text_reader()(record(TOPIC, b"key"), "")

        assert key is None
        assert value == (
            f'{{"type":"TOPIC_RECORD","version":0,"data":{{"name":"a","topicId":"{to_text(T)}"}}}}'
        )

    def test_missing_value_is_an_error_at_the_offset(self) -> None:
        reader = FramedDecoder("remote-log", error_lead="Could not read").text_reader()

        assert reader(record(TOPIC), "too long") == (None, "Could not read 7, skipping. too long")


def test_compiled_engine_learns_of_slots_and_secrets() -> None:
    described = METADATA.native_description()
    types = {one["name"]: one for one in described["types"]}

    assert (described["form"], described["kind"]) == ("framed", "metadata")
    assert types["PARTITION_RECORD"]["slots"] == [("topicId", 0), ("partitionId", 1)]
    assert types["FENCE_BROKER_RECORD"]["slots"] == [("id", 2)]
    assert types["CONFIG_RECORD"]["secret"] == ["value"]
    assert 4 in types["CONFIG_RECORD"]["configs"][0]
    assert types["USER_SCRAM_CREDENTIAL_RECORD"]["configs"] is None
    assert types["USER_SCRAM_CREDENTIAL_RECORD"]["secret"] == [
        *("salt", "saltedPassword", "serverKey", "storedKey")
    ]
