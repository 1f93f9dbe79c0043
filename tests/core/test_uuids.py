"""Kafka's UUIDs."""

from base64 import urlsafe_b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftops import uuids
from kraftops.errors import UsageError


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


def test_text_with_unused_bits_is_refused_with_the_canonical_form() -> None:
    with pytest.raises(UsageError) as caught:
        uuids.from_text("MkU3OEVBNTcwNTJENDM2Qk")

    assert caught.value.hint == "MkU3OEVBNTcwNTJENDM2Qg names the same 16 bytes"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("abc", id="short"),
        pytest.param("A" * 23, id="long"),
        pytest.param("MkU3OEVBNTcwNTJENDM2Qg==", id="padded"),
        pytest.param("+//7//v/+//7//v/+//7/w", id="standard alphabet"),
        pytest.param("MkU3OEVBNTcw NTJENDM2Qg", id="blank inside"),
        pytest.param("MkU3OEVBNTcwNTJENDM2Q!g", id="foreign character inside"),
        pytest.param("ö" * 22, id="not ascii"),
    ],
)
def test_other_text_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
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
