"""Variable-length integers: unsigned and zigzag LEB128 (Kafka's `ByteUtils`)."""

from kraftops.errors import DecodeError, Underflow


def read_uvarint(buffer: bytes, pos: int) -> tuple[int, int]:
    """Return the unsigned varint at *pos* as Kafka's int32, and the position after it.

    Raises:
        DecodeError: more than five bytes belong to it, or the buffer ends.
    """
    value = shift = 0
    try:
        while True:
            byte = buffer[pos]
            pos += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                break
            shift += 7
            if shift == 35:
                raise DecodeError(
                    "Varint is too long, the most significant bit in the 5th byte is set, "
                    f"converted value: {value & 0xFFFFFFFF:x}"
                )
    except IndexError:
        raise Underflow("the varint is cut short") from None
    if shift == 28:
        # Java keeps 32 bits, so that a fifth byte can make the number negative.
        value = (value & 0xFFFFFFFF ^ 0x80000000) - 0x80000000
    return value, pos


def read_varint(buffer: bytes, pos: int) -> tuple[int, int]:
    """Return the zigzag int32 at *pos* and the position after it; errors as `read_uvarint`."""
    value, pos = read_uvarint(buffer, pos)
    value &= 0xFFFFFFFF
    return value >> 1 ^ -(value & 1), pos


def read_varlong(buffer: bytes, pos: int) -> tuple[int, int]:
    """Return the zigzag int64 at *pos* and the position after it.

    Raises:
        DecodeError: more than ten bytes belong to it, or the buffer ends.
    """
    value = shift = 0
    try:
        while True:
            byte = buffer[pos]
            pos += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                break
            shift += 7
            if shift == 70:
                raise DecodeError(
                    "Varlong is too long, most significant bit in the 10th byte is set, "
                    f"converted value: {value & 0xFFFFFFFFFFFFFFFF:x}"
                )
    except IndexError:
        raise Underflow("the varlong is cut short") from None
    value &= 0xFFFFFFFFFFFFFFFF
    return value >> 1 ^ -(value & 1), pos


def uvarint_bytes(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def varint_bytes(value: int) -> bytes:
    """Return the zigzag encoding of a signed number of any width."""
    return uvarint_bytes(value << 1 if value >= 0 else (~value << 1) | 1)
