"""The dialects of the metadata log."""

import pytest

from kraftops.errors import DecodeError, UsageError
from kraftops.records.dialects import DIALECTS, Frame, dialect, type_name
from kraftops.records.meaning import Decoded, Unknown
from kraftops.records.metadata import decode, payload_text
from kraftops.schema.compile import compiled
from tests.helpers.logs.messages import Data, table, uvarint

TABLES = {"kafka": "metadata", "kip-631": "kip_631", "kip-631-draft": "kip_631_draft"}
BEFORE = {"kafka": b"\1", "kip-631": b"\0", "kip-631-draft": b""}


def framed(name: str, record: str, data: Data) -> bytes:
    message = table(TABLES[name])[record]
    assert message.key is not None
    return BEFORE[name] + uvarint(message.key) + b"\0" + compiled(message, 0).write(data)


@pytest.mark.parametrize("name", DIALECTS)
def test_every_record_of_a_dialect_is_read(name: str) -> None:
    for record, message in table(TABLES[name]).items():
        value = framed(name, record, {})

        found = decode(value, name)
        text = payload_text(value, 0, dialect(name))

        assert isinstance(found, Decoded)
        assert (found.type, found.version) == (type_name(message), 0)
        assert text.startswith(f'{{"type":"{found.type}","version":0,"data":{{')


def test_topics_of_the_dialects_differ() -> None:
    """In number, in the name of their name, in what else they have."""
    data = {"name": "t", "topicName": "t", "topicId": bytes(16)}
    zero = '"topicId":"AAAAAAAAAAAAAAAAAAAAAA"'

    texts = [payload_text(framed(n, "TopicRecord", data), 0, dialect(n)) for n in DIALECTS]

    assert texts == [
        f'{{"type":"TOPIC_RECORD","version":0,"data":{{{fields}}}}}'
        for fields in (
            f'"name":"t",{zero}',
            f'"topicName":"t",{zero}',
            f'"name":"t",{zero},"deleting":false',
        )
    ]


def test_partition_changes_of_the_published_kip_have_tags() -> None:
    value = framed("kip-631", "PartitionChangeRecord", {"partitionId": 3, "isr": [1]})

    text = payload_text(value, 0, dialect("kip-631"))

    assert text.endswith('"data":{"partitionId":3,"topicId":"AAAAAAAAAAAAAAAAAAAAAA","isr":[1]}}')


@pytest.mark.parametrize(
    ("name", "value", "frame"),
    [
        ("kafka", b"\1\x05\2rest", Frame(5, 2, 3)),
        ("kafka", b"\1" + uvarint(300) + b"\2", Frame(300, 2, 4)),
        ("kip-631", b"\0\x05\0rest", Frame(5, 0, 3)),
        ("kip-631-draft", b"\x05\0rest", Frame(5, 0, 2)),
    ],
)
def test_frame_has_type_version_and_body(name: str, value: bytes, frame: Frame) -> None:
    assert dialect(name).read_frame(value) == frame


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("kip-631", b"\1\5\0"),
        ("kip-631", b""),
        ("kip-631", b"\0"),
        ("kip-631-draft", b""),
        ("kip-631-draft", b"\5"),
    ],
)
def test_other_frames_are_refused(name: str, value: bytes) -> None:
    with pytest.raises(DecodeError):
        dialect(name).read_frame(value)
    assert isinstance(decode(value, name), Unknown)


def test_unknown_type_of_a_dialect_is_a_value() -> None:
    found = decode(b"\x09\0", "kip-631-draft")

    assert isinstance(found, Unknown)
    assert (found.type, found.version) == (9, 0)


def test_unknown_dialect_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="kip-631-draft"):
        dialect("klingon")


@pytest.mark.parametrize(
    ("record", "name"),
    [
        ("PartitionChangeRecord", "PARTITION_CHANGE_RECORD"),
        ("NoOpRecord", "NO_OP_RECORD"),
        ("ClearElrRecord", "CLEAR_ELR_RECORD"),
        ("ZkMigrationStateRecord", "ZK_MIGRATION_STATE_RECORD"),
    ],
)
def test_type_names_are_kafkas(record: str, name: str) -> None:
    assert type_name(table("metadata")[record]) == name
