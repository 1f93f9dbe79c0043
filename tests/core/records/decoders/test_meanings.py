"""The meanings of records by each decoder: plain data as JSON texts."""

import json
from typing import Any

import pytest

from kraftops.engine.reference.selection import meaning_reader
from kraftops.log.batch import Record, read_record
from kraftops.log.batch import records as records_of
from kraftops.query.query import Query
from kraftops.records import metadata
from kraftops.records.control import control_meaning
from kraftops.records.control import decode as decode_control
from kraftops.records.decoders.framed import id_fields
from kraftops.records.decoders.keyed import KeyedDecoder
from kraftops.records.decoders.user import DECODERS
from kraftops.records.internal_topics import decoder_names
from kraftops.records.meaning import LARGEST_DECODED, Decoded, Meaning
from kraftops.uuids import to_text
from tests.helpers.logs.coordinators import COORDINATORS
from tests.helpers.logs.corpus_rows import LOGS, decoder_of
from tests.helpers.logs.messages import table
from tests.helpers.logs.segments import walk


def record(key: bytes | None, value: bytes | None) -> Record:
    return Record(7, 0, key, value)


def mean(decoder: str, key: bytes | None, value: bytes | None, **asked: Any) -> Meaning:
    return meaning_reader(Query(decoder=decoder, **asked))(record(key, value))


def plain(data: Any) -> Any:
    """Return plain data as JSON has it: bytes of 16 are UUIDs here."""
    if isinstance(data, dict):
        return {name: plain(value) for name, value in data.items()}
    if isinstance(data, list):
        return [plain(value) for value in data]
    return to_text(data) if isinstance(data, bytes) and len(data) == 16 else data


def every_record(decoder: str) -> list[Record]:
    """Return the records of the corpus for a decoder, without control records."""
    return [
        one
        for path in LOGS
        if decoder_of(path) == decoder
        for batch in walk(path)
        if not batch.is_legacy and not batch.header.is_control
        for one in records_of(batch)
    ]


def test_metadata_record_has_its_fields_in_the_row() -> None:
    seen = set()
    for one in every_record("metadata"):
        found = mean("metadata", one.key, one.value, show_secrets=True)
        expected = metadata.decode(one.value)

        assert (found.error is None) is isinstance(expected, Decoded)
        if isinstance(expected, Decoded):
            assert (found.type, found.version) == (expected.type, expected.version)
            assert found.value is not None
            seen.add(found.type)
            shown = json.loads(found.value)
            for column, value in (
                ("topicId", found.topic_id),
                ("partitionId", found.partition_id),
                ("brokerId", found.broker_id),
            ):
                if column in shown:
                    assert value == shown[column]
    assert len(seen) > 25


@pytest.mark.parametrize("decoder", ["offsets", "transaction", "share"])
def test_coordinators_record_has_its_fields_in_the_row(decoder: str) -> None:
    known = 0
    for one in every_record(decoder):
        found = mean(decoder, one.key, one.value)
        if one.key is None:
            assert found.error == "a record without a key at offset 7"
            continue
        key, value = COORDINATORS[decoder].decode(one.key, one.value)

        is_known = isinstance(key, Decoded) and not (value and not isinstance(value, Decoded))
        assert (found.error is None) is is_known
        if is_known and isinstance(key, Decoded):
            known += 1
            assert (
                found.type
                == "".join(
                    f"_{c}" if c.isupper() and n else c for n, c in enumerate(key.type)
                ).upper()
            )
            assert json.loads(str(found.key)) == plain(key.data)
            assert (found.value is None) is (value is None)
            assert found.version == (value.version if isinstance(value, Decoded) else None)
    assert known > 15


@pytest.mark.parametrize(
    ("column", "message", "field"),
    [
        ("topicId", "PartitionChangeRecord", "topicId"),
        ("partitionId", "PartitionRecord", "partitionId"),
        ("brokerId", "RegisterBrokerRecord", "brokerId"),
        ("brokerId", "FenceBrokerRecord", "id"),
        ("brokerId", "UnfenceBrokerRecord", "id"),
        ("brokerId", "UnregisterBrokerRecord", "brokerId"),
    ],
)
def test_ids_have_columns(column: str, message: str, field: str) -> None:
    assert id_fields(table("metadata")[message])[column] == field


