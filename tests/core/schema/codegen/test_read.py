"""Malformed bytes: readers raise errors with Kafka's texts."""

import pytest

from kraftops.errors import DecodeError, Underflow
from kraftops.schema.compile import compiled
from kraftops.schema.message import parse

MESSAGES = parse(
    """
Old - 0 none
  name string
  maybe string?
  raw bytes
  numbers []int32
  many []int64?

New - 0 0+
  name string
  numbers []int32
  inner Inner?
    id int32
  late int16 #0 =-1
"""
)
OLD, NEW = compiled(MESSAGES["Old"], 0), compiled(MESSAGES["New"], 0)


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        pytest.param(
            b"\xff\xff",
            "non-nullable field name was serialized as null",
            id="null string",
        ),
        pytest.param(
            b"\0\5ab",
            "Error reading byte array of 5 byte(s): only 2 byte(s) available",
            id="string too long",
        ),
        pytest.param(
            b"\0\0\0\0\xff\xff\xff\xff",
            "non-nullable field raw was serialized as null",
            id="null bytes",
        ),
        pytest.param(
            b"\0\0\0\0\x7f\xff\xff\xffx",
            "Error reading byte array of 2147483647 byte(s): only 1 byte(s) available",
            id="bytes too long",
        ),
        pytest.param(
            b"\0\0\0\0\0\0\0\0\xff\xff\xff\xfe",
            "non-nullable field numbers was serialized as null",
            id="negative count",
        ),
        pytest.param(
            b"\0\0\0\0\0\0\0\0\x10\0\0\0abcd",
            "Tried to allocate a collection of size 268435456, "
            "but there are only 4 bytes remaining.",
            id="count too large",
        ),
    ],
)
def test_old_encoding_is_checked(raw: bytes, reason: str) -> None:
    with pytest.raises(DecodeError) as caught:
        OLD.read(raw, 0)

    assert caught.value.message == reason


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        pytest.param(b"\0", "non-nullable field name was serialized as null", id="null string"),
        pytest.param(
            b"\x06ab",
            "Error reading byte array of 5 byte(s): only 2 byte(s) available",
            id="string too long",
        ),
        pytest.param(
            b"\x81\x80\x02" + bytes(0x8000),
            "string field name had invalid length 32768",
            id="string longer than int16",
        ),
        pytest.param(
            b"\xff\xff\xff\xff\xff\1",
            "Varint is too long, the most significant bit in the 5th byte is set, "
            "converted value: ffffffff",
            id="varint that never ends",
        ),
        pytest.param(
            b"\1\x80\x80\x80\x80\1abc",
            "Tried to allocate a collection of size 268435455, "
            "but there are only 3 bytes remaining.",
            id="count too large",
        ),
        pytest.param(
            b"\1\1\xff\1\x09\x7f",
            "Error reading byte array of 127 byte(s): only 0 byte(s) available",
            id="unknown tag too long",
        ),
    ],
)
def test_compact_encoding_is_checked(raw: bytes, reason: str) -> None:
    with pytest.raises(DecodeError) as caught:
        NEW.read(raw, 0)

    assert caught.value.message == reason


@pytest.mark.parametrize("raw", [b"", b"\0", b"\1", b"\1\1", b"\1\1\1\0\0"])
def test_end_inside_a_number_is_an_underflow(raw: bytes) -> None:
    """Kafka shows no text for these, hence a class of their own."""
    with pytest.raises(Underflow):
        (OLD if raw == b"\0" else NEW).read(raw, 0)


def test_nulls_are_kept_apart_from_nothing() -> None:
    raw = b"\0\0" + b"\xff\xff" + bytes(4) + bytes(4) + b"\xff\xff\xff\xff"

    data, end = OLD.read(raw, 0)

    assert data == {"name": "", "maybe": None, "raw": b"", "numbers": [], "many": None}
    assert end == len(raw)


def test_malformed_text_is_replaced() -> None:
    data, _ = NEW.read(b"\x03\xff\xfe\x01\xff\0", 0)

    assert data["name"] == "��"


def test_absent_tags_have_their_default_and_unknown_ones_are_kept() -> None:
    data, _ = NEW.read(b"\1\1\xff\2\x05\1x\x09\0", 0)

    assert data == {
        "name": "",
        "numbers": [],
        "inner": None,
        "late": -1,
        "_unknownTags": {5: b"x", 9: b""},
    }


def test_defaults_are_not_shared() -> None:
    """A caller may change one record without changing others."""
    face = compiled(parse("Thing - 0 0+\n  them []int32 #0")["Thing"], 0)

    first, _ = face.read(b"\0", 0)
    them = first["them"]
    assert isinstance(them, list)
    them.append(1)

    assert face.read(b"\0", 0) == ({"them": []}, 1)


def test_outline_has_all_but_what_lists_of_structs_hold() -> None:
    """They are read all the same: what is wrong in them is told."""
    message = parse(
        """
Thing - 0 0+
  id int32
  parts []Part
    name string
    numbers []int32
  names []string
"""
    )["Thing"]
    face = compiled(message, 0)
    part = {"name": "a", "numbers": [1]}
    raw = face.write({"id": 7, "parts": [part, part], "names": ["x"]})

    assert face.outline(raw, 0) == ({"id": 7, "parts": [], "names": ["x"]}, len(raw))
    for cut in range(len(raw)):
        with pytest.raises(DecodeError):
            face.outline(raw[:cut], 0)
