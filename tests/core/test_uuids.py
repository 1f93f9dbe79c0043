"""Kafka's UUIDs."""

from base64 import urlsafe_b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftops import uuids
from kraftops.errors import DecodeError


@given(st.binary(min_size=16, max_size=16))
def test_text_is_unpadded_base64_and_is_read_back(raw: bytes) -> None:
    text = uuids.to_text(raw)

    assert text == urlsafe_b64encode(raw).decode().rstrip("=")
    assert uuids.from_text(text) == raw


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        pytest.param(uuids.ZERO, "AAAAAAAAAAAAAAAAAAAAAA", id="zero"),
        pytest.param(bytes(15) + b"\x01", "AAAAAAAAAAAAAAAAAAAAAQ", id="metadata topic"),
        pytest.param(b"\xfb\xff" * 8, "-__7__v_-__7__v_-__7_w", id="both url-safe characters"),
    ],
)
def test_text_is_kafkas(raw: bytes, text: str) -> None:
    assert uuids.to_text(raw) == text


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("MkU3OEVBNTcwNTJENDM2Qk", id="unused bits"),
        pytest.param("MkU3OEVBNTcwNTJENDM2Qg==", id="padded"),
    ],
)
def test_text_that_is_not_canonical_is_read(text: str) -> None:
    raw = uuids.from_text(text)

    assert uuids.to_text(raw) == "MkU3OEVBNTcwNTJENDM2Qg"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("", "decoded as 0 bytes", id="empty"),
        pytest.param("abc", "decoded as 2 bytes", id="short"),
        pytest.param("A" * 23, "decoded as 17 bytes", id="long"),
        pytest.param("A" * 25, "too long", id="too long"),
        pytest.param("+//7//v/+//7//v/+//7/w", "character 2b", id="standard alphabet"),
        pytest.param("MkU3OEVBNTcw NTJENDM2Qg", "character 20", id="blank inside"),
        pytest.param("MkU3OEVBNTcwNTJENDM2=Qg", "4-byte ending unit", id="padding inside"),
        pytest.param("ö" * 22, "character -a", id="not ascii"),
    ],
)
def test_other_text_is_refused_with_javas_message(text: str, message: str) -> None:
    with pytest.raises(DecodeError, match=message):
        uuids.from_text(text)


@pytest.mark.parametrize(
    ("number", "reserved"), [(0, True), (1, True), (99, True), (100, False), (1 << 64, False)]
)
def test_kafka_keeps_the_lowest_hundred(number: int, reserved: bool) -> None:
    assert uuids.is_reserved(number.to_bytes(16)) is reserved


def test_random_uuids_are_version_4_and_can_be_arguments() -> None:
    made = {uuids.random_uuid() for _ in range(2_000)}

    assert len(made) == 2_000
    assert {raw[6] >> 4 for raw in made} == {4}
    assert {raw[8] >> 6 for raw in made} == {2}
    assert not any(uuids.to_text(raw).startswith("-") for raw in made)


def test_random_uuids_with_a_leading_dash_are_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = iter([b"\xf8" + bytes(15), b"\x01" * 16])
    monkeypatch.setattr("secrets.token_bytes", lambda _: next(drawn))

    raw = uuids.random_uuid()

    assert raw[:6] == b"\x01" * 6
