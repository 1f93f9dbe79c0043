"""Base64 as Java decodes it; the expectations are what java.util.Base64 of JDK 17 does."""

import pytest

from kraftops.errors import DecodeError
from kraftops.java.base64 import STANDARD, URL_SAFE, decode


@pytest.mark.parametrize(
    ("text", "raw"),
    [("", b""), ("YQ", b"a"), ("YQ==", b"a"), ("YR==", b"a"), ("YWI", b"ab"), ("YWJj", b"abc")],
)
def test_text_is_decoded_with_and_without_padding(text: str, raw: bytes) -> None:
    assert decode(text, STANDARD) == raw


def test_alphabets_differ_in_two_characters() -> None:
    assert decode("-_-_", URL_SAFE) == decode("+/+/", STANDARD) == b"\xfb\xff\xbf"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("A", "Input byte[] should at least have 2 bytes for base64 bytes"),
        ("AAAAA", "Last unit does not have enough valid bits"),
        ("AA=", "Input byte array has wrong 4-byte ending unit"),
        ("AAAA=", "Input byte array has wrong 4-byte ending unit"),
        ("=A", "Input byte array has wrong 4-byte ending unit"),
        ("AA==A", "Input byte array has incorrect ending byte at 4"),
        ("AAA==", "Input byte array has incorrect ending byte at 4"),
        ("A-AA", "Illegal base64 character 2d"),
        ("Aö==", "Illegal base64 character -a"),
        ("A東==", "Illegal base64 character 3f"),
    ],
)
def test_other_text_is_refused_in_javas_words(text: str, message: str) -> None:
    with pytest.raises(DecodeError) as caught:
        decode(text, STANDARD)

    assert caught.value.message == message