@pytest.mark.parametrize("decoder", sorted({*decoder_names()} - {"user"}))
@pytest.mark.parametrize(
    ("key", "value"),
    [
        (None, None),
        (None, b""),
        (b"", b""),
        (b"\xff", b"\xff"),
        (b"\0\x63", b"\1\x63\0"),
        (b"k", None),
    ],
)
def test_unreadable_record_is_base64_with_the_reason(
    decoder: str, key: bytes | None, value: bytes | None
) -> None:
    found = mean(decoder, key, value)

    assert found.kind == decoder
    assert found.error
    assert found.error.endswith(" at offset 7")
    assert (found.key_encoding is None) is (key is None)
    assert (found.value_encoding is None) is (value is None)


@pytest.mark.parametrize("decoder", sorted({*decoder_names()} - {"user"}))
def test_record_too_large_to_be_decoded_is_not_shown(decoder: str) -> None:
    found = mean(decoder, b"\0\0", bytes(LARGEST_DECODED))

    assert (found.key, found.value) == (None, None)
    assert str(LARGEST_DECODED) in str(found.error)


@pytest.mark.parametrize(
    ("raw", "text", "encoding"),
    [
        (b"abc", "abc", None),
        ("ü\n".encode(), "ü\n", None),
        (b"", "", None),
        (None, None, None),
        (b"\xff\xfe", "//4=", "base64"),
        (b"\xed\xa0\x80", "7aCA", "base64"),  # half of a pair is not a text
    ],
)
def test_bytes_of_users_are_text_if_they_can_be(
    raw: bytes | None, text: str | None, encoding: str | None
) -> None:
    found = mean("user", raw, raw)

    assert (found.kind, found.type) == ("user", None)
    assert (found.key, found.key_encoding) == (text, encoding)
    assert (found.value, found.value_encoding) == (text, encoding)


def test_decoders_of_keys_and_values_hold_for_rows_too() -> None:
    long = next(name for name in DECODERS if name.endswith("LongDecoder"))
    number = (-5).to_bytes(8, signed=True)

    found = mean("user", number, b"short", key_decoder=long, value_decoder=long)

    assert (found.key, found.key_encoding) == ("-5", None)
    assert (found.value, found.value_encoding) == ("c2hvcnQ=", "base64")


def test_control_record_has_its_fields_in_the_row() -> None:
    types = set()
    for path in LOGS:
        for batch in walk(path):
            if batch.is_legacy or not batch.header.is_control or not batch.header.record_count:
                continue
            one, _ = read_record(batch.data, 61, 0, 0)
            found, expected = control_meaning(one), decode_control(one.key, one.value)

            assert (found.error is None) is isinstance(expected, Decoded)
            if isinstance(expected, Decoded):
                assert (found.type, found.version) == (expected.type, expected.version)
                assert json.loads(str(found.value)) == plain(expected.data)
                types.add(found.type)
    assert {"COMMIT", "ABORT", "LEADER_CHANGE", "SNAPSHOT_HEADER", "SNAPSHOT_FOOTER"} <= types


@pytest.mark.parametrize("decoder", ["offsets", "transaction", "share"])
def test_type_and_version_alone_are_those_of_the_whole(decoder: str) -> None:
    """Of every record of the corpus, and of it with its key or value cut short or changed."""
    head = meaning_reader(Query(decoder=decoder, columns=frozenset({"type", "version"})))
    whole = meaning_reader(Query(decoder=decoder))
    seen = set()
    for path in LOGS:
        if decoder_of(path) != decoder:
            continue
        for one in [one for batch in walk(path) for one in records_of(batch)]:
            key, value = one.key, one.value
            for changed in (
                (key, value),
                (None, value),
                (key, None),
                (key and key[:1], value),
                (key and key[:-1], value),
                (key and b"\x7f\x00" + key[2:], value),
                (key, value and value[:1]),
                (key, value and value[:-1]),
                (key, value and b"\x00\x63" + value[2:]),
            ):
                found, expected = head(record(*changed)), whole(record(*changed))
                assert found[:3] == expected[:3]
                seen.add(found[:3])
    assert len(seen) > 4


def test_type_and_version_alone_need_no_values(monkeypatch: pytest.MonkeyPatch) -> None:
    """A value that is not read may be anything."""
    monkeypatch.setattr(KeyedDecoder, "_field_texts", None)
    key = b"\0\2\0\1g"
    head = meaning_reader(
        Query(decoder="offsets", columns=frozenset({"type", "version", "valueSize"}))
    )

    assert head(record(key, b"\0\3anything"))[:3] == ("offsets", "GROUP_METADATA", 3)
