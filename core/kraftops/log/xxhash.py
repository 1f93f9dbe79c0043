"""xxHash32, the checksum of LZ4 frames: of their headers and, rarely, their blocks."""

from __future__ import annotations

from struct import iter_unpack

_PRIME1, _PRIME2, _PRIME3 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
_PRIME4, _PRIME5 = 0x27D4EB2F, 0x165667B1
_MASK = 0xFFFFFFFF


def xxhash32(data: bytes) -> int:
    """Return the xxHash32 of *data*, with seed 0."""
    stripes = len(data) // 16 * 16
    acc = _stripes(data[:stripes]) if stripes else _PRIME5
    acc = acc + len(data) & _MASK
    words = len(data) // 4 * 4
    for (word,) in iter_unpack("<I", data[stripes:words]):
        acc = _rotate(acc + word * _PRIME3 & _MASK, 17) * _PRIME4 & _MASK
    for byte in data[words:]:
        acc = _rotate(acc + byte * _PRIME5 & _MASK, 11) * _PRIME1 & _MASK
    acc = (acc ^ acc >> 15) * _PRIME2 & _MASK
    acc = (acc ^ acc >> 13) * _PRIME3 & _MASK
    return acc ^ acc >> 16


def _stripes(data: bytes) -> int:
    lanes = [_PRIME1 + _PRIME2 & _MASK, _PRIME2, 0, -_PRIME1 & _MASK]
    for words in iter_unpack("<4I", data):
        lanes = [
            _rotate(lane + word * _PRIME2 & _MASK, 13) * _PRIME1 & _MASK
            for lane, word in zip(lanes, words, strict=True)
        ]
    return sum(map(_rotate, lanes, (1, 7, 12, 18))) & _MASK


def _rotate(value: int, bits: int) -> int:
    return (value << bits | value >> (32 - bits)) & _MASK
