"""JSON texts of strings, bytes and arrays, in both encodings of lengths (KIP-482)."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from kraftops.errors import DecodeError
from kraftops.java.text import json_string
from kraftops.schema.codegen.values import array_texts, base64_text, value_renderers
from kraftops.uuids import to_text
from tests.helpers.logs.messages import uvarint

FLEXIBLE, OLD = value_renderers(is_flexible=True), value_renderers(is_flexible=False)


def compact(length: int) -> bytes:
    return uvarint(length + 1)


def int16(length: int) -> bytes:
    return length.to_bytes(2, signed=True)


def int32(length: int) -> bytes:
    return length.to_bytes(4, signed=True)


STRINGS = [
    pytest.param(FLEXIBLE["string_text"], compact, id="compact"),
    pytest.param(OLD["string_text"], int16, id="two bytes"),
]
BYTES = [
    pytest.param(FLEXIBLE["bytes_text"], compact, id="compact"),
    pytest.param(OLD["bytes_text"], int32, id="four bytes"),
]
ARRAYS = [
    pytest.param(FLEXIBLE["fixed_array"], compact, id="compact"),
    pytest.param(OLD["fixed_array"], int32, id="four bytes"),
]
Length = Callable[[int], bytes]


@pytest.mark.parametrize(("render", "length"), STRINGS)
def test_string_is_quoted_and_ends_where_its_length_says(render: Any, length: Length) -> None:
    raw = 'a"ü\n'.encode()
    buffer = b"." + length(len(raw)) + raw + b"next"

    text, end = render(buffer, 1, False)

    assert json.loads(text) == 'a"ü\n'
    assert buffer[end:] == b"next"


@pytest.mark.parametrize(("render", "length"), STRINGS)
def test_null_is_allowed_only_in_nullable_fields(render: Any, length: Length) -> None:
    assert render(length(-1), 0, True) == ("null", len(length(-1)))
    with pytest.raises(DecodeError):
        render(length(-1), 0, False)


@pytest.mark.parametrize(("render", "length"), STRINGS)
def test_length_beyond_the_end_is_an_error(render: Any, length: Length) -> None:
    with pytest.raises(DecodeError):
        render(length(3) + b"ab", 0, True)


def test_string_longer_than_kafka_writes_is_an_error() -> None:
    """Java's length of a string is a short, also in the compact encoding."""
    longest, longer = b"x" * 0x7FFF, b"x" * 0x8000

    render: Any = FLEXIBLE["string_text"]

    assert render(compact(len(longest)) + longest, 0, False)[0] == json_string(longest)
    with pytest.raises(DecodeError):
        render(compact(len(longer)) + longer, 0, False)


@pytest.mark.parametrize(("render", "length"), BYTES)
def test_bytes_are_base64(render: Any, length: Length) -> None:
    raw = b"\0\xff\xfe?"

    text, end = render(length(len(raw)) + raw, 0, False, base64_text)

    assert text == '"AP/+Pw=="'
    assert end == len(length(len(raw))) + len(raw)


@pytest.mark.parametrize(("render", "length"), BYTES)
def test_empty_bytes_are_not_null(render: Any, length: Length) -> None:
    for nullable in (True, False):
        assert render(length(0) + b"next", 0, nullable, base64_text) == ('""', len(length(0)))
    assert render(length(-1), 0, True, base64_text) == ("null", len(length(-1)))
    with pytest.raises(DecodeError):
        render(length(-1), 0, False, base64_text)


@pytest.mark.parametrize(("render", "length"), STRINGS)
def test_empty_string_is_not_null(render: Any, length: Length) -> None:
    assert render(length(0) + b"next", 0, True) == ('""', len(length(0)))


def test_compact_length_that_is_no_length_is_an_error() -> None:
    """2 ** 31 as Java's int: one less is the largest number."""
    render: Any = FLEXIBLE["bytes_text"]

    with pytest.raises(DecodeError, match="length"):
        render(uvarint(1 << 31) + bytes(9), 0, True, base64_text)


@pytest.mark.parametrize(("render", "length"), ARRAYS)
def test_array_ends_where_its_elements_do(render: Any, length: Length) -> None:
    raw = b"." + length(2) + bytes([0, 1, 0, 2])

    assert render(raw + b"next", 1, False, "int16") == ("[1,2]", len(raw))


@pytest.mark.parametrize(("render", "length"), ARRAYS)
def test_array_of_numbers_is_signed_big_endian(render: Any, length: Length) -> None:
    raw = b"".join(number.to_bytes(4, signed=True) for number in (1, -1, 2**31 - 1))

    assert render(length(3) + raw, 0, False, "int32")[0] == "[1,-1,2147483647]"
    assert render(length(0), 0, False, "int32")[0] == "[]"
    assert render(length(-1), 0, True, "int32")[0] == "null"


@pytest.mark.parametrize(("render", "length"), ARRAYS)
def test_array_beyond_the_end_is_an_error(render: Any, length: Length) -> None:
    """The count of elements fits the bytes, their width does not."""
    with pytest.raises(DecodeError):
        render(length(3) + bytes(11), 0, False, "int32")


def test_array_of_uuids_is_kafkas_text() -> None:
    ids = [bytes(16), bytes(range(16))]

    assert json.loads(array_texts("uuid")[b"".join(ids)]) == [to_text(one) for one in ids]
