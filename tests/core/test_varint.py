"""Variable-length integers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftops.errors import DecodeError, Underflow
from kraftops.varint import (
    read_uvarint,
    read_varint,
    read_varlong,
    uvarint_bytes,
    varint_bytes,
)

INT32 = st.integers(-(1 << 31), (1 << 31) - 1)
INT64 = st.integers(-(1 << 63), (1 << 63) - 1)


@given(st.integers(0, (1 << 31) - 1), st.binary(max_size=3))
def test_unsigned_numbers_are_read_back(number: int, other: bytes) -> None:
    raw = uvarint_bytes(number)

    assert read_uvarint(other + raw + other, len(other)) == (number, len(other) + len(raw))


@given(INT32, st.binary(max_size=3))
def test_signed_numbers_are_read_back(number: int, other: bytes) -> None:
    raw = varint_bytes(number)

    assert read_varint(other + raw + other, len(other)) == (number, len(other) + len(raw))


@given(INT64, st.binary(max_size=3))
def test_long_numbers_are_read_back(number: int, other: bytes) -> None:
    raw = varint_bytes(number)

    assert read_varlong(other + raw + other, len(other)) == (number, len(other) + len(raw))


@pytest.mark.parametrize(
    ("number", "raw"),
    [
        pytest.param(0, b"\x00", id="0"),
        pytest.param(127, b"\x7f", id="127"),
        pytest.param(128, b"\x80\x01", id="128"),
        pytest.param(300, b"\xac\x02", id="300"),
        pytest.param(0x7FFFFFFF, b"\xff\xff\xff\xff\x07", id="largest int32"),
    ],
)
def test_unsigned_encoding(number: int, raw: bytes) -> None:
    assert uvarint_bytes(number) == raw
    assert read_uvarint(raw, 0) == (number, len(raw))


@pytest.mark.parametrize(
    ("number", "raw"),
    [
        pytest.param(0, b"\x00", id="0"),
        pytest.param(-1, b"\x01", id="-1"),
        pytest.param(1, b"\x02", id="1"),
        pytest.param(-64, b"\x7f", id="-64"),
        pytest.param(64, b"\x80\x01", id="64"),
        pytest.param(0x7FFFFFFF, b"\xfe\xff\xff\xff\x0f", id="largest int32"),
        pytest.param(-0x80000000, b"\xff\xff\xff\xff\x0f", id="smallest int32"),
    ],
)
def test_zigzag_encoding(number: int, raw: bytes) -> None:
    assert varint_bytes(number) == raw
    assert read_varint(raw, 0) == (number, len(raw))


@pytest.mark.parametrize(
    ("raw", "number"),
    [
        pytest.param(b"\xff\xff\xff\xff\x0f", -1, id="all 32 bits"),
        pytest.param(b"\x80\x80\x80\x80\x08", -0x80000000, id="only the sign"),
        pytest.param(b"\xff\xff\xff\xff\x7f", -1, id="bits beyond the 32nd vanish"),
        pytest.param(b"\x83\x80\x00", 3, id="longer than needed"),
    ],
)
def test_unsigned_numbers_are_javas_int(raw: bytes, number: int) -> None:
    assert read_uvarint(raw, 0) == (number, len(raw))


def test_long_numbers_keep_64_bits() -> None:
    raw = b"\xff" * 9 + b"\x7f"

    assert read_varlong(raw, 0) == (-(1 << 63), 10)


@pytest.mark.parametrize("read", [read_uvarint, read_varint], ids=["uvarint", "varint"])
def test_varint_that_never_ends_is_refused_at_its_fifth_byte(read: object) -> None:
    """The text is Kafka's."""
    assert callable(read)
    with pytest.raises(DecodeError) as caught:
        read(b"\xff" * 100, 0)

    assert caught.value.message == (
        "Varint is too long, the most significant bit in the 5th byte is set, "
        "converted value: ffffffff"
    )


def test_varlong_that_never_ends_is_refused_at_its_tenth_byte() -> None:
    with pytest.raises(DecodeError, match="10th byte is set, converted value: ffffffffffffffff"):
        read_varlong(b"\xff" * 100, 0)


@pytest.mark.parametrize("read", [read_uvarint, read_varint, read_varlong])
@pytest.mark.parametrize("raw", [b"", b"\x80", b"\xff\xff\xff"], ids=["empty", "1", "3"])
def test_number_cut_short_is_an_underflow(read: object, raw: bytes) -> None:
    assert callable(read)
    with pytest.raises(Underflow):
        read(raw, 0)
