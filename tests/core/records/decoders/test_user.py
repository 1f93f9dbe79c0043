"""Decoders that users name."""

import pytest

from kraftops.errors import DecodeError
from kraftops.records.decoders.user import DECODERS
from kraftops.records.internal_topics import DEFAULT_CLASS

PACKAGE = "org.apache.kafka.tools.api."


@pytest.mark.parametrize(
    ("name", "raw", "text"),
    [
        ("String", b"text", "text"),
        ("String", b"", ""),
        ("String", b"\xed\xa0\x80\n\x1b", "�\n\x1b"),
        ("Integer", b"\0\0\1\0", "256"),
        ("Integer", b"\xff\xff\xff\xff", "-1"),
        ("Integer", b"\0\0\0\1more", "1"),
        ("Long", b"\x80" + bytes(7), str(-(1 << 63))),
        ("Long", b"\0" * 7 + b"\x09more", "9"),
        ("Default", b"\x00\xff", "00ff"),
    ],
)
def test_decoder_class_has_kafkas_text(name: str, raw: bytes, text: str) -> None:
    assert DECODERS[f"{PACKAGE}{name}Decoder"](raw) == text


@pytest.mark.parametrize(
    ("name", "raw"), [("Integer", b"abc"), ("Integer", b""), ("Long", b"1234567")]
)
def test_numbers_need_all_their_bytes(name: str, raw: bytes) -> None:
    with pytest.raises(DecodeError):
        DECODERS[f"{PACKAGE}{name}Decoder"](raw)


def test_default_is_kafkas() -> None:
    assert f"{PACKAGE}StringDecoder" == DEFAULT_CLASS
    assert len(DECODERS) == 4
