"""xxHash32 of a few bytes: the header checksum of an LZ4 frame."""

_PRIMES = (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D, 0x27D4EB2F, 0x165667B1)
_MASK = 0xFFFFFFFF


def xxhash32(data: bytes) -> int:
    """Return the xxHash32 (seed 0) of fewer than 16 bytes."""
    assert len(data) < 16, "longer input needs the four lanes of the full algorithm"
    _, prime2, prime3, prime4, prime5 = _PRIMES
    acc = prime5 + len(data)
    words = len(data) // 4 * 4
    for at in range(0, words, 4):
        acc = acc + int.from_bytes(data[at : at + 4], "little") * prime3 & _MASK
        acc = _rotate(acc, 17) * prime4 & _MASK
    for byte in data[words:]:
        acc = acc + byte * prime5 & _MASK
        acc = _rotate(acc, 11) * _PRIMES[0] & _MASK
    acc = (acc ^ acc >> 15) * prime2 & _MASK
    acc = (acc ^ acc >> 13) * prime3 & _MASK
    return acc ^ acc >> 16


def _rotate(value: int, bits: int) -> int:
    return (value << bits | value >> (32 - bits)) & _MASK
