"""xxHash32, against the vectors of its author."""

import pytest

from kraftops.log.codecs import xxhash32


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", 0x02CC5D05),
        (b"a", 0x550D7456),
        (b"abc", 0x32D153FF),
        (b"Nobody inspects the spammish repetition", 0xE2293B2F),
    ],
)
def test_hash(data: bytes, expected: int) -> None:
    assert xxhash32(data) == expected


def test_header_checksums_of_lz4_frames() -> None:
    """Frame headers that Kafka's producers wrote."""
    assert xxhash32(b"\x60\x40") >> 8 & 0xFF == 0x82
    assert xxhash32(b"\x04\x22\x4d\x18\x60\x40") >> 8 & 0xFF == 0x1A
